"""Results of sweeps with numbers that are known, for their pages."""

from pathlib import Path
from typing import Any

from garrison.report.history import RunHistory
from garrison.report.run_groups import score_of
from garrison.report.sweep_results import RunResult, SettingResult, SweepResults
from tests.helpers.written_runs import official_score, write_run

NAMES = ("ppo.learning_rate", "env.red")


def swept_results(path: Path, hostile: str = "bline", seeds: int = 2, is_search: bool = False) -> SweepResults:
    """Return a sweep of four settings: three finished, one failed; in a search one more was pruned."""
    settings = []
    for number in range(5 if is_search else 4):
        values: dict[str, Any] = {NAMES[0]: 0.001 * (number + 1), NAMES[1]: hostile if number % 2 else "meander"}
        state = {3: "failed", 4: "pruned"}.get(number, "finished")
        runs = [_run(path, number, seed, state, hostile) for seed in range(seeds)]
        reported = -50.0 if state == "pruned" else None
        settings.append(SettingResult(number, values, state, tuple(runs), hostile * (number == 3), reported))
    return SweepResults(
        path,
        hostile,
        f"4 settings of {hostile}",
        NAMES,
        tuple(settings),
        is_search,
        len(settings) * seeds,
        {NAMES[0]: 0.7, NAMES[1]: 0.3} if is_search else {},
        NAMES[:1] if is_search else (),
    )


def _run(path: Path, number: int, seed: int, state: str, hostile: str) -> RunResult:
    name = f"{number:04}-seed-{seed}"
    total = official_score(-100.0 - 10 * number - seed) if state == "finished" else {}
    folder = write_run(path / "runs" / name, seed=seed, slope=10.0 + number + seed, status=state, **total)
    (folder / "index.html").write_text("a page")
    if state == "failed":
        (folder / "error.txt").write_text("a traceback")
    history = RunHistory.glance(folder, 50)
    message = hostile if state == "failed" else ""
    return RunResult(name, seed, folder, state, score_of(history), history, message)
