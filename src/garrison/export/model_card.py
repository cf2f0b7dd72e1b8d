"""A README.md for an exported agent: what it is, scores, was made by; its head is the hub's metadata."""

import json
import re
from pathlib import Path
from typing import Any

from garrison.agents.load import SHIPPED, saved_agent
from garrison.agents.ship import command_text
from garrison.errors import UserError
from garrison.export.exporting import Exported
from garrison.learn.registry import learner_section
from garrison.registration import CAGE2
from garrison.runs.folder import RunFolder
from garrison.runs.yaml_settings import to_yaml
from garrison.storage.atomic import write_text
from garrison.storage.schema import is_number

LIBRARY = "garrison"
SHIPPED_LICENSE = "mit"
UNKNOWN_LICENSE = "unknown"
"""The hub's word for a licence that nobody has named."""


def write_card(exported: Exported, license: str = "") -> Path:
    """Write the card beside the exported file; a README.md that is no such card is left alone and refused."""
    path = exported.path.parent / "README.md"
    if path.exists() and f"library_name: {LIBRARY}" not in path.read_text(errors="replace"):
        raise UserError(
            f"there is another README.md in {path.parent}.", hint="Choose a file in a folder of its own with --out."
        )
    write_text(path, card_text(exported, license))
    return path


def card_text(exported: Exported, license: str = "") -> str:
    """Return the card."""
    agent = exported.agent
    facts = _facts(agent)
    env, evaluation = facts["experiment"]["env"], facts["evaluation"]
    name = exported.path.stem
    license = license or (SHIPPED_LICENSE if agent in SHIPPED else UNKNOWN_LICENSE)
    result: dict[str, Any] = {
        "task": {"type": "reinforcement-learning", "name": "reinforcement-learning"},
        "dataset": {"name": env["env"], "type": env["env"]},
    }
    head: dict[str, Any] = {
        "license": license,
        "library_name": LIBRARY,
        "pipeline_tag": "reinforcement-learning",
        "tags": [
            "reinforcement-learning",
            "deep-reinforcement-learning",
            re.sub(r"[^\w.-]+", "-", env["env"]),
            exported.format,
        ],
    }
    if evaluation:
        score = {"type": "mean_reward", "name": _score_name(env), "value": _score(evaluation), "verified": False}
        head["model-index"] = [{"name": name, "results": [{**result, "metrics": [score]}]}]
    is_cage2 = env["env"] == CAGE2
    rows = {
        "environment": env["env"],
        "score": f"{_score_name(env)} {_score(evaluation)}" if evaluation else "not scored",
        "episodes": _episodes(evaluation, is_cage2),
        "rules": f"{evaluation.get('rules', env['rules'])} (trained under {env['rules']})" if is_cage2 else None,
        "trained against": env.get("red") if is_cage2 else None,
        "algorithm": next(iter(key for key in facts["experiment"] if key not in ("preset", "env", "run")), None),
        "preset": facts["experiment"].get("preset"),
        "training steps": f"{facts['steps']:,}" if facts["steps"] is not None else None,
        "seed": learner_section(facts["experiment"]).get("seed"),
        "command": f"`{facts['command']}`" if facts["command"] else None,
        "made with": facts["versions"],
        "licence": license,
    }
    table = "\n".join(f"| {key} | {_cell(value)} |" for key, value in rows.items() if value not in (None, ""))
    ports = "\n".join(
        f"| {what} | `{port.name}` | {port.dtype} | ({', '.join(['n', *map(str, port.shape)])}) |"
        for what, group in (("in", exported.inputs), ("out", exported.outputs))
        for port in group
    )
    shown = "bits" if is_cage2 else "observations"
    return f"""---
{to_yaml(head)}---

# {name}

An agent for {env["env"]}, trained with Garrison and exported as {exported.format}.

| | |
|---|---|
{table}

The file was checked with {exported.runtime}: the same actions as the agent's on {exported.observations:,} observations.

## Play it

`{exported.player.name}` needs NumPy and what runs the format, and not Garrison.

```python
from {exported.player.stem} import Player

player = Player("{exported.path.name}")
player.begin(1)
actions = player.act({shown})  # a batch of one
```

The network itself:

| | name | type | shape |
|---|---|---|---|
{ports}
"""


def _facts(agent: str) -> dict[str, Any]:
    """Return what is known of an agent's making and score: from its run's folder, or from the shipped file."""
    values = saved_agent(agent)
    found = {
        "experiment": values["experiment"],
        "steps": values["state"].get("steps"),
        "evaluation": values.get("evaluation", {}),
        "command": values.get("made_by", ""),
        "versions": "",
    }
    if agent not in SHIPPED and Path(agent).is_dir():
        folder = RunFolder(Path(agent))
        found["evaluation"] = folder.read_summary().get("evaluation", {})
        versions = _versions(folder.path)
        words = versions.get("command")
        found["command"] = command_text([*map(str, words)]) if isinstance(words, list) else ""
        known = ("garrison", "python", "torch", "numpy", "numba", "gymnasium")
        found["versions"] = ", ".join(f"{key} {versions[key]}" for key in known if versions.get(key))
    if not is_number(found["evaluation"].get("ci95")) or not {"total", "mean"} & set(found["evaluation"]):
        found["evaluation"] = {}  # of another version, or none
    return found


def _versions(folder: Path) -> dict[str, Any]:
    try:
        values = json.loads((folder / "versions.json").read_text())
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}


def _score_name(env: dict[str, Any]) -> str:
    return "official total of CAGE Challenge 2" if env["env"] == CAGE2 else "mean return"


def _score(evaluation: dict[str, Any]) -> str:
    """Return the score as the hub writes scores of agents: mean and spread."""
    total = evaluation["total" if "total" in evaluation else "mean"]
    return f"{float(total):.2f} +/- {float(evaluation['ci95']):.2f}"


def _episodes(evaluation: dict[str, Any], is_cage2: bool) -> str | None:
    episodes = evaluation.get("episodes")
    if not isinstance(episodes, int):
        return None
    seed = f", seed {evaluation['seed']}" if "seed" in evaluation else ""
    return f"{episodes:,}{' in each of nine cells' if is_cage2 else ''}{seed}"


def _cell(value: Any) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")
