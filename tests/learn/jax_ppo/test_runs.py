"""`garrison train ppo-jax-mixed` from the outside: folders, several seeds, resuming, interrupting, and what plays."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")

import jax.numpy as jnp

from garrison import cli
from garrison.agents import load_agent
from garrison.agents.forward import PlainNetwork
from garrison.errors import UserError
from garrison.learn import PolicyConfig, RunLog
from garrison.learn.jax_ppo.dense import DensePolicy
from garrison.learn.registry import LEARNERS
from garrison.runs import preset, session
from garrison.runs.experiment_file import load_experiment
from garrison.runs.folder import RunFolder
from garrison.runs.resume import resume_values
from garrison.storage import checkpoint
from garrison.storage.saved_run import agents_of, require_run
from tests.helpers.learning import same
from tests.helpers.mutations import mutated

TINY = (
    "--red sleep --length 30 --envs 8 --rollout 10 --hidden 16 --minibatches 2 --epochs 1 --evaluate-episodes 2 "
    "--no-tensorboard --quiet"
)
ENDING = 6 * 80
"""Steps of the runs here: six updates, so that episodes end."""


def run(command: str) -> int:
    return cli.main(command.split())


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "several"
    assert run(f"train ppo-jax-mixed --seed 3 --seeds 2 --steps {ENDING} --evaluate-every 160 {TINY} --out {out}") == 0
    return out


def rows(out: Path) -> list[dict[str, float]]:
    return RunFolder(out).read_metrics()


def test_every_seed_has_a_run_of_its_own(several: Path) -> None:
    usual = {"config.yaml", "versions.json", "metrics.jsonl", "checkpoint.garrison", "best.garrison", "summary.json"}
    usual |= {"marks.jsonl", "index.html"}
    assert {path.name for path in several.iterdir()} == usual | {"seed-3", "seed-4"}
    for seed in (3, 4):
        own = several / f"seed-{seed}"
        assert {path.name for path in own.iterdir()} == usual | {"watch.html"}
        assert "<script" not in (own / "index.html").read_text()
        learner: Any = load_experiment(own / "config.yaml").learner
        assert (learner.seed, learner.seeds) == (seed, 1)
        summary = RunFolder(own).read_summary()
        assert (summary["seed"], summary["status"], summary["total_timesteps"]) == (seed, "finished", ENDING)
        assert len([row for row in rows(own) if "time/fps" in row]) == 6
    assert [row["step"] for row in rows(several) if "time/fps" in row] == [80 * k for k in range(1, 7)]
    page = (several / "index.html").read_text()
    assert '<polygon class="band"' in page
    assert 'href="./seed-4/index.html"' in page


def test_the_run_has_the_means_over_its_seeds(several: Path) -> None:
    metrics = [[row for row in rows(several / name) if "time/fps" in row][-1] for name in (".", "seed-3", "seed-4")]
    for name in ("train/entropy", "rollout/ep_reward_mean"):
        assert metrics[0][name] == pytest.approx((metrics[1][name] + metrics[2][name]) / 2)
    evaluations = [
        [r["evaluation/total"] for r in rows(several / n) if "evaluation/total" in r] for n in (".", "seed-3", "seed-4")
    ]
    assert len(evaluations[0]) > 0
    np.testing.assert_allclose(evaluations[0], np.mean(evaluations[1:], axis=0))
    summary = RunFolder(several).read_summary()
    totals = {seed: RunFolder(several / f"seed-{seed}").read_summary()["evaluation"]["total"] for seed in ("3", "4")}
    assert summary["evaluation"]["agents"] == totals
    assert summary["evaluation"]["total"] == pytest.approx(np.mean([*totals.values()]))
    assert summary["total_envs"] == 16


def test_each_agent_plays_and_the_run_says_whose_to_name(several: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"evaluate {several}/seed-4 --episodes 2 --length 5") == 0
    assert run(f"evaluate {several} --episodes 2") == 2
    assert "holds 2 agents, one for each seed. Name the folder of one of them" in capsys.readouterr().err


def test_the_loaded_agent_has_the_logits_of_the_network_that_was_trained(several: Path) -> None:
    assert load_agent(str(several / "seed-3")).rules == "leaderboard"
    values = checkpoint.load(several / "seed-3")
    weights = values["state"]["weights"]
    network = PlainNetwork(values["policy"], weights)
    inputs = np.random.default_rng(0).integers(0, 2, (50, network.size)).astype(np.float32)
    dense = DensePolicy(network.size, network.outputs, PolicyConfig(hidden=(16,)))
    logits, _ = dense.logits_and_values(dense.split(jnp.asarray(weights)), jnp.asarray(inputs))
    np.testing.assert_allclose(network.logits(inputs, np.ones(50, np.bool_)), logits, atol=1e-5)
    (first, _), both = agents_of(checkpoint.load(several)["state"]), checkpoint.load(several)["state"]["others"]
    assert np.array_equal(first["weights"], weights)
    assert np.array_equal(both[0]["weights"], checkpoint.load(several / "seed-4")["state"]["weights"])


def test_what_it_describes_is_what_the_other_learners_describe(several: Path, tmp_path: Path) -> None:
    """So its agents go wherever theirs go."""
    assert run(f"train ppo-mixed --steps 80 {TINY} --out {tmp_path / 'ppo'}") == 0
    mine, theirs = checkpoint.load(several / "seed-3"), checkpoint.load(tmp_path / "ppo")
    assert mine["policy"].keys() == theirs["policy"].keys()
    assert mine["policy"]["config"] == theirs["policy"]["config"]
    for space in ("observation_space", "action_space"):
        assert str(mine["policy"][space]) == str(theirs["policy"][space])
    assert mine["state"]["weights"].shape == theirs["state"]["weights"].shape


class StopAfter(session.Hooks):
    """Sends Ctrl-C to the run after its first update."""

    def follow(self, envs: Any, log: RunLog, values: Any) -> RunLog:
        logged = log.log

        def log_and_stop(step: int, metrics: dict[str, float]) -> None:
            logged(step, metrics)
            os.kill(os.getpid(), signal.SIGINT)

        log.log = log_and_stop  # type: ignore[method-assign]
        return log


def test_an_interrupted_run_goes_on_to_the_same_bits(several: Path, tmp_path: Path) -> None:
    out = tmp_path / "stopped"
    whole: Any = load_experiment(several / "config.yaml")
    with (folder := RunFolder.create(out)).held(is_new=True):
        outcome = session.run(whole.changed(out=str(out)), "stopped", folder, hooks=StopAfter())
    assert (outcome.status, outcome.exit_code) == ("interrupted", 130)
    assert checkpoint.load(out)["state"]["steps"] == 80
    assert run(f"train --resume {out} --quiet") == 0
    before, after = (checkpoint.load(each)["state"] for each in (several, out))
    assert same(checkpoint.tensors(before), checkpoint.tensors(after))
    assert [row["step"] for row in rows(out / "seed-4") if "time/fps" in row] == [80 * k for k in range(1, 7)]


def test_an_agent_goes_on_alone(several: Path, tmp_path: Path) -> None:
    out = tmp_path / "alone"
    shutil.copytree(several / "seed-4", out)
    assert run(f"train --resume {out} --steps {ENDING + 80} --quiet") == 0
    assert checkpoint.load(out)["state"]["steps"] == ENDING + 80


def test_another_number_of_seeds_is_refused_before_anything_is_written(
    several: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "more"
    shutil.copytree(several, out)
    assert run(f"train --resume {out} --seeds 3 --steps 960 --quiet") == 2
    assert "cannot resume with 3 seeds: the run has 2" in capsys.readouterr().err
    assert not (out / "seed-5").exists()


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--env CartPole-v1", "CartPole-v1 is not written in JAX"),
        ("--backend shared --no-action-masks", "not by 'shared': leave out --backend"),
        ("--backend shared", "not by 'shared': leave out --backend"),
        ("--red my_module:MyRed", "cannot play on the device: use ppo"),
        ("--minibatches 7", "minibatches of one size"),
    ],
)
def test_what_it_cannot_do_is_one_sentence_and_leaves_nothing(
    flags: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "none"
    assert run(f"train ppo-jax-mixed --steps 80 {TINY} {flags} --seeds 2 --out {out}") == 2
    said = capsys.readouterr().err
    assert message in said
    assert sum(line.startswith("garrison ") for line in said.splitlines()) == 1
    assert not out.exists()


def test_presets_have_the_settings_of_those_that_they_are_named_after() -> None:
    for mine, theirs in (("ppo-jax-mixed", "ppo-mixed"), ("ppo-jax-record", "record-from-score")):
        one, other = preset(mine).to_dict(), preset(theirs).to_dict()
        assert one.pop("ppo-jax") == other.pop("ppo") | {"seeds": 1}
        assert one | {"preset": ""} == other | {"preset": ""}


def test_wrong_content_of_several_agents_is_one_sentence(several: Path, tmp_path: Path) -> None:
    values = checkpoint.load(several)
    kept = {name: learner.keeps for name, learner in LEARNERS.items()}
    for place in ("weights", "adam", "collector", "recent_returns"):
        wrong = checkpoint.load(several)
        del wrong["state"]["others"][0][place]
        with pytest.raises(UserError, match=f"without 'state.{place}"):
            require_run(wrong, "x", kept)
    refused, random = 0, Random(0)
    for number in range(60):
        _, wrong = mutated(values, random, spared=())
        folder = RunFolder(tmp_path / str(number))
        folder.path.mkdir()
        shutil.copy(several / "config.yaml", folder.config)
        checkpoint.save(folder.checkpoint, wrong)
        try:
            resume_values(folder)
        except UserError:
            refused += 1
    assert refused > 10


def test_nothing_of_jax_is_loaded_before_such_a_training_begins() -> None:
    script = (
        "import sys, garrison.cli, garrison.runs.presets, garrison.runs.session, garrison.commands.train as train\n"
        "import garrison.learn.registry, garrison.tasks.registry\n"
        "train.parse(['ppo-jax-mixed', '--seeds', '4'])\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'jax', 'jaxlib', 'optax'}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_last_lines_name_every_seed(several: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "again"
    shutil.copytree(several, out)
    assert run(f"train --resume {out} --steps {ENDING + 80}") == 0
    said = capsys.readouterr().out
    assert "seeds 3 to 4" in said
    assert "mean of 2 agents" in said
    summary = json.loads((out / "summary.json").read_text())["evaluation"]
    totals = summary["agents"]
    # Of two agents the interval of Student's t is six times as wide as that of a normal distribution.
    assert summary["ci95"] == pytest.approx(12.706 * abs(totals["3"] - totals["4"]) / 2, rel=1e-4)
    assert all(f"{seed}  {total:.2f} ±" in said for seed, total in totals.items())
