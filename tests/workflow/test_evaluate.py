"""`garrison workflow evaluate`: every kind of defender, judged under every order."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from garrison import cli
from garrison.agents.scripted import SleepAgent
from garrison.cage2 import VectorEnv
from garrison.cage2.workflow import Workflow
from garrison.workflow.defenders import find_defender, scripted
from garrison.workflow.orders import CANONICAL, ORDERS, index_of
from garrison.workflow.play import AgentDefender, play
from garrison.workflow.settings import TRAIN

TINY = "--envs 12 --length 10 --rollout 10 --hidden 8 --minibatches 2 --epochs 1 --no-tensorboard --quiet"


def evaluate(arguments: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert cli.main(["workflow", "evaluate", *arguments.split(), "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("evaluate") / "run"
    flags = f"{TINY} --evaluate-episodes 6 --episodes 24"
    assert cli.main(f"workflow train 6 117 --out {out} {flags}".split()) == 0
    return out


def test_a_run_is_judged_under_its_orders_as_after_training(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = evaluate(f"{run} --episodes 6 --no-baselines", capsys)
    summary = json.loads((run / "summary.json").read_text())
    assert found["scores"][str(run)] == summary["scores"]


def test_baselines_stand_beside_and_follow_their_order(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = evaluate(f"{run} --episodes 40 --orders 6 --length 50", capsys)
    rates = {name: scores[0]["compliance"] for name, scores in found["scores"].items()}
    assert set(rates) == {str(run), "greedy-restore", "greedy-by-truth", "fixed-restore", "random-fix"}
    # By the definition: who fixes the first compromised unit by the true state always complies.
    assert rates["greedy-by-truth"] == 1.0
    assert rates["greedy-restore"] > rates["random-fix"]


def test_the_table_shows_every_order_and_the_csv_keeps_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "table.csv"
    arguments = f"workflow evaluate sleep --orders all --episodes 2 --length 3 --no-baselines --csv {path}"
    assert cli.main(arguments.split()) == 0
    out = capsys.readouterr().out
    for order in ORDERS:
        assert "→".join(order) in out
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["Order_Index"]) for row in rows] == list(range(120))
    assert rows[6]["Workflow_Name"] == "critical_first"


def test_the_table_fits_a_terminal_of_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["workflow", "evaluate", "sleep", "--orders", "0", "117", "--episodes", "4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80, max(lines, key=len)
    assert "order   greedy-restore  greedy-by-truth    fixed-restore       random-fix" in lines


def test_a_run_on_another_environment_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = "--steps 32 --envs 2 --rollout 16 --evaluate-episodes 0 --no-tensorboard --quiet"
    assert cli.main(f"train ppo-cartpole {flags} --out {tmp_path / 'run'}".split()) == 0
    assert cli.main(["workflow", "evaluate", str(tmp_path / "run")]) == 2
    assert "was trained on CartPole-v1; workflows are followed in CAGE-2" in capsys.readouterr().err


def test_a_search_is_judged_with_each_orders_own_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "search"
    flags = f"{TINY} --episodes 12 --min-episodes 12 --evaluate-episodes 8 --method exhaustive --base-episodes 0"
    assert cli.main(f"workflow search --out {out} --budget-episodes 24 {flags}".split()) == 0
    rows = {row["order"]: row for row in json.loads((out / "results.json").read_text())["orders"]}
    found = evaluate(f"{out} --episodes 8 --no-baselines", capsys)["scores"][str(out)]
    assert [score["order"] for score in found] == [0, 1]
    for score in found:
        assert round(score["reward"], 4) == rows[score["order"]]["reward"]
        assert round(score["compliance"], 4) == rows[score["order"]]["compliance"]
    assert cli.main(["workflow", "evaluate", str(out), "--orders", "7"]) == 2
    assert "has not tried the order" in capsys.readouterr().err


def test_scores_are_those_of_the_episodes() -> None:
    order, episodes, seed = index_of(CANONICAL["reverse"]), 30, 5
    score = play(scripted("greedy-restore"), TRAIN.env, TRAIN.workflow, order, episodes, seed)
    agent = scripted("greedy-restore")
    envs = VectorEnv(episodes, red="bline", autoreset_mode="Disabled", workflow=Workflow(orders=order))
    envs.reset(seed=np.random.SeedSequence((seed, 100)).generate_state(episodes, np.uint64).tolist())
    agent.begin(envs, order, seed)
    returns = np.zeros(episodes)
    alignment = np.zeros(episodes)
    for _ in range(100):
        envs.step(agent.act(envs))
        returns += envs.workflow.env_rewards  # type: ignore[union-attr]
        alignment += envs.workflow.alignment_rewards  # type: ignore[union-attr]
    assert score.reward == pytest.approx(returns.mean())
    assert score.reward_std == pytest.approx(returns.std(ddof=1))
    assert score.reward_ci95 == pytest.approx(1.96 * returns.std(ddof=1) / np.sqrt(episodes))
    assert (score.reward_min, score.reward_max) == pytest.approx((returns.min(), returns.max()))
    assert score.alignment == pytest.approx(alignment.mean())
    # Every episode has a fix, so the alignment's sum is lambda times the rate.
    assert score.alignment == pytest.approx(30 * score.compliance)


def test_an_agent_that_never_fixes_reports_a_half_and_pays_for_it() -> None:
    defender = AgentDefender(lambda order, envs: SleepAgent(), "sleep")
    score = play(defender, TRAIN.env, TRAIN.workflow, 0, 5)
    assert (score.compliance, score.fixes, score.alignment) == (0.5, 0.0, pytest.approx(-6.0))


def test_shipped_agents_can_be_judged_too() -> None:
    defender, settings = find_defender("record")
    assert settings.env.rules == "leaderboard"
    assert play(defender, settings.env, settings.workflow, 0, 10).reward > -40


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("nobody", "there is no agent, file or folder 'nobody'"),
        ("sleep --orders first", "no order 'first'"),
        ("sleep --episodes 1", "at least 2 episodes"),
        ("sleep --red blune", "did you mean 'bline'"),
        ("sleep --definition truth", "unknown definition"),
    ],
)
def test_wrong_input_is_told(arguments: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["workflow", "evaluate", *arguments.split()]) == 2
    assert message in capsys.readouterr().err


def test_masked_actions_are_not_taken(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted, second = 30, 2

    class Stubborn:
        def begin(self, num_envs: int) -> None:
            pass

        def logits(self, rows: Any, starts: Any) -> Any:
            logits = np.zeros((len(rows), 67), np.float32)
            logits[:, wanted], logits[:, second] = 2.0, 1.0
            return logits

    monkeypatch.setattr("garrison.workflow.play.network_of", lambda policy, weights: Stubborn())
    defender, settings = find_defender(str(run))
    envs = VectorEnv(3, observation="memory", actions="compact", workflow=Workflow(orders=6))
    envs.reset(seed=0)
    defender.begin(envs, 6, 0)
    assert settings.env.actions == "compact"
    assert defender.act(envs).tolist() == [wanted] * 3
    envs.step(defender.act(envs))
    assert not envs.action_masks()[:, wanted].any()  # the decoy stands already
    assert defender.act(envs).tolist() == [second] * 3


def test_other_commands_know_what_a_workflow_run_is(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["evaluate", str(run), "--episodes", "2"]) == 2
    assert "use garrison workflow evaluate" in capsys.readouterr().err
    assert cli.main(["plot", str(run)]) == 0
    assert cli.main(["compare", str(run), str(run), "--out", str(tmp_path / "comparison")]) == 0
