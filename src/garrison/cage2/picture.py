"""A small picture of one environment, drawn with NumPy alone: for `render_mode="rgb_array"`.

Three columns, one for each subnet. A host is a square: its left half is what is the case (Red's access), its right half
what Blue believes; a frame shows what Blue saw there in this step, blue dots above it are decoys.
"""

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.layout import Record
from garrison.cage2.names import HOSTS, NUM_SUBNETS, SUBNETS, Access, Activity, Belief

Frame = NDArray[np.uint8]
Colour = tuple[int, int, int]

_PAPER: Colour = (250, 250, 248)
_COLUMN: Colour = (235, 236, 238)
_INK: Colour = (40, 44, 52)
_DECOY: Colour = (52, 101, 194)
_ACCESS: dict[int, Colour] = {
    Access.NONE: (203, 207, 212),
    Access.USER: (240, 160, 48),
    Access.PRIVILEGED: (204, 41, 41),
}
_BELIEF: dict[int, Colour] = {
    Belief.NO: _ACCESS[Access.NONE],
    Belief.UNKNOWN: (150, 120, 190),
    Belief.USER: _ACCESS[Access.USER],
    Belief.PRIVILEGED: _ACCESS[Access.PRIVILEGED],
}
_SEEN: dict[int, Colour] = {Activity.SCAN: (214, 186, 20), Activity.EXPLOIT: (20, 20, 20)}

# Letters and digits of labels, three columns by five rows, a row as three bits.
_GLYPHS = {
    "D": (6, 5, 5, 5, 6),
    "E": (7, 4, 6, 4, 7),
    "O": (7, 5, 5, 5, 7),
    "S": (7, 4, 7, 1, 7),
    "U": (5, 5, 5, 5, 7),
    "0": (2, 5, 5, 5, 2),
    "1": (2, 6, 2, 2, 7),
    "2": (6, 1, 2, 4, 7),
    "3": (6, 1, 2, 1, 6),
    "4": (5, 5, 7, 1, 1),
}
_PIXEL = 2  # the side of a glyph's dot
_SIDE = 28  # of a host's square
_CELL = 52  # a host with its label and the space around it
_MARGIN = 8
_FRAME = 3


def _label(name: str) -> str:
    """Return a host's short name: `Op_Server0` is S0, `User3` is U3, `Defender` is D."""
    letter = "S" if "Server" in name else name[0]
    return letter + (name[-1] if name[-1].isdigit() else "")


def draw(env: Record, sc: Record) -> Frame:
    """Return the picture of one environment as (height, width, 3) uint8."""
    columns = [[h for h in range(len(HOSTS)) if sc["subnet"][h] == s] for s in range(NUM_SUBNETS)]
    height = 2 * _MARGIN + _CELL * max(map(len, columns))
    picture = np.full((height, _MARGIN + len(SUBNETS) * (_CELL + _MARGIN), 3), _PAPER, np.uint8)
    for s, hosts in enumerate(columns):
        left = _MARGIN + s * (_CELL + _MARGIN)
        picture[_MARGIN // 2 : height - _MARGIN // 2, left : left + _CELL] = _COLUMN
        for row, h in enumerate(hosts):
            _draw_host(picture, env, h, _MARGIN + row * _CELL, left)
    return picture


def _draw_host(picture: Frame, env: Record, h: int, top: int, left: int) -> None:
    y, x = top + 7, left + (_CELL - _SIDE) // 2
    if int(env["active_host"]) == h:
        colour = _SEEN[int(env["activity"])]
        picture[y - _FRAME : y + _SIDE + _FRAME, x - _FRAME : x + _SIDE + _FRAME] = colour
    picture[y : y + _SIDE, x : x + _SIDE // 2] = _ACCESS[int(env["access"][h])]
    picture[y : y + _SIDE, x + _SIDE // 2 : x + _SIDE] = _BELIEF[int(env["belief"][h])]
    for d in np.flatnonzero(env["decoys"][h]).tolist():
        picture[top : top + 3, x + 4 * d - 2 : x + 4 * d + 1] = _DECOY
    _write(picture, _label(HOSTS[h]), y + _SIDE + _FRAME + 1, x + _SIDE // 2)


def _write(picture: Frame, text: str, top: int, middle: int) -> None:
    x = middle - (4 * len(text) - 1) * _PIXEL // 2
    for character in text:
        for row, bits in enumerate(_GLYPHS[character]):
            for column in range(3):
                if bits >> (2 - column) & 1:
                    y, at = top + row * _PIXEL, x + column * _PIXEL
                    picture[y : y + _PIXEL, at : at + _PIXEL] = _INK
        x += 4 * _PIXEL
