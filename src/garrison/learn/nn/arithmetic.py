"""Functions of one float32 that the compiler can turn into vector instructions.

The library's `exp` and `tanh` are calls that stop a loop from being vectorised; these are polynomials without
branches. `exp` is within 2e-7 of the true value (relative) and `tanh` within 2e-7 (absolute). NaN stays NaN,
so that a diverging run is noticed; infinities become NaN too.
"""

import numpy as np
from numpy.typing import NDArray

from garrison.jit import kernel

Floats = NDArray[np.float32]

MASKED = np.float32(-1e30)  # the logit of a forbidden action: finite, so that 0 times it is 0


@kernel(fastmath=True)
def exp(x: np.float32) -> np.float32:
    """Return e**x, and 0 where x is below -87."""
    y = min(max(x, np.float32(-87.0)), np.float32(88.0))
    n = np.floor(y * np.float32(1.44269504) + np.float32(0.5))
    # ln 2 in two parts, the first with trailing zeros: their products with n lose nothing.
    r = y - n * np.float32(0.693359375) + n * np.float32(2.12194440e-4)
    p = np.float32(1.9875691500e-4)
    p = p * r + np.float32(1.3981999507e-3)
    p = p * r + np.float32(8.3334519073e-3)
    p = p * r + np.float32(4.1665795894e-2)
    p = p * r + np.float32(1.6666665459e-1)
    p = p * r + np.float32(5.0000001201e-1)
    power = np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)  # 2**n by its exponent bits
    kept_nan = (x - y) * np.float32(0.0)
    result = (p * r * r + r + np.float32(1.0)) * power + kept_nan
    return np.float32(0.0) if x < np.float32(-87.0) else result


@kernel(fastmath=True)
def tanh(x: np.float32) -> np.float32:
    """Return the hyperbolic tangent by a rational approximation."""
    limit = np.float32(7.90531110763549805)
    y = min(max(x, -limit), limit)
    s = y * y
    p = np.float32(-2.76076847742355e-16)
    p = p * s + np.float32(2.00018790482477e-13)
    p = p * s + np.float32(-8.60467152213735e-11)
    p = p * s + np.float32(5.12229709037114e-08)
    p = p * s + np.float32(1.48572235717979e-05)
    p = p * s + np.float32(6.37261928875436e-04)
    p = p * s + np.float32(4.89352455891786e-03)
    q = np.float32(1.19825839466702e-06)
    q = q * s + np.float32(1.18534705686654e-04)
    q = q * s + np.float32(2.26843463243900e-03)
    q = q * s + np.float32(4.89352518554385e-03)
    kept_nan = (x - y) * np.float32(0.0)
    return y * p / q + kept_nan
