"""The official evaluation: agreement with the published rows, its arithmetic, its output and its errors."""

import math
from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

import garrison
from garrison.agents import Sb3Agent, load_agent
from garrison.cage2 import VectorEnv
from garrison.cage2.names import DEFAULT_RULES, RULES
from garrison.challenge import leaderboard
from garrison.challenge.evaluation import CellScore, Evaluation, evaluate
from garrison.errors import UserError
from garrison.runs import scoring
from tests.helpers.red_players import Counting

EPISODES = 4000  # four times the protocol's: the published interval is then the wider part of the comparison


@pytest.mark.parametrize(("name", "rank"), [("sleep", 20), ("random", 19), ("react-restore", 18)])
def test_scripted_agents_agree_with_the_published_rows(name: str, rank: int) -> None:
    row = leaderboard.leaderboard()[rank - 1]
    result = evaluate(load_agent(name), "leaderboard", EPISODES, seed=153)
    assert result.is_official
    assert abs(result.total - row.total) <= math.hypot(result.ci95, row.ci95)
    for cell in result.cells:
        # Nine cells at once: 3.5 standard errors each. The published error is ours at 1000 episodes; means are rounded.
        error = math.hypot(cell.stderr, cell.stderr * math.sqrt(EPISODES / 1000))
        assert abs(cell.mean - row.cell(cell.red, cell.length)) <= 3.5 * error + 0.01, cell


def test_react_restore_costs_exactly_its_restores_when_red_sleeps() -> None:
    result = evaluate(load_agent("react-restore"), "leaderboard", 2, reds=["sleep"])
    assert [cell.mean for cell in result.cells] == [-27.0, -46.0, -92.0]


class StepByStep:
    """An agent as others write them: without a table for the kernel."""

    def __init__(self, agent: Any) -> None:
        self.name, self.encoder, self.rules = agent.name, agent.encoder, agent.rules
        self.begin, self.reset, self.act = agent.begin, agent.reset, agent.act


@pytest.mark.parametrize("name", ["sleep", "react-remove", "react-restore", "belief-restore"])
@pytest.mark.parametrize("rules", RULES)
def test_a_table_played_in_the_kernel_scores_what_its_agent_scores_step_by_step(name: str, rules: str) -> None:
    agent = load_agent(name)
    assert hasattr(agent, "rollout_policy")
    stepped = evaluate(StepByStep(agent), rules, 40, seed=3)
    assert evaluate(agent, rules, 40, seed=3) == stepped
    assert len({cell.mean for cell in stepped.cells}) > 5


def test_a_table_is_not_played_in_the_kernel_against_an_attacker_of_ones_own() -> None:
    result = evaluate(load_agent("react-restore"), "head", 2, reds=[Counting], lengths=[30])
    assert result.total == -27.0


def test_a_cell_depends_on_seed_attacker_and_length_only() -> None:
    whole = evaluate(load_agent("sleep"), episodes=50, seed=4)
    part = evaluate(load_agent("sleep"), episodes=50, seed=4, reds=["meander"], lengths=[50])
    assert part.cells == tuple(c for c in whole.cells if (c.red, c.length) == ("meander", 50))
    other = evaluate(load_agent("sleep"), episodes=50, seed=5)
    assert all(a.mean != b.mean for a, b in zip(whole.cells, other.cells, strict=True) if a.red != "sleep")


def test_no_two_episodes_have_the_same_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    reset, seeds = VectorEnv.reset, []

    def watched(self: VectorEnv, *, seed: list[int]) -> Any:
        seeds.extend(seed)
        return reset(self, seed=seed)

    monkeypatch.setattr(VectorEnv, "reset", watched)
    for seed in (0, 1):
        evaluate(load_agent("sleep"), episodes=100, seed=seed)
    assert len(seeds) == len(set(seeds)) == 1800


def test_episodes_of_neighbouring_seeds_are_not_the_same_episodes() -> None:
    means = [
        evaluate(load_agent("sleep"), episodes=10, seed=s, reds=["meander"], lengths=[100]).total for s in range(8)
    ]
    assert len(set(means)) == 8


def test_the_total_adds_means_and_the_interval_adds_variances() -> None:
    cells = (CellScore("bline", 30, -1.5, 0.3), CellScore("sleep", 30, -2.0, 0.4))
    result = Evaluation("x", "head", 10, 0, cells)
    assert result.total == -3.5
    assert result.ci95 == pytest.approx(1.96 * 0.5)
    assert not result.is_official


def test_standard_errors_are_those_of_the_mean() -> None:
    few = evaluate(load_agent("sleep"), episodes=200, reds=["meander"], lengths=[50]).cells[0].stderr
    many = evaluate(load_agent("sleep"), episodes=3200, reds=["meander"], lengths=[50]).cells[0].stderr
    assert few / many == pytest.approx(4.0, rel=0.2)
    means = [evaluate(load_agent("sleep"), "head", 50, s, ["meander"], [50]).total for s in range(60)]
    assert np.std(means) == pytest.approx(many * math.sqrt(3200 / 50), rel=0.3)


