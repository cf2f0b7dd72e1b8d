"""Tests that need Ray: `make test-cluster` runs them in an environment of their own."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent
for folder in ("vector", "faults"):  # the tables of tests that every backend shares
    sys.path.insert(0, str(TESTS / folder))
pytest.register_assert_rewrite("test_contract", "test_async", "test_vector_faults", "vector_samples")

os.environ.pop("RAY_ADDRESS", None)


@pytest.fixture(scope="session")
def local_ray() -> Iterator[None]:
    """Ray on this machine alone, for as many tests as can share it."""
    from garrison import cluster

    cluster.connect("local", cpus=4)
    yield
    cluster.disconnect()
