"""What Blue's actions do (rules §6)."""

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.details import begin_draws, draw_blue_session, forget_processes, start_decoy, stop_reported
from garrison.cage2.layout import Record
from garrison.cage2.names import (
    DECOY_BLOCK,
    FIRST_BLOCK,
    NUM_ACTIONS,
    NUM_DECOYS,
    NUM_HOSTS,
    REMOVE_BLOCK,
    RESTORE_BLOCK,
    Success,
)
from garrison.cage2.sessions import clear_sessions, remove_sessions
from garrison.jit import kernel


@kernel
def defend(env: Record, sc: Record, details: Record, action: int) -> float:
    """Carry out Blue's action and return its cost; -1 is an invalid one, which does nothing."""
    if details is not None:
        begin_draws(details)
    env.blue_action = action
    env.blue_success = Success.YES
    env.placed = -1
    env.found = 0
    if action < FIRST_BLOCK:
        if action == 0:
            env.blue_success = Success.UNKNOWN
        elif action < 0:
            env.blue_success = Success.NO
        return 0.0
    block = (action - FIRST_BLOCK) // NUM_HOSTS
    host = (action - FIRST_BLOCK) % NUM_HOSTS
    if details is not None:
        draw_blue_session(details, host)
    if block == 0:
        env.found = env.malware[host]
    elif block == REMOVE_BLOCK:
        remove_sessions(env, host)
        if details is not None:
            stop_reported(env, sc, details, host)
    elif block == RESTORE_BLOCK:
        restore(env, sc, host)
        if details is not None:
            forget_processes(details, host)
        return float(sc.restore_cost)
    else:
        place_decoy(env, sc, details, host, block - DECOY_BLOCK)
    return 0.0


@kernel
def restore(env: Record, sc: Record, host: int) -> None:
    """Put the host back to its image. Red's port list, its knowledge and old reports stay."""
    clear_sessions(env, host, host == sc.foothold)
    for d in range(NUM_DECOYS):
        env.decoys[host, d] = 0
    env.ports[host] = sc.image_ports[host]
    env.sockets[host] = sc.image_sockets[host]
    env.malware[host] = 0
    env.patched[host] = 1
    if host == sc.service_host:
        env.ot_running = 1
        env.ot_active = 1
        env.ot_stoppable = 0  # quirk Q1: from now on Impact cannot stop it


@kernel
def fits(sc: Record, ports: int, host: int, decoy: int) -> bool:
    """Return whether `decoy` can be placed on `host` while it listens on `ports`."""
    runs_here = sc.only_on[decoy] < 0 or sc.only_on[decoy] == sc.windows[host]
    return bool(runs_here and (ports & sc.checks[decoy]) == 0)


@kernel
def allow(sc: Record, ports: NDArray[np.int16], row: NDArray[np.bool_]) -> None:
    """Write what Blue can know while its hosts listen on `ports`: False for refused decoys, and for Monitor."""
    for a in range(NUM_ACTIONS):
        row[a] = True
    row[1] = False  # the automatic Monitor leaves nothing for Blue's own
    for h in range(NUM_HOSTS):
        for d in range(NUM_DECOYS):
            row[FIRST_BLOCK + (DECOY_BLOCK + d) * NUM_HOSTS + h] = fits(sc, int(ports[h]), h, d)


@kernel
def place_decoy(env: Record, sc: Record, details: Record, host: int, decoy: int) -> None:
    """Start a decoy if its port is free and it runs on this system."""
    if not fits(sc, int(env.ports[host]), host, decoy):
        env.blue_success = Success.NO
        return
    if details is not None:
        start_decoy(env, details, host, decoy)
    env.decoys[host, decoy] += 1
    env.ports[host] |= sc.opens[decoy]
    env.sockets[host] += 1
    env.placed = host
