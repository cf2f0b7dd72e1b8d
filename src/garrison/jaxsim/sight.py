"""What Blue sees: its table of beliefs, the table as 52 bits (rules §9), and behind them what it can remember."""

import jax.numpy as jnp
import numpy as np

from garrison.cage2.defender_memory import CLOCK, DECOY_SLOTS, SINCE
from garrison.cage2.names import NUM_DECOYS, Activity, Host, Suspect
from garrison.cage2.observe import BITS_PER_HOST, NUM_BITS
from garrison.jaxsim.blue_turn import BlueTurn
from garrison.jaxsim.lookup import bit_of, settled
from garrison.jaxsim.params import Params
from garrison.jaxsim.red_turn import Events
from garrison.jaxsim.state import HOST_IDS, Remembered, State
from garrison.jaxsim.stream import Array

_HOSTS, _PLACES = np.divmod(np.arange(NUM_BITS, dtype=np.int32), BITS_PER_HOST)
_SLOTS = np.array([host * NUM_DECOYS + decoy for host, decoy in DECOY_SLOTS])


def notice(state: State, params: Params, blue: BlueTurn, events: Events) -> State:
    """Update Blue's table from its own action and the events of this step."""
    low, high, bit = state.belief_low, state.belief_high, blue.bit
    believes = jnp.where(blue.is_remove, (low | high) & bit, 0)  # becomes Unknown, unless it was No
    forgets = jnp.where(blue.is_remove | blue.is_restore, bit, 0)
    low, high = (low & ~forgets) | believes, high & ~forgets
    activity = jnp.where(events.count > 0, _classify(state, params, blue, events), Activity.NONE)
    (activity,) = settled(state.t, activity)
    exploited = jnp.where(activity == Activity.EXPLOIT, bit_of(state.red_target), 0)
    low, high = low & ~exploited, high | exploited  # quirk Q6: also where Privileged was believed
    found = jnp.where(blue.found, bit, 0)
    return state._replace(
        belief_low=low | found,
        belief_high=high | found,
        activity=activity,
        active_host=jnp.where(activity == Activity.NONE, -1, state.red_target),
    )


def _classify(state: State, params: Params, blue: BlueTurn, events: Events) -> Array:
    """Return what Red's events on its target look like, together with a decoy that Blue placed there in this step."""
    is_decoy_here = blue.placed == state.red_target
    entries = events.count + is_decoy_here.astype(jnp.int32)
    is_scan = (entries >= 3) & (events.ports >= 3)
    is_exploit = events.is_shell | ((entries >= 3) & (events.ports == 1))
    is_nothing = is_decoy_here & (params.decoy_hides == 1)
    return jnp.where(
        is_scan,
        Activity.SCAN,
        jnp.where(is_exploit, Activity.EXPLOIT, jnp.where(is_nothing, Activity.NONE, Activity.SCAN)),
    )


def remember(state: State, memory: Remembered, blue: BlueTurn) -> Remembered:
    """Take in Blue's action and what it was shown afterwards."""
    host, bit = state.active_host, bit_of(state.active_host)
    is_event = host >= 0
    is_exploit = state.activity == Activity.EXPLOIT
    is_scan = is_event & ~is_exploit
    is_first = is_scan & (memory.first_scan < 0)
    # B_line exploits what it scanned first; Meander scans on, elsewhere.
    is_elsewhere = is_scan & (host != memory.first_scan)
    suspect = jnp.where(
        memory.suspect == Suspect.SOMEBODY,
        jnp.where(is_elsewhere, Suspect.MEANDER, Suspect.BLINE),
        memory.suspect,
    )
    seen_by_now = memory.exploit_seen & ~jnp.where(blue.is_restore, blue.bit, 0)
    return Remembered(
        scan_seen=memory.scan_seen | jnp.where(is_scan, bit, 0),
        exploit_seen=seen_by_now | jnp.where(is_exploit, bit, 0),
        first_scan=jnp.where(is_first, host, memory.first_scan),
        last_event=jnp.where(is_event, host, memory.last_event),
        last_was_exploit=jnp.where(is_event, is_exploit.astype(jnp.int32), memory.last_was_exploit),
        since_event=jnp.where(is_event, 0, memory.since_event + 1),
        suspect=jnp.where(is_first, jnp.where(host == Host.USER0, Suspect.MEANDER, Suspect.SOMEBODY), suspect),
    )


def observe(state: State) -> Array:
    """Return Blue's observation: activity and belief of each host, and what it remembers if the state has that."""
    active = bit_of(state.active_host)
    exploit = jnp.where(state.activity == Activity.EXPLOIT, active, 0)
    bits = jnp.zeros(NUM_BITS, jnp.int32)
    for place, mask in enumerate((active, exploit, state.belief_low, state.belief_high)):
        bits = jnp.where(place == _PLACES, mask, bits)
    bits = (bits >> _HOSTS) & 1
    if state.remembered is not None:
        bits = jnp.concatenate([bits, *_remembered_bits(state, state.remembered)])
    return bits.astype(jnp.float32)


def _remembered_bits(state: State, memory: Remembered) -> list[Array]:
    """Return the groups of `garrison.cage2.defender_memory.GROUPS`, in order."""
    has_event = memory.last_event >= 0

    def hosts(mask: Array) -> Array:
        return (mask >> HOST_IDS) & 1

    groups = [
        hosts(memory.scan_seen),
        hosts(memory.exploit_seen),
        hosts(bit_of(memory.first_scan)),
        hosts(bit_of(memory.last_event)),
        memory.last_was_exploit[None],
        has_event & (memory.since_event >= SINCE),
        hosts(state.restored),
        state.decoys[_SLOTS] > 0,
        memory.suspect == np.array([Suspect.BLINE, Suspect.MEANDER]),
        state.t >= CLOCK,
    ]
    return [group.astype(jnp.int32) for group in groups]
