"""Tables and pictures of runs: the numbers are the run's, and every picture is drawn."""

import html
import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from garrison import cli
from garrison.errors import UserError
from garrison.report.comparison import facts
from garrison.report.comparison_page import comparison_page
from garrison.report.figures import action_mix, learning_curve, losses, time_split
from garrison.report.history import RunHistory, smooth
from garrison.system import install


def write_run(path: Path, updates: int = 6, slope: float = 10.0, ended: bool = True) -> Path:
    """Write a run's folder with numbers that are known."""
    path.mkdir(parents=True)
    (path / "config.yaml").write_text("{}\n")
    rows: list[dict[str, float]] = []
    for k in range(1, updates + 1):
        rows.append(
            {
                "step": 1000 * k,
                "time/elapsed_time": 2.0 * k,
                "time/fps": 500.0,
                "rollout/ep_reward_mean": -700.0 + slope * k,
                "train/policy_loss": -0.01 / k,
                "train/value_loss": 5.0 / k,
                "train/entropy": 5.0 - 0.1 * k,
                "train/approx_kl": 0.01,
                "train/clip_fraction": 0.1,
                "train/explained_variance": 0.5,
                "time_split/act": 0.5,
                "time_split/learn": 1.5,
                "system/peak_memory_gb": 0.4,
            }
        )
        if k % 3 == 0:
            rows.append({"step": 1000 * k, "time/elapsed_time": 2.0 * k, "evaluation/total": -900.0 + k})
    (path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    if ended:
        mix = {"bline": {"Sleep": 0.25, "Restore User1": 0.75}, "meander": {"Monitor": 1.0}, "sleep": {"Sleep": 1.0}}
        summary = {
            "status": "finished",
            "training_mode": "ppo",
            "env": "garrison/CAGE2-v0",
            "total_envs": 16,
            "seed": 3,
            "task": {"backend": "auto", "red_odds": {"bline": 1.0}, "rules": "head", "length": 100},
            "evaluation": {"total": -123.4, "ci95": 1.5, "rules": "head"},
            "action_mix": mix,
        }
        (path / "summary.json").write_text(json.dumps(summary))
    return path


def texts(figure: Any) -> str:
    from matplotlib.text import Text

    return "\n".join(text.get_text() for text in figure.findobj(Text))


def test_plot_draws_every_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write_run(tmp_path / "run")
    assert cli.main(["plot", str(run)]) == 0
    printed = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert [path.name for path in printed] == ["learning_curve.png", "losses.png", "time_split.png", "action_mix.png"]
    for path in printed:
        assert path.read_bytes()[:4] == b"\x89PNG"
        assert path.stat().st_size > 5000


def test_plot_leaves_out_what_the_run_has_no_data_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write_run(tmp_path / "run", ended=False)
    row = {"step": 10, "time/elapsed_time": 1.0, "train/new_metric": 3.0}
    (run / "metrics.jsonl").write_text(json.dumps(row) + "\n")
    assert cli.main(["plot", str(run)]) == 0
    assert [Path(line).name for line in capsys.readouterr().out.splitlines()] == ["losses.png"]
    assert "new metric" in texts(losses(RunHistory.read(run)))


@pytest.mark.parametrize(("file_format", "begins"), [("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_plot_draws_for_papers(file_format: str, begins: bytes, tmp_path: Path) -> None:
    run, out = write_run(tmp_path / "run"), tmp_path / "figures"
    assert cli.main(["plot", str(run), "--format", file_format, "--out", str(out), "--smooth", "9" * 30]) == 0
    paths = sorted(out.iterdir())
    assert [path.stem for path in paths] == ["action_mix", "learning_curve", "losses", "time_split"]
    assert all(path.read_bytes().startswith(begins) for path in paths)


def scored_under(rules: str, folder: Path) -> Path:
    path = write_run(folder / "run")
    summary = json.loads((path / "summary.json").read_text())
    summary["task"]["rules"] = rules
    (path / "summary.json").write_text(json.dumps(summary))
    return path


def test_the_curve_has_the_runs_points_its_total_and_known_scores(tmp_path: Path) -> None:
    figure = learning_curve(RunHistory.read(scored_under("leaderboard", tmp_path)), window=1)
    above, below = figure.axes
    assert above.get_lines()[0].get_xdata().tolist() == [1000.0 * k for k in range(1, 7)]
    assert above.get_lines()[0].get_ydata().tolist() == [-700.0 + 10 * k for k in range(1, 7)]
    assert below.get_lines()[0].get_ydata().tolist() == [-897.0, -894.0]
    assert "official total -123.40 ± 1.50" in texts(figure)
    assert "random\n-726.9" in texts(figure)
    assert "the winner\n-13.8" in texts(figure)
    assert "the winner\n-54.6" in texts(figure)


def test_scores_under_other_rules_are_not_drawn_beside_the_curve(tmp_path: Path) -> None:
    figure = learning_curve(RunHistory.read(scored_under("head", tmp_path)), window=1)
    assert len(figure.axes) == 2
    assert "winner" not in texts(figure)
    assert "random" not in texts(figure)


def test_time_split_and_losses_and_actions_say_their_numbers(tmp_path: Path) -> None:
    run = RunHistory.read(write_run(tmp_path / "run"))
    assert run.stages == {"act": 0.25, "learn": 0.75}
    assert "learn 75 %" in texts(time_split(run))
    assert "explained variance" in texts(losses(run, 3))
    figure = action_mix(run)
    assert "Restore User1" in texts(figure)
    widths = [bar.get_width() for bar in figure.axes[0].patches]
    assert {75.0, 25.0, 100.0} <= set(widths)


def test_compare_prints_a_column_per_run_and_writes_both_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = write_run(tmp_path / "first"), write_run(tmp_path / "second", updates=4, ended=False)
    out = tmp_path / "out"
    assert cli.main(["compare", str(first), str(second), "--out", str(out)]) == 0
    lines = {line[:24].strip(): line[24:].split() for line in capsys.readouterr().out.splitlines()}
    assert lines["run"] == ["first", "second"]
    assert lines["steps"] == ["6,000", "4,000"]
    assert lines["seconds"] == ["12.00", "8.00"]
    assert lines["last return"] == ["-640.00", "-660.00"]
    assert lines["official total"] == ["-123.40", "-"]
    assert lines["time in learn, %"] == ["75.00", "75.00"]
    assert {path.name for path in out.iterdir()} == {"comparison.html", "comparison.json"}
    table = json.loads((out / "comparison.json").read_text())
    assert [row["run"] for row in table] == ["first", "second"]
    assert [row["learner"] for row in table] == ["ppo", None]
    known = ("total", "ci95", "final_return", "best_return", "updates", "envs", "seed", "red", "length", "rules")
    assert [table[0][key] for key in known] == [-123.4, 1.5, -640.0, -640.0, 6, 16, 3, "bline", 100, "head"]
    assert table[0]["time_split"] == {"act": 0.25, "learn": 0.75}


def test_runs_on_different_problems_are_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [write_run(tmp_path / name) for name in ("first", "second")]
    out = tmp_path / "out"
    compare = ["compare", *map(str, runs), "--out", str(out)]
    assert cli.main(compare) == 0
    assert "cannot be compared" not in capsys.readouterr().out
    summary = json.loads((runs[1] / "summary.json").read_text())
    summary["task"] |= {"red_odds": {"bline": 0.7, "meander": 0.3}, "length": 30}
    (runs[1] / "summary.json").write_text(json.dumps(summary))
    assert cli.main(compare) == 0
    warning = "These runs solve different problems (red, steps per episode): their returns cannot be compared."
    assert warning in capsys.readouterr().out
    page = (out / "comparison.html").read_text()
    assert warning in page
    assert "bline:0.7,meander:0.3" in page


def test_the_page_draws_return_rising_and_late_gains_apart(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", updates=4)
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    returns = iter([-700.0, -40.0, -15.0, -12.0])
    for row in rows:
        if "rollout/ep_reward_mean" in row:
            row["rollout/ep_reward_mean"] = next(returns)
    (run / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    history = RunHistory.read(run)
    page = comparison_page([history], [facts(history)], 1, "garrison compare run").html()
    points = re.search(r'<polyline class="line" points="([^"]+)"', page)
    assert points is not None
    down = [float(point.split(",")[1]) for point in points[1].split()]
    assert down == sorted(down, reverse=True)  # pixels count from the top: it rises
    assert down[1] - down[2] > 30  # -40 and -15 differ, though -700 is on the axis too
    assert ">-10<" in page
    assert ">-1 k<" in page


def test_the_command_on_the_page_can_be_pasted(tmp_path: Path) -> None:
    run = write_run(tmp_path / "my run; really")
    assert cli.main(["compare", str(run), "--out", str(tmp_path / "out")]) == 0
    shown = re.search("<pre>(.*?)</pre>", (tmp_path / "out" / "comparison.html").read_text())
    assert shown is not None
    assert shlex.split(html.unescape(shown[1])) == ["garrison", "compare", str(run), "--out", str(tmp_path / "out")]


def test_compare_as_json_prints_only_that(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write_run(tmp_path / "run")
    assert cli.main(["compare", str(run), "--json", "--out", str(tmp_path / "out")]) == 0
    assert json.loads(capsys.readouterr().out)[0]["steps_per_second"] == 500.0


def test_runs_of_the_same_name_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [str(write_run(tmp_path / part / "run")) for part in ("a", "b")]
    assert cli.main(["compare", *runs, "--json", "--out", str(tmp_path / "out")]) == 0
    assert [row["run"] for row in json.loads(capsys.readouterr().out)] == runs


def test_a_line_that_a_crash_cut_short_is_left_out(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    with (run / "metrics.jsonl").open("a") as file:
        file.write('{"step": 7000, "time/el')
    assert RunHistory.read(run).steps == 6000


def test_what_cannot_be_read_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["plot", str(tmp_path)]) == 2
    assert "is not a run's folder" in capsys.readouterr().err
    assert cli.main(["compare", str(tmp_path / "none")]) == 2
    assert "there is no run in" in capsys.readouterr().err
    assert cli.main(["plot", str(write_run(tmp_path / "run")), "--smooth", "0"]) == 2
    assert "--smooth must be at least 1" in capsys.readouterr().err
    (tmp_path / "config.yaml").write_text("")
    with pytest.raises(UserError, match="no metrics yet"):
        RunHistory.read(tmp_path)


def test_missing_matplotlib_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = write_run(tmp_path / "run")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert cli.main(["plot", str(run)]) == 2
    assert f"Matplotlib is not installed: {install('report')}" in capsys.readouterr().err
    assert cli.main(["compare", str(run), "--out", str(tmp_path)]) == 0


@pytest.mark.parametrize("window", [1, 2, 5, 100])
def test_smoothing_keeps_straight_lines_and_lengths(window: int) -> None:
    line = np.linspace(3.0, -4.0, 17)
    assert smooth(line, window) == pytest.approx(line)
