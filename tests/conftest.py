"""Settings for the whole suite, made before Numba is imported."""

import os

# Kernels are tested with bounds checks; their machine code is cached apart from the fast one.
os.environ.setdefault("NUMBA_BOUNDSCHECK", "1")

from hypothesis import HealthCheck, settings

PLAIN = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"  # the same kernels as plain Python, a thousand times slower

# Examples follow from the test, not from chance, so a failure repeats; the first one may include a compile.
settings.register_profile(
    "suite",
    derandomize=True,
    deadline=None,
    max_examples=25 if PLAIN else 200,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("suite")
