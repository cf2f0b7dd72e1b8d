"""Make one of the agents that come with the package: `python -m garrison.agents.ship RUN shipped/NAME.garrison`.

Attackers are in `shipped_reds/`. A shipped agent is the checkpoint of a run with nothing but what it needs to play,
what made it and what it scored.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import tyro

from garrison.learn.registry import learner_section
from garrison.storage import checkpoint
from garrison.storage.saved_run import require_agent

PUBLISHED = ("rules", "episodes", "seed", "total", "mean", "ci95")
"""What is kept of a score: of the challenge's protocol a total, of Red's episodes a mean."""


def ship(run: Annotated[Path, tyro.conf.Positional], path: Annotated[Path, tyro.conf.Positional]) -> None:
    """Write the agent of a run folder to `path`, without the learner's state and the folder's own place."""
    values = checkpoint.load(run)
    require_agent(values, str(run))
    values["experiment"]["run"]["out"] = ""
    env = values["experiment"]["env"]
    if "extras_space" in values["policy"] or env.get("reward", "score") != "score":  # then values are no returns
        values = without_critic(values)
    summary, versions = (json.loads((run / name).read_text()) for name in ("summary.json", "versions.json"))
    path.parent.mkdir(parents=True, exist_ok=True)
    checkpoint.save(
        path,
        {
            "experiment": values["experiment"],
            "policy": values["policy"],
            "state": {"weights": values["state"]["weights"], "steps": values["state"]["steps"]},
            "made_by": command_text(versions["command"]),
            "evaluation": {k: summary["evaluation"][k] for k in PUBLISHED if k in summary["evaluation"]},
        },
    )


def command_text(words: list[str]) -> str:
    """Return the command that made a run, as anybody would type it: without the place that it was written to."""
    kept = [word for k, word in enumerate(words) if "--out" not in (word.partition("=")[0], *words[max(0, k - 1) : k])]
    return " ".join(["garrison", *kept[1:]])


def without_critic(values: dict[str, Any]) -> dict[str, Any]:
    """Return a checkpoint's values with no trace of a critic that nobody has a use for in play.

    What is left is a policy whose value, always 0, is read from the actor's own layers.
    """
    import torch

    from garrison.learn.nn.description import build_policy, build_space, describe_policy, policy_config
    from garrison.learn.nn.policy import Policy

    described = values["policy"]
    trained = dict(build_policy(described, values["state"]["weights"]).named_parameters())
    spaces = [build_space(described[f"{what}_space"]) for what in ("observation", "action")]
    config = replace(policy_config(described), trunk="shared", critic_extras=())
    plain = Policy(spaces[0], spaces[1], config)
    with torch.no_grad():
        for name, parameter in plain.named_parameters():
            if name.startswith("value_head"):
                parameter.zero_()
            else:
                parameter.copy_(trained[name])
    experiment = values["experiment"]
    learner = learner_section(experiment)
    learner["policy"] = learner["policy"] | {"trunk": "shared", "critic_extras": []}
    policy = describe_policy(config, spaces[0], spaces[1])
    state = values["state"] | {"weights": plain.flat.numpy().copy()}
    return values | {"experiment": experiment, "policy": policy, "state": state}


if __name__ == "__main__":
    tyro.cli(ship, prog="python -m garrison.agents.ship")
