"""A Gaussian process over the 120 orders: what rewards to expect of orders that were not tried.

The covariance of two orders is `signal * exp(-kendall / length)`, the Mallows kernel, which is positive definite on
permutations (Jiao and Vert, 2015); every observation carries noise of one variance. Targets are standardised; signal,
length and noise maximise the marginal likelihood, inside bounds that keep few observations from being over-read.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from garrison.errors import UserError
from garrison.system import install
from garrison.workflow.orders import ORDERS, kendall_matrix

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

Floats = NDArray[np.float64]

LENGTHS = (0.1, 3.0)  # of the kernel, in Kendall distances: from one swap to more than a whole reversal
SIGNALS = (0.05, 20.0)  # variances, of targets with variance 1
NOISES = (1e-4, 1.0)
LEAST = 2  # observations before there is anything to fit


@dataclass(frozen=True)
class Posterior:
    """What is believed about every order's reward."""

    mean: Floats
    """(120,)"""
    deviation: Floats
    """(120,): of the reward itself; the noise of observing it is not in it."""
    length: float
    """Kendall distance over which the covariance falls to 1/e."""
    signal: float
    """Variance of the rewards over the orders."""
    noise: float
    """Variance of an observation about its order's reward."""


def has_sklearn() -> bool:
    """Return whether scikit-learn is installed."""
    return find_spec("sklearn") is not None


def require_sklearn() -> None:
    """Raise a `UserError` if scikit-learn is not installed."""
    if not has_sklearn():
        raise UserError(
            f"scikit-learn is not installed: {install('workflow')}. The methods random and exhaustive do without it."
        )


def mallows(distances: Floats, length: float) -> Floats:
    """Return the correlations of orders at these Kendall distances."""
    correlations: Floats = np.exp(-distances / length)
    return correlations


def fit(orders: Sequence[int], rewards: Sequence[float]) -> Posterior:
    """Return the posterior after these observations; an order may have several."""
    require_sklearn()
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel
    from threadpoolctl import threadpool_limits

    if len(orders) < LEAST:
        raise ValueError(f"{LEAST} observations are needed, there are {len(orders)}")
    values = np.asarray(rewards, np.float64)
    centre, scale = float(values.mean()), float(values.std()) or 1.0
    kernel = ConstantKernel(1.0, SIGNALS) * mallows_kernel(0.5) + WhiteKernel(0.1, NOISES)
    # The restart is drawn from a fixed state: the same observations always give the same decision.
    process = GaussianProcessRegressor(kernel, alpha=1e-10, n_restarts_optimizer=1, random_state=0)
    # Matrices this small gain nothing from a second thread, and wait long for it on a busy machine.
    with threadpool_limits(1), warnings.catch_warnings():
        # A parameter at its bound is an answer: with few observations the likelihood is often flat there.
        warnings.simplefilter("ignore", ConvergenceWarning)
        process.fit(_column(orders), (values - centre) / scale)
        mean, deviation = process.predict(_column(range(len(ORDERS))), return_std=True)
    signal, noise = process.kernel_.k1.k1.constant_value, process.kernel_.k2.noise_level
    return Posterior(
        mean=centre + scale * mean,
        deviation=scale * np.sqrt(np.maximum(deviation**2 - noise, 0.0)),
        length=float(process.kernel_.k1.k2.length),
        signal=float(scale**2 * signal),
        noise=float(scale**2 * noise),
    )


def mallows_kernel(length: float) -> "Kernel":
    """Return the kernel as scikit-learn wants it, over columns of orders' numbers."""
    from sklearn.gaussian_process.kernels import Hyperparameter, Kernel, NormalizedKernelMixin

    table = kendall_matrix()

    class Mallows(NormalizedKernelMixin, Kernel):  # type: ignore[misc] # scikit-learn has no hints
        """Correlations that fall with the Kendall distance."""

        def __init__(self, length: float = 1.0) -> None:
            self.length = length

        @property
        def hyperparameter_length(self) -> Any:
            return Hyperparameter("length", "numeric", LENGTHS)

        def __call__(self, X: Floats, Y: Floats | None = None, eval_gradient: bool = False) -> Any:
            rows = X[:, 0].astype(int)
            columns = rows if Y is None else Y[:, 0].astype(int)
            distances = table[np.ix_(rows, columns)]
            correlations = mallows(distances, self.length)
            if not eval_gradient:
                return correlations
            # scikit-learn tunes the logarithm of the length.
            return correlations, (correlations * distances / self.length)[:, :, np.newaxis]

        def is_stationary(self) -> bool:
            return False

    return Mallows(length)


def _column(orders: Sequence[int]) -> Floats:
    return np.array(orders, np.float64).reshape(-1, 1)
