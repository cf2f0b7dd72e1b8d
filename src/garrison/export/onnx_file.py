"""A graph as an ONNX file, written with ONNX's own helpers: torch's exporter would need more packages, and minutes."""

from pathlib import Path
from typing import Any

import numpy as np

from garrison.errors import UserError
from garrison.export.graph import Graph, Port
from garrison.system import require
from garrison.version import __version__

OPSET = 17
IR_VERSION = 8  # what every runtime of the last years reads


def write_onnx(graph: Graph, about: str, path: Path) -> None:
    """Write the file; `about` is kept in its metadata."""
    require("onnx")
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    refuse_modules(graph, "onnx")
    kinds = {"float32": "FLOAT", "int64": "INT64", "uint8": "UINT8", "bool": "BOOL"}
    types: dict[str, Any] = {name: getattr(TensorProto, kind) for name, kind in kinds.items()}

    def port(each: Port) -> Any:
        return helper.make_tensor_value_info(each.name, types[each.dtype], ["batch", *each.shape])

    nodes = []
    for node in graph.nodes:
        given = node.attributes.items()
        attributes: dict[str, Any] = {key: types[value] if key == "to" else value for key, value in given}
        nodes.append(helper.make_node(node.op, list(node.inputs), [node.output], **attributes))
    constants = [numpy_helper.from_array(np.asarray(value), name) for name, value in graph.constants.items()]
    made = helper.make_graph(nodes, "policy", [*map(port, graph.inputs)], [*map(port, graph.outputs)], constants)
    model = helper.make_model(
        made,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="garrison",
        producer_version=__version__,
    )
    helper.set_model_props(model, {"about": about})
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, str(path))


def refuse_modules(graph: Graph, format: str) -> None:
    """Refuse a network with an encoder of the user's own, which only torch can compute."""
    if graph.modules:
        raise UserError(
            f"an encoder of your own cannot be written as {format}: only torch computes it.",
            hint="Use --format torchscript.",
        )
