"""The run's folder: what is in it, making it, opening it.

config.yaml           every setting, resolved
versions.json         what it was made with: versions, machine, command
metrics.jsonl         one line per update
marks.jsonl           when it began, was resumed and saved, and what was said: one line each
index.html            all of it to look at
events.out.tfevents*  the same for TensorBoard
trackers.json         what finds it again in Weights & Biases, MLflow and other trackers, if it has such
checkpoint.garrison   the last state: evaluates and resumes
best.garrison         the best of the evaluations during training, if there were any
summary.json          how it ended and what it scored
error.txt             the traceback of the failure that ended it, if one did
.lock                 who writes here, while somebody does
seed-3/               the same of each agent, if several are trained together
"""

import json
import os
import platform
import shutil
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from garrison import system
from garrison.errors import GarrisonError, UserError
from garrison.runs import marks, page_rhythm
from garrison.runs.yaml_settings import from_yaml
from garrison.storage import checkpoint
from garrison.storage.atomic import write_bytes, write_json
from garrison.storage.lock import only_writer
from garrison.storage.schema import (
    COUNT,
    MAPPING,
    NUMBER,
    SETTINGS,
    TEXT,
    Kind,
    Wrong,
    check,
    each,
    is_number,
    present,
)

FREE_BYTES = 50_000_000  # below this a run is not begun: a few checkpoints and the metrics must fit
ALWAYS = ("step", "time/elapsed_time")
"""What every row of metrics says."""
HUGE = 1e300  # beyond it, sums and axes overflow
SUMMARY: dict[str, Kind] = {
    "status": TEXT,
    "name": TEXT,
    "training_mode": TEXT,
    "env": TEXT,
    "total_envs": NUMBER,
    "seed": NUMBER,
    "total_updates": NUMBER,
    "episodes": NUMBER,
    "task": SETTINGS,
    "task.red": TEXT,
    "task.red_odds": each(NUMBER),
    "task.rules": TEXT,
    "task.backend": TEXT,
    "task.length": COUNT,
    "evaluation": SETTINGS,
    "evaluation.total": NUMBER,
    "evaluation.mean": NUMBER,
    "evaluation.ci95": NUMBER,
    "evaluation.rules": TEXT,
    "action_mix": each(each(NUMBER)),
}
"""What a summary says of these, if it says anything."""
PACKAGES = ("torch", "numpy", "numba", "gymnasium")


