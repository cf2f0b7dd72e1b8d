"""Every workload of `garrison bench train` does its work."""

import pytest

from garrison.bench.method.fresh import Configuration
from garrison.bench.suites import our_trainers, peer_trainers, training_speed

TINY = {"num_envs": 8, "rollout": 16, "minibatches": 2, "epochs": 2}


@pytest.mark.parametrize("compute", ["compiled", "autograd"])
def test_our_trainer_advances_by_whole_updates(compute: str) -> None:
    with our_trainers.ppo(TINY, 16, compute) as work:
        assert [work.advance(), work.advance()] == [128, 128]
        assert sum(work.facts().values()) == pytest.approx(1.0)


def test_an_error_in_training_reaches_the_measurement() -> None:
    with pytest.raises(ValueError, match="rollout cannot be 0"), our_trainers.ppo(TINY | {"rollout": 0}, 16) as work:
        work.advance()


def test_peers_and_products_advance() -> None:
    with peer_trainers.cleanrl_style(TINY, 16) as work:
        assert work.advance() == 128
    with peer_trainers.sb3(TINY, 16) as work:
        assert work.advance() == 128
    with our_trainers.products(16, 2, "shared") as work:
        assert work.advance() > 0


@pytest.mark.parametrize("backend", ["serial", "shared"])
def test_python_environments_are_stepped_by_workers(backend: str) -> None:
    with our_trainers.ppo(TINY, 16, backend=backend) as work:
        assert work.advance() == 128


def test_python_cage2_is_trained_on_too() -> None:
    with our_trainers.ppo(TINY, 16, backend="serial", env="garrison/CAGE2-v0") as work:
        assert work.advance() == 128


def test_rows_come_from_groups_and_their_names_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    another = Configuration({"who": "another"}, "x:y")
    monkeypatch.setattr(training_speed, "GROUPS", [*training_speed.GROUPS, lambda quick: [another]])
    names = [row.name for row in training_speed.configurations(quick=False)]
    assert names[-1] == "another"
    assert len(set(names)) == len(names)
    assert {row.name for row in training_speed.configurations(quick=True)} < set(names)


def test_every_peer_is_beside_us_on_both_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    peers = ["CleanRL-style", "Stable-Baselines3", "SBX", "PureJaxRL-style"]
    monkeypatch.setattr(training_speed.Peer, "missing", lambda peer: [])
    rows = [row.labels for row in training_speed.native(quick=False)]
    for job in ({"hidden": 64}, {"hidden": 64, "minibatch": 512}):
        assert [{"who": who} | job in rows for who in ["garrison", *peers]] == [True] * 5


def test_peers_that_are_not_installed_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_speed.importlib.util, "find_spec", lambda module: None)
    assert {row.labels["who"] for row in training_speed.native(quick=False)} == {
        "garrison",
        "CleanRL-style",
        "matrix products",
    }
    sbx = next(peer for peer in training_speed.NATIVE_PEERS if peer.who == "SBX")
    assert sbx.missing() == ["sbx"]
