"""A graph as a TorchScript file: its operations by torch, traced. Torch calls this format deprecated, and loads it."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from garrison.export.graph import Graph

ROWS = 3  # of the batch that is traced; any number fits afterwards


class TracedGraph(nn.Module):
    """Computes a graph; its inputs and outputs come in the graph's order."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self._graph = graph
        self._own = nn.ModuleDict(graph.modules)
        for name, value in graph.constants.items():
            self.register_buffer(name, torch.from_numpy(value.copy()))

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """Return all outputs."""
        values = dict(self.named_buffers()) | dict(zip((port.name for port in self._graph.inputs), inputs, strict=True))
        for node in self._graph.nodes:
            given = [values[name] for name in node.inputs]
            if node.op == "Module":
                values[node.output] = self._own[node.output](tuple(given))
            else:
                values[node.output] = OPERATIONS[node.op](*given, **node.attributes)
        return tuple(values[port.name] for port in self._graph.outputs)


OPERATIONS: dict[str, Callable[..., Tensor]] = {
    "Identity": lambda x: x,
    "Reshape": lambda x, shape: x.reshape(shape.tolist()),
    "Flatten": lambda x, axis: x.flatten(axis),
    "Transpose": lambda x, perm: x.permute(perm),
    "Cast": lambda x, to: x.to(getattr(torch, to)),
    "Slice": lambda x, begin, end, axis: x.narrow(int(axis), int(begin), int(end) - int(begin)),
    "Concat": lambda *parts, axis: torch.cat(parts, dim=axis),
    "Gather": lambda table, rows: table[rows],
    "ReduceSum": lambda x, axes, keepdims: x.sum(dim=axes.tolist(), keepdim=bool(keepdims)),
    "Add": torch.add,
    "Sub": torch.sub,
    "Mul": torch.mul,
    "Div": torch.div,
    "Max": torch.maximum,
    "Min": torch.minimum,
    "Clip": lambda x, low, high: torch.minimum(torch.maximum(x, low), high),
    "Gemm": lambda x, weight, bias, transB: functional.linear(x, weight, bias),
    "Tanh": torch.tanh,
    "Relu": torch.relu,
    "Sigmoid": torch.sigmoid,
    "Conv": lambda x, weight, bias, strides, pads: functional.conv2d(x, weight, bias, strides, pads[:2]),
    "MaxPool": lambda x, kernel_shape, strides, pads: functional.max_pool2d(x, kernel_shape, strides, pads[:2]),
    "Where": torch.where,
    "ArgMax": lambda x, axis, keepdims: x.argmax(dim=axis, keepdim=bool(keepdims)),
}
"""Each operation with the arguments that ONNX gives it."""


def write_torchscript(graph: Graph, about: str, path: Path) -> None:
    """Write the file; `about` lies beside the code in it."""
    module = TracedGraph(graph).eval()
    example: list[Any] = []
    for port in graph.inputs:
        example.append(torch.from_numpy(np.ones((ROWS, *port.shape), port.dtype)))
    with warnings.catch_warnings(), torch.inference_mode(False), torch.no_grad():
        warnings.simplefilter("ignore")  # that the format is deprecated, and that sizes in the graph are constants
        traced = torch.jit.trace(module, tuple(example), check_trace=False)  # type: ignore[no-untyped-call]
        traced.save(str(path), _extra_files={"about.json": about})
