"""Every workload of learners without a barrier does its work."""

import pytest

from garrison.bench.suites import async_training, our_trainers

ROUNDS = 50


def test_our_learners_advance_by_whole_updates() -> None:
    with our_trainers.impala(actors=0, envs=8, rollout=16, threads=1) as work:
        assert [work.advance(), work.advance()] == [128, 128]
        assert work.facts()["train/policy_lag"] == 0
    job = {"num_envs": 8, "rollout": 16, "minibatches": 1, "epochs": 1}
    for backend in ("shared", "async"):
        with our_trainers.ppo(job, backend=backend, workers=2, options={"rounds": ROUNDS, "uneven": True}) as work:
            assert [work.advance(), work.advance()] == [128, 128]


def test_workers_and_actors_advance() -> None:
    with our_trainers.impala(actors=1, envs=4, rollout=16, rounds=ROUNDS) as work:
        assert [work.advance(), work.advance()] == [64, 64]
        assert set(work.facts()) >= {"train/policy_lag", "train/publish_share"}
    with our_trainers.a3c(actors=1, envs=4, rollout=16, rounds=ROUNDS) as work:
        assert work.advance() >= 64


def test_an_error_reaches_the_measurement() -> None:
    with pytest.raises(ValueError, match="rollout cannot be 0"), our_trainers.impala(0, 8, 0) as work:
        work.advance()


def test_configurations_have_names_of_their_own_and_rllib_its_interpreter() -> None:
    rows = async_training.configurations(quick=False, peers={"rllib": "/opt/ray/bin/python"})
    assert len({row.name for row in rows}) == len(rows)
    assert {row.python == "/opt/ray/bin/python" for row in rows if row.labels["who"] == "RLlib"} == {True}
    assert not [row for row in async_training.configurations(quick=True, peers={}) if row.labels["who"] == "RLlib"]


def test_ppo_is_measured_over_a_barrier_and_ready_first() -> None:
    rows = [row for row in async_training.configurations(quick=True, peers={}) if row.labels["env"] == "uneven"]
    backends = {row.labels["learner"]: row.arguments["backend"] for row in rows if "PPO" in str(row.labels)}
    assert backends == {"PPO": "shared", "PPO, ready first": "async"}
