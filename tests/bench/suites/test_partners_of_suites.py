"""Every suite says which row is compared with which, and takes --repeats and --budget from the command."""

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any

import pytest

from garrison import cli, system
from garrison.bench.method.fresh import Configuration
from garrison.bench.method.labels import name_of
from garrison.bench.method.measurement import Measurement
from garrison.bench.method.partners import heats
from garrison.bench.method.rounds import BUDGET, Rounds
from garrison.bench.suites import (
    SUITES,
    coinrun_speed,
    simulator_speed,
    training_speed,
    user_figures,
    user_tables,
)
from garrison.bench.suites.arguments import MeasuringArguments
from garrison.cluster import connection

MEASURING = ("sim", "vector", "train", "users", "cluster", "scaling")


@dataclass
class Asked(BaseException):
    """What `measure` was asked for."""

    rows: Sequence[Configuration]
    rounds: Rounds

    def partner(self, name: str) -> str:
        row = next(row for row in self.rows if row.name == name)
        return name_of(row.partner or {})

    def references(self) -> set[str]:
        return {row.name for row in self.rows if row.partner is None}


@pytest.fixture(autouse=True)
def everything_is_installed_and_nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(rows: Sequence[Configuration], rounds: Rounds, **_: Any) -> None:
        raise Asked(rows, rounds)

    for name in MEASURING:
        monkeypatch.setattr(import_module(SUITES[name][0]), "measure", ask)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(coinrun_speed, "find_spec", lambda name: name)
    monkeypatch.setattr(system, "missing", lambda _: "")
    for module in (simulator_speed, training_speed):
        monkeypatch.setattr(module, "require", lambda *_: None)
    monkeypatch.setattr(simulator_speed, "startup", lambda _: {})
    monkeypatch.setattr(simulator_speed, "is_installed", lambda _: True)
    monkeypatch.setattr(simulator_speed, "minicage_module", lambda: "MiniCAGE")
    monkeypatch.setattr(simulator_speed, "cores", lambda: 2)
    monkeypatch.setattr(connection, "load", lambda: None)
    monkeypatch.setattr(system, "cores", lambda: 2)


def asked(*words: str) -> Asked:
    with pytest.raises(Asked) as error:
        cli.main(["bench", *words])
    return error.value


def test_the_simulator_is_compared_with_cyborg_and_threads_take_turns_with_one() -> None:
    sim = asked("sim")
    assert sim.references() == {"CybORG, meander"}
    assert sim.partner("garrison, 10,000 environments, 2 threads") == "CybORG, meander"
    assert sim.partner("MiniCAGE, 1,000 environments") == "CybORG, meander"
    together = heats([Measurement(row, ()) for row in sim.rows], range(len(sim.rows)))
    names = [{name_of(sim.rows[k].labels) for k in heat} for heat in together]
    ten = "garrison, 10,000 environments"
    assert {"CybORG, meander", ten, f"{ten}, 2 threads", "garrison, rollout, 10,000 environments"} <= names[2]


def test_without_cyborg_the_simulator_is_compared_with_its_own_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulator_speed, "is_installed", lambda _: False)
    assert asked("sim").references() == {"garrison, 1,000 environments"}


def test_the_simulator_in_jax_is_compared_with_the_compiled_one() -> None:
    jax = asked("sim", "--engine", "jax")
    assert jax.partner("garrison jax, 16 environments") == "garrison, 16 environments"
    assert jax.partner("garrison jax, 4,096 environments") == "garrison, 4,096 environments, 2 threads"
    assert len(jax.references()) == len(jax.rows) / 2


def test_backends_are_compared_with_the_limit_of_their_cell() -> None:
    vector = asked("vector", "--part", "synthetic")
    costs = ("free", "50 µs", "500 µs", "3 ms", "500 µs uneven", "3 ms uneven")
    cells = [f"{envs} environments, {cost}" for cost in costs for envs in (20, 100, 200)]
    assert vector.references() == {f"limit, {cell}" for cell in cells}
    assert vector.partner("SB3 Subproc, 100 environments, 3 ms") == "limit, 100 environments, 3 ms"