def test_ranks_follow_the_table() -> None:
    assert leaderboard.rank_of(-54.0) == 1
    assert leaderboard.rank_of(-100.0) == 14
    assert leaderboard.rank_of(-9999.0) == 21
    assert len(leaderboard.leaderboard()) == 20


def test_marks_mix_the_cells_of_the_attackers() -> None:
    marks = leaderboard.marks({"bline": 0.5, "meander": 0.5}, 100, "leaderboard")
    assert marks["the winner"] == pytest.approx((-13.76 - 16.60) / 2)
    assert marks["random"] == pytest.approx((-726.92 - 566.41) / 2)
    assert leaderboard.marks({"bline": 1.0}, 77, "leaderboard") == {}


def test_known_scores_are_those_of_the_task_and_of_no_other() -> None:
    assert leaderboard.marks({"bline": 0.5, "meander": 0.5}, 100, "leaderboard")["the winner"] < -10
    assert leaderboard.marks({"bline": 1.0}, 99, "leaderboard") == {}
    assert leaderboard.marks({}, 100, "leaderboard") == {}
    assert leaderboard.marks({"bline": 1.0}, 100, "head") == {}


def test_an_agent_is_scored_under_the_rules_it_was_trained_under() -> None:
    own = evaluate(load_agent("record"), episodes=20, lengths=[30])
    assert own.rules == own.trained_under == "leaderboard"
    assert own == evaluate(load_agent("record"), "leaderboard", episodes=20, lengths=[30])
    assert "trained under" not in own.to_text()


def test_other_rules_than_the_agents_are_said_in_the_result() -> None:
    other = evaluate(load_agent("record"), "head", episodes=20, lengths=[30])
    assert (other.rules, other.trained_under) == ("head", "leaderboard")
    assert "trained under leaderboard, scored under head" in other.to_text()
    assert other.to_dict()["trained_under"] == "leaderboard"


def test_an_agent_without_rules_plays_under_the_default_ones() -> None:
    result = evaluate(load_agent("sleep"), episodes=2, lengths=[5])
    assert (result.rules, result.trained_under) == (DEFAULT_RULES, None)


def test_the_two_names_that_most_people_need_are_at_the_top() -> None:
    assert garrison.evaluate is scoring.evaluate
    assert garrison.load_agent is load_agent
    assert {"evaluate", "load_agent"} <= set(dir(garrison))


class _Model:
    """As much of a Stable-Baselines3 model as the adapter uses."""

    def __init__(self, num_actions: int = 145, bits: int = 52) -> None:
        self.observation_space = Box(0, 1, (bits,), np.int8)
        self.action_space = Discrete(num_actions)
        self.policy = None

    def predict(
        self, observation: np.ndarray, state: Any = None, episode_start: Any = None, deterministic: bool = False
    ) -> tuple[np.ndarray, Any]:
        assert deterministic
        return np.zeros(len(observation), np.int64), None


def test_a_model_of_stable_baselines3_is_told_how_to_wrap_it() -> None:
    with pytest.raises(UserError, match=r"garrison\.agents\.Sb3Agent\(model\)"):
        evaluate(_Model())  # type: ignore[arg-type]


def test_what_is_no_agent_is_told_what_an_agent_needs() -> None:
    with pytest.raises(UserError, match=r"an agent needs .*begin.*; this list has no name, no encoder"):
        evaluate([])  # type: ignore[arg-type]
    with pytest.raises(UserError, match="load_agent\\('record'\\)"):
        evaluate("record")  # type: ignore[arg-type]


def test_a_wrapped_model_is_scored_like_an_agent() -> None:
    wrapped = evaluate(Sb3Agent(_Model(), rules="leaderboard"), episodes=20, lengths=[30])
    assert wrapped.rules == "leaderboard"
    assert wrapped.cells == evaluate(load_agent("sleep"), "leaderboard", episodes=20, lengths=[30]).cells


def test_a_wrapped_model_sees_and_does_what_it_was_trained_on() -> None:
    envs = VectorEnv(1, observation="memory", actions="compact")
    size, count = envs.single_observation_space.shape[0], int(envs.single_action_space.n)
    compact = evaluate(Sb3Agent(_Model(count, size)), episodes=5, lengths=[5])
    assert compact.cells == evaluate(load_agent("sleep"), episodes=5, lengths=[5]).cells
    with pytest.raises(UserError, match="7 actions"):
        Sb3Agent(_Model(7))


def test_what_is_played_is_said_before_it_is_played() -> None:
    said: list[str] = []
    evaluate(load_agent("sleep"), episodes=2, reds=["bline", "sleep"], lengths=[5, 6], say=said.append)
    assert said == ["0 of 4 cells: 5 steps, bline, sleep", "2 of 4 cells: 6 steps, bline, sleep"]
