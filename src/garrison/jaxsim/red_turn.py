"""What Red's actions do (rules §7), and the events that they leave on the target for Blue."""

from typing import NamedTuple

import jax.numpy as jnp
from jax import lax

from garrison.cage2.names import NUM_DECOYS, NUM_EXPLOITS, NUM_HOSTS, Access, Genuine, RedKind, Success
from garrison.jaxsim.draws import Draws
from garrison.jaxsim.lookup import at, bit_of, settled
from garrison.jaxsim.params import Params
from garrison.jaxsim.red_choice import RedChoice
from garrison.jaxsim.state import HOST_IDS, State
from garrison.jaxsim.stream import Array


class Events(NamedTuple):
    """What Red's action left on its target."""

    count: Array
    ports: Array
    """Distinct local ports among them"""
    is_shell: Array
    """One of them is a reverse shell that Blue detected"""


class _Attempt(NamedTuple):
    """How an exploit went."""

    exploit: Array
    """The one that was chosen, -1 if none fits"""
    wins: Array
    """It gained a session"""
    is_user: Array
    """Of user level; otherwise it is privileged"""
    is_reported: Array
    """Blue was told its process id"""
    is_reused: Array
    """The process id was reported before"""
    leaves_file: Array
    events: Events


def attack(state: State, params: Params, draws: Draws, choice: RedChoice) -> tuple[State, Events]:
    """Carry out Red's action; it always starts from Red's first session."""
    kind, target = choice
    sweeps, scans, exploits = kind == RedKind.SWEEP, kind == RedKind.SCAN, kind == RedKind.EXPLOIT
    sleeps = kind == RedKind.SLEEP
    target = jnp.where(sleeps, -1, target)
    bit = bit_of(target)
    is_session = state.held & bit != 0
    subnet = at(params.subnet, target)
    gateways = at(params.gateways, jnp.where(sweeps, target, subnet))
    is_routed = (gateways == 0) | (state.held & gateways != 0)
    answers = is_routed & (sweeps | scans)
    listening = at(state.ports, target)

    attempt = _exploit(state, params, draws, target, bit, exploits, is_routed)
    escalates = (kind == RedKind.ESCALATE) & is_session
    state = _lift_session(state, draws, target, bit, escalates & (state.privileged & bit == 0))
    state = _add_session(state, target, bit, attempt)

    is_service = target == params.service_host
    impacts = (kind == RedKind.IMPACT) & is_session & is_service & (state.ot_known == 1)
    stops = impacts & (state.ot_active == 1)
    succeeded = (sweeps & is_routed) | scans | attempt.wins | escalates | impacts  # quirk Q9: any scan
    swept = jnp.sum(jnp.where(params.subnet == target, 1 << HOST_IDS, 0), dtype=jnp.int32)
    scanned = answers & scans
    remembered = at(state.red_ports, target)
    kept = jnp.where((params.ports_accumulate == 1) & (remembered >= 0), remembered, 0)
    state = state._replace(
        red_ports=jnp.where((target == HOST_IDS) & scanned, (listening | kept).astype(jnp.int16), state.red_ports),
        malware=state.malware | jnp.where(attempt.leaves_file, bit, 0),
        known_address=state.known_address
        | jnp.where(answers & sweeps, swept, 0)
        | jnp.where(escalates, bit | bit_of(at(params.reveals, target)), 0),
        known_host=state.known_host | jnp.where(attempt.wins, bit, 0),
        known_subnet=state.known_subnet | jnp.where(escalates, 1 << subnet, 0),
        ot_known=jnp.where(escalates & is_service, 1, state.ot_known),
        ot_active=jnp.where(stops, 0, state.ot_active),
        ot_running=jnp.where(stops & (state.ot_stoppable == 1), 0, state.ot_running),
        red_kind=kind,
        red_target=target,
        red_exploit=attempt.exploit,
        red_success=jnp.where(sleeps, Success.UNKNOWN, jnp.where(succeeded, Success.YES, Success.NO)),
        red_answered=(answers | exploits).astype(jnp.int32),
    )
    count = jnp.where(scanned, at(state.sockets, target), attempt.events.count)
    ports = jnp.where(scanned, lax.population_count(listening), attempt.events.ports)
    return state, Events(count, ports, attempt.events.is_shell)


