"""`export_agent`: a trained network as a file that other programs run, checked against the agent itself."""

import json
import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from garrison.agents.load import load_agent, saved_agent
from garrison.agents.scripted import SCRIPTED
from garrison.cage2.action_sets import ACTION_IDS
from garrison.errors import UserError, choose
from garrison.export.cage2_tables import cage2_tables
from garrison.export.graph import Graph, Port
from garrison.learn.registry import learner_section
from garrison.registration import CAGE2
from garrison.storage.atomic import write_bytes
from garrison.system import require
from garrison.version import __version__

SUFFIXES = {"onnx": ".onnx", "torchscript": ".pt", "numpy": ".npz"}
"""Formats and how their files end."""
RUNTIMES = {"onnx": "onnxruntime", "torchscript": "torch", "numpy": "numpy"}
"""What runs a file of each format."""


@dataclass(frozen=True)
class Exported:
    """What was written."""

    path: Path
    player: Path
    """A program that plays it without Garrison."""
    agent: str
    format: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    weights: int
    observations: int
    """How many the file was checked on: the same action as the agent's in each."""
    runtime: str
    """What ran it, with its version."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "path": str(self.path),
            "player": str(self.player),
            "agent": self.agent,
            "format": self.format,
            "inputs": [_described(port) for port in self.inputs],
            "outputs": [_described(port) for port in self.outputs],
            "weights": self.weights,
            "checked_observations": self.observations,
            "runtime": self.runtime,
        }

    def to_text(self) -> str:
        """Return a few lines for a person."""
        ports = [
            f"  {what} {port.name:<12} {port.dtype} ({', '.join(['n', *map(str, port.shape)])})"
            for what, group in (("in ", self.inputs), ("out", self.outputs))
            for port in group
        ]
        return "\n".join(
            [
                f"{self.path}: {self.agent} as {self.format}, {self.weights:,} weights",
                *ports,
                f"checked with {self.runtime}: the same actions as {self.agent} on {self.observations:,} observations",
                f"{self.player} plays it without Garrison",
            ]
        )


def export_agent(agent: str, format: str = "onnx", out: str | Path | None = None) -> Exported:
    """Write an agent's network as a file, and beside it a program that plays it without Garrison.

    Args:
        agent: a shipped agent, a run folder or a checkpoint.
        format: onnx, torchscript or numpy.
        out: the file; by default it is called by the agent, in the working directory.
    """
    require("torch")
    suffix = SUFFIXES[choose("format", format, tuple(SUFFIXES))]
    require(*{"onnx": ("onnx", "onnxruntime")}.get(format, ()))
    if agent in SCRIPTED:
        raise UserError(f"{agent} is scripted: it has no network to export.")
    path = Path(out) if out is not None else Path(f"{_stem(agent)}{suffix}")
    if path.suffix != suffix:
        raise UserError(f"a file of the format {format} ends in {suffix}; got {path}.")
    playing, values = load_agent(agent), saved_agent(agent)
    graph, about = _graph_of(agent, values)

    from garrison.export.player import Player
    from garrison.export.same_actions import OBSERVATIONS, check_same_actions

    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / f"made{suffix}"
        _writer(format)(graph, json.dumps(about), made)
        check_same_actions(playing, values, Player(made))
        content = made.read_bytes()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, [content])
    beside = path.with_name(f"{re.sub(r'[^0-9A-Za-z_]', '_', path.stem)}_player.py")
    shutil.copyfile(Path(__file__).with_name("player.py"), beside)
    runtime = RUNTIMES[format]
    return Exported(
        path,
        beside,
        agent,
        format,
        tuple(graph.inputs),
        tuple(graph.outputs),
        sum(each.size for each in graph.constants.values() if each.dtype == np.float32),
        OBSERVATIONS,
        f"{runtime} {metadata.version(runtime)}",
    )


def _graph_of(name: str, values: dict[str, Any]) -> tuple[Graph, dict[str, Any]]:
    """Return the graph of a checkpoint's policy, and what the file says about it."""
    from garrison.export.policy_graph import policy_graph
    from garrison.learn.nn.description import build_policy

    experiment = values["experiment"]
    masked = bool(learner_section(experiment).get("action_masks", False))
    tables, action_ids = None, None
    if experiment["env"]["env"] == CAGE2:
        tables = cage2_tables(experiment["env"], masked)
        action_ids = ACTION_IDS[experiment["env"]["actions"]]
    policy = build_policy(values["policy"], values["state"]["weights"])
    graph = policy_graph(policy, masked, action_ids)
    about = {
        "made_with": f"garrison {__version__}",
        "name": _stem(name),  # and not somebody's path
        "env": experiment["env"]["env"],
        "inputs": [_described(port) for port in graph.inputs],
        "outputs": [_described(port) for port in graph.outputs],
        "recurrent_size": policy.config.recurrent_size,
        "free_outputs": None if policy.free_outputs is None else policy.free_outputs.tolist(),
        "cage2": tables,
    }
    return graph, about


def _described(port: Port) -> dict[str, Any]:
    is_action = port.name.partition(".")[0] == "action"
    return {**port._asdict(), "shape": list(port.shape), "path": list(port.path), "is_action": is_action}


def _writer(format: str) -> Callable[[Graph, str, Path], None]:
    from garrison.export.numpy_file import write_numpy
    from garrison.export.onnx_file import write_onnx
    from garrison.export.torchscript_file import write_torchscript

    return {"onnx": write_onnx, "numpy": write_numpy, "torchscript": write_torchscript}[format]


def _stem(agent: str) -> str:
    path = Path(agent)
    return path.name if path.is_dir() else path.stem
