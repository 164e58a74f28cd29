# SPDX-License-Identifier: Apache-2.0
"""One case of report_cases.py, and the arrays that cases share."""
import dataclasses

import numpy as np
from onnx import helper, numpy_helper


@dataclasses.dataclass
class Case:
    """One node, or several of `nodes`, on `inputs`; those that `weights` numbers are initializers. `expected` stands
    where ONNX Runtime is not to be asked; `error` is part of the message of a model that has to be refused."""
    report: str
    name: str
    op: str
    inputs: list
    attributes: dict = dataclasses.field(default_factory=dict)
    weights: tuple = ()
    opset: int = 17
    outputs: int = 1
    expected: list = None
    error: str = ""
    nodes: list = None
    tolerance: float = 1e-5

    def __post_init__(self):
        self.inputs = [None if value is None else np.asarray(value) for value in self.inputs]

    def model(self):
        names = ["" if value is None else f"in{i}" for i, value in enumerate(self.inputs)]
        outs = [f"out{i}" for i in range(self.outputs)]
        nodes = self.nodes or [helper.make_node(self.op, names, outs, name="node", **self.attributes)]
        values = {name: value for name, value in zip(names, self.inputs) if name}
        fixed = {names[i] for i in self.weights}
        element = {name: helper.np_dtype_to_tensor_dtype(value.dtype) for name, value in values.items()}
        ports = [helper.make_tensor_value_info(n, element[n], v.shape) for n, v in values.items() if n not in fixed]
        ends = [helper.make_empty_tensor_value_info(name) for name in outs]
        constants = [numpy_helper.from_array(values[name], name) for name in sorted(fixed)]
        graph = helper.make_graph(nodes, "g", ports, ends, constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)

    def fed(self):
        return {f"in{i}": v for i, v in enumerate(self.inputs) if v is not None and i not in self.weights}


def f32(values):
    return np.asarray(values, np.float32)


def i64(*values):
    return np.asarray(values, np.int64)


def counting(*shape, start=0):
    return np.arange(start, start + np.prod(shape), dtype=np.float32).reshape(shape)


def ones(*shape):
    return np.ones(shape, np.float32)


def small(*shape, seed=1):
    """Small whole numbers: sums are exact in every order."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32)
