"""What a search leaves behind: results as JSON, the users' tables, and figures."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from garrison.errors import UserError
from garrison.report.history import RunHistory
from garrison.report.search_history import RESULTS, SearchHistory
from garrison.report.workflow_tables import write_search
from garrison.runs.marks import now
from garrison.storage.atomic import write_json
from garrison.system import facts
from garrison.workflow import surrogate
from garrison.workflow.decisions import Trial, best_of
from garrison.workflow.inherit import BASE
from garrison.workflow.orders import NAMES, label, name_of
from garrison.workflow.search_log import UPDATES, SearchLog
from garrison.workflow.settings import SearchExperiment


def finish(experiment: SearchExperiment, log: SearchLog, ending: str, because: str) -> Path:
    """Write everything; return the path of the results."""
    log.save()
    path = log.folder / RESULTS
    posterior = posterior_of(log.trials)
    best = best_of(log.trials)
    write_json(
        path,
        {
            "what": "environment reward and compliance of every order tried, each with a network of its own",
            "method": experiment.search.method,
            "ended": ending,
            "ended_because": because,
            "ended_at": now(),
            "seconds": round(log.seconds, 1),
            "episodes": log.episodes,
            "base_episodes": log.base_episodes,
            "best": None if best is None else best.order,
            "orders": [_row(trial) for trial in sorted(log.trials, key=lambda trial: trial.order)],
            "posterior": None if posterior is None else _posterior(posterior),
            "settings": experiment.to_dict(),
            "machine": facts(),
        },
    )
    search = history_of(experiment, log)
    write_search(search, [trial.to_dict() for trial in log.trials])
    if log.trials and find_spec("matplotlib") is not None:
        from garrison.report.workflow_figures import plot_search

        plot_search(search, log.folder / "plots")
    return path


def read_search(folder: Path) -> SearchHistory:
    """Read the results of a search, finished or interrupted."""
    if not (folder / RESULTS).exists():
        raise UserError(f"the search in {folder} has no results yet.", hint=f"Go on with --resume {folder}.")
    results = json.loads((folder / RESULTS).read_text())
    updates = folder / UPDATES
    base_episodes = results["base_episodes"]
    return SearchHistory(
        path=folder.resolve(),
        orders=sorted(results["orders"], key=lambda row: int(row["iteration"])),
        updates=[json.loads(line) for line in updates.read_text().splitlines()] if updates.exists() else [],
        settings=results["settings"],
        posterior=results["posterior"],
        names=NAMES,
        base_episodes=base_episodes,
        base=RunHistory.read(folder / BASE) if base_episodes else None,
        seconds=results["seconds"],
        run=RunHistory.glance(folder, 1),
    )


def history_of(experiment: SearchExperiment, log: SearchLog) -> SearchHistory:
    """Return what a search has tried so far, as `read_search` returns it at its end."""
    posterior = posterior_of(log.trials)
    return SearchHistory(
        path=log.folder.resolve(),
        orders=[_row(trial) for trial in log.trials],
        updates=log.updates(),
        settings=experiment.to_dict(),
        posterior=None if posterior is None else _posterior(posterior),
        names=NAMES,
        base_episodes=log.base_episodes,
        base=RunHistory.read(log.folder / BASE) if log.base_episodes else None,
        seconds=log.seconds,
        run=RunHistory.glance(log.folder, 1),
    )


def posterior_of(trials: list[Trial]) -> surrogate.Posterior | None:
    """Return what the trials say of every order, if scikit-learn is there and enough of them count."""
    observed = [trial for trial in trials if trial.observed]
    if len(observed) < surrogate.LEAST or not surrogate.has_sklearn():
        return None
    return surrogate.fit([trial.order for trial in observed], [trial.reward for trial in observed])


def _row(trial: Trial) -> dict[str, Any]:
    score = trial.score
    return {
        "order": trial.order,
        "name": name_of(trial.order),
        "units": label(trial.order),
        "reward": round(score.reward, 4),
        "reward_ci95": round(score.reward_ci95, 4),
        "compliance": round(score.compliance, 4),
        "compliance_ci95": round(score.compliance_ci95, 4),
        "alignment": round(score.alignment, 4),
        "fixes": round(score.fixes, 2),
        "counts": trial.observed,
        "iteration": trial.decision.iteration,
        "episodes": trial.episodes,
        "stopped": trial.reason,
        "seconds": trial.seconds,
    }


def _posterior(posterior: surrogate.Posterior) -> dict[str, Any]:
    return {
        "mean": [round(float(x), 4) for x in posterior.mean],
        "deviation": [round(float(x), 4) for x in posterior.deviation],
        "length": posterior.length,
        "signal": posterior.signal,
        "noise": posterior.noise,
    }
