"""The numbers of a game that may change without compiling anything: the scenario, the length, who attacks.

`Params` is a pytree: change it with `params.replace(...)`, and `vmap` over it to play in many networks at once. Costs
are whole thousandths (`thousandths(0.5)`) and probabilities whole numbers too (`odds(0.95)`), because only so do 32
bits give what the compiled engine has in 64.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from garrison.cage2.names import NUM_REDS
from garrison.errors import UserError
from garrison.jaxsim.price import LARGEST_SUM, thousandths
from garrison.jaxsim.stream import Array, Odds, odds


class Params(NamedTuple):
    """The fields of `garrison.cage2.layout.SCENARIO` that the rules read, and what belongs to an environment."""

    max_steps_in_episode: Array
    """Steps after which an episode is truncated: Gymnax's name for the length"""
    red: Array
    """`Red`: who attacks, where it is not drawn and several attackers are compiled in"""
    red_odds: Odds
    """(4,) cumulative, by the codes of `Red`: who is drawn at a reset, where that is drawn"""
    # --- hosts
    subnet: Array
    """(13,) `Subnet`"""
    windows: Array
    """(13,) 1 for Windows"""
    confidentiality: Array
    """(13,) thousandths that a step costs in which Red holds the host privileged"""
    image_ports: Array
    """(13,) mask of the ports that the image listens on"""
    image_sockets: Array
    """(13,) how many sockets these are"""
    genuine: Array
    """(13, 8) `Genuine`: what each exploit does on the image's own processes"""
    reveals: Array
    """(13,) the host whose address an escalation tells Red, -1: none"""
    foothold: Array
    """The host of Red's first session"""
    service_host: Array
    """The host of the OTService"""
    service_cost: Array
    """Thousandths that a step costs in which it is down"""
    restore_cost: Array
    """Thousandths that a Restore costs"""
    gateways: Array
    """(3,) mask of the hosts of which Red needs one to reach the subnet; 0: it always can"""
    # --- exploits
    needs: Array
    """(8,) mask of ports that must all be in Red's list"""
    needs_any: Array
    """(8,) mask of ports of which one must be; 0: none"""
    preference: Array
    """(8,) the largest is the top choice, of equal ones the first: ranks of the scenario's weights"""
    top_odds: Odds
    """Of the top choice, where there are others"""
    brute_force: Array
    """(8,) 1 where a password is guessed"""
    brute_force_tries: Array
    """Connections that this leaves"""
    detect_rate: Odds
    """Of reverse shells"""
    process_ids: Array
    """How many there are (quirk Q14)"""
    # --- decoys
    opens: Array
    """(8,) port mask"""
    checks: Array
    """(8,) mask of the port that must be free"""
    only_on: Array
    """(8,) 1 Windows, 0 Linux, -1 any"""
    blocks: Array
    """(8,) the exploit that it answers"""
    # --- rules and encoder
    ports_accumulate: Array
    """1: a scan adds to Red's list of ports instead of replacing it"""
    restore_patches: Array
    """(8,) 1 for exploits that fail noisily on a host once it was restored"""
    decoy_hides: Array
    """1: no activity is shown where a decoy was placed (quirk Q7)"""

    def replace(self, **changes: Any) -> Self:
        """Return a copy with other numbers, as Gymnax's parameters do."""
        return self._replace(**changes)


_COSTS = ("confidentiality", "service_cost", "restore_cost")
_ODDS = ("red_odds", "top_odds", "detect_rate")


def params_of(scenario: NDArray[np.void], length: int, red: int = 0, red_odds: Any = None) -> Params:
    """Return a `SCENARIO` record of the compiled engine as parameters.

    Args:
        scenario: an array of one record, as `garrison.cage2.load_scenario` gives.
        length: steps after which an episode is truncated.
        red: code of the attacker, where none is drawn.
        red_odds: cumulative odds by the codes of `Red`, where one is drawn.

    Raises:
        UserError: if an episode could cost more than 32 bits of thousandths can say.
    """
    record = scenario[0]
    _check_costs(record, length)
    given: Mapping[str, Any] = {
        "max_steps_in_episode": jnp.int32(length),
        "red": jnp.int32(red),
        "preference": jnp.asarray(np.unique(record["weight"], return_inverse=True)[1], jnp.int32),
        **{name: thousandths(record[name]) for name in _COSTS},
        **{name: odds(record[name]) for name in _ODDS},
        "red_odds": odds(np.ones(NUM_REDS) if red_odds is None else red_odds),
    }
    plain: dict[str, Any] = {name: jnp.asarray(record[name], jnp.int32) for name in Params._fields if name not in given}
    return Params(**given, **plain)


def _check_costs(record: np.void, length: int) -> None:
    dearest = sum(float(np.abs(record[name]).sum()) for name in _COSTS)
    if dearest * length > LARGEST_SUM:
        raise UserError(
            f"a step can cost {dearest:g} and an episode of {length} steps more than {LARGEST_SUM:,.0f}, which 32 bits "
            "cannot say exactly: use lower costs or shorter episodes, or the compiled engine."
        )
