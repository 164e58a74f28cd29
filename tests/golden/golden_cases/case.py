# SPDX-License-Identifier: Apache-2.0
"""One golden case, and the inputs that cases share."""
from dataclasses import dataclass
from typing import Callable, Optional, Sequence

import numpy as np
import openvino as ov
from openvino.utils.node_factory import NodeFactory


@dataclass
class Case:
    """build(*parameters) returns a node (all its outputs are results) or a list of outputs. An input is an array or a
    function of a random generator. expected(*inputs) returns the answers where OpenVINO's are wrong."""

    name: str
    op: str
    inputs: Sequence
    build: Callable
    expected: Optional[Callable] = None
    tolerance: float = 0.0


def normal(*shape):
    return lambda rng: rng.standard_normal(shape).astype(np.float32)


def uniform(low, high, *shape):
    return lambda rng: rng.uniform(low, high, shape).astype(np.float32)


def integers(low, high, *shape, dtype=np.int32):
    return lambda rng: rng.integers(low, high, shape).astype(dtype)


def flags(*shape):
    return lambda rng: rng.integers(0, 2, shape).astype(bool)


def distinct(*shape):
    """Values without ties, for arg-max and sorting."""
    count = int(np.prod(shape))
    return lambda rng: ((rng.permutation(count) - count / 2) / 3).astype(np.float32).reshape(shape)


def const(value, dtype=np.float32):
    """A constant; an empty list makes one without elements."""
    return ov.op.Constant(ov.Tensor(np.array(value, dtype)))


def node(opset, op, inputs, **attributes):
    """A node of an opset that OpenVINO's Python functions of the same name do not make."""
    return NodeFactory(f"opset{opset}").create(op, inputs, attributes)


def weights(seed, *shape, scale=0.5):
    values = np.random.default_rng(seed).standard_normal(shape) * scale
    return ov.opset1.constant(values.astype(np.float32))


def text(values):
    """"[2, 3]" -> "2x3", for case names."""
    return "x".join(str(v) for v in values) or "scalar"
