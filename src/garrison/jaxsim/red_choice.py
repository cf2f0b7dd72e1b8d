"""How the scripted attackers choose their next action (rules §8)."""

from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from garrison.cage2.names import Host, Red, RedKind, Subnet, Success
from garrison.cage2.red import BLINE_TARGETS, ENTERPRISE_HOSTS, EXPLOIT_SERVER_STATE, JUMP, LAST_STATE, OP_HOSTS
from garrison.jaxsim.draws import Draws
from garrison.jaxsim.lookup import at, bit_of, settled
from garrison.jaxsim.params import Params
from garrison.jaxsim.state import Bline, Meander, State
from garrison.jaxsim.stream import Array, first_bit
from garrison.jaxsim.variant import Variant

# What B_line does in each state: the kind, and its target; these stand for the user host it drew and what that reveals.
_USER, _REVEALED = 100, 101
_PLAN = (
    (RedKind.SWEEP, Subnet.USER),
    (RedKind.SCAN, _USER),
    (RedKind.EXPLOIT, _USER),
    (RedKind.ESCALATE, _USER),
    (RedKind.SCAN, _REVEALED),
    (RedKind.EXPLOIT, _REVEALED),
    (RedKind.ESCALATE, _REVEALED),
    (RedKind.SWEEP, Subnet.ENTERPRISE),
    (RedKind.SCAN, Host.ENTERPRISE2),
    (RedKind.EXPLOIT, Host.ENTERPRISE2),
    (RedKind.ESCALATE, Host.ENTERPRISE2),
    (RedKind.SCAN, Host.OP_SERVER0),
    (RedKind.EXPLOIT, Host.OP_SERVER0),
    (RedKind.ESCALATE, Host.OP_SERVER0),
    (RedKind.IMPACT, Host.OP_SERVER0),
)
_KINDS = np.array([kind for kind, _ in _PLAN], np.int32)
_TARGETS = np.array([target for _, target in _PLAN], np.int32)
_AFTER_FAILURE = np.array(JUMP, np.int32)


_Tree = TypeVar("_Tree")


class RedChoice(NamedTuple):
    """An action of Red."""

    kind: Array
    """A code of `RedKind`"""
    target: Array
    """A host; for a sweep a subnet; -1 for Sleep"""


def choose_red_action(
    variant: Variant, state: State, params: Params, draws: Draws, wanted: RedChoice | None
) -> tuple[State, RedChoice]:
    """Return Red's next action; `wanted` is that of an external attacker, where there is one."""
    choice = RedChoice(jnp.int32(RedKind.SLEEP), jnp.int32(-1))
    bline, meander = state.bline, state.meander
    plays = {red: len(variant.reds) == 1 or state.red == red for red in variant.reds}
    if bline is not None:
        bline, choice = _only_if(
            plays[Red.BLINE], _bline(state, bline, params, draws, plays[Red.BLINE]), (bline, choice)
        )
    if meander is not None:
        wandered = _meander(state, meander, draws, plays[Red.MEANDER])
        meander, choice = _only_if(plays[Red.MEANDER], wandered, (meander, choice))
    if wanted is not None:
        choice = _only_if(plays[Red.EXTERNAL], _checked(state, wanted), choice)
    return state._replace(bline=bline, meander=meander), RedChoice(*settled(state.t, *choice))


def _checked(state: State, wanted: RedChoice) -> RedChoice:
    """Return an external attacker's action, an invalid one if it names what Red has not learned (rules §7.6)."""
    kind, target = wanted
    bit = bit_of(target)
    is_host = (kind == RedKind.SCAN) | (kind == RedKind.EXPLOIT)
    is_owned = (kind == RedKind.ESCALATE) | (kind == RedKind.IMPACT)
    known = jnp.where(is_host, state.known_address, jnp.where(is_owned, state.known_host, state.known_subnet))
    is_known = (kind == RedKind.SLEEP) | (known & bit != 0)
    return RedChoice(jnp.where(is_known, kind, RedKind.INVALID), target)


