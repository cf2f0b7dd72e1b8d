"""Tests that need Ray: `make test-cluster` runs them in an environment of their own."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

os.environ.pop("RAY_ADDRESS", None)

WITHOUT_RAY = {"test_scaling.py"}
HERE = {file.name for file in Path(__file__).parent.glob("test_*.py")}
collect_ignore = [] if find_spec("ray") else sorted(HERE - WITHOUT_RAY)


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
    from garrison.cluster.connection import inward

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
