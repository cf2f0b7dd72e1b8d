"""The five claims that matter, each with its ratio, the ratio's interval and the command that measures it."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from garrison.bench.method.estimate import FEWEST
from garrison.bench.method.labels import GARRISON, is_peer
from garrison.bench.publish.markdown import markdown
from garrison.bench.publish.stored import (
    StoredResult,
    StoredRow,
    best,
    load,
    measured,
    need,
    over,
    rate_alone,
    select,
    short_name,
)
from garrison.challenge.leaderboard import leaderboard
from garrison.errors import UserError
from garrison.report.page import Page

COST = "500 µs uneven"
HEADER = ("", "command", "ratio", "Garrison", "the other")
NOTE = (
    "Steps/s of the same run, except in the last row. ± reaches to the ends of the 95 % interval; of a wide one the "
    f"ends are written. Where there were fewer than {FEWEST} rounds, too few for one, the range of the rounds stands "
    "instead, with their number."
)


class Claim(NamedTuple):
    """One of the five."""

    what: str
    command: str
    ratio: str
    ours: str
    theirs: str

    @property
    def cells(self) -> tuple[str, ...]:
        """What stands in a table."""
        return self.what, f"`{self.command}`", *self[2:]


def headline_table(folder: Path) -> str:
    """Return the claims as a table."""
    made = [claim(load(folder, name)) for name, claim in CLAIMS.items()]
    return markdown(
        HEADER,
        [claim.cells for claim in made],
        NOTE,
        "Every number, its machine and its method:",
        "[benchmarks/index.html](benchmarks/index.html).",
        left=2,
    )


def first_screen(page: Page, found: Mapping[str, StoredResult]) -> None:
    """Show the claims whose rows were measured."""
    made = []
    for name in [name for name in CLAIMS if name in found]:
        with suppress(UserError):  # a row that it needs is not there: it failed, or this was a quick look
            made.append(CLAIMS[name](found[name]))
    if made:
        page.table(HEADER, [claim.cells for claim in made]).remark(NOTE)


def _claim(what: str, row: StoredRow, base: StoredRow, command: str) -> Claim:
    return Claim(what, command, over(row, base), rate_alone(row), rate_alone(base))


def _simulator(result: StoredResult) -> Claim:
    rows = measured(result)
    base = need(rows, who="CybORG", red="meander")
    ours = _best(select(rows, who=GARRISON, method=None))  # step by step, as CybORG is stepped
    return _claim(f"simulator, {short_name(ours, 'envs', 'threads')}, beside CybORG", ours, base, "garrison bench sim")


def _sampling(result: StoredResult) -> Claim:
    rows = measured(result)
    one = need(rows, who=GARRISON, way="sequential", envs=1)
    many = need(rows, who=GARRISON, way="shared memory", envs=200)
    what = "CAGE-2 in Python: 200 environments in worker processes beside one in a loop"
    return _claim(what, many, one, "garrison bench users --part cage2")


def _backends(result: StoredResult) -> Claim:
    rows = select(measured(result), cost=COST)
    most = max((row["labels"]["envs"] for row in rows), default=0)
    here = select(rows, envs=most)
    ours, peer = _best(select(here, who=GARRISON)), _best([row for row in here if is_peer(row["labels"])])
    name = short_name(peer, "who", "backend")
    what = f"{most} Python environments ({COST}): `{ours['labels']['backend']}` beside the best peer ({name})"
    return _claim(what, ours, peer, "garrison bench vector --part synthetic")


def _training(result: StoredResult) -> Claim:
    ours, peer = (need(measured(result), who=who, hidden=64) for who in (GARRISON, "Stable-Baselines3"))
    what = "PPO on CAGE-2, learning included, beside Stable-Baselines3"
    return _claim(what, ours, peer, "garrison bench train --part ppo")


def _record(result: StoredResult) -> Claim:
    runs = [run for run in result["runs"] if run["evaluation"]["rules"] == "leaderboard"]
    if not runs:
        raise UserError("there is no run under the leaderboard's rules.")
    runs = [run for run in runs if run["preset"] == runs[0]["preset"]]
    in_order = sorted(runs, key=lambda run: float(run["evaluation"]["total"]))
    middle = in_order[(len(runs) - 1) // 2]
    score, winner = middle["evaluation"], leaderboard()[0]
    ours, theirs = f"{score['total']:.2f} ± {score['ci95']:.2f}", f"{winner.total:.2f} ± {winner.ci95:.2f}"
    reach = (score["ci95"] ** 2 + winner.ci95**2) ** 0.5
    better = f"{score['total'] - winner.total:+.2f} ± {reach:.2f} points"
    training = f"{middle['seconds'] / 60:.0f} minutes of training (median of {len(runs)} seeds)"
    what = f"official total after {training} beside the challenge's winner"
    return Claim(what, f"garrison train {middle['preset']} --seed {middle['seed']}", better, ours, theirs)


def _best(rows: list[StoredRow]) -> StoredRow:
    row = best(rows)
    if row is None:
        raise UserError("there is no such row.")
    return row


CLAIMS: dict[str, Callable[[StoredResult], Claim]] = {
    "sim": _simulator,
    "users": _sampling,
    "vector-synthetic": _backends,
    "train": _training,
    "record": _record,
}
"""Each claim, by the result that it is made from."""
RESULTS = tuple(CLAIMS)
