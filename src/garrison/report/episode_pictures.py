"""A step of an episode as a picture, and an episode as a short animated one: the map of `garrison watch`, for slides.

Panels are subnets and cards are hosts, as in the viewer: a card's colour and badge say what Red really holds, the text
at its right what Blue believes, its last line which decoys are there.
"""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from garrison.cage2.names import ACTIONS, Access, Activity, Belief, RedKind
from garrison.episodes.episode import Episode
from garrison.errors import UserError
from garrison.report.figure_style import save
from garrison.storage.atomic import write_bytes
from garrison.system import require
from garrison.viewer import palette
from garrison.viewer.tokens import MEANINGS

WIDTH, HEIGHT = 1200, 780
DPI = 100
FRAMES = 60
"""Of an animated picture, at most: longer episodes are shown in even strides"""
SECONDS = 0.35
"""Of a frame; the last one stays longer"""
COLOURS = 64
_GUTTER, _PAD, _HEAD, _CARD, _TOP, _BOTTOM = 30, 12, 46, 80, 66, 108
_LONG = 140  # letters of a sentence; a longer one is written smaller
_FAINT = palette.light("grey66")
_INK, _SOFT, _LINE, _TINT, _PAPER = (
    shades[0] for shades in (palette.INK, palette.SOFT, palette.LINE, palette.TINT, palette.PAPER)
)


def colour_of(meaning: str) -> str:
    """Return the viewer's colour for a thing, on white paper."""
    return palette.light(MEANINGS[meaning])


_ACCESS = {
    Access.NONE: ("quiet", "", "not held"),
    Access.USER: ("user", "U", "user"),
    Access.PRIVILEGED: ("privileged", "P", "privileged"),
}
_BELIEF = {
    Belief.NO: ("quiet", "believed clean"),
    Belief.UNKNOWN: ("unknown", "believed unknown"),
    Belief.USER: ("user", "believed user"),
    Belief.PRIVILEGED: ("privileged", "believed privileged"),
}
_SEEN = {Activity.SCAN: "scan seen", Activity.EXPLOIT: "exploit seen"}


def draw_step(episode: Episode, step: int) -> Any:
    """Return a figure of the state after `step` steps; 0 is after the reset."""
    require("matplotlib")
    from matplotlib.figure import Figure

    check_step(episode, step)
    figure = Figure(figsize=(WIDTH / DPI, HEIGHT / DPI), dpi=DPI)
    axis = figure.add_axes((0, 0, 1, 1))
    axis.set_xlim(0, WIDTH)
    axis.set_ylim(HEIGHT, 0)
    axis.axis("off")
    _draw_head(axis, episode, step)
    _draw_map(axis, episode, step)
    _draw_turn(axis, episode, step)
    return figure


def check_step(episode: Episode, step: int) -> None:
    """Raise a UserError if the episode has no such state."""
    if not 0 <= step <= episode.length:
        raise UserError(f"the states of this episode are numbered 0 to {episode.length}; got {step}.")


def save_step(episode: Episode, step: int, path: Path) -> Path:
    """Write the picture of a step, in the format that the path's suffix names."""
    return save(draw_step(episode, step), path)


def save_animation(episode: Episode, path: Path, say: Callable[[str], None] = lambda text: None) -> Path:
    """Write an animated GIF of the episode; `say` is told how far it is."""
    require("matplotlib")
    from PIL import Image

    frames = []
    for step in np.unique(np.linspace(0, episode.length, FRAMES).round().astype(int)).tolist():
        say(f"drawing step {step} of {episode.length}")
        drawn = BytesIO()
        draw_step(episode, step).savefig(drawn, format="png")
        frames.append(Image.open(drawn).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE))
    durations = [round(1000 * SECONDS)] * (len(frames) - 1) + [round(5000 * SECONDS)]
    whole = BytesIO()
    frames[0].save(
        whole, format="GIF", save_all=True, append_images=frames[1:], duration=durations, loop=0, optimize=True
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, [whole.getvalue()])
    return path


def _draw_head(axis: Any, episode: Episode, step: int) -> None:
    left = f"{_plain(episode.agent['name'])} against {_plain(episode.red)}"
    axis.text(24, 40, left, size=17, weight="bold", color=_INK, va="center")
    right = f"step {step} of {episode.length}    total {episode.state['total'][step]:g}"
    axis.text(WIDTH - 24, 40, right, size=14, color=_INK, va="center", ha="right")


def _draw_map(axis: Any, episode: Episode, step: int) -> None:
    names, network = episode.names, episode.network
    groups = [s for s in ("User", "Enterprise", "Operational") if s in names["subnets"]]
    width = (WIDTH - 48 - _GUTTER * (len(groups) - 1)) / len(groups)
    height = HEIGHT - _TOP - _BOTTOM
    for k in range(1, len(groups)):
        x = 24 + k * (width + _GUTTER)
        axis.plot((x - _GUTTER, x), (_TOP + 20, _TOP + 20), color=_SOFT, linewidth=3, zorder=0)
    for k, group in enumerate(groups):
        left = 24 + k * (width + _GUTTER)
        _box(axis, left, _TOP, width, height, _TINT, _LINE)
        axis.text(left + _PAD, _TOP + 18, group, size=12, weight="bold", color=_SOFT, va="center")
        hosts = [h for h, s in enumerate(network["subnet"]) if names["subnets"][s] == group]
        room = height - _HEAD - _CARD - _PAD
        for row, h in enumerate(hosts):
            top = _TOP + _HEAD + (room * row / (len(hosts) - 1) if len(hosts) > 1 else 0)
            _draw_card(axis, episode, step, h, left + _PAD, top, width - 2 * _PAD)


