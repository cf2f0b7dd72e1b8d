"""Settings for the whole suite, made before Numba is imported."""

import os

# Kernels are tested with bounds checks; their machine code is cached apart from the fast one.
os.environ.setdefault("NUMBA_BOUNDSCHECK", "1")

from hypothesis import HealthCheck, settings

# Examples follow from the test, not from chance, so a failure repeats; the first one may include a compile.
settings.register_profile(
    "suite", derandomize=True, deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("suite")
