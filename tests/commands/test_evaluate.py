"""`garrison evaluate`: its table, its JSON and its errors."""

import json
from importlib.util import find_spec
from pathlib import Path

import gymnasium
import pytest
from gymnasium.envs.classic_control import CartPoleEnv

import garrison
from garrison import cli, system
from garrison.challenge import evaluation
from garrison.errors import UserError


def run(command: str) -> int:
    return cli.main(command.split())


def test_json_has_exactly_the_promised_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("evaluate random --json --rules leaderboard --episodes 20 --seed 7") == 0
    result = json.loads(capsys.readouterr().out)
    assert list(result) == ["agent", "rules", "trained_under", "episodes", "seed", "cells", "total", "ci95"]
    assert (result["agent"], result["rules"], result["episodes"], result["seed"]) == ("random", "leaderboard", 20, 7)
    assert [list(cell) for cell in result["cells"]] == [["red", "length", "mean", "stderr"]] * 9
    assert [(c["length"], c["red"]) for c in result["cells"][:4]] == [
        (30, "bline"),
        (30, "meander"),
        (30, "sleep"),
        (50, "bline"),
    ]
    assert result["total"] == pytest.approx(sum(cell["mean"] for cell in result["cells"]), abs=1e-4)


def test_text_shows_the_cells_and_the_rows_around_the_place(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("evaluate react-restore --rules leaderboard --episodes 50") == 0
    out = capsys.readouterr().out
    assert "-27.00 ± 0.00" in out
    lines = out.splitlines()
    mine = next(i for i, line in enumerate(lines) if "==>" in line)
    assert any("UTS_CIBCI" in line for line in lines[:mine])
    assert any("CCS Random" in line for line in lines[mine:])
    assert any("CardiffUni" in line for line in lines[:mine])


def test_other_grids_are_scored_and_not_ranked(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("evaluate sleep --red bline,meander --length 7 --episodes 20") == 0
    out = capsys.readouterr().out
    assert "CardiffUni" not in out
    assert "     7" in out


def test_head_results_say_that_the_table_has_other_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("evaluate sleep --episodes 20") == 0
    assert "this agent played under 'head'" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("evaluate sleep --rules leadboard", "did you mean 'leaderboard'"),
        ("evaluate sleep --red blime", "did you mean 'bline'"),
        ("evaluate sleep --episodes 1", "at least 2 episodes"),
        ("evaluate sleep --red bline,bline", "name each red once"),
        ("evaluate sleep --red bline:0.7,sleep:0.3", "each attacker is played apart: write --red bline,sleep"),
        ("evaluate sleep --length 0", "length must lie between"),
        ("evaluate no/such/run", "there is no agent, file or folder"),
        ("evaluate sleep --cyborg-seed 1 --red bline", "what the challenge's script does: leave out --red."),
        ("evaluate sleep --cyborg-seed 1 --length 30", "leave out --length."),
        ("evaluate sleep --cyborg-seed 1 --json", "leave out --json."),
        ("evaluate sleep --cyborg-seed 1 --episodes 1", "episodes must be at least 2"),
    ],
)
def test_wrong_input_is_one_line_with_the_fix(arguments: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_seed_of_cyborgs_prints_the_lines_of_the_challenges_script(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("evaluate sleep --cyborg-seed 153 --episodes 3 --rules leaderboard") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 9
    assert lines[0].startswith("Average reward for red agent B_lineAgent and steps 30 is: -2")
    assert lines[-1] == "Average reward for red agent SleepAgent and steps 100 is: 0.0 with a standard deviation of 0.0"


def test_attackers_may_still_be_given_as_words(capsys: pytest.CaptureFixture[str]) -> None:
    results = []
    for red in ("bline sleep", "bline,sleep"):
        assert run(f"evaluate sleep --red {red} --length 5 --episodes 4 --json") == 0
        results.append(capsys.readouterr())
    assert results[0].out == results[1].out
    assert results[0].err == "garrison evaluate: write --red bline,sleep, with commas.\n"
    assert results[1].err == ""


def test_an_attacker_of_ones_own_is_scored_beside_the_others(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2] / "examples")
    assert run("evaluate sleep --red bline,own_attacker:Opportunist --length 20 --episodes 10 --json") == 0
    cells = json.loads(capsys.readouterr().out)["cells"]
    assert [cell["red"] for cell in cells] == ["bline", "own_attacker:Opportunist"]
    assert run("evaluate sleep --red bline --length 20 --episodes 10 --json") == 0
    assert json.loads(capsys.readouterr().out)["cells"] == cells[:1]
    assert all(cell["mean"] < 0 for cell in cells)


@pytest.fixture(scope="module")
def cartpole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "cartpole"
    assert run(f"train ppo-cartpole --steps 4096 --envs 8 --backend serial --quiet --out {out}") == 0
    return out


def test_a_run_on_another_environment_is_scored_by_whole_episodes(
    cartpole: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = []
    for _ in range(2):
        assert run(f"evaluate {cartpole} --episodes 21 --seed 5 --json") == 0
        results.append(json.loads(capsys.readouterr().out))
    assert results[0] == results[1]
    assert (results[0]["env"], results[0]["episodes"], results[0]["seed"]) == ("CartPole-v1", 21, 5)
    assert results[0]["lowest"] <= results[0]["mean"] <= results[0]["highest"]
    assert results[0]["mean"] == pytest.approx(results[0]["mean_length"])  # one point a step
    assert run(f"evaluate {cartpole} --episodes 4 --sample") == 0
    assert "mean return" in capsys.readouterr().out


def test_the_loaded_agent_plays_the_environment_as_its_score_says(
    cartpole: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(f"evaluate {cartpole} --episodes 2 --seed 3 --json") == 0
    expected = json.loads(capsys.readouterr().out)
    agent = garrison.load_agent(str(cartpole))
    lengths = []
    for seed in (3, 4):
        env = gymnasium.make("CartPole-v1")
        observation, _ = env.reset(seed=seed)
        agent.begin(1)
        for t in range(1, 501):
            observation, _, terminated, truncated, _ = env.step(int(agent.act(observation[None])[0]))
            if terminated or truncated:
                lengths.append(t)
                break
    assert sum(lengths) / 2 == expected["mean_length"]


def test_flags_of_the_challenge_are_refused_on_other_environments(
    cartpole: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run(f"evaluate {cartpole} --red bline") == 2
    assert "red is for CAGE-2; " in capsys.readouterr().err
    agent = garrison.load_agent(str(cartpole))
    with pytest.raises(UserError, match="rules is for CAGE-2"):
        garrison.evaluate(agent, rules="head")
    with pytest.raises(UserError, match="was trained on CartPole-v1, not on CAGE-2"):
        evaluation.evaluate(agent)


def test_the_same_score_can_be_had_from_python(cartpole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"evaluate {cartpole} --episodes 5 --seed 2 --json") == 0
    told = json.loads(capsys.readouterr().out)
    said: list[str] = []
    found = garrison.evaluate(garrison.load_agent(str(cartpole)), episodes=5, seed=2, say=said.append)
    assert found.to_dict() == told
    assert told["returns"] == list(found.returns)
    assert told["mean"] == pytest.approx(sum(told["returns"]) / 5)
    assert told["lengths"] == told["returns"]  # one point a step
    assert said[-1] == "5 of 5 episodes"


def test_episodes_are_filmed_by_gymnasiums_recorder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    flags = "--steps 64 --rollout 16 --envs 2 --backend serial --quiet --no-tensorboard --evaluate-episodes 0"
    assert run(f"train --env tests.helpers.steering_env:PaintedEnv {flags} --out painted") == 0
    capsys.readouterr()
    films = tmp_path / "films"
    if find_spec("moviepy") is None:
        assert run(f"evaluate painted --video {films}") == 2
        assert "MoviePy is not installed: pip install" in capsys.readouterr().err
        return
    assert run(f"evaluate painted --video {films} --json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["lengths"] == [5, 5, 5]
    assert sorted(file.name for file in films.glob("*.mp4")) == [f"rl-video-episode-{k}.mp4" for k in range(3)]
    assert run(f"evaluate painted --video {films}") == 2
    assert "is not an empty folder" in capsys.readouterr().err


def test_what_cannot_be_filmed_says_so(
    cartpole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(system, "find_spec", lambda name: None if name == "moviepy" else find_spec(name))
    assert run(f"evaluate {cartpole} --video {tmp_path / 'films'}") == 2
    assert "MoviePy is not installed: pip install" in capsys.readouterr().err
    monkeypatch.setattr(system, "find_spec", lambda name: True)
    monkeypatch.setattr(CartPoleEnv, "metadata", {"render_modes": [], "render_fps": 50})
    assert run(f"evaluate {cartpole} --video {tmp_path / 'films'}") == 2
    assert "no render mode 'rgb_array'" in capsys.readouterr().err
    assert run(f"evaluate sleep --video {tmp_path / 'films'}") == 2
    assert "video is for other environments" in capsys.readouterr().err
    assert not (tmp_path / "films").exists()
