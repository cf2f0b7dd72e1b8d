"""The state between Blue's action and Red's: what Blue's action alone did.

The simulator plays a whole turn at once. Here the same turn is played with a Red that sleeps, from the same state; the
difference to the state before is Blue's doing, exactly, without a second copy of the rules.
"""

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.names import Red, RedKind
from garrison.episodes.game import Game

CHANGED = (
    "access",
    "sessions",
    "removable",
    "hidden",
    "malware",
    "decoys",
    "ports",
    "ot_running",
    "ot_active",
    "ot_stoppable",
    "belief",
)
"""What of a state Blue's action can change in a way that matters later"""


def after_blue(game: Game, before: NDArray[np.void], actions: NDArray[np.int64]) -> NDArray[np.void]:
    """Return the states after Blue's action and before Red's, for T states and the action taken in each."""
    envs = game.envs(len(before), red="external")
    states = before.copy()
    states["red"] = Red.EXTERNAL
    envs.set_state(states)
    envs.step({"blue": actions, "red": np.full((len(before), 2), (RedKind.SLEEP, 0))})
    middle = envs.get_state()
    envs.close()
    return middle


def had_effect(game: Game, before: NDArray[np.void], middle: NDArray[np.void]) -> NDArray[np.bool_]:
    """Return where Blue's action changed the true state or Blue's belief: (T,)."""
    effect = np.zeros(len(before), np.bool_)
    for name in CHANGED:
        effect |= (before[name] != middle[name]).reshape(len(before), -1).any(axis=1)
    # A first Restore closes an exploit under some rules; elsewhere the mark means nothing.
    sc = game.scenario[0]
    closes = (sc["genuine"][:, sc["restore_patches"] != 0] >= 0).any(axis=1)
    effect |= ((before["patched"] != middle["patched"]) & closes).any(axis=1)
    return effect


def killed(before: NDArray[np.void], middle: NDArray[np.void]) -> NDArray[np.int64]:
    """Return how many of Red's sessions Blue's action removed: (T,)."""
    counts: NDArray[np.int64] = (before["sessions"].astype(np.int64) - middle["sessions"]).sum(axis=1)
    return counts