def _exploit(
    state: State, params: Params, draws: Draws, host: Array, bit: Array, exploits: Array, is_routed: Array
) -> _Attempt:
    """Try an exploit on one of the ports that Red remembers; success is a new session."""
    (e,) = settled(state.t, _choose_exploit(params, draws, at(state.red_ports, host), exploits, state.t))
    level = at(params.genuine.reshape(-1), jnp.maximum(host, 0) * NUM_EXPLOITS + jnp.maximum(e, 0))
    has_decoy = ((params.blocks == e) & (at(state.decoys.reshape(NUM_HOSTS, NUM_DECOYS), host) > 0)).any()
    is_absent = level == Genuine.ABSENT
    meets = (e >= 0) & is_routed & (~is_absent | has_decoy)  # otherwise nothing listens: silent
    guesses = meets & (at(params.brute_force, e) == 1)
    is_patched = (state.restored & bit != 0) & (at(params.restore_patches, e) == 1)
    is_level = level >= Genuine.USER
    shells = meets & ~guesses & is_level & ~is_patched
    is_reported = draws.detected(params.detect_rate, shells) & shells
    wins = shells | (guesses & is_level)
    is_reused = draws.reused(at(state.stale, host), params.process_ids, wins)
    tries = params.brute_force_tries + is_level.astype(jnp.int32)
    # A decoy takes the hit: 2. A detected shell: one more event, on a random high port.
    others = 1 + (is_absent | is_reported).astype(jnp.int32)
    count = jnp.where(guesses, tries, jnp.where(meets, others, 0))
    ports = meets.astype(jnp.int32) + is_reported.astype(jnp.int32)
    events = Events(*settled(state.t, count, ports, is_reported))
    wins, is_user, is_known, is_reused, shells = settled(
        state.t, wins, level == Access.USER, is_reported | is_reused, is_reused, shells
    )
    return _Attempt(e, wins, is_user, is_known, is_reused, shells, events)


def _choose_exploit(params: Params, draws: Draws, ports: Array, needed: Array, t: Array) -> Array:
    """Choose among the exploits that fit the remembered ports: the top one with fixed odds; -1 if none fits."""
    options, best = jnp.int32(0), jnp.int32(-1)
    for e in range(NUM_EXPLOITS):
        needs, needs_any = params.needs[e], params.needs_any[e]
        does_fit = (ports >= 0) & (ports & needs == needs) & ((needs_any == 0) | (ports & needs_any != 0))
        options = options | jnp.where(does_fit, 1 << e, 0)
        # Preference first, then the lower number: both in one.
        ranked = params.preference[e] * NUM_EXPLOITS + (NUM_EXPLOITS - 1 - e)
        best = jnp.maximum(best, jnp.where(does_fit, ranked, -1))
    top = NUM_EXPLOITS - 1 - lax.rem(jnp.maximum(best, 0), NUM_EXPLOITS)
    top, others, is_option = settled(t, top, options & ~(1 << top), needed & (options != 0))
    chosen = draws.exploit(top, others, params.top_odds, is_option & (others != 0))
    return jnp.where(is_option, chosen, -1)


def _add_session(state: State, host: Array, bit: Array, attempt: _Attempt) -> State:
    """Give Red the session that it won; `garrison.cage2.layout` says why counts are enough."""
    is_user = attempt.is_user
    is_removable = attempt.wins & is_user & attempt.is_reported
    is_fixed = attempt.wins & ~is_removable
    was_fixed = state.fixed & bit != 0
    here = host == HOST_IDS

    def more(counts: Array, condition: Array) -> Array:
        return counts + (here & condition).astype(jnp.int16)

    return state._replace(
        sessions=more(state.sessions, attempt.wins),
        removable=more(state.removable, is_removable),
        lead=more(state.lead, is_removable & ~was_fixed),
        hidden=more(state.hidden, is_fixed & is_user),
        reported=more(state.reported, is_fixed & ~is_user & attempt.is_reported),
        stale=state.stale - (here & attempt.is_reused).astype(jnp.int16),
        held=state.held | jnp.where(attempt.wins, bit, 0),
        privileged=state.privileged | jnp.where(attempt.wins & ~is_user, bit, 0),
        fixed=state.fixed | jnp.where(is_fixed, bit, 0),
        fixed_privileged=state.fixed_privileged | jnp.where(is_fixed & ~is_user & ~was_fixed, bit, 0),
    )


def _lift_session(state: State, draws: Draws, host: Array, bit: Array, lifts: Array) -> State:
    """Make one of the sessions privileged; none is so far."""
    lead, hidden = at(state.lead, host), at(state.hidden, host)
    index = draws.session(at(state.sessions, host), lifts)
    is_behind = draws.is_removable(index, lead, at(state.removable, host), hidden)
    is_before = index < lead
    was_removable = is_before | ((index > lead) & is_behind)
    lifts, is_before, was_removable, is_oldest, upper, lower = settled(
        state.t, lifts, is_before, was_removable, lifts & (index <= lead), (index >> 7) - 1, index & 127
    )
    index = (upper + 1 << 7) + lower
    here = (host == HOST_IDS) & lifts
    return state._replace(
        lead=jnp.where(here & is_before, index.astype(jnp.int16), state.lead),
        removable=state.removable - (here & was_removable).astype(jnp.int16),
        reported=state.reported + (here & was_removable).astype(jnp.int16),
        hidden=state.hidden - (here & ~was_removable).astype(jnp.int16),
        malware=state.malware | jnp.where(lifts, bit, 0),
        privileged=state.privileged | jnp.where(lifts, bit, 0),
        fixed=state.fixed | jnp.where(is_oldest, bit, 0),
        fixed_privileged=state.fixed_privileged | jnp.where(is_oldest, bit, 0),
    )
