"""A graph as an .npz file: its constants, and its operations as JSON, which `player.py` computes with NumPy alone."""

import json
from pathlib import Path

import numpy as np

from garrison.export.graph import Graph
from garrison.export.onnx_file import refuse_modules


def write_numpy(graph: Graph, about: str, path: Path) -> None:
    """Write the file."""
    refuse_modules(graph, "numpy")
    operations = {
        "inputs": [port.name for port in graph.inputs],
        "outputs": [port.name for port in graph.outputs],
        "nodes": [[node.op, list(node.inputs), node.output, node.attributes] for node in graph.nodes],
    }
    texts = {"about": np.array(about), "operations": np.array(json.dumps(operations))}
    with path.open("wb") as file:
        np.savez(file, **texts, **graph.constants)  # type: ignore[arg-type]
