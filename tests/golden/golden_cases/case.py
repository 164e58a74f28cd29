# SPDX-License-Identifier: Apache-2.0
"""One golden case, and the inputs that cases share."""
from dataclasses import dataclass
from typing import Callable, Optional, Sequence

import numpy as np
import openvino as ov


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
    return lambda rng: (rng.permutation(int(np.prod(shape))).astype(np.float32) - np.prod(shape) / 2).reshape(shape) / 3


def const(value, dtype=np.float32):
    return ov.opset1.constant(np.asarray(value, dtype))


def weights(seed, *shape, scale=0.5):
    values = np.random.default_rng(seed).standard_normal(shape) * scale
    return ov.opset1.constant(values.astype(np.float32))


def text(values):
    """"[2, 3]" -> "2x3", for case names."""
    return "x".join(str(v) for v in values) or "scalar"
