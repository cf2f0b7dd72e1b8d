"""Every workload of learners without a barrier does its work, and efficiencies are shares of the bare loops."""

import pytest

from garrison.bench import train_async
from garrison.bench.measure import Configuration, Measurement, Report, Sample

ROUNDS = 50


def test_our_learners_advance_by_whole_updates() -> None:
    with train_async.impala(actors=0, envs=8, rollout=16, threads=1) as work:
        assert [work.advance(), work.advance()] == [128, 128]
        assert work.facts()["train/policy_lag"] == 0
    with train_async.ppo(workers=2, envs=8, rollout=16, rounds=ROUNDS) as work:
        assert [work.advance(), work.advance()] == [128, 128]


def test_workers_and_actors_advance() -> None:
    with train_async.impala(actors=1, envs=4, rollout=16, rounds=ROUNDS) as work:
        assert [work.advance(), work.advance()] == [64, 64]
        assert set(work.facts()) >= {"train/policy_lag", "train/publish_share"}
    with train_async.a3c(actors=1, envs=4, rollout=16, rounds=ROUNDS) as work:
        assert work.advance() >= 64


def test_an_error_reaches_the_measurement() -> None:
    with pytest.raises(ValueError, match="rollout cannot be 0"), train_async.impala(0, 8, 0) as work:
        work.advance()


def test_configurations_have_names_of_their_own_and_rllib_its_interpreter() -> None:
    rows = train_async.configurations(quick=False, peers={"rllib": "/opt/ray/bin/python"})
    assert len({row.name for row in rows}) == len(rows)
    assert {row.python == "/opt/ray/bin/python" for row in rows if "RLlib" in row.name} == {True}
    assert not [row for row in train_async.configurations(quick=True, peers={}) if "RLlib" in row.name]


def test_efficiency_is_the_share_of_the_bare_loops() -> None:
    def row(name: str, rate: int) -> Measurement:
        return Measurement(Configuration(name, ""), (Sample(rate, 1.0, 1.0, 0.0, 0.0, 0.0, 1, {}),))

    rows = (row(train_async.IDEAL, 2000), row("uneven: IMPALA", 1900), row("native: A3C", 10))
    assert train_async.efficiencies(Report(rows, {}, {})) == {"uneven: IMPALA, share of the bare loops": 0.95}