def _bline(state: State, bline: Bline, params: Params, draws: Draws, plays: Array) -> tuple[Bline, RedChoice]:
    """Walk the shortest path to Op_Server0; a failure falls back to an earlier state."""
    succeeded = state.red_success == Success.YES
    s = jnp.where(succeeded, jnp.minimum(bline.state + 1, LAST_STATE), at(_AFTER_FAILURE, bline.state))
    is_new = (bline.seen >> s) & 1 == 0
    # The scan of Op_Server0 "succeeded" without an answer: start over and read the same success again.
    starts_over = (s == EXPLOIT_SERVER_STATE) & is_new & (state.red_answered == 0)
    s = jnp.where(starts_over, jnp.where(succeeded, 1, JUMP[0]), s)
    s, is_drawn = settled(state.t, s, plays & (s == 1) & (bline.user < 0))
    user = jnp.where(is_drawn, draws.bline_target(jnp.int32(BLINE_TARGETS), is_drawn), bline.user)
    target = at(_TARGETS, s)
    target = jnp.where(target == _USER, user, jnp.where(target == _REVEALED, at(params.reveals, user), target))
    return Bline(s, bline.seen | (1 << s), user), RedChoice(at(_KINDS, s), target)


def _meander(state: State, meander: Meander, draws: Draws, plays: Array) -> tuple[Meander, RedChoice]:
    """Sweep, scan, escalate and exploit whatever is next, everywhere: the first of these that there is to do."""
    meander = _learn(state, meander)
    none = jnp.int32(-1)
    unswept = state.known_subnet & ~meander.swept
    unscanned = state.known_address & ~meander.scanned
    waiting = state.known_host & ~meander.escalated & (~meander.mapped | meander.exploited)
    unexploited = state.known_address & ~meander.exploited
    impacts = (meander.escalated >> Host.OP_SERVER0) & 1 == 1
    sweeps = ~impacts & (unswept != 0)
    picks = ~impacts & ~sweeps
    scans = picks & (unscanned != 0)
    escalates = picks & ~scans & (waiting != 0)
    exploits = picks & ~scans & ~escalates & (unexploited != 0)

    addresses = jnp.where(scans, unscanned, unexploited)
    host = draws.meander_target(addresses, waiting, escalates, plays & (scans | escalates | exploits))
    bit = bit_of(host)
    subnet = first_bit(unswept)
    meander = Meander(
        swept=meander.swept | jnp.where(sweeps, 1 << subnet, 0),
        scanned=meander.scanned | jnp.where(scans, bit, 0),
        exploited=meander.exploited | jnp.where(exploits, bit, 0),
        escalated=meander.escalated | jnp.where(escalates, bit, 0),
        mapped=meander.mapped,
        last_exploited=jnp.where(exploits, host, none),
        last_owned=jnp.where(impacts, Host.OP_SERVER0, jnp.where(escalates, host, none)),
    )
    kind = jnp.int32(RedKind.SLEEP)  # CybORG raises an exception here; no episode was ever seen to reach it
    for is_chosen, of_kind in (
        (impacts, RedKind.IMPACT),
        (sweeps, RedKind.SWEEP),
        (scans, RedKind.SCAN),
        (escalates, RedKind.ESCALATE),
        (exploits, RedKind.EXPLOIT),
    ):
        kind = jnp.where(is_chosen, of_kind, kind)
    target = jnp.where(impacts, Host.OP_SERVER0, jnp.where(sweeps, subnet, host))
    return meander, RedChoice(kind, jnp.where(kind == RedKind.SLEEP, none, target))


def _learn(state: State, meander: Meander) -> Meander:
    """Read the outcome of the last action: a failed exploit makes Meander forget a whole subnet of its hosts."""
    bit = bit_of(meander.last_exploited)
    won = state.red_success == Success.YES
    lost_op = meander.escalated & OP_HOSTS
    lost = jnp.where(lost_op != 0, lost_op, meander.escalated & ENTERPRISE_HOSTS)
    lost = jnp.where((bit != 0) & ~won, lost, 0)
    escalated = meander.escalated & ~lost
    exploited = meander.exploited & ~lost & ~jnp.where(won, 0, bit)
    mapped = meander.mapped | jnp.where(won, bit, 0)
    owned = jnp.where(state.red_success == Success.NO, bit_of(meander.last_owned), 0)
    return meander._replace(mapped=mapped, escalated=escalated & ~owned, exploited=exploited & ~(owned & mapped))


def _only_if(condition: Array, new: _Tree, old: _Tree) -> _Tree:
    """Return `new` where the condition holds, else `old`, leaf by leaf."""
    if condition is True:
        return new
    chosen: _Tree = jax.tree.map(lambda n, o: jnp.where(condition, n, o), new, old)
    return chosen