@dataclass(frozen=True)
class RunFolder:
    """Paths of one run, and what is read from and written to them."""

    path: Path

    @property
    def config(self) -> Path:
        """The resolved settings."""
        return self.path / "config.yaml"

    @property
    def metrics(self) -> Path:
        """One line of JSON per update."""
        return self.path / "metrics.jsonl"

    @property
    def checkpoint(self) -> Path:
        """The last state."""
        return self.path / checkpoint.NAME

    @property
    def best(self) -> Path:
        """The state that evaluated best during training."""
        return self.path / "best.garrison"

    @property
    def summary(self) -> Path:
        """How it ended."""
        return self.path / "summary.json"

    @property
    def error(self) -> Path:
        """The traceback of the failure that ended it."""
        return self.path / "error.txt"

    def of_agent(self, seed: int) -> "RunFolder":
        """Return the folder of one of several agents that are trained together."""
        return RunFolder(self.path / f"seed-{seed}")

    @classmethod
    def create(cls, path: Path) -> "RunFolder":
        """Make a new run's folder; fails where a run is, and where nothing can be written."""
        folder = cls(path)
        folder._check_free()
        folder._check_writable()
        return folder

    @classmethod
    def fresh(cls, out: str, stem: str) -> "RunFolder":
        """Make a new run's folder: `out`, or one under runs/ that is called by `stem` and the time."""
        if out:
            return cls.create(Path(out))
        base = path = Path("runs") / f"{stem}-{datetime.now():%Y%m%d-%H%M%S}"
        number = 1
        while not _made(path):  # also by another run that began in the same second
            number += 1
            path = base.with_name(f"{base.name}-{number}")
        return cls.create(path)

    @classmethod
    def open(cls, path: Path) -> "RunFolder":
        """Find an existing run."""
        folder = cls(path)
        if not folder.config.exists():
            what = "is not a run's folder: it has no config.yaml" if path.exists() else "does not exist"
            raise UserError(f"{path} {what}.")
        return folder

    @contextmanager
    def held(self, is_new: bool) -> Iterator[None]:
        """Be the only one who writes here; raises a UserError that names the other one.

        A new folder in which nothing is left in the end is removed.
        """
        hint = f"Wait for it or stop it; then continue with --resume {self.path}, or choose another folder with --out."
        with _said(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        try:
            with only_writer(self.path, hint):
                if is_new:
                    self._check_free()  # again: another run may have come and gone in the meantime
                yield
        finally:
            if is_new and self.path.is_dir() and not any(self.path.iterdir()):
                self.path.rmdir()

    def reopen(self) -> None:
        """Make sure that an existing run can be continued here."""
        if not self.checkpoint.exists():
            raise UserError(f"the run in {self.path} has no checkpoint yet, so there is nothing to resume.")
        self._check_writable()

    def write_settings(self, config_yaml: str) -> None:
        """Write the settings and what this part of the run is made with."""
        self.path.mkdir(parents=True, exist_ok=True)
        write_bytes(self.config, [config_yaml.encode()])
        write_json(self.path / "versions.json", versions())
        self.error.unlink(missing_ok=True)  # of an earlier part

    def write_error(self, error: GarrisonError) -> Path | None:
        """Keep a failure's traceback and details; return the path of the file, None if it could not be written."""
        text = "".join(traceback.format_exception(error))
        if error.details and error.details not in text:
            text += f"\n{error.details}\n"
        try:
            write_bytes(self.error, [text.encode()])
        except OSError:
            return None
        return self.error

    def discard(self) -> None:
        """Remove what a run has written before its first update, so that the folder can be used again."""
        names = ("config.yaml", "versions.json", "metrics.jsonl", marks.FILE, page_rhythm.FILE)
        for path in (self.path / name for name in names):
            path.unlink(missing_ok=True)
        if not any(self.path.iterdir()):
            self.path.rmdir()

    def read_metrics(self) -> list[dict[str, float]]:
        """Return the lines of the metrics file; a last line cut short by a crash is left out."""
        if not self.metrics.exists():
            return []
        lines = _text(self.metrics).splitlines()
        rows = []
        for number, line in enumerate(lines, start=1):
            try:
                rows.append(_metrics_row(line))
            except ValueError as error:
                if number < len(lines) or isinstance(error, UserError):
                    raise UserError(
                        f"{self.metrics} is damaged: line {number} is no row of metrics.",
                        hint="Remove that line, or use another copy.",
                    ) from None
        return rows

    def sample_metrics(self, at_most: int) -> tuple[list[dict[str, float]], int]:
        """Return about so many rows, evenly chosen, all evaluations among them; and how many updates there are.

        For looking at: a long run has more rows than a chart has pixels, and reading them takes time.
        """
        if not self.metrics.exists():
            return [], 0
        lines = _bytes(self.metrics).splitlines()
        scores = [k for k, line in enumerate(lines) if b'"evaluation/' in line]
        chosen = {*scores, *(round(k * (len(lines) - 1) / max(1, at_most - 1)) for k in range(at_most))}
        rows = []
        for k in sorted(chosen.intersection(range(len(lines)))):
            try:
                rows.append(_metrics_row(lines[k].decode(errors="replace")))
            except ValueError:  # cut short, or damaged: others tell what it would
                continue
        return rows, len(lines) - len(scores)

    def trim_metrics(self, step: int) -> None:
        """Drop the lines after `step`: a resumed run writes them again."""
        rows = [row for row in self.read_metrics() if row["step"] <= step]
        write_bytes(self.metrics, [b"".join(json.dumps(row).encode() + b"\n" for row in rows)])
        marks.trim_marks(self.path, step)

    def read_summary(self) -> dict[str, Any]:
        """Return the summary, empty before the run has ended."""
        if not self.summary.exists():
            return {}
        try:
            values = json.loads(_text(self.summary))
        except (ValueError, RecursionError):
            raise UserError(f"{self.summary} is damaged: it is not JSON. Use another copy, or remove it.") from None
        try:
            check({"summary": values}, {"summary": MAPPING})
            check(values, present(values, SUMMARY))
        except Wrong as wrong:
            raise UserError(
                f"{self.summary} is not a run's summary: {wrong}. Use another copy, or remove it."
            ) from None
        return dict(values)

    def read_settings(self) -> dict[str, Any]:
        """Return the sections of the settings as they are written; empty where YAML cannot be read."""
        if find_spec("yaml") is None:
            return {}
        try:
            values = from_yaml(_text(self.config))
            check({"settings": values}, {"settings": MAPPING})
        except (UserError, Wrong) as error:
            raise UserError(f"{self.config} is damaged: {error}", hint="Use another copy.") from None
        return dict(values)

    def _check_free(self) -> None:
        if self.config.exists() or self.checkpoint.exists():
            raise UserError(
                f"there is a run in {self.path}: continue it with --resume {self.path}, or choose another folder "
                "with --out."
            )

    def _check_writable(self) -> None:
        with _said(self.path):
            made = not self.path.exists()
            self.path.mkdir(parents=True, exist_ok=True)
            write_bytes(self.path / "probe", [b"probe"])
            (self.path / "probe").unlink()
            free = shutil.disk_usage(self.path).free
            if made:  # the first file makes it again: settings that turn out to be wrong leave nothing behind
                self.path.rmdir()
        if free < FREE_BYTES:
            raise UserError(f"only {free / 1e6:.0f} MB are free on the disk of {self.path}; a run needs 50 MB.")


@contextmanager
def _said(path: Path) -> Iterator[None]:
    """Turn the system's refusal to write into a sentence."""
    try:
        yield
    except OSError as error:
        raise UserError(f"cannot write to {path}: {os.strerror(error.errno or 0)}.") from None


def _made(path: Path) -> bool:
    """Make a folder; return False if there is one, True also if it cannot be made: whoever writes there will say so."""
    try:
        path.mkdir(parents=True)
    except FileExistsError:
        return not path.is_dir()
    except OSError:
        pass
    return True


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"cannot read {path}: {os.strerror(error.errno or 0)}.") from None


def _text(path: Path) -> str:
    try:
        return _bytes(path).decode()
    except UnicodeDecodeError:
        raise UserError(f"{path} is damaged: it is not text. Use another copy.") from None


def _metrics_row(line: str) -> dict[str, float]:
    """Read one line of metrics; raises a ValueError if it is cut short, a UserError if it is something else."""
    try:
        row: dict[str, float] = json.loads(line)
    except RecursionError:
        raise ValueError(line) from None
    known = isinstance(row, dict) and all(is_number(row.get(key)) and row[key] >= 0 for key in ALWAYS)
    if not known or not all(isinstance(x, int | float) and (abs(x) < HUGE or x != x) for x in row.values()):
        raise UserError(line)
    return row


def versions() -> dict[str, Any]:
    """Return what a result depends on besides its settings."""
    installed = system.versions(PACKAGES)
    return {
        "garrison": installed["garrison"],
        "python": platform.python_version(),
        **{name: installed.get(name) for name in PACKAGES},
        "system": f"{platform.system()} {platform.machine()}",
        "processor": system.cpu_model(),
        "cores": system.cores(),
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
    }
