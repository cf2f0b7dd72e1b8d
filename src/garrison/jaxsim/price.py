"""Rewards as whole thousandths, and their conversion to the float that stands nearest.

Every cost of a scenario is a multiple of 0.001, so sums of thousandths are exact in 32 bits, where sums of floats are
not. `to_float` then gives, up to `LARGEST_SUM`, the same float32 as the compiled engine's float64.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from garrison.cage2.reward import RESOLUTION
from garrison.jaxsim.stream import Array

LARGEST_SUM = 2.0**21
"""What an episode can cost at most, in either direction; beyond, thousandths can lie midway between two floats"""
_UPPER_BITS = ~0xFFF


def thousandths(cost: Any) -> Array:
    """Return a cost, or an array of these, as whole thousandths."""
    if isinstance(cost, jax.Array):
        return jnp.round(cost * RESOLUTION).astype(jnp.int32)
    return jnp.asarray(np.round(np.asarray(cost, np.float64) * RESOLUTION).astype(np.int32))


def to_float(amount: Array) -> Array:
    """Return an int32 of thousandths as the nearest float32.

    A product with 0.001 is right up to one unit in the last place. The rest that it leaves is found exactly, because no
    number on the way has more than 24 bits, and put right. A division would do, but compilers replace a division by a
    constant with such a product, and not every device divides exactly.
    """
    upper = amount.astype(jnp.float32)
    lower = (amount - upper.astype(jnp.int32)).astype(jnp.float32)
    near = upper * jnp.float32(1 / RESOLUTION)
    near_upper = lax.bitcast_convert_type(
        lax.bitcast_convert_type(near, jnp.int32) & jnp.int32(_UPPER_BITS), jnp.float32
    )
    rest = (upper - near_upper * RESOLUTION) + lower - (near - near_upper) * RESOLUTION
    return near + rest * jnp.float32(1 / RESOLUTION)
