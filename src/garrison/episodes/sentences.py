"""A turn in plain English: what Blue did, what Red did, what Blue saw of it.

Everything is read from the true states before the turn, between its two halves and after it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.layout import Record
from garrison.cage2.names import (
    ACTIONS,
    BELIEFS,
    DECOYS,
    EXPLOITS,
    HOSTS,
    SUBNETS,
    Access,
    Activity,
    BlueKind,
    Genuine,
    RedKind,
    Success,
)
from garrison.formatting import plural


def decoy_name(d: int) -> str:
    """Return a decoy's name without the word Decoy."""
    return DECOYS[d].removeprefix("Decoy")


def is_caught(after: NDArray[np.void], sc: Record) -> NDArray[np.bool_]:
    """Return where Red's exploit met a decoy, (T,): it failed, it was heard, and the host has no such process."""
    exploits = (after["red_kind"] == RedKind.EXPLOIT) & (after["red_exploit"] >= 0)
    host, e = np.where(exploits, after["red_target"], 0), np.where(exploits, after["red_exploit"], 0)
    is_absent = sc["genuine"][host, e] == Genuine.ABSENT
    flags: NDArray[np.bool_] = exploits & (after["red_success"] == Success.NO) & (after["events"] > 0) & is_absent
    return flags


def blue_sentence(before: Record, middle: Record, sc: Record) -> str:
    """Say what Blue did and what came of it."""
    action = ACTIONS[int(middle["blue_action"])]
    if action.kind == BlueKind.SLEEP:
        return "Blue sleeps."
    if action.kind == BlueKind.MONITOR:
        return "Blue monitors, which every step does by itself."
    host = HOSTS[action.host]
    if action.kind == BlueKind.ANALYSE:
        return f"Blue analyses {host} and finds {'malware' if middle['found'] else 'nothing'}."
    if action.kind == BlueKind.DECOY:
        decoy = decoy_name(action.decoy)
        if middle["blue_success"] == Success.YES:
            return f"Blue places a decoy ({decoy}) on {host}."
        return f"Blue tries a decoy ({decoy}) on {host}; it is refused: its port is taken or the system is another."
    gone = int(before["sessions"][action.host] - middle["sessions"][action.host])
    left = int(middle["sessions"][action.host])
    if action.kind == BlueKind.REMOVE:
        if gone:
            rest = f"; {plural(left, 'session')} stay" + ("s" if left == 1 else "") if left else ""
            return f"Blue removes {plural(gone, 'session')} from {host}{rest}."
        return f"Blue tries Remove on {host}; " + (
            f"{plural(left, 'session')} there cannot be removed so." if left else "there is nothing to remove."
        )
    also = _also_restored(before, middle, action.host)
    if gone:
        return f"Blue restores {host}: {plural(gone, 'session')} gone{also}."
    if action.host == sc["foothold"]:
        return f"Blue restores {host}; Red's foothold there cannot be removed{also}."
    return f"Blue restores {host}, which Red does not hold{also}."


def _also_restored(before: Record, middle: Record, h: int) -> str:
    parts = []
    if not before["ot_running"] and middle["ot_running"]:
        parts.append("the service runs again")
    if before["ot_stoppable"] and not middle["ot_stoppable"]:
        parts.append("Impact can no longer stop the service")
    lost = np.flatnonzero(before["decoys"][h]).tolist()
    if lost:
        parts.append(f"lost with it: {', '.join(map(decoy_name, lost))}")
    return "".join(f"; {part}" for part in parts)


