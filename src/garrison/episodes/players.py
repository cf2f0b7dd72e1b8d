"""Who plays, by name or path: any agent of the challenge, and defenders that follow the order of a workflow."""

from pathlib import Path
from typing import Any

from garrison.agents.load import load_agent
from garrison.agents.network_agent import NetworkAgent
from garrison.agents.workflow import BASELINES
from garrison.cage2.workflow import Workflow
from garrison.episodes.game import judged_by
from garrison.errors import UserError
from garrison.storage import checkpoint
from garrison.storage.saved_run import require_agent


def find_player(name: str, sample: bool = False, order: int | None = None) -> tuple[Any, Workflow | None]:
    """Return an agent, and the workflow that its fixes are judged by; None if there is nothing to follow.

    Args:
        name: anything that `garrison.load_agent` takes, a run on workflows, or a scripted agent that follows an order.
        sample: draw a network's actions instead of taking the likeliest.
        order: the index of the order to follow, 0..119. By default the first that a run was trained on, 0 for a
            scripted agent that follows one, and none for all others.
    """
    if name in BASELINES:
        return BASELINES[name](order or 0), judged_by(order or 0)
    path = Path(name)
    if path.is_dir() or path.suffix == ".garrison":
        values = checkpoint.load(path)
        require_agent(values, name)
        if "workflow" in values["experiment"]:
            require_agent(values, name, NetworkAgent.needs)
            settings = values["experiment"]["workflow"]
            if order is None:
                order = _first_order(settings, name)
            agent = NetworkAgent.of(values, name, sample, order)
            return agent, judged_by(order, settings["definition"], settings["foothold"])
    return load_agent(name, sample), None if order is None else judged_by(order)


def _first_order(settings: dict[str, Any], name: str) -> int:
    orders = settings.get("orders")
    if not isinstance(orders, list) or not orders:
        raise UserError(f"{name} follows workflows and does not say which order it was trained on: name one.")
    return int(orders[0])
