"""Tables under the names and columns that the users' scripts read.

`training_log.csv` and `gp_sampling_log.csv` have the columns of their executor first, in its order; what ours know
besides stands behind. `orders.csv` has those of their summary of fixed workflows.
"""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from garrison.runs.folder import RunFolder
from garrison.workflow.decisions import TOP, Trial
from garrison.workflow.orders import ORDERS, label, name_of
from garrison.workflow.scores import Score
from garrison.workflow.settings import WorkflowExperiment
from garrison.workflow.tracking import ALIGNMENT, COLLECT, COMPLIANCE, ENV_REWARD, EPISODES, FIXES, LEARN, TOTAL

FOLDER = "export"
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
    *(f"Top{k}_{what}" for k in range(1, TOP + 1) for what in ("Workflow", "UCB", "Mean", "Std")),
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


def write_run(folder: RunFolder, experiment: WorkflowExperiment) -> None:
    """Write the training log and the settings of a run."""
    orders = experiment.workflow.orders
    what = label(orders[0]) if len(orders) == 1 else "all" if len(orders) == len(ORDERS) else f"{len(orders)} orders"
    rows = []
    for update, row in enumerate(folder.read_metrics()):
        seconds = {
            name: sum(row.get(f"time_split/{stage}", 0.0) for stage in stages)
            for name, stages in (("collect", COLLECT), ("learn", LEARN))
        }
        rows.append(_training_row(0, what, {**row, **seconds, "update": update + 1}, 0))
    out = folder.path / FOLDER
    _write(out / "training_log.csv", TRAINING_COLUMNS, (row for row in rows if row))
    _write_config(out, experiment)


def write_search(
    folder: Path,
    experiment: WorkflowExperiment,
    trials: Sequence[Trial],
    updates: Iterable[Mapping[str, float]],
    base: int,
) -> None:
    """Write the logs of a search; `base` is the number of episodes before its first order."""
    before, spent = {}, base
    for trial in trials:
        before[trial.decision.iteration] = spent
        spent += trial.episodes
    rows = (
        _training_row(int(row["trial"]), label(int(row["order"])), row, before[int(row["trial"])]) for row in updates
    )
    out = folder / FOLDER
    _write(out / "training_log.csv", TRAINING_COLUMNS, (row for row in rows if row))
    _write(out / "gp_sampling_log.csv", GP_COLUMNS, map(_gp_row, trials))
    write_scores(out / "orders.csv", (trial.score for trial in trials))
    write_markdown(out / "orders.md", trials)
    _write_config(out, experiment)


def write_scores(path: Path, scores: Iterable[Score]) -> None:
    """Write what a defender got under each order."""
    _write(
        path,
        ORDER_COLUMNS,
        (
            (
                name_of(s.order),
                label(s.order),
                f"{s.reward:.3f}",
                f"{s.reward_std:.3f}",
                f"{s.compliance:.4f}",
                f"{s.reward_min:.1f}",
                f"{s.reward_max:.1f}",
                s.order,
                f"{s.reward_ci95:.3f}",
                f"{s.compliance_ci95:.4f}",
                f"{s.alignment:.3f}",
                f"{s.fixes:.2f}",
                s.episodes,
            )
            for s in scores
        ),
    )


def write_markdown(path: Path, trials: Sequence[Trial]) -> None:
    """Write the orders tried as a Markdown table, the best reward first; what does not count is marked."""
    lines = ["| | order | reward | compliance | fixes | |", "|---:|---|---:|---:|---:|---|"]
    for trial in sorted(trials, key=lambda trial: -trial.reward):
        s = trial.score
        lines.append(
            f"| {s.order} | {label(s.order)} | {s.reward:.2f} ± {s.reward_ci95:.2f} | "
            f"{s.compliance:.3f} ± {s.compliance_ci95:.3f} | {s.fixes:.1f} | "
            f"{'' if trial.observed else 'does not comply'} |"
        )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


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


def _gp_row(trial: Trial) -> tuple[Any, ...]:
    decision = trial.decision
    chosen = decision.chosen
    top: list[Any] = []
    for candidate in decision.top:
        top += [label(candidate.order), *(f"{x:.4f}" for x in (candidate.ucb, candidate.mean, candidate.deviation))]
    return (
        decision.iteration,
        label(trial.order),
        f"{chosen.ucb:.4f}" if chosen else "",
        f"{trial.reward:.2f}",
        f"{trial.score.compliance:.4f}",
        trial.episodes,
        "Yes" if trial.observed else "No",
        decision.how,
        f"{chosen.mean:.4f}" if chosen else "",
        f"{chosen.ucb - chosen.mean:.4f}" if chosen else "",
        *top,
        *[""] * (4 * TOP - len(top)),
        f"{chosen.mean:.4f}" if chosen else "",
        f"{chosen.deviation:.4f}" if chosen else "",
        "" if decision.nearest is None else label(decision.nearest),
        "" if decision.distance is None else f"{decision.distance:.1f}",
        trial.order,
        trial.reason,
        trial.inherited,
    )


def _write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)


def _write_config(out: Path, experiment: WorkflowExperiment) -> None:
    (out / "experiment_config.json").write_text(json.dumps(experiment.to_dict(), indent=2) + "\n", encoding="utf-8")
