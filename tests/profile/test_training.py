"""The same account in training: stages of the step in the metrics, in pictures and in comparisons."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import garrison.vector
from garrison.learn.stages import SYNCHRONOUS, from_metrics
from garrison.learn.stopwatch import Stopwatch
from garrison.report.history import RunHistory
from tests.helpers.known_costs import Sleeper


def test_dividing_a_stage_keeps_the_whole() -> None:
    watch = Stopwatch()
    for lap in (1.0, 2.0):
        watch.mark("step")
        watch.totals["step"] = 4.0 * lap
        watch.divide("step", {"compute": 2.0 * lap, "copy": 0.5 * lap, "extras": 0.0}, rest="copy")
        parts = watch.lap()
        assert "step" not in parts
        assert "step_extras" not in parts
        assert (parts["step_compute"], parts["step_copy"]) == (2.0 * lap, 2.0 * lap)
    assert set(watch.totals) == {*SYNCHRONOUS, "step_compute", "step_copy"} - {"step"}


@pytest.mark.parametrize("timing", [False, "workers"])
def test_ppo_tells_the_parts_of_its_steps(timing: Any) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    from garrison.learn.config import PPOConfig
    from garrison.learn.ppo import train
    from garrison.learn.run import RunLog

    rows: list[dict[str, float]] = []

    class Log(RunLog):
        def log(self, step: int, metrics: dict[str, float]) -> None:
            rows.append(metrics)

    maker = partial(Sleeper, step=0.002, length=7)
    envs = garrison.vector.make(maker, 2, "shared", workers=2, timing=timing, autoreset_mode="same_step")
    config = PPOConfig(steps=40, rollout=10, epochs=1, minibatches=1)
    result = train(config, envs, run=Log())
    envs.close()
    for row in rows:
        stages = set(from_metrics(row))
        if timing:
            assert {"step_compute", "step_reset", "step_copy", "step_ipc", "step_wait"} <= stages
            assert row["time_split/step_compute"] >= 10 * 0.002
        assert ("step" in stages) == (not timing)
    whole = sum(seconds for name, seconds in result.times.items() if name.startswith("step"))
    assert whole >= 20 * 0.002


def write_run(path: Path, rows: list[dict[str, float]]) -> Path:
    path.mkdir()
    (path / "config.yaml").write_text("{}\n")
    base = {"time/fps": 500.0, "rollout/ep_reward_mean": 1.0}
    lines = [{"step": 10 * k, "time/elapsed_time": 2.0 * k, **base, **row} for k, row in enumerate(rows, start=1)]
    (path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


OLD = {"time_split/act": 1.0, "time_split/step": 3.0}
NEW = {"time_split/act": 1.0, "time_split/learn": 1.0, "time_split/step_wait": 0.5, "time_split/step_compute": 1.5}


def test_old_and_new_runs_stand_side_by_side(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="Matplotlib is not installed")
    from garrison.report.comparison import facts, stage_shares, to_text
    from garrison.report.comparison_page import comparison_page
    from garrison.report.figures import time_split

    old = RunHistory.read(write_run(tmp_path / "old", [OLD, OLD]))
    new = RunHistory.read(write_run(tmp_path / "new", [NEW, NEW]))
    both = RunHistory.read(write_run(tmp_path / "resumed", [OLD, NEW]))  # begun without timing, resumed with it
    assert stage_shares(old.stages) == {"act": 0.25, "step": 0.75}
    shown = stage_shares(new.stages)
    assert list(shown) == ["act", "step", "step: compute", "step: wait", "learn"]
    assert list(shown.values()) == [0.25, 0.5, 0.375, 0.125, 0.25]
    runs = [old, new, both]
    text = to_text(runs, [facts(run) for run in runs])
    assert "time in step: wait, %" in text
    cells = next(line for line in text.splitlines() if line.startswith("time in step, %")).split()
    assert cells[-3:] == ["75.00", "50.00", "62.50"]
    page = comparison_page(runs, [facts(run) for run in runs], 2, "garrison compare").html()
    assert "resumed, step: compute: 18.8 %" in page
    assert page.count("old, step: 75 %") == 1
    for run in (old, new, both):
        figure = time_split(run)
        heights = [collection.get_paths() for collection in figure.axes[0].collections]
        assert len(heights) == len(run.stages)


def test_the_live_view_shows_the_parts() -> None:
    import io

    from rich.console import Console

    from garrison.runs.view import LiveView, Title

    view = LiveView(Title("name", "details", "folder", {}), Console(file=io.StringIO()))
    view.show({"step": 1.0, "time/elapsed_time": 1.0, "time/fps": 5.0, **NEW, "time_split/log": 0.001}, 0.5)
    console = Console(file=io.StringIO(), width=100, color_system=None)
    console.print(view._panel())
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    for words in ("step: compute 37 %", "step: wait 12 %", "act 25 %"):
        assert words in shown
    assert "log" not in shown
