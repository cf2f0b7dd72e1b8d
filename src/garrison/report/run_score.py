"""What a run's policy scored at the end: the nine cells, whole episodes, orders, or each of its agents."""

from collections.abc import Mapping, Sequence
from typing import Any

from garrison.challenge import leaderboard
from garrison.formatting import cell
from garrison.report.history import REWARD, RunHistory
from garrison.report.page import Cell, Page
from garrison.report.search_history import order_text
from garrison.runs.page_rhythm import FILE
from garrison.tasks.confidence import mean95

EPISODES = {
    "mean": "mean return",
    "ci95": "± (95 %)",
    "episodes": "episodes",
    "lowest": "lowest return",
    "highest": "highest return",
    "mean_length": "steps of an episode",
}
FEW = 8  # rows of a table that is not folded


def add_score(page: Page, run: RunHistory, agents: Sequence[RunHistory]) -> None:
    """Add the section, if there is anything to say."""
    summary = run.summary
    evaluation = summary.get("evaluation") or {}
    if not (evaluation or agents or summary.get("scores") or "unscored" in summary):
        return
    page.section("Score")
    if "unscored" in summary:
        page.note(str(summary["unscored"]))
    if isinstance(cells := evaluation.get("cells"), list) and cells:
        _add_cells(page, run, cells)
    if "mean" in evaluation:
        page.facts({name: cell(evaluation[key]) for key, name in EPISODES.items() if key in evaluation})
    if scores := summary.get("scores"):
        rows = [
            [order_text(s["order"]), f"{s['reward']:.2f} ± {s['reward_ci95']:.2f}", f"{s['compliance']:.3f}"]
            for s in scores
        ]
        page.table(["order", "reward", "compliance"], rows, folded=f"{len(rows)} orders" if len(rows) > FEW else "")
    if agents:
        _add_agents(page, agents)


def _add_cells(page: Page, run: RunHistory, cells: Sequence[Mapping[str, Any]]) -> None:
    evaluation = run.summary["evaluation"]
    rules = str(evaluation.get("rules", ""))
    reds = list(dict.fromkeys(str(each["red"]) for each in cells))
    lengths = list(dict.fromkeys(int(each["length"]) for each in cells))
    of = {(each["red"], each["length"]): each for each in cells}
    rows = [[f"{length} steps", *(_cell(of.get((red, length)), rules) for red in reds)] for length in lengths]
    page.table(["", *reds], rows, caption=f"Mean return ± 95 %, rules `{rules}`.")
    if run.total is not None:
        place = f" That is place {leaderboard.rank_of(run.total[0])} of the challenge's final table."
        total = (
            f"Sum of the cells: {run.total[0]:.2f} ± {run.total[1]:.2f}, {evaluation.get('episodes')} episodes each."
        )
        page.remark(total + (place if rules == leaderboard.TABLE_RULES and len(cells) == 9 else ""))


def _cell(one: Mapping[str, Any] | None, rules: str) -> Cell | None:
    if one is None:
        return None
    beside, (red, length) = "", (one["red"], one["length"])
    if rules == leaderboard.TABLE_RULES and red in leaderboard.EVALUATED_REDS and length in leaderboard.LENGTHS:
        beside = f"the winner: {leaderboard.leaderboard()[0].cell(red, length):.2f}"
    return Cell(f"{one['mean']:.2f} ± {1.96 * one['stderr']:.2f}", beside)


def _add_agents(page: Page, agents: Sequence[RunHistory]) -> None:
    rows, totals = [], []
    for agent in agents:
        _, _, returns = agent.series(REWARD)
        if agent.total is not None:
            totals.append(agent.total[0])
        rows.append(
            [
                Cell(agent.name, link=f"{agent.name}/{FILE}" if (agent.path / FILE).is_file() else ""),
                f"{agent.total[0]:.2f} ± {agent.total[1]:.2f}" if agent.total else None,
                f"{returns[-1]:.2f}" if len(returns) else None,
            ]
        )
    page.table(["agent", "official total", "last return"], rows)
    if len(totals) > 1:
        mean, reach = mean95(totals)
        page.remark(
            f"Mean of {len(totals)} agents {mean:.2f} ± {reach:.2f}: the 95 % interval over agents, Student's t."
        )
