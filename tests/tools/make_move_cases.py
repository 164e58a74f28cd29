#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/support/move_cases.inc: single operators with the answers of OpenVINO's CPU plugin at f32.

Usage: make_move_cases.py > ../support/move_cases.inc     (needs PyPI's openvino and numpy)
Cases where OpenVINO is known to be wrong (cases/public-reports.md, section A) are left out; hand values cover them.
"""
import sys

import numpy as np
import openvino as ov
from openvino import opset1, opset3, opset8, opset11, opset12, opset14

from openvino.utils.node_factory import NodeFactory

RNG = np.random.default_rng(20261202)
TYPES = {"f32": np.float32, "i64": np.int64, "i32": np.int32}


def data(*shape):
    return np.round(RNG.uniform(-4, 4, shape), 3).astype(np.float32)


def i64(*values):
    return np.array(values, np.int64)


def text_of(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if hasattr(value, "__iter__") and not isinstance(value, str):
        return ",".join(str(int(v)) for v in value)
    return str(value)


def tensor_line(role, array):
    name = {np.dtype(v): k for k, v in TYPES.items()}[array.dtype]
    shape = ",".join(str(n) for n in array.shape)
    values = [str(np.float32(v)) if name == "f32" else str(int(v)) for v in array.ravel()]
    return "%s %s [%s] %s" % (role, name, shape, " ".join(values))


def run_cpu(model, array):
    compiled = ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return [np.array(value) for value in compiled([array]).values()]


def run_reference(model, array):
    outputs = [ov.Tensor(np.zeros(list(output.shape), np.float32)) for output in model.outputs]
    assert model.evaluate(outputs, [ov.Tensor(array)])
    return [np.array(output.data) for output in outputs]


def emit(label, opset, make, data_input, *constants, run=run_cpu):
    """make(parameter, *constant nodes) gives the node."""
    parameter = opset1.parameter(data_input.shape, data_input.dtype)
    node = make(parameter, *[opset1.constant(c) for c in constants])
    model = ov.Model(list(node.outputs()), [parameter])
    results = run(model, data_input)
    lines = ["case %s %s %d" % (label.replace("-", "m"), node.get_type_name(), opset)]
    lines += ["attribute %s %s" % (k, text_of(v)) for k, v in sorted(node.get_attributes().items())]
    lines += [tensor_line("input", np.asarray(v)) for v in (data_input, *constants)]
    lines += [tensor_line("output", v) for v in results]
    print('R"(%s\n)",' % "\n".join(lines))


def interpolate4(inputs, mode, antialias=False, coordinates="half_pixel", nearest="round_prefer_floor"):
    return NodeFactory("opset4").create("Interpolate", list(inputs), {
        "mode": mode, "shape_calculation_mode": "sizes", "pads_begin": [0], "pads_end": [0], "antialias": antialias,
        "coordinate_transformation_mode": coordinates, "nearest_mode": nearest, "cube_coeff": -0.75})


def interpolate_cases():
    modes = [(m, c, n) for m in ("nearest",)
             for c in ("half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn", "align_corners")
             for n in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple")]
    modes += [(m, c, "floor") for m in ("linear", "linear_onnx", "cubic")
              for c in ("half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn", "align_corners")]
    for mode, coordinates, nearest in modes:
        for sizes in ((7, 9), (2, 3)):
            emit("%s_%s_%s_%dx%d" % (mode, coordinates, nearest, *sizes), 4,
                 lambda *i, m=mode, c=coordinates, n=nearest: interpolate4(i, m, False, c, n),
                 data(1, 2, 4, 5), i64(*sizes), np.array([1, 1], np.float32), i64(2, 3))
    for mode in ("bilinear_pillow", "bicubic_pillow"):
        for sizes in ((7, 9), (2, 3), (3, 8)):
            emit("%s_%dx%d" % (mode, *sizes), 11,
                 lambda p, s, a, m=mode: opset11.interpolate(p, s, m, "sizes", pads_begin=[0], pads_end=[0], axes=a, cube_coeff=-0.5),
                 data(1, 2, 6, 5), i64(*sizes), i64(2, 3))
    for antialias in (False, True):  # the CPU plugin ignores antialias, OpenVINO's own reference does not
        emit("linear_antialias_%s" % antialias, 4,
             lambda *i, x=antialias: interpolate4(i, "linear", x),
             data(1, 2, 7, 9), i64(3, 4), np.array([1, 1], np.float32), i64(2, 3), run=run_reference)
    for mode in ("nearest", "linear", "linear_onnx", "cubic"):
        emit("%s_scales" % mode, 11,
             lambda p, s, a, m=mode: opset11.interpolate(p, s, m, "scales", pads_begin=[0], pads_end=[0], axes=a, nearest_mode="floor"),
             data(1, 2, 4, 6), np.array([1.7, 0.6], np.float32), i64(2, 3))
        emit("%s_pads" % mode, 11,
             lambda p, s, a, m=mode: opset11.interpolate(p, s, m, "sizes", axes=a, pads_begin=[0, 0, 1, 0],
                                                         pads_end=[0, 0, 2, 1], nearest_mode="floor"),
             data(1, 2, 3, 4), i64(9, 7), i64(2, 3))
    emit("linear_onnx_3d", 4,
         lambda *i: interpolate4(i, "linear_onnx"),
         data(1, 2, 3, 2, 3), i64(4, 5, 2), np.array([1, 1, 1], np.float32), i64(2, 3, 4))
    for mode in ("nearest", "linear"):
        for corners in (False, True):
            emit("first_%s_%s" % (mode, corners), 1,
                 lambda p, s, m=mode, c=corners: opset1.interpolate(
                     p, s, {"axes": np.array([2, 3]), "mode": m, "align_corners": c, "antialias": False, "pads_begin": np.array([0]), "pads_end": np.array([0])}),
                 data(1, 2, 4, 5), i64(7, 3))


def pool_cases():
    for k, s, pb, pe, d in (((3, 3), (2, 2), (1, 1), (1, 1), (1, 1)), ((2, 3), (1, 2), (0, 1), (1, 0), (1, 1)),
                            ((2, 2), (2, 1), (1, 1), (0, 1), (2, 1)), ((1, 1), (2, 2), (0, 0), (0, 0), (1, 1))):
        for rounding in ("floor", "ceil"):
            if rounding == "ceil" and k == (1, 1):
                continue  # a window wholly in the padding: a hand value
            name = "k%s_s%s_%s" % (k[0], s[0], rounding)
            emit("max_" + name, 8,
                 lambda p: opset8.max_pool(p, list(s), list(d), list(pb), list(pe), list(k), rounding), data(2, 3, 7, 8))
            if d == (1, 1):
                for exclude in (False, True):
                    if rounding == "ceil" and not exclude and k == (3, 3):
                        continue  # the CPU plugin divides by the whole window past the padding, Caffe and PyTorch do not
                    emit("avg_%s_%s" % (name, exclude), 1,
                         lambda p: opset1.avg_pool(p, list(s), list(pb), list(pe), list(k), exclude, rounding),
                         data(2, 3, 7, 8))
    for pad in ("same_upper", "same_lower", "valid"):
        emit("avg_" + pad, 1, lambda p: opset1.avg_pool(p, [2, 2], [0, 0], [0, 0], [3, 2], True, "floor", pad),
             data(1, 2, 6, 5))
        emit("max_" + pad, 1, lambda p: opset1.max_pool(p, [2, 2], [0, 0], [0, 0], [3, 2], "floor", pad),
             data(1, 2, 6, 5))
    emit("max_1d", 1, lambda p: opset1.max_pool(p, [2], [1], [1], [3]), data(1, 3, 9))
    emit("avg_3d", 1, lambda p: opset1.avg_pool(p, [1, 2, 2], [1, 0, 1], [0, 1, 1], [2, 3, 3], False), data(1, 2, 4, 5, 6))
    emit("max_torch", 14,
         lambda p: opset14.max_pool(p, [2, 2], [1, 1], [1, 1], [1, 1], [2, 2], "ceil_torch"), data(1, 2, 5, 5))
    emit("avg_torch", 14,
         lambda p: opset14.avg_pool(p, [2, 2], [1, 1], [1, 1], [2, 2], False, "ceil_torch"), data(1, 2, 5, 5))
    emit("adaptive_avg", 8, lambda p, s: opset8.adaptive_avg_pool(p, s), data(1, 3, 7, 5), i64(3, 2))
    emit("adaptive_max", 8, lambda p, s: opset8.adaptive_max_pool(p, s, "i32"), data(1, 3, 7, 5), i64(3, 2))


def move_cases():
    def strided(label, shape, begin, end, strides, masks):
        emit(label, 1, lambda p, b, e, s: opset1.strided_slice(p, b, e, s, *[list(m) for m in masks]), data(*shape),
             i64(*begin), i64(*end), i64(*strides))
    zero = [0, 0, 0]
    strided("plain", (3, 4, 5), (0, 1, 2), (3, 3, 5), (1, 1, 2), (zero, zero, [], [], []))
    strided("masks", (3, 4, 5), (1, 1, 1), (2, 2, 2), (1, 1, 1), ([1, 0, 1], [0, 1, 1], [], [], []))
    strided("backwards", (3, 4, 5), (2, 3, -1), (0, 0, -6), (-1, -2, -1), (zero, zero, [], [], []))
    strided("backwards_masks", (3, 4, 5), (0, 0, 0), (0, 0, 0), (-1, 1, -2), ([1, 1, 1], [1, 1, 1], [], [], []))
    strided("new_axis", (3, 4), (0, 0, 1), (0, 3, 3), (1, 1, 1), ([1, 0, 0], [1, 0, 0], [1, 0, 0], [], []))
    strided("shrink", (3, 4, 5), (1, 0, -1), (2, 4, 0), (1, 1, 1), ([0, 1, 0], [0, 1, 0], [], [1, 0, 1], []))
    strided("ellipsis", (2, 3, 4, 5), (1, 0, 1), (2, 0, 3), (1, 1, 1), (zero, zero, [], [1, 0, 0], [0, 1, 0]))
    strided("clamped", (3, 4), (-9, 1), (9, 99), (1, 2), ([0, 0], [0, 0], [], [], []))
    for start, stop, step in (((0, 1), (2, 4), (1, 2)), ((-1, 3), (-9, 0), (-1, -2)), ((1, -2), (9, 9), (1, 1))):
        emit("slice_%d" % start[0], 8, lambda p, a, b, c, x: opset8.slice(p, a, b, c, x), data(3, 4, 5), i64(*start),
             i64(*stop), i64(*step), i64(0, -1))
    for mode in ("constant", "edge", "reflect", "symmetric"):
        emit("pad_" + mode, 12, lambda p, b, e, m=mode: opset12.pad(p, b, e, m), data(2, 3, 4), i64(0, 1, 2), i64(1, 2, 3))
        emit("pad_crop_" + mode, 12, lambda p, b, e, m=mode: opset12.pad(p, b, e, m), data(3, 4, 5), i64(1, -1, 0),
             i64(-1, 2, -2))
    emit("broadcast_numpy", 3, lambda p, s: opset3.broadcast(p, s, broadcast_spec="numpy"), data(3, 1), i64(2, 3, 4))
    emit("broadcast_both", 3, lambda p, s: opset3.broadcast(p, s, broadcast_spec="bidirectional"), data(3, 1, 2), i64(1, 4, 1))
    emit("broadcast_explicit", 3, lambda p, s, a: opset3.broadcast(p, s, a, broadcast_spec="explicit"), data(3, 4),
         i64(3, 2, 4), i64(0, 2))
    emit("tile", 1, lambda p, r: opset1.tile(p, r), data(2, 3), i64(2, 1, 3))
    for mode in ("blocks_first", "depth_first"):
        emit("d2s_" + mode, 1, lambda p, m=mode: opset1.depth_to_space(p, m, 2), data(2, 8, 2, 3))
        emit("s2d_" + mode, 1, lambda p, m=mode: opset1.space_to_depth(p, m, 2), data(2, 2, 4, 6))
        emit("d2s3_" + mode, 1, lambda p, m=mode: opset1.depth_to_space(p, m, 2), data(1, 16, 2, 1, 3))
    emit("shuffle", 3, lambda p: opset3.shuffle_channels(p, 1, 3), data(2, 6, 2, 2))
    emit("transpose", 1, lambda p, o: opset1.transpose(p, o), data(2, 3, 4, 5), i64(0, 2, 3, 1))
    emit("reshape", 1, lambda p, s: opset1.reshape(p, s, True), data(2, 3, 4), i64(0, -1, 2))
    emit("split", 1, lambda p, a: opset1.split(p, a, 3), data(2, 6, 3), np.array(1, np.int64))
    emit("variadic", 1, lambda p, a, n: opset1.variadic_split(p, a, n), data(2, 6, 3), np.array(-2, np.int64), i64(1, -1, 2))
    emit("gather", 8, lambda p, i, a: opset8.gather(p, i, a), data(3, 4, 2), np.array([[0, -1], [2, 1]], np.int64),
         np.array(1, np.int64))
    emit("gather_batch", 8, lambda p, i, a: opset8.gather(p, i, a, 1), data(2, 3, 4), np.array([[0, 3], [2, 1]], np.int64),
         np.array(2, np.int64))
    for mode in ("max", "min"):
        for sort in ("value", "index"):
            emit("topk_%s_%s" % (mode, sort), 3, lambda p, k, m=mode, s=sort: opset3.topk(p, k, 1, m, s, "i64"),
                 data(2, 7, 3), np.array(3, np.int64))
    emit("one_hot", 1, lambda p, d, a, b: opset1.one_hot(p, d, a, b, 1), i64(0, 3, 2, -1, 5).reshape(1, 5),
         np.array(4, np.int64), np.array(2.5, np.float32), np.array(-1, np.float32))


def main():
    print("// Generated by tests/tools/make_move_cases.py with OpenVINO %s. Do not edit." % ov.__version__.split("-")[0])
    interpolate_cases()
    pool_cases()
    move_cases()


if __name__ == "__main__":
    sys.exit(main())
