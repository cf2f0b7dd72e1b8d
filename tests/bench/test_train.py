"""Every workload of `garrison bench train` does its work, and its ratios are the right way round."""

import pytest

from garrison.bench import train
from garrison.bench.measure import Configuration, Measurement, Report, Sample

TINY = {"num_envs": 8, "rollout": 16, "minibatches": 2, "epochs": 2}


@pytest.mark.parametrize("compute", ["compiled", "autograd"])
def test_our_trainer_advances_by_whole_updates(compute: str) -> None:
    with train.garrison(TINY, 16, compute) as work:
        assert [work.advance(), work.advance()] == [128, 128]
        assert sum(work.facts().values()) == pytest.approx(1.0)


def test_an_error_in_training_reaches_the_measurement() -> None:
    with pytest.raises(ValueError, match="rollout cannot be 0"), train.garrison(TINY | {"rollout": 0}, 16) as work:
        work.advance()


def test_peers_and_products_advance() -> None:
    from garrison.bench import train_peers

    with train_peers.cleanrl_style(TINY, 16) as work:
        assert work.advance() == 128
    with train_peers.sb3(TINY, 16) as work:
        assert work.advance() == 128
    with train.products(16, "shared") as work:
        assert work.advance() > 0


@pytest.mark.parametrize("backend", ["serial", "shared"])
def test_python_environments_are_stepped_by_workers(backend: str) -> None:
    with train.garrison(TINY, 16, backend=backend) as work:
        assert work.advance() == 128


def test_python_cage2_is_trained_on_too() -> None:
    with train.garrison(TINY, 16, backend="serial", env="garrison/CAGE2-v0") as work:
        assert work.advance() == 128


def test_rows_come_from_groups_and_their_names_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "GROUPS", [*train.GROUPS, lambda quick: [Configuration("another", "x:y")]])
    names = [row.name for row in train.configurations(quick=False)]
    assert names[-1] == "another"
    assert len(set(names)) == len(names)
    assert {row.name for row in train.configurations(quick=True)} < set(names)


def test_ratios_are_ours_over_theirs() -> None:
    def row(name: str, rate: int) -> Measurement:
        return Measurement(Configuration(name, ""), (Sample(rate, 1.0, 1.0, 0.0, 0.0, 0.0, 1, {}),))

    rows = (row("garrison 64x64", 300), row("matrix products 64x64", 600), row("CleanRL-style 64x64", 30))
    ratios = train._ratios(Report(rows, {}, {}))
    assert sorted(ratios.values()) == [0.5, 10.0]
