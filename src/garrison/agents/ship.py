"""Make one of the agents that come with the package: `python -m garrison.agents.ship RUN shipped/NAME.garrison`.

A shipped agent is the checkpoint of a run with nothing but what it needs to play, what made it and what it scored.
"""

import json
from pathlib import Path
from typing import Annotated

import tyro

from garrison.storage import checkpoint


def ship(run: Annotated[Path, tyro.conf.Positional], path: Annotated[Path, tyro.conf.Positional]) -> None:
    """Write the agent of a run folder to `path`, without the learner's state and the folder's own place."""
    values = checkpoint.load(run)
    values["experiment"]["run"]["out"] = ""
    summary, versions = (json.loads((run / name).read_text()) for name in ("summary.json", "versions.json"))
    words = versions["command"]
    kept = [word for k, word in enumerate(words) if "--out" not in (word, *words[max(0, k - 1) : k])]
    path.parent.mkdir(parents=True, exist_ok=True)
    checkpoint.save(
        path,
        {
            "experiment": values["experiment"],
            "policy": values["policy"],
            "state": {"weights": values["state"]["weights"], "steps": values["state"]["steps"]},
            "made_by": " ".join(["garrison", *kept[1:]]),
            "evaluation": {k: summary["evaluation"][k] for k in ("rules", "episodes", "seed", "total", "ci95")},
        },
    )


if __name__ == "__main__":
    tyro.cli(ship, prog="python -m garrison.agents.ship")
