# SPDX-License-Identifier: Apache-2.0
"""Reductions, TopK."""
import numpy as np
import openvino as ov

from .case import Case, const, distinct, flags, integers, normal, uniform

o1 = ov.opset1

FLOATS = [("reduce_sum", "ReduceSum", 1), ("reduce_mean", "ReduceMean", 1), ("reduce_max", "ReduceMax", 1),
          ("reduce_min", "ReduceMin", 1), ("reduce_prod", "ReduceProd", 1), ("reduce_l1", "ReduceL1", 4),
          ("reduce_l2", "ReduceL2", 4)]
SHAPES = [("hw_keep", [2, 17, 5, 7], [2, 3], True), ("hw", [2, 5, 3, 4], [-1, 2], False),
          ("channels", [2, 19, 3, 4], [1], True), ("all", [3, 4, 5], [0, 1, 2], False), ("first", [6, 5], [0], False),
          ("last", [4, 33], [1], True), ("middle5", [2, 3, 4, 5, 2], [1, 3], False)]


def reduction(name, op, opset, suffix, source, axes, keep):
    make = getattr(getattr(ov, f"opset{opset}"), name)
    return Case(f"{op}_{suffix}", op, [source], lambda p: make(p, const(axes, "int64"), keep))


def float_cases():
    for name, op, opset in FLOATS:
        for suffix, shape, axes, keep in SHAPES:
            # A product of many numbers stays in range only near 1.
            source = uniform(0.8, 1.2, *shape) if op == "ReduceProd" else normal(*shape)
            yield reduction(name, op, opset, suffix, source, axes, keep)
    for name, op in (("reduce_sum", "ReduceSum"), ("reduce_max", "ReduceMax"), ("reduce_min", "ReduceMin")):
        yield reduction(name, op, 1, "i32", integers(-9, 9, 3, 4, 5), [1], False)
    yield reduction("reduce_mean", "ReduceMean", 1, "ones_64x64", np.ones((1, 1, 64, 64), np.float32), [2, 3], True)
    yield reduction("reduce_sum", "ReduceSum", 1, "scalar_axis", normal(3, 5), 1, False)
    for name, op in (("reduce_logical_and", "ReduceLogicalAnd"), ("reduce_logical_or", "ReduceLogicalOr")):
        yield reduction(name, op, 1, "last", flags(4, 3), [1], False)
        yield reduction(name, op, 1, "keep", flags(2, 3, 4), [0, 2], True)


def topk_cases():
    for mode in ("max", "min"):
        for sort in ("value", "index"):
            yield Case(f"TopK3_{mode}_{sort}", "TopK", [distinct(3, 17)],
                       lambda p, m=mode, s=sort: ov.opset3.topk(p, const(5, "int64"), 1, m, s))
    yield Case("TopK1_axis1", "TopK", [distinct(2, 9, 4)],
               lambda p: o1.topk(p, const(3, "int64"), 1, "max", "value"))
    yield Case("TopK11_axis0_i64", "TopK", [distinct(12, 3)],
               lambda p: ov.opset11.topk(p, const(4, "int64"), 0, "min", "value", "i64"))
    yield Case("TopK11_negative_axis", "TopK", [distinct(2, 3, 10)],
               lambda p: ov.opset11.topk(p, const(10, "int64"), -1, "max", "value"))
    yield Case("TopK11_stable_ties", "TopK", [np.array([[1, 3, 3, 2, 3, 1]], np.float32)],
               lambda p: ov.opset11.topk(p, const(4, "int64"), 1, "max", "value", "i32", True))
    yield Case("TopK3_1000_5", "TopK", [distinct(1, 1000)],
               lambda p: ov.opset3.topk(p, const(5, "int64"), 1, "max", "value"))


CASES = [*float_cases(), *topk_cases()]