def red_sentence(middle: Record, after: Record, sc: Record, caught: bool) -> str:
    """Say what Red did and what came of it."""
    kind, target, won = int(after["red_kind"]), int(after["red_target"]), after["red_success"] == Success.YES
    if kind == RedKind.SLEEP:
        return "Red sleeps."
    if kind == RedKind.INVALID:
        return "Red names something that it does not know, and nothing happens."
    if kind == RedKind.SWEEP:
        subnet = SUBNETS[target]
        if not won:
            return f"Red sweeps the {subnet} subnet, which it cannot reach."
        new = int(after["known_address"].sum() - middle["known_address"].sum())
        return f"Red sweeps the {subnet} subnet" + (f" and learns {_addresses(new)}." if new else "; nothing is new.")
    host = HOSTS[target]
    if kind == RedKind.SCAN:
        return f"Red scans {host}." if after["red_answered"] else f"Red scans {host}, which does not answer."
    if kind == RedKind.EXPLOIT:
        return _exploit_sentence(after, sc, host, target, won, caught)
    if kind == RedKind.ESCALATE:
        if not won:
            return f"Red tries to escalate on {host}, but has no session there any more."
        learned = [HOSTS[h] for h in np.flatnonzero(after["known_address"] != middle["known_address"]).tolist()]
        also = f" and learns the address of {', '.join(learned)}" if learned else ""
        if middle["access"][target] == Access.PRIVILEGED:
            return f"Red escalates on {host}, where it is privileged already{also}."
        return f"Red becomes privileged on {host}{also}."
    return _impact_sentence(middle, after, host, won)


def _exploit_sentence(after: Record, sc: Record, host: str, target: int, won: bool, caught: bool) -> str:
    e = int(after["red_exploit"])
    if e < 0:
        return f"Red would exploit {host}, but knows of no port there that it could use."
    name = EXPLOITS[e]
    if won:
        level = "privileged" if sc["genuine"][target, e] == Genuine.PRIVILEGED else "user"
        return f"Red exploits {host} with {name} and gains a {level} session."
    if caught:
        decoys = [decoy_name(d) for d in np.flatnonzero((sc["blocks"] == e) & (after["decoys"][target] > 0)).tolist()]
        return f"Red exploits {host} with {name}: a decoy ({', '.join(decoys)}) takes the hit."
    if after["events"] > 0:
        is_locked = sc["genuine"][target, e] == Genuine.NOISY_FAILURE
        why = "no account there can be guessed" if is_locked else "a Restore has closed that hole"
        return f"Red exploits {host} with {name} and fails: {why}."
    if sc["genuine"][target, e] == Genuine.ABSENT:
        return f"Red exploits {host} with {name} and fails: nothing listens there."
    return f"Red exploits {host} with {name} and fails: it cannot reach the subnet any more."


def _impact_sentence(middle: Record, after: Record, host: str, won: bool) -> str:
    if not won:
        why = "has no session there" if not after["sessions"][int(after["red_target"])] else "does not know the service"
        return f"Red tries Impact on {host}, but {why}."
    if middle["ot_running"] and not after["ot_running"]:
        return f"Red stops the service of {host} with Impact."
    if after["ot_running"]:
        return f"Red uses Impact on {host}; the service, restored before, keeps running."
    return f"Red uses Impact on {host} again; the service is down already."


def seen_sentence(before: Record, after: Record, hosts: Sequence[str] = HOSTS) -> str:
    """Say what Blue saw, and how its table changed; of both only what Blue knows is read. `hosts` are their names."""
    host = int(after["active_host"])
    if after["activity"] == Activity.EXPLOIT:
        seen = f"Blue sees an exploit on {hosts[host]}"
    elif after["activity"] == Activity.SCAN:
        seen = f"Blue sees a scan of {hosts[host]}"
    else:
        seen = "Blue sees nothing"
    changes = [
        f"{hosts[h]} {BELIEFS[before['belief'][h]]} → {BELIEFS[after['belief'][h]]}"
        for h in np.flatnonzero(before["belief"] != after["belief"]).tolist()
    ]
    return f"{seen}; its table: {', '.join(changes)}." if changes else f"{seen}."


def _addresses(number: int) -> str:
    return "1 address" if number == 1 else f"{number} addresses"
