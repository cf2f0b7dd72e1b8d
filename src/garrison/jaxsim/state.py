"""The state of one environment as a pytree of 32-bit and 16-bit arrays; a batch is what `vmap` makes of it.

It holds what `garrison.cage2.layout.STATE` holds, by the same names, less what follows from the rest. Facts that are
true or false on each host are masks, bit h for host h: one number instead of thirteen. `true_state` spells them out.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from garrison.cage2.names import NUM_DECOYS, NUM_HOSTS, Activity, Red, Success, Suspect
from garrison.jaxsim.params import Params
from garrison.jaxsim.stream import Array, Words
from garrison.jaxsim.variant import Variant

HOST_IDS = np.arange(NUM_HOSTS, dtype=np.int32)


class Bline(NamedTuple):
    """What B_line remembers."""

    state: Array
    seen: Array
    """Mask of the states whose action is memorised"""
    user: Array
    """The user host it drew, -1 before"""


class Meander(NamedTuple):
    """What Meander remembers."""

    swept: Array
    """Mask of subnets"""
    scanned: Array
    """Masks of hosts, this and the next three"""
    exploited: Array
    escalated: Array
    mapped: Array
    last_exploited: Array
    """Target of the last action if that was an exploit, else -1"""
    last_owned: Array
    """Target of the last action if that was an escalate or Impact, else -1"""


class Remembered(NamedTuple):
    """What a defender can remember, beyond what the state has anyway: its decoys, its Restores, the time."""

    scan_seen: Array
    """Mask of hosts"""
    exploit_seen: Array
    """Mask of hosts, since their last Restore"""
    first_scan: Array
    """Host, -1: none yet"""
    last_event: Array
    """Host of the last scan or exploit seen, -1: none yet"""
    last_was_exploit: Array
    since_event: Array
    """Steps since then"""
    suspect: Array
    """`Suspect`: who Red seems to be"""


class State(NamedTuple):
    """One environment."""

    # --- the episode
    stream: Words
    """The generator of `garrison.cage2.rng`"""
    t: Array
    """Steps taken"""
    total: Array
    """Thousandths of reward so far"""
    last_total: Array
    """Those of the episode that ended last"""
    last_length: Array
    """And its number of steps"""
    # --- Red's sessions; counts are int16[13]
    sessions: Array
    removable: Array
    """Of these: user level and reported"""
    hidden: Array
    """Of these: user level and never reported"""
    lead: Array
    """Removable sessions older than every fixed one"""
    reported: Array
    """Privileged sessions whose process was reported"""
    stale: Array
    """Reported process ids that are free again (quirk Q14)"""
    held: Array
    """Mask: hosts with a session"""
    privileged: Array
    """Mask: hosts with a privileged session"""
    fixed: Array
    """Mask: hosts with a session that Remove does not touch"""
    fixed_privileged: Array
    """Mask: hosts where the oldest of those is privileged"""
    # --- the hosts
    malware: Array
    """Mask: a file that Analyse would find"""
    decoys: Array
    """int16[104], number of each decoy, host by host"""
    ports: Array
    """int16[13], mask of listening ports, image and decoys"""
    sockets: Array
    """int16[13], number of listening sockets"""
    restored: Array
    """Mask: restored in this episode"""
    # --- the OTService
    ot_running: Array
    ot_stoppable: Array
    ot_active: Array
    ot_known: Array
    # --- Red
    red: Array
    red_ports: Array
    """int16[13], ports at the last answered scan, -1 before the first"""
    known_address: Array
    """Mask of hosts"""
    known_host: Array
    """Mask of hosts"""
    known_subnet: Array
    """Mask of subnets"""
    red_kind: Array
    red_target: Array
    red_exploit: Array
    red_success: Array
    red_answered: Array
    bline: Bline | None
    """None where B_line is not compiled in"""
    meander: Meander | None
    """None where Meander is not compiled in"""
    # --- Blue
    blue_action: Array
    blue_success: Array
    belief_low: Array
    """Mask: bit 0 of the belief about each host"""
    belief_high: Array
    """Mask: bit 1"""
    activity: Array
    active_host: Array
    remembered: Remembered | None
    """None where the observation does not need it"""


def first_state(variant: Variant, params: Params, stream: Words, red: Array) -> State:
    """Return the state at the beginning of an episode (rules §4)."""
    zero, none, one = jnp.int32(0), jnp.int32(-1), jnp.int32(1)
    no_counts = jnp.zeros(NUM_HOSTS, jnp.int16)
    foothold = one << params.foothold
    return State(
        stream=stream,
        t=zero,
        total=zero,
        last_total=zero,
        last_length=zero,
        sessions=(params.foothold == HOST_IDS).astype(jnp.int16),
        removable=no_counts,
        hidden=no_counts,
        lead=no_counts,
        reported=no_counts,
        stale=no_counts,
        held=foothold,
        privileged=foothold,
        fixed=foothold,
        fixed_privileged=foothold,
        malware=zero,
        decoys=jnp.zeros(NUM_HOSTS * NUM_DECOYS, jnp.int16),
        ports=params.image_ports.astype(jnp.int16),
        sockets=params.image_sockets.astype(jnp.int16),
        restored=zero,
        ot_running=one,
        ot_stoppable=one,
        ot_active=one,
        ot_known=zero,
        red=red,
        red_ports=jnp.full(NUM_HOSTS, -1, jnp.int16),
        known_address=foothold,
        known_host=foothold,
        known_subnet=one << params.subnet[params.foothold],
        red_kind=zero,
        red_target=none,
        red_exploit=none,
        red_success=jnp.int32(Success.UNKNOWN),
        red_answered=one,
        bline=Bline(zero, zero, none) if Red.BLINE in variant.reds else None,
        meander=Meander(zero, zero, zero, zero, zero, none, none) if Red.MEANDER in variant.reds else None,
        blue_action=zero,
        blue_success=jnp.int32(Success.UNKNOWN),
        belief_low=zero,
        belief_high=zero,
        activity=jnp.int32(Activity.NONE),
        active_host=none,
        remembered=Remembered(zero, zero, none, none, zero, zero, jnp.int32(Suspect.NOBODY))
        if variant.remembers
        else None,
    )