def _draw_card(axis: Any, episode: Episode, step: int, h: int, left: float, top: float, width: float) -> None:
    names, network, state = episode.names, episode.network, episode.state
    access, belief, sessions = (state[name][step][h] for name in ("access", "belief", "sessions"))
    tone, letter, words = _ACCESS[access]
    colour = colour_of(tone)
    _box(axis, left, top, width, _CARD, _PAPER, colour if access else _FAINT, 1.6 if access else 1.0)
    _box(axis, left, top, width, _CARD, colour, "none", alpha=0.15 if access else 0.03)
    _box(axis, left, top, 7, _CARD, colour, "none", alpha=1.0 if access else 0.35)
    axis.text(left + 16, top + 18, names["hosts"][h], size=11.5, weight="bold", color=_INK, va="center")
    about = f"{'Windows' if network['windows'][h] else 'Linux'}  {-network['value'][h] + 0.0:g}/step"
    axis.text(left + width - 10, top + 18, about, size=8.5, color=_SOFT, va="center", ha="right")
    axis.plot(
        left + 25, top + 42, "o", markersize=13, markerfacecolor=colour if access else _PAPER, markeredgecolor=colour
    )
    axis.text(left + 25, top + 42.5, letter, size=8, weight="bold", color=_PAPER, va="center", ha="center")
    held = f"{words} ×{sessions}" if sessions > 1 else words
    axis.text(left + 41, top + 42, held, size=10, color=_INK if access else _SOFT, va="center")
    tone, words = _BELIEF[belief]
    weight = "bold" if belief != Belief.NO else "normal"
    axis.text(left + width - 10, top + 42, words, size=9, weight=weight, color=colour_of(tone), va="center", ha="right")
    decoys = [name.removeprefix("Decoy") for d, name in enumerate(names["decoys"]) if state["decoys"][step][h] >> d & 1]
    line = " ".join(decoys) if len(decoys) < 4 else f"{len(decoys)} decoys: {' '.join(decoys[:2])} …"
    axis.text(left + 16, top + 65, line, size=8.5, color=colour_of("blue"), va="center")
    note, colour = _note(episode, step, h)
    axis.text(left + width - 10, top + 65, note, size=8.5, color=colour, va="center", ha="right")
    _draw_aims(axis, episode, step, h, left, top, width)


def _note(episode: Episode, step: int, h: int) -> tuple[str, str]:
    """Return what else a card says, and in which colour."""
    parts = [_SEEN[episode.state["activity"][step][h]]] if episode.state["activity"][step][h] in _SEEN else []
    colour = palette.WARN[0] if parts else _SOFT
    if h == episode.network["service_host"]:
        is_running = episode.state["service"][step]
        parts.append("service runs" if is_running else "service down")
        colour = colour if is_running else colour_of("privileged")
    return ", ".join(parts), colour


def _draw_aims(axis: Any, episode: Episode, step: int, h: int, left: float, top: float, width: float) -> None:
    """Mark the card that Blue acted on in the last turn, and the one that Red did."""
    if step == 0:
        return
    turn = {name: column[step - 1] for name, column in episode.turn.items()}
    action = ACTIONS[turn["blue_action"]]
    if action.host == h:
        _box(axis, left - 4, top - 4, width + 8, _CARD + 8, "none", colour_of("blue"), 2.0, dashed=True)
        _flag(axis, left + 14, top - 4, episode.names["actions"][action.id].split()[0], colour_of("blue"), "left")
    if turn["red_target"] == h and turn["red_kind"] not in (RedKind.SLEEP, RedKind.SWEEP):
        words = episode.names["red_actions"][turn["red_kind"]]
        words = f"{words}: decoy" if turn["caught"] else words
        colour = colour_of("red") if turn["red_success"] == 1 else _SOFT
        _flag(axis, left + width - 14, top - 4, words, colour, "right")


def _draw_turn(axis: Any, episode: Episode, step: int) -> None:
    top = HEIGHT - _BOTTOM + 26
    if step == 0:
        axis.text(24, top, "Before the first turn.", size=12, color=_SOFT, va="center")
        return
    for row, (name, meaning) in enumerate((("blue_text", "blue"), ("red_text", "red"), ("seen_text", "quiet"))):
        text = _plain(episode.turn[name][step - 1])
        size = 12 * min(1.0, _LONG / len(text))
        axis.text(24, top + 26 * row, text, size=size, color=colour_of(meaning), va="center")
    reward = f"reward {episode.turn['reward'][step - 1]:g}"
    axis.text(WIDTH - 24, top, reward, size=12, weight="bold", color=_INK, va="center", ha="right")


def _flag(axis: Any, x: float, y: float, text: str, colour: str, side: Any) -> None:
    box = {"boxstyle": "round,pad=0.25", "facecolor": colour, "edgecolor": "none"}
    axis.text(x, y, text, size=8, weight="bold", color=_PAPER, va="center", ha=side, bbox=box, zorder=5)


def _box(
    axis: Any,
    left: float,
    top: float,
    width: float,
    height: float,
    fill: str,
    edge: str,
    thickness: float = 1.0,
    alpha: float = 1.0,
    dashed: bool = False,
) -> None:
    from matplotlib.patches import FancyBboxPatch

    radius = min(8.0, width / 2.5)
    axis.add_patch(
        FancyBboxPatch(
            (left + radius, top + radius),
            width - 2 * radius,
            height - 2 * radius,
            boxstyle=f"round,pad={radius},rounding_size={radius}",
            facecolor=fill,
            edgecolor=edge,
            linewidth=thickness,
            alpha=alpha,
            linestyle=(0, (5, 3)) if dashed else "solid",
        )
    )


def _plain(text: str) -> str:
    """Return text with nothing in it that Matplotlib would read as mathematics."""
    return text.replace("$", r"\$")
