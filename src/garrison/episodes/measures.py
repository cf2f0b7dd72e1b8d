"""Measures of one episode as the field uses them; docs/watch.md defines each."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.layout import ACTION_TERM, NUM_TERMS, SERVICE_TERM
from garrison.cage2.names import ACTIONS, HOSTS, Access, Belief, BlueKind, RedKind, Success
from garrison.episodes.half_turns import killed

KINDS = np.array([action.kind for action in ACTIONS])


def measure(
    states: NDArray[np.void],
    middle: NDArray[np.void],
    effect: NDArray[np.bool_],
    caught: NDArray[np.bool_],
    foothold: int,
) -> dict[str, Any]:
    """Return the measures of an episode.

    Args:
        states: (T+1,) from the reset to the end.
        middle: (T,) between Blue's action and Red's.
        effect: (T,) where Blue's action changed something.
        caught: (T,) where a decoy took Red's exploit.
        foothold: the host of Red's permanent session, which is no intrusion.
    """
    before, after = states[:-1], states[1:]
    kinds = KINDS[after["blue_action"]]
    has_killed = killed(before, middle) > 0
    fixes = {"restore": kinds == BlueKind.RESTORE, "remove": kinds == BlueKind.REMOVE}
    acted = kinds != BlueKind.SLEEP
    exploits = after["red_kind"] == RedKind.EXPLOIT
    others = np.arange(len(HOSTS)) != foothold
    held, believed = after["sessions"][:, others] > 0, after["belief"][:, others]
    intrusions = find_intrusions(states, middle, foothold)
    cleared = [found["to"] - found["from"] for found in intrusions if found["to"] is not None]
    terms = after["reward_terms"].sum(axis=0)
    return {
        "intrusions": intrusions,
        "cleared": len(cleared),
        "mean_time_to_clear": round(float(np.mean(cleared)), 2) if cleared else None,
        "without_effect": _share(~effect, acted),
        "restores": int(fixes["restore"].sum()),
        "restore_precision": _share(has_killed, fixes["restore"]),
        "false_alarms": int((fixes["restore"] & ~has_killed).sum()),
        "removes": int(fixes["remove"].sum()),
        "remove_precision": _share(has_killed, fixes["remove"]),
        "decoys_placed": int(((kinds == BlueKind.DECOY) & (after["blue_success"] == Success.YES)).sum()),
        "exploits": int(exploits.sum()),
        "exploits_won": int((exploits & (after["red_success"] == Success.YES)).sum()),
        "drawn_by_decoys": int(caught.sum()),
        "service_down": int((after["ot_running"] == 0).sum()),
        "held_unseen": int((held & (believed == Belief.NO)).sum()),
        "believed_clean": int((~held & (believed >= Belief.USER)).sum()),
        "cost_of_hosts": round(float(terms[:SERVICE_TERM].sum()), 3) + 0.0,
        "cost_of_service": round(float(terms[SERVICE_TERM]), 3) + 0.0,
        "cost_of_actions": round(float(terms[ACTION_TERM:NUM_TERMS].sum()), 3) + 0.0,
    }


def find_intrusions(states: NDArray[np.void], middle: NDArray[np.void], foothold: int) -> list[dict[str, Any]]:
    """Return every stretch in which Red held a host, in the order in which they begin.

    `from` is the first state with a session there, `to` the first without, None if Red still holds it at the end; a
    host that Blue clears and Red takes again in the same turn has two. `level` is the highest access.
    """
    found = []
    for h in range(len(HOSTS)):
        if h == foothold:
            continue
        began, level = None, Access.NONE
        for t in range(1, len(states)):
            if began is not None and middle["sessions"][t - 1, h] == 0:
                found.append({"host": h, "from": began, "to": t, "level": level})
                began, level = None, Access.NONE
            if states["sessions"][t, h] > 0:
                began = t if began is None else began
                level = max(level, int(states["access"][t, h]))
        if began is not None:
            found.append({"host": h, "from": began, "to": None, "level": level})
    return sorted(found, key=lambda intrusion: (intrusion["from"], intrusion["host"]))


def _share(those: NDArray[np.bool_], of: NDArray[np.bool_]) -> float | None:
    """Return the share of `of` that is also in `those`; None if there are none."""
    return round(float((those & of).sum() / of.sum()), 4) if of.any() else None
