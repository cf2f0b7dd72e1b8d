"""Tests that need Ray: `make test-cluster` runs them in an environment of their own."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent.parent
for folder in ("vector", "faults"):  # the tables of tests that every backend shares
    sys.path.insert(0, str(TESTS / folder))
pytest.register_assert_rewrite("test_contract", "test_async", "test_vector_faults", "vector_samples")

os.environ.pop("RAY_ADDRESS", None)


@pytest.fixture(scope="module")
def local_ray() -> Iterator[None]:
    """Ray on this machine alone."""
    from garrison import cluster

    cluster.connect("local", cpus=4)
    yield
    cluster.disconnect()


@pytest.fixture(scope="module")
def cluster_of_three() -> Iterator[Any]:
    """A cluster of three nodes, each with room for one actor: three raylets, with stores of their own."""
    from ray.cluster_utils import Cluster

    from garrison import cluster
    from garrison.cluster.session import inward

    small: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
    with inward():
        nodes = Cluster(initialize_head=True, head_node_args={**small, "include_dashboard": False})
        for _ in range(2):
            nodes.add_node(**small)
        nodes.small = small
        cluster.connect(nodes.address)
        yield nodes
        cluster.disconnect()
        nodes.shutdown()
