"""The five numbers that matter, each beside what it is to be compared with and the command that measures it."""

from pathlib import Path

from garrison.bench.method.labels import GARRISON, is_peer
from garrison.bench.publish.markdown import markdown
from garrison.bench.publish.stored import (
    StoredRow,
    best,
    brief,
    load,
    measured,
    need,
    over,
    select,
    short_name,
)
from garrison.challenge.leaderboard import leaderboard

RESULTS = ("sim", "users", "vector-synthetic", "train", "record")
COST = "500 µs uneven"


def headline_table(folder: Path) -> str:
    """Return the table."""
    return markdown(
        ("", "command", "Garrison", "the other", "ratio"),
        [_simulator(folder), _sampling(folder), _backends(folder), _training(folder), _record(folder)],
        "Steps/s of the same run, except in the last row; ~ where repeats spread by more than 10 %.",
        "Every number, its machine and its method:",
        "[benchmarks/index.html](benchmarks/index.html).",
        left=2,
    )


def _line(what: str, row: StoredRow, base: StoredRow, command: str) -> tuple[str, ...]:
    return what, f"`{command}`", brief(row), brief(base), over(row, base)


def _simulator(folder: Path) -> tuple[str, ...]:
    rows = measured(load(folder, "sim"))
    ours = best(select(rows, who=GARRISON)) or rows[0]
    base = need(rows, who="CybORG", red="meander")
    return _line(f"simulator, {short_name(ours, 'envs', 'threads')}, beside CybORG", ours, base, "garrison bench sim")


def _sampling(folder: Path) -> tuple[str, ...]:
    rows = measured(load(folder, "users"))
    one = need(rows, who=GARRISON, way="sequential", envs=1)
    many = need(rows, who=GARRISON, way="shared memory", envs=200)
    what = "CAGE-2 in Python: 200 environments in worker processes beside one in a loop"
    return _line(what, many, one, "garrison bench users")


def _backends(folder: Path) -> tuple[str, ...]:
    rows = measured(load(folder, "vector-synthetic"))
    most = max(row["labels"]["envs"] for row in rows)
    here = select(rows, envs=most, cost=COST)
    ours = best(select(here, who=GARRISON)) or here[0]
    peer = best(row for row in here if is_peer(row["labels"])) or here[0]
    name = short_name(peer, "who", "backend")
    what = f"{most} Python environments ({COST}): `{ours['labels']['backend']}` beside the best peer ({name})"
    return _line(what, ours, peer, "garrison bench vector")


def _training(folder: Path) -> tuple[str, ...]:
    rows = measured(load(folder, "train"))
    ours, peer = (need(rows, who=who, hidden=64) for who in (GARRISON, "Stable-Baselines3"))
    return _line("PPO on CAGE-2, learning included, beside Stable-Baselines3", ours, peer, "garrison bench train")


def _record(folder: Path) -> tuple[str, ...]:
    runs = [run for run in load(folder, "record")["runs"] if run["evaluation"]["rules"] == "leaderboard"]
    top = max(runs, key=lambda run: float(run["evaluation"]["total"]))
    score, winner = top["evaluation"], leaderboard()[0]
    ours, theirs = f"{score['total']:.2f} ± {score['ci95']:.2f}", f"{winner.total:.2f} ± {winner.ci95:.2f}"
    better = f"{score['total'] - winner.total:+.2f} points"
    what = f"official total after {top['seconds'] / 60:.0f} minutes of training beside the challenge's winner"
    return what, f"`garrison train {top['preset']} --seed {top['seed']}`", ours, theirs, better
