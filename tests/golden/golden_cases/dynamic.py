# SPDX-License-Identifier: Apache-2.0
"""Layers whose output shapes depend on values that only a run gives, and layers behind them."""
import numpy as np
import openvino as ov

from .case import Case, const, flags, integers, node, normal, uniform, weights
from .detection import boxes
from .movement import i64

o1, o8 = ov.opset1, ov.opset8


def sparse(*shape, dtype=np.float32):
    return lambda rng: (rng.integers(-3, 4, shape) * rng.integers(0, 2, shape)).astype(dtype)


def many_boxes(batches, count):
    return lambda rng: np.stack([boxes(rng, count, 4.0) for _ in range(batches)])


def non_zero_cases():
    for shape in ((7,), (3, 5), (2, 3, 4), (2, 1, 3, 40)):
        yield Case(f"NonZero_f32_{len(shape)}d", "NonZero", [sparse(*shape)],
                   lambda x: node(3, "NonZero", [x], output_type="i64"))
    yield Case("NonZero_i32", "NonZero", [sparse(4, 6, dtype=np.int32)],
               lambda x: node(3, "NonZero", [x], output_type="i32"))
    yield Case("NonZero_bool", "NonZero", [flags(4, 6)], lambda x: node(3, "NonZero", [x], output_type="i64"))
    yield Case("NonZero_none", "NonZero", [np.zeros((3, 4), np.float32)],
               lambda x: node(3, "NonZero", [x], output_type="i64"))


def unique_cases():
    for is_sorted in (True, False):
        for name, source in (("f32", sparse(40)), ("i32", integers(-3, 4, 30)),
                             ("2d", integers(0, 5, 6, 7, dtype=np.int64))):
            yield Case(f"Unique_{name}_{is_sorted}", "Unique", [source],
                       lambda x, s=is_sorted: node(10, "Unique", [x], sorted=s, index_element_type="i64",
                                                   count_element_type="i32"))
        for axis in (0, 1, -1):
            yield Case(f"Unique_axis{axis}_{is_sorted}", "Unique", [integers(0, 2, 5, 3, 2)],
                       lambda x, a=axis, s=is_sorted: node(10, "Unique", [x, const(a, np.int64)], sorted=s,
                                                           index_element_type="i32", count_element_type="i64"))


def nms_cases():
    for opset in (5, 9):
        for encoding in ("corner", "center"):
            for descending in (True, False):
                yield Case(f"NMS{opset}_{encoding}_{descending}", "NonMaxSuppression",
                           [many_boxes(2, 20), uniform(0, 1, 2, 3, 20)],
                           lambda b, s, v=opset, e=encoding, d=descending: node(
                               v, "NonMaxSuppression", [b, s, const(6, np.int64), const(0.4), const(0.3), const(0.0)],
                               box_encoding=e, sort_result_descending=d, output_type="i64"))
        yield Case(f"NMS{opset}_soft", "NonMaxSuppression", [many_boxes(1, 16), uniform(0, 1, 1, 2, 16)],
                   lambda b, s, v=opset: node(v, "NonMaxSuppression",
                                              [b, s, const(8, np.int64), const(0.5), const(0.2), const(0.6)],
                                              box_encoding="corner", sort_result_descending=True, output_type="i32"))
        yield Case(f"NMS{opset}_none", "NonMaxSuppression", [many_boxes(1, 5), uniform(0, 0.5, 1, 2, 5)],
                   lambda b, s, v=opset: node(v, "NonMaxSuppression",
                                              [b, s, const(5, np.int64), const(0.5), const(0.9)],
                                              box_encoding="corner", sort_result_descending=True, output_type="i64"))


def detector(boxes_of, scores):
    """What exported detectors end with: the boxes that NonMaxSuppression chose."""
    chosen = node(9, "NonMaxSuppression", [boxes_of, scores, const(10, np.int64), const(0.5), const(0.25)],
                  box_encoding="corner", sort_result_descending=True, output_type="i64")
    numbers = o1.reshape(o8.gather(chosen.output(0), i64([2]), i64(1)), i64([-1]), False)
    labels = o1.reshape(o8.gather(chosen.output(0), i64([1]), i64(1)), i64([-1]), False)
    flat = o1.reshape(boxes_of, i64([-1, 4]), False)
    picked = o8.gather(flat, numbers, i64(0))
    return [o1.concat([picked, o1.unsqueeze(o1.convert(labels, "f32"), i64(1))], 1), chosen.output(2)]


def chain_cases():
    yield Case("dynamic_detector", "NonMaxSuppression", [many_boxes(1, 60), uniform(0, 1, 1, 4, 60)], detector)
    yield Case("dynamic_rows", "NonZero", [normal(9, 6)],
               lambda x: o1.softmax(o1.matmul(o8.gather(x, o1.reshape(
                   node(3, "NonZero", [o1.relu(o1.reduce_mean(x, i64([1]), False))], output_type="i64"), i64([-1]),
                   False), i64(0)), weights(3, 6, 5), False, False), 1))
    yield Case("dynamic_convolution", "NonZero", [normal(6, 3, 8, 8)],
               lambda x: o1.relu(o1.convolution(o8.gather(x, o1.reshape(
                   node(3, "NonZero", [o1.relu(o1.reduce_mean(x, i64([1, 2, 3]), False))], output_type="i64"),
                   i64([-1]), False), i64(0)), weights(4, 5, 3, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1])))
    count = lambda x: o1.convert(o1.reduce_sum(x, i64([0, 1]), True), "i64")  # noqa: E731
    ones = lambda rng: (rng.permutation(24) < 6).astype(np.float32).reshape(4, 6)  # noqa: E731
    yield Case("dynamic_reshape", "Reshape", [ones, normal(12)],
               lambda m, x: o1.reshape(x, o1.concat([o1.reshape(count(m), i64([1]), False), i64([-1])], 0), False))
    yield Case("dynamic_tile", "Tile", [ones, normal(3)],
               lambda m, x: o1.tile(x, o1.reshape(count(m), i64([1]), False)))
    yield Case("dynamic_range", "Range", [ones],
               lambda m: node(4, "Range", [i64(0), o1.squeeze(count(m), i64([0, 1])), i64(2)], output_type="i64"))
    yield Case("dynamic_slice", "Slice", [ones, normal(3, 12)],
               lambda m, x: o8.slice(x, i64([0]), o1.reshape(count(m), i64([1]), False), i64([1]), i64([1])))
    yield Case("dynamic_broadcast", "Broadcast", [ones, normal(1, 3)],
               lambda m, x: node(3, "Broadcast", [x, o1.concat([o1.reshape(count(m), i64([1]), False), i64([3])], 0)],
                                 mode="numpy"))
    yield Case("dynamic_top_k", "TopK", [ones, normal(4, 20)],
               lambda m, x: node(3, "TopK", [x, o1.squeeze(count(m), i64([0, 1]))], axis=1, mode="max", sort="value"))


CASES = [*non_zero_cases(), *unique_cases(), *nms_cases(), *chain_cases()]
