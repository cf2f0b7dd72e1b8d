"""A network as a list of operations with ONNX's names and meanings: what all formats are written from."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Port(NamedTuple):
    """What goes in or out, of a batch of any size."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    """Of one row."""
    path: tuple[str | int, ...] = ()
    """Where it lies in a Dict or Tuple space."""


class Node(NamedTuple):
    """One operation."""

    op: str
    inputs: tuple[str, ...]
    output: str
    attributes: dict[str, Any]


@dataclass
class Graph:
    """Operations in the order of their computation."""

    inputs: list[Port] = field(default_factory=list)
    outputs: list[Port] = field(default_factory=list)
    constants: dict[str, Array] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    modules: dict[str, Any] = field(default_factory=dict)
    """Users' own torch modules, by the output of the node `Module`: only TorchScript can hold them."""

    def take(self, port: Port) -> str:
        """Add an input."""
        self.inputs.append(port)
        return port.name

    def add(self, op: str, *inputs: str | Array, **attributes: Any) -> str:
        """Add an operation on named values and constants; return the name of its output."""
        names = tuple(each if isinstance(each, str) else self._constant(each) for each in inputs)
        output = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(Node(op, names, output, attributes))
        return output

    def give(self, value: str, port: Port) -> None:
        """Make a value an output, under the port's name."""
        self.nodes.append(Node("Identity", (value,), port.name, {}))
        self.outputs.append(port)

    def rows(self, value: str, shape: tuple[int, ...]) -> str:
        """Give each row of a value this shape."""
        return self.add("Reshape", value, np.array([-1, *shape], np.int64))

    def columns(self, value: str, begin: int, end: int) -> str:
        """Take some columns of a value."""
        return self.add("Slice", value, *(np.array([n], np.int64) for n in (begin, end, 1)))

    def _constant(self, value: Array) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants[name] = np.ascontiguousarray(value)
        return name