def test_workers_are_compared_with_one_loop() -> None:
    scaling = asked("vector", "--part", "scaling")
    assert scaling.references() == {"plain loop"}


def test_trainers_are_compared_with_stable_baselines3_on_the_same_job() -> None:
    train = asked("train", "--part", "ppo")
    jobs = ("64x64", "256x256", "64x64, minibatches of 512")
    assert train.references() == {*(f"Stable-Baselines3 {job}" for job in jobs), name_of(training_speed.IN_SEQUENCE)}
    assert train.partner("garrison 64x64, shared trunk") == "Stable-Baselines3 64x64"
    assert train.partner("matrix products 256x256") == "Stable-Baselines3 256x256"
    assert train.partner(name_of(training_speed.IN_WORKERS)) == name_of(training_speed.IN_SEQUENCE)
    jax = asked("train", "--part", "jax")
    assert jax.references() == {f"PureJaxRL-style, minibatches of {size}" for size in (512, 12800)}


def test_learners_without_a_barrier_are_compared_with_ppo_or_with_the_limit() -> None:
    learners = asked("train", "--part", "async", "--rllib-python", "python")
    ppo = {f"native, garrison PPO, {count}" for count in ("1 epoch", "2 epochs", "4 epochs")}
    assert learners.references() == {*ppo, "uneven, limit"}
    everybody = {row.name for row in learners.rows}
    rllib = next(name for name in everybody if name.startswith("native, RLlib"))
    assert learners.partner(rllib) == "native, garrison PPO, 1 epoch"


def test_the_users_ways_are_compared_with_one_environment_in_sequence() -> None:
    users = asked("users", "--part", "cage2")
    one, serial = name_of(user_figures.way("sequential", 1)), name_of(user_figures.ppo("serial", 1))
    assert users.references() == {one, serial}
    assert users.partner(name_of(user_figures.way("native", 200))) == one
    cyborg = user_figures.way("pipes", 20, "CybORG")
    assert users.partner(name_of(cyborg)) == name_of(user_figures.way("pipes", 20))
    assert {row.longer for row in users.rows if "learner" in row.labels} == {user_tables.TRAINED}


def test_coinrun_is_compared_with_stable_baselines3() -> None:
    assert asked("users", "--part", "coinrun").references() == {name_of(coinrun_speed.SB3_IN_SEQUENCE)}


def test_clusters_are_compared_with_one_node_and_with_processes() -> None:
    cluster = asked("cluster")
    assert cluster.partner("garrison, paced, Ray, 4 nodes") == "garrison, paced, Ray, 1 node"
    assert cluster.partner("garrison, train, Ray, 2 actors") == "garrison, train, processes, 2 actors"


@pytest.mark.parametrize("name", MEASURING)
def test_rounds_come_from_the_command(name: str) -> None:
    assert asked(name).rounds == Rounds(None, BUDGET)
    assert asked(name, "--budget", "7m").rounds == Rounds(None, "7m")
    assert asked(name, "--repeats", "9").rounds == Rounds(9, BUDGET)
    assert asked(name, "--quick").rounds.repeats in (1, 2)


@pytest.mark.parametrize("name", MEASURING)
def test_rounds_have_one_default_for_all(name: str) -> None:
    arguments = import_module(SUITES[name][0]).Arguments
    own = {field.name: field.default for field in fields(arguments)}
    assert issubclass(arguments, MeasuringArguments)
    assert (own["repeats"], own["budget"]) == (None, BUDGET)


def test_nonsense_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "vector", "--budget", "soon"]) == 2
    assert "such as 90s, 10m" in capsys.readouterr().err
    assert cli.main(["bench", "vector", "--repeats", "0"]) == 2
    assert "--repeats must be at least 1" in capsys.readouterr().err
