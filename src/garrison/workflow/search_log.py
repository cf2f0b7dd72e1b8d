"""A search on the disk: its trials, after each of which everything is kept."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from garrison.errors import UserError, foreign
from garrison.report.search_history import STATE
from garrison.storage import checkpoint
from garrison.storage.atomic import write_bytes, write_json
from garrison.workflow.decisions import Trial
from garrison.workflow.inherit import ORDER_FILES, order_files

UPDATES = "updates.jsonl"
FORMAT = 1


@dataclass
class SearchLog:
    """What a search has done, and the files that say so."""

    folder: Path
    trials: list[Trial] = field(default_factory=list)
    seconds: float = 0.0
    """Wall time, earlier parts and the base included."""
    base_episodes: int = 0
    """Episodes that the base was trained for."""

    @classmethod
    def load(cls, folder: Path) -> "SearchLog":
        """Read a search that was begun; what is there of an order that was not finished is dropped."""
        try:
            values = json.loads((folder / STATE).read_text())
        except (OSError, ValueError, RecursionError):
            raise UserError(f"{folder} holds no search: its {STATE} is missing or damaged.") from None
        with foreign(f"the search in {folder}"):
            return cls._of(folder, values)

    @classmethod
    def _of(cls, folder: Path, values: Any) -> "SearchLog":
        if values.get("format") != FORMAT:
            raise UserError(f"the search in {folder} has format {values.get('format')!r}; this reads format {FORMAT}.")
        trials = [Trial.from_dict(trial) for trial in values["trials"]]
        log = cls(folder, trials, values["seconds"], values["base_episodes"])
        for file, (_, iteration) in order_files(folder).items():
            if iteration >= len(trials):
                file.unlink()
        rows = [row for row in log.updates() if row["trial"] < len(trials)]
        write_bytes(folder / UPDATES, [b"".join(json.dumps(row).encode() + b"\n" for row in rows)])
        return log

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
