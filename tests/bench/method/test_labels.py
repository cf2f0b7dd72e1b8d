"""A row is its labels; its name is rendered last, by one function."""

import pytest

from garrison.bench.method.labels import is_peer, name_of


@pytest.mark.parametrize(
    ("labels", "name"),
    [
        ({"who": "garrison", "envs": 10_000, "threads": 2}, "garrison, 10,000 environments, 2 threads"),
        ({"who": "garrison", "envs": 1, "threads": 1}, "garrison, 1 environment"),
        ({"who": "Gymnasium", "backend": "Sync", "envs": 20, "cost": "3 ms"}, "Gymnasium Sync, 20 environments, 3 ms"),
        ({"who": "garrison", "hidden": 64, "compute": "autograd"}, "garrison 64x64, plain torch"),
        ({"env": "native", "who": "RLlib", "learner": "IMPALA", "actors": 0}, "native, RLlib IMPALA, in one process"),
        ({"who": "somebody", "unheard_of": "thing"}, "somebody, thing"),
        ({"hidden": 256, "trunk": "shared"}, "256x256, shared trunk"),
    ],
)
def test_names(labels: dict[str, object], name: str) -> None:
    assert name_of(labels) == name


def test_peers_are_neither_ours_nor_a_reference() -> None:
    assert is_peer({"who": "CybORG"})
    ours = ("garrison", "limit", "plain loop", "matrix products", "memory copy")
    assert not any(is_peer({"who": who}) for who in ours)
