"""The true state of a batch: read-only views of the state records, and readable forms of one environment."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.layout import Record
from garrison.cage2.names import (
    ACCESSES,
    ACTIVITIES,
    BELIEFS,
    HOSTS,
    SUBNETS,
    Access,
    Host,
)

Ints = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class Truth:
    """What is really the case, and was until Blue's next step: arrays that follow the batch, free to read.

    The first axis is the environment. Hosts, ports, decoys and codes are numbered as in `garrison.cage2.names`.
    """

    access: Ints
    """(n, 13) `Access` of Red's best session on each host: what the reward sees"""
    access_oldest: Ints
    """(n, 13) `Access` of Red's oldest session: what CybORG's true table shows"""
    sessions: Ints
    """(n, 13) number of Red's sessions"""
    hidden: Ints
    """(n, 13) user-level sessions that Remove cannot kill"""
    malware: Ints
    """(n, 13) 1 where Analyse would find a file"""
    decoys: Ints
    """(n, 13, 8) number of decoys of each kind"""
    ports: Ints
    """(n, 13) mask of listening ports: bit i is `PORTS[i]`"""
    red_ports: Ints
    """(n, 13) mask of the ports that Red remembers, -1 where no scan was answered"""
    known_address: Ints
    """(n, 13) 1 where Red knows the address"""
    known_host: Ints
    """(n, 13) 1 where Red knows the hostname"""
    known_subnet: Ints
    """(n, 3) 1 where Red knows the subnet"""
    ot_running: Ints
    """(n,) 1 while the OTService runs; each step without it costs 10"""
    ot_stoppable: Ints
    """(n,) 1 while Impact can stop it; 0 after any Restore of Op_Server0"""
    ot_active: Ints
    """(n,) 1 while the registry says active"""
    ot_known: Ints
    """(n,) 1 once Red knows the service"""
    red: Ints
    """(n,) `Red`: who plays"""
    red_kind: Ints
    """(n,) `RedKind` of Red's last action"""
    red_target: Ints
    """(n,) its host; a sweep's subnet; -1 for Sleep"""
    red_success: Ints
    """(n,) `Success`"""
    red_exploit: Ints
    """(n,) the exploit it chose, -1 if none"""
    blue_action: Ints
    """(n,) Blue's last action"""
    blue_success: Ints
    """(n,) `Success`"""
    reward_terms: NDArray[np.float64]
    """(n, 15) the last reward's terms: each host's confidentiality, the OTService, Blue's action"""
    t: Ints
    """(n,) steps taken in this episode"""

    @classmethod
    def of(cls, envs: NDArray[np.void]) -> Self:
        """Return the views over `envs`."""
        views = {}
        for name in cls.__slots__:
            views[name] = envs[name].view()
            views[name].flags.writeable = False
        return cls(**views)


def format_table(rows: Sequence[tuple[str, ...]], head: tuple[str, ...]) -> str:
    """Return an aligned text table."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in [head, *rows]]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def true_table(env: Record, sc: Record) -> str:
    """Return CybORG's true table of one environment: subnet, hostname, known, scanned, access."""
    rows = [
        (
            SUBNETS[sc["subnet"][h]],
            name,
            str(bool(env["known_address"][h])),
            str(bool(env["red_ports"][h] >= 0)),
            ACCESSES[env["access_oldest"][h]],
        )
        for h, name in enumerate(HOSTS)
    ]
    return format_table(rows, ("Subnet", "Hostname", "Known", "Scanned", "Access"))


def blue_table(env: Record, sc: Record) -> str:
    """Return Blue's table of one environment: subnet, hostname, activity, compromised."""
    rows = []
    for h, name in enumerate(HOSTS):
        activity = ACTIVITIES[int(env["activity"])] if env["active_host"] == h else "None"
        rows.append((SUBNETS[sc["subnet"][h]], name, activity, BELIEFS[env["belief"][h]]))
    return format_table(rows, ("Subnet", "Hostname", "Activity", "Compromised"))


_GREEN_HOSTS = (*range(Host.OP_HOST0, Host.OP_HOST2 + 1), *range(Host.USER0, Host.USER4 + 1))


def true_state(env: Record, sc: Record) -> dict[str, Any]:
    """Return a dict shaped like CybORG's `get_agent_state('True')`.

    Each host has its `Sessions` in CybORG's order (Blue, Green, Red) with agent, type, username and privilege. Red's
    oldest session is its first; the order of the others is not kept. Addresses, process ids and files, which influence
    nothing, are left out.
    """
    state: dict[str, Any] = {"success": "UNKNOWN"}
    for h, name in enumerate(HOSTS):
        is_windows = bool(sc["windows"][h])
        admin, person = ("SYSTEM", "vagrant") if is_windows else ("root", "pi")
        sessions = [{"Agent": "Blue", "Type": "VELOCIRAPTOR_CLIENT", "Username": admin}]
        if h == Host.DEFENDER:
            sessions.insert(0, {"Agent": "Blue", "Type": "VELOCIRAPTOR_SERVER", "Username": admin})
        if h in _GREEN_HOSTS:
            sessions.append({"Agent": "Green", "Type": "GREY_SESSION", "Username": "GreenAgent"})
        for level in _red_levels(env, h):
            kind = "RED_ABSTRACT_SESSION" if h == sc["foothold"] and level == Access.PRIVILEGED else "RED_REVERSE_SHELL"
            username = admin if level == Access.PRIVILEGED else person
            sessions.append({"Agent": "Red", "Type": kind, "Username": username})
        state[name] = {
            "Sessions": [{**session, "Privilege": _privilege(session["Username"])} for session in sessions],
            "System info": {
                "Hostname": name,
                "OSType": "WINDOWS" if is_windows else "LINUX",
                "Subnet": SUBNETS[sc["subnet"][h]],
            },
        }
    return state


def _privilege(username: str) -> str:
    return "privileged" if username in ("root", "SYSTEM") else "user"


def _red_levels(env: Record, host: int) -> list[int]:
    """Return the levels of Red's sessions on a host, the oldest first."""
    users = int(env["removable"][host]) + int(env["hidden"][host])
    levels = [Access.USER] * users + [Access.PRIVILEGED] * (int(env["sessions"][host]) - users)
    if levels and env["access_oldest"][host] == Access.PRIVILEGED:
        levels.reverse()
    return levels
