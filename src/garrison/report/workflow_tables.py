"""Tables under the names and columns that the users' scripts read.

`training_log.csv` and `gp_sampling_log.csv` have the columns of their executor first, in its order; what ours know
besides stands behind. `orders.csv` has those of their summary of fixed workflows.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from garrison.learn import stages
from garrison.report.search_history import SearchHistory, order_text
from garrison.report.workflow_metrics import ALIGNMENT, COMPLIANCE, ENV_REWARD, EPISODES, FIXES, TOTAL
from garrison.runs.folder import RunFolder
from garrison.storage.atomic import write_json, write_text

FOLDER = "export"
LISTED = 3  # candidates of a decision that the users' log has columns for
Values = Mapping[str, Any]
TRAINING_COLUMNS = (
    "Workflow_ID",
    "Workflow_Order",
    "Update",
    "Episodes",
    "Total_Episodes_Sampled",
    "Env_Reward",
    "Alignment_Bonus",
    "Total_Reward",
    "Compliance",
    "Avg_Fixes",
    "Collection_Time",
    "Update_Time",
)
GP_COLUMNS = (
    "Iteration",
    "Workflow",
    "UCB_Score",
    "Reward",
    "Final_Compliance",
    "Episodes_Trained",
    "GP_Updated",
    "Selection_Method",
    "Exploitation_Value",
    "Exploration_Bonus",
    *(f"Top{k}_{what}" for k in range(1, LISTED + 1) for what in ("Workflow", "UCB", "Mean", "Std")),
    "Mean",
    "Std",
    "Closest_Workflow",
    "Closest_Distance",
    "Order_Index",
    "Stopped",
    "Inherited",
)
ORDER_COLUMNS = (
    "Workflow_Name",
    "Workflow_Order",
    "Mean_Reward",
    "Std_Reward",
    "Mean_Compliance",
    "Min_Reward",
    "Max_Reward",
    "Order_Index",
    "Reward_CI95",
    "Compliance_CI95",
    "Alignment_Bonus",
    "Avg_Fixes",
    "Episodes",
)


def write_run(folder: RunFolder, orders: str, settings: Values) -> None:
    """Write the training log of a run on the orders that `orders` names, and its settings."""
    rows = []
    for update, row in enumerate(folder.read_metrics(), start=1):
        seconds = {
            "collect": stages.total(row, stages.COLLECTING),
            "learn": stages.total(row, stages.LEARNING),
        }
        rows.append(_training_row(0, orders, {**row, **seconds, "update": update}, 0))
    out = folder.path / FOLDER
    _write(out / "training_log.csv", TRAINING_COLUMNS, (row for row in rows if row))
    _write_config(out, settings)


def write_search(search: SearchHistory, trials: Sequence[Values]) -> None:
    """Write the logs of a search; `trials` are the orders tried, with all that was decided and measured."""
    before, spent = {}, search.base_episodes
    for trial in trials:
        before[trial["decision"]["iteration"]] = spent
        spent += trial["episodes"]
    rows = (
        _training_row(int(row["trial"]), order_text(int(row["order"])), row, before[int(row["trial"])])
        for row in search.updates
    )
    out = search.path / FOLDER
    _write(out / "training_log.csv", TRAINING_COLUMNS, (row for row in rows if row))
    _write(out / "gp_sampling_log.csv", GP_COLUMNS, map(_gp_row, trials))
    write_scores(out / "orders.csv", (trial["score"] for trial in trials), search.names)
    write_markdown(out / "orders.md", trials)
    _write_config(out, search.settings)


def write_scores(path: Path, scores: Iterable[Values], names: Mapping[int, str]) -> None:
    """Write what a defender got under each order; some orders have names of their own."""
    _write(
        path,
        ORDER_COLUMNS,
        (
            (
                names.get(s["order"], order_text(s["order"])),
                order_text(s["order"]),
                f"{s['reward']:.3f}",
                f"{s['reward_std']:.3f}",
                f"{s['compliance']:.4f}",
                f"{s['reward_min']:.1f}",
                f"{s['reward_max']:.1f}",
                s["order"],
                f"{s['reward_ci95']:.3f}",
                f"{s['compliance_ci95']:.4f}",
                f"{s['alignment']:.3f}",
                f"{s['fixes']:.2f}",
                s["episodes"],
            )
            for s in scores
        ),
    )


def write_markdown(path: Path, trials: Sequence[Values]) -> None:
    """Write the orders tried as a Markdown table, the best reward first; what does not count is marked."""
    lines = ["| | order | reward | compliance | fixes | |", "|---:|---|---:|---:|---:|---|"]
    for trial in sorted(trials, key=lambda trial: -trial["score"]["reward"]):
        s = trial["score"]
        lines.append(
            f"| {s['order']} | {order_text(s['order'])} | {s['reward']:.2f} ± {s['reward_ci95']:.2f} | "
            f"{s['compliance']:.3f} ± {s['compliance_ci95']:.3f} | {s['fixes']:.1f} | "
            f"{'' if trial['observed'] else 'does not comply'} |"
        )
    write_text(path, "\n".join(lines) + "\n")


def _training_row(trial: int, order: str, row: Mapping[str, float], before: int) -> tuple[Any, ...] | None:
    if COMPLIANCE not in row:  # no episode had ended
        return None
    return (
        trial,
        order,
        int(row["update"]),
        int(row[EPISODES]),
        before + int(row[EPISODES]),
        f"{row[ENV_REWARD]:.2f}",
        f"{row[ALIGNMENT]:.2f}",
        f"{row[TOTAL]:.2f}",
        f"{row[COMPLIANCE]:.4f}",
        f"{row[FIXES]:.1f}",
        f"{row['collect']:.2f}",
        f"{row['learn']:.2f}",
    )


def _gp_row(trial: Values) -> tuple[Any, ...]:
    decision, score = trial["decision"], trial["score"]
    chosen = decision["chosen"]
    top: list[Any] = []
    for candidate in decision["top"][:LISTED]:
        numbers = (candidate[key] for key in ("ucb", "mean", "deviation"))
        top += [order_text(candidate["order"]), *(f"{x:.4f}" for x in numbers)]
    return (
        decision["iteration"],
        order_text(decision["order"]),
        f"{chosen['ucb']:.4f}" if chosen else "",
        f"{score['reward']:.2f}",
        f"{score['compliance']:.4f}",
        trial["episodes"],
        "Yes" if trial["observed"] else "No",
        decision["how"],
        f"{chosen['mean']:.4f}" if chosen else "",
        f"{chosen['ucb'] - chosen['mean']:.4f}" if chosen else "",
        *top,
        *[""] * (4 * LISTED - len(top)),
        f"{chosen['mean']:.4f}" if chosen else "",
        f"{chosen['deviation']:.4f}" if chosen else "",
        "" if decision["nearest"] is None else order_text(decision["nearest"]),
        "" if decision["distance"] is None else f"{decision['distance']:.1f}",
        decision["order"],
        trial["reason"],
        trial["inherited"],
    )


def _write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    table = StringIO(newline="")
    writer = csv.writer(table)
    writer.writerow(columns)
    writer.writerows(rows)
    write_text(path, table.getvalue())


def _write_config(out: Path, settings: Values) -> None:
    write_json(out / "experiment_config.json", settings)
