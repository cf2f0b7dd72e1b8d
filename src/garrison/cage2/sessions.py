"""Red's sessions on a host: how they come, rise and go. `layout.py` says why counts are enough."""

from garrison.cage2.details import lift_process
from garrison.cage2.layout import Record
from garrison.cage2.names import Access, Source
from garrison.cage2.rng import draw_session
from garrison.jit import kernel


@kernel
def add_session(env: Record, host: int, level: int, reported: bool) -> None:
    """Red wins a session of `level`; `reported`: Blue was told its process id."""
    env.sessions[host] += 1
    if level == Access.USER and reported:
        env.removable[host] += 1
        if env.oldest_fixed[host] == Access.NONE:
            env.lead[host] += 1
    else:
        if env.oldest_fixed[host] == Access.NONE:
            env.oldest_fixed[host] = level
        if level == Access.USER:
            env.hidden[host] += 1
        elif reported:
            env.reported[host] += 1
    _update_access(env, host)


@kernel
def lift_session(env: Record, tape: Record, details: Record, host: int) -> None:
    """Make one of the sessions privileged; none is so far."""
    lead = int(env.lead[host])
    index = draw_session(env, tape, details, int(env.sessions[host]))
    was_reported = False
    if details is not None:
        was_reported = lift_process(details, host, index)
    if index < lead:
        was_removable = True
        env.lead[host] = index
        env.oldest_fixed[host] = Access.PRIVILEGED
    elif index == lead:  # the oldest fixed session, which is a hidden one
        was_removable = False
        env.oldest_fixed[host] = Access.PRIVILEGED
    elif details is not None:
        was_removable = was_reported
    elif env.source == Source.TAPE:
        is_removable_left, is_hidden_left = env.removable[host] > lead, env.hidden[host] > 1
        was_removable = bool(is_removable_left and (tape.session_removable == 1 or not is_hidden_left))
    else:  # behind the oldest fixed session the order is not kept; every order gives the same odds
        was_removable = index >= lead + int(env.hidden[host])
    if was_removable:
        env.removable[host] -= 1
        env.reported[host] += 1
    else:
        env.hidden[host] -= 1
    _update_access(env, host)


@kernel
def remove_sessions(env: Record, host: int) -> None:
    """Kill the removable sessions; their process ids become free."""
    env.sessions[host] -= env.removable[host]
    env.stale[host] += env.removable[host]
    env.removable[host] = 0
    env.lead[host] = 0
    _update_access(env, host)


@kernel
def clear_sessions(env: Record, host: int, foothold: bool) -> None:
    """Kill all sessions but Red's first; the process ids that were reported to Blue become free."""
    env.stale[host] += env.removable[host] + env.reported[host]
    env.sessions[host] = 1 if foothold else 0
    env.oldest_fixed[host] = Access.PRIVILEGED if foothold else Access.NONE
    env.removable[host] = 0
    env.hidden[host] = 0
    env.lead[host] = 0
    env.reported[host] = 0
    _update_access(env, host)


@kernel
def _update_access(env: Record, host: int) -> None:
    """Bring the two access levels and the mask in line with the counts: users and workflows read them."""
    users = int(env.removable[host]) + int(env.hidden[host])
    if env.sessions[host] > users:
        env.access[host] = Access.PRIVILEGED
    else:
        env.access[host] = Access.USER if users > 0 else Access.NONE
    env.held = int(env.held) | (1 << host) if env.sessions[host] > 0 else int(env.held) & ~(1 << host)
    env.access_oldest[host] = Access.USER if env.lead[host] > 0 else env.oldest_fixed[host]
