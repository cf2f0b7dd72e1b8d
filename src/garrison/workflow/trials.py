"""A search on the disk: its trials, after each of which everything is kept, and one trial at work."""

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch

from garrison.errors import UserError
from garrison.learn.ppo import train
from garrison.learn.run import RunLog
from garrison.storage import checkpoint
from garrison.storage.atomic import write_bytes, write_json
from garrison.workflow.decisions import Decision, Trial
from garrison.workflow.inherit import ORDER_FILES, Trained, nearest, order_files
from garrison.workflow.play import NetworkPlayer, play
from garrison.workflow.settings import SearchExperiment
from garrison.workflow.stopping import EPISODES, Stopper, StopRules
from garrison.workflow.tracking import Tracker
from garrison.workflow.training import FRESH, batch_for, describe

STATE = "search.json"
UPDATES = "updates.jsonl"
FORMAT = 1


@dataclass
class Book:
    """What a search has done, and the files that say so."""

    folder: Path
    trials: list[Trial] = field(default_factory=list)
    seconds: float = 0.0
    """Wall time, earlier parts and the base included."""
    base_episodes: int = 0
    """Episodes that the base was trained for."""

    @classmethod
    def load(cls, folder: Path) -> "Book":
        """Read a search that was begun; what is there of an order that was not finished is dropped."""
        try:
            values = json.loads((folder / STATE).read_text())
        except (OSError, json.JSONDecodeError):
            raise UserError(f"{folder} holds no search: its {STATE} is missing or damaged.") from None
        if values.get("format") != FORMAT:
            raise UserError(f"the search in {folder} has format {values.get('format')!r}; this reads format {FORMAT}.")
        trials = [Trial.from_dict(trial) for trial in values["trials"]]
        book = cls(folder, trials, values["seconds"], values["base_episodes"])
        for file, (_, iteration) in order_files(folder).items():
            if iteration >= len(trials):
                file.unlink()
        rows = [row for row in book.updates() if row["trial"] < len(trials)]
        write_bytes(folder / UPDATES, [b"".join(json.dumps(row).encode() + b"\n" for row in rows)])
        return book

    @property
    def episodes(self) -> int:
        """Episodes spent, over all environments."""
        return self.base_episodes + sum(trial.episodes for trial in self.trials)

    def save(self) -> None:
        """Write the state."""
        write_json(
            self.folder / STATE,
            {
                "format": FORMAT,
                "seconds": round(self.seconds, 3),
                "base_episodes": self.base_episodes,
                "trials": [trial.to_dict() for trial in self.trials],
            },
        )

    def add(self, trial: Trial, values: dict[str, Any], rows: list[dict[str, float]]) -> None:
        """Keep a trial: its network, its updates, and last the state, which makes it count."""
        (self.folder / ORDER_FILES).mkdir(exist_ok=True)
        checkpoint.save(self.order_file(trial), values)
        with (self.folder / UPDATES).open("a") as file:
            for row in rows:
                file.write(json.dumps({"trial": trial.decision.iteration, "order": trial.order, **row}) + "\n")
        self.trials.append(trial)
        self.save()

    def order_file(self, trial: Trial) -> Path:
        """Return where a trial's network is."""
        return self.folder / ORDER_FILES / f"{trial.order:03}-{trial.decision.iteration:03}.garrison"

    def updates(self) -> list[dict[str, float]]:
        """Return the rows of every update; a last one cut short by a crash is left out."""
        rows = []
        path = self.folder / UPDATES
        for line in path.read_text().splitlines() if path.exists() else ():
            try:
                rows.append(json.loads(line))
            except json.JSONDecodeError:
                break
        return rows


class Watch(RunLog):
    """A `RunLog` that only knows when to stop."""

    def __init__(self, interrupted: Callable[[], bool]) -> None:
        self._interrupted = interrupted

    @property
    def stop(self) -> bool:
        """Whether to end after this update."""
        return self._interrupted()


def run_trial(
    experiment: SearchExperiment,
    rules: StopRules,
    decision: Decision,
    known: list[Trained],
    interrupted: Callable[[], bool],
) -> tuple[Trial, dict[str, Any], list[dict[str, float]]] | None:
    """Train and measure one order; None if that was interrupted.

    Returns the trial, the checkpoint's values and the rows of its updates.
    """
    began = perf_counter()
    order, search = decision.order, experiment.search
    # Every trial draws from a seed of its own, so that a search goes on as it would have.
    seed = int(np.random.SeedSequence((experiment.learner.seed, decision.iteration)).generate_state(1)[0])
    trained = dataclasses.replace(
        experiment.of_orders([order]), learner=dataclasses.replace(experiment.learner, seed=seed)
    )
    envs = batch_for(trained)
    about = describe(trained, envs)
    inherited = nearest([order], known, about["policy"])
    weights = None if inherited is None else torch.from_numpy(inherited.weights)
    tracker = Tracker(envs, Stopper(rules), Watch(interrupted))
    result = train(trained.settings(inherits=inherited is not None), envs, tracker, weights=weights)
    envs.close()
    if interrupted():
        return None
    about["inherited"] = inherited.to_text([order]) if inherited else FRESH
    state = {key: result.state[key] for key in ("format", "algorithm", "steps", "updates", "weights")}
    values = {**about, "iteration": decision.iteration, "state": state}
    score = play(
        NetworkPlayer(values, "trial"),
        trained.env,
        trained.workflow,
        order,
        experiment.run.evaluate_episodes,
        experiment.learner.seed,
    )
    trial = Trial(
        decision=decision,
        score=score,
        inherited=about["inherited"],
        episodes=tracker.episodes,
        updates=tracker.updates,
        reason=tracker.stopper.reason or EPISODES,
        observed=search.fixed_episodes or score.compliance >= experiment.workflow.compliance_threshold,
        seconds=round(perf_counter() - began, 3),
    )
    return trial, values, tracker.rows
