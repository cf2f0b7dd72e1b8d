"""Defenders by their name or path: a run, a search with a network per order, an agent of the challenge, a script."""

import dataclasses
from pathlib import Path
from typing import Any

from garrison.agents import load_agent
from garrison.agents.spaces import SpaceAgent
from garrison.agents.workflow import BASELINES, GreedyByOrder
from garrison.errors import UserError
from garrison.report.search_history import STATE
from garrison.storage import checkpoint
from garrison.storage.saved_run import require_agent
from garrison.workflow.inherit import BASE, order_files
from garrison.workflow.orders import label
from garrison.workflow.play import AgentDefender, Defender, NetworkDefender
from garrison.workflow.settings import TRAIN, WorkflowExperiment

BY_TRUTH = "greedy-by-truth"


class SearchDefender:
    """The networks of a search: each order's own, the base for an order that was not tried."""

    def __init__(self, folder: Path, sample: bool) -> None:
        self.name, self._sample = str(folder), sample
        self._files = {order: file for file, (order, _) in order_files(folder).items()}  # an order's latest trial
        self._base = folder / BASE / checkpoint.NAME
        if not self._files:
            raise UserError(f"the search in {folder} has not finished an order yet.")
        self.experiment = WorkflowExperiment.of_checkpoint(_load(next(iter(self._files.values()))))
        self.orders = tuple(sorted(self._files))
        env = self.experiment.env
        self.interface: dict[str, Any] = {
            "challenge_encoder": env.challenge_encoder,
            "observation": env.observation,
            "actions": env.actions,
        }

    def begin(self, envs: Any, order: int, seed: int) -> None:
        """Take the order's network."""
        file = self._files.get(order, self._base)
        if not file.exists():
            raise UserError(f"the search has not tried the order {label(order)}, and it has no base network.")
        self._defender = NetworkDefender(_load(file), self.name, self._sample)
        self._defender.begin(envs, order, seed)

    def act(self, envs: Any) -> Any:
        """Ask the order's network."""
        return self._defender.act(envs)


def _load(path: Path) -> dict[str, Any]:
    values = checkpoint.load(path)
    require_agent(values, str(path))
    return values


def find_defender(name: str, sample: bool = False) -> tuple[Defender, WorkflowExperiment]:
    """Return a defender by its name or path, and the settings that it was trained with."""
    if name in BASELINES or name == BY_TRUTH:
        return scripted(name), TRAIN
    path = Path(name)
    if (path / STATE).exists():
        search = SearchDefender(path, sample)
        return search, search.experiment.of_orders(search.orders)
    if path.is_dir() or path.suffix == ".garrison":
        values = _load(path)
        if "workflow" in values["experiment"]:
            settings = WorkflowExperiment.of_checkpoint(values)
            return NetworkDefender(values, name, sample), settings
    agent = load_agent(name, sample)
    if isinstance(agent, SpaceAgent):
        raise UserError(
            f"{name} was trained on {agent.env_settings['env']}; workflows are followed in CAGE-2: use garrison "
            f"evaluate {name}."
        )
    rules = agent.rules or TRAIN.env.rules
    settings = dataclasses.replace(TRAIN, env=dataclasses.replace(TRAIN.env, rules=rules))
    return AgentDefender(lambda order, envs: agent, name, agent.encoder), settings


def scripted(name: str) -> AgentDefender:
    """Return a scripted defender that follows the order, or does not."""
    if name == BY_TRUTH:
        return AgentDefender(lambda order, envs: GreedyByOrder(order, truth=envs.truth), name)
    return AgentDefender(lambda order, envs: BASELINES[name](order), name)
