# SPDX-License-Identifier: Apache-2.0
"""Pooling, normalisation over windows and axes, resampling."""
import numpy as np
import openvino as ov

from .case import Case, const, distinct, node, normal

o1, o8, o11, o14 = ov.opset1, ov.opset8, ov.opset11, ov.opset14


def max_pool(name, x, kernel, strides, begin, end, rounding="floor", auto_pad="explicit"):
    build = lambda p: o1.max_pool(p, strides, begin, end, kernel, rounding, auto_pad)
    return Case("MaxPool_" + name, "MaxPool", [normal(*x)], build)


def max_pool8(name, x, kernel, strides, begin, end, dilations, axis=0, index_type="i64", rounding="floor"):
    build = lambda p: o8.max_pool(p, strides, dilations, begin, end, kernel, rounding, "explicit", index_type, axis)
    return Case("MaxPool8_" + name, "MaxPool", [distinct(*x)], build)


# OpenVINO writes NaN where a ceil window lies wholly in the padding: the sizes here have none.
def avg_pool(name, x, kernel, strides, begin, end, exclude, rounding="floor", auto_pad="explicit"):
    build = lambda p: o1.avg_pool(p, strides, begin, end, kernel, exclude, rounding, auto_pad)
    return Case("AvgPool_" + name, "AvgPool", [normal(*x)], build)


def adaptive(name, x, out, kind):
    if kind == "Avg":
        build = lambda p: o8.adaptive_avg_pool(p, const(out, "int64"))
    else:
        build = lambda p: o8.adaptive_max_pool(p, const(out, "int64"), "i32")  # its CPU device lacks i64
    return Case(f"Adaptive{kind}Pool_{name}", f"Adaptive{kind}Pool", [distinct(*x)], build)


def lrn_expected(axes, alpha, beta, bias, size):
    """OpenVINO ignores the bias: the specification's formula instead."""

    def window_sum(squares, axis):
        low, high = (size - 1) // 2, size // 2
        padding = [(low, high) if a == axis else (0, 0) for a in range(squares.ndim)]
        padded = np.pad(squares, padding)
        return sum(np.take(padded, range(i, i + squares.shape[axis]), axis) for i in range(size))

    def answer(x):
        squares = np.square(x.astype(np.float64))
        for axis in axes:
            squares = window_sum(squares, axis)
        return [(x / (bias + alpha / size ** len(axes) * squares) ** beta).astype(np.float32)]

    return answer


def lrn(name, x, axes, alpha, beta, bias, size):
    build = lambda p: o1.lrn(p, const(axes, "int64"), alpha, beta, bias, size)
    return Case("LRN_" + name, "LRN", [normal(*x)], build, lrn_expected(axes, alpha, beta, bias, size))


def interpolate1(name, x, out, axes, mode, **attributes):
    build = lambda p: o1.interpolate(p, const(out, "int64"), {"mode": mode, "axes": np.array(axes), **attributes})
    return Case("Interpolate1_" + name, "Interpolate", [normal(*x)], build)


def interpolate4(name, x, sizes, axes, mode, coord="half_pixel", nearest="round_prefer_floor", scales=None,
                 expected=None, **extra):
    calculation = "sizes" if scales is None else "scales"
    scales = scales or [out / x[axis] for out, axis in zip(sizes, axes)]

    def build(p):
        return node(4, "Interpolate", [p, const(sizes, "int64"), const(scales), const(axes, "int64")], mode=mode,
                    shape_calculation_mode=calculation, coordinate_transformation_mode=coord, nearest_mode=nearest,
                    antialias=extra.get("antialias", False), pads_begin=[0] * len(x), pads_end=[0] * len(x),
                    cube_coeff=extra.get("cube", -0.75))

    return Case("Interpolate4_" + name, "Interpolate", [normal(*x)], build, expected)


def interpolate11(name, x, target, axes, mode, coord="half_pixel", nearest="round_prefer_floor", is_scales=False,
                  cube=-0.75):
    def build(p):
        values = const(target, np.float32 if is_scales else np.int64)
        return o11.interpolate(p, values, mode, "scales" if is_scales else "sizes", axes=const(axes, "int64"),
                               coordinate_transformation_mode=coord, nearest_mode=nearest, cube_coeff=cube)

    return Case("Interpolate11_" + name, "Interpolate", [normal(*x)], build)


def antialias_expected(out):
    """OpenVINO's CPU device ignores antialias in mode linear: the specification's formula for two spatial axes."""

    def weights(in_size, out_size):
        """[out, in]: triangles of half-width 1 / scale around each output's centre, cut to `reach` whole pixels."""
        scale = out_size / in_size
        stretch = min(scale, 1.0)
        reach = 2 if scale > 1 else int(np.ceil(2 / stretch))
        result = np.zeros((out_size, in_size))
        for o in range(out_size):
            centre = (o + 0.5) / scale - 0.5
            for i in range(max(0, round(centre) - reach), min(in_size, round(centre) + reach + 1)):
                result[o, i] = max(0.0, 1 - abs(stretch * (centre - i)))
        return result / result.sum(1, keepdims=True)

    def answer(x):
        rows, columns = weights(x.shape[2], out[0]), weights(x.shape[3], out[1])
        return [(rows @ x.astype(np.float64) @ columns.T).astype(np.float32)]

    return answer


def nearest_cases():
    for coord in ("half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn", "align_corners"):
        for nearest in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"):
            # 7 -> 12 and 5 -> 3: no tie on which implementations part by float rounding
            yield interpolate4(f"nearest_{coord}_{nearest}", [1, 2, 7, 5], [12, 3], [2, 3], "nearest", coord, nearest)


def linear_cases():
    for coord in ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"):
        yield interpolate4("linear_onnx_" + coord, [2, 3, 6, 7], [11, 4], [2, 3], "linear_onnx", coord)
        yield interpolate4("cubic_" + coord, [1, 3, 6, 7], [11, 4], [2, 3], "cubic", coord)
        yield interpolate4("linear_" + coord, [1, 2, 6, 7], [11, 4], [2, 3], "linear", coord)


def batch_norm(name, x, module, eps=1e-5):
    channels = x[1]

    def build(p):
        rng = np.random.default_rng(5)
        gamma, beta, mean = (const(rng.standard_normal(channels)) for _ in range(3))
        return module.batch_norm_inference(p, gamma, beta, mean, const(rng.uniform(0.5, 2, channels)), eps)

    return Case("BatchNormInference_" + name, "BatchNormInference", [normal(*x)], build)


def mvn6(name, x, axes, variance=True, mode="inside_sqrt"):
    build = lambda p: ov.opset6.mvn(p, const(axes, "int64"), variance, 1e-4, mode)
    return Case("MVN6_" + name, "MVN", [normal(*x)], build)


def mvn1(name, x, across, variance):
    build = lambda p: ov.opset2.mvn(p, across, variance, 1e-5)
    return Case("MVN1_" + name, "MVN", [normal(*x)], build)


def normalize_l2(name, x, axes, mode="add", eps=1e-3):
    build = lambda p: o1.normalize_l2(p, const(axes, "int64"), eps, mode)
    return Case("NormalizeL2_" + name, "NormalizeL2", [normal(*x)], build)


def softmax(name, x, axis, module):
    return Case(f"SoftMax_{name}", "SoftMax", [normal(*x)], lambda p: module.softmax(p, axis))


CASES = [
    max_pool("2x2_s2", [1, 19, 8, 8], [2, 2], [2, 2], [0, 0], [0, 0]),
    max_pool("3x3_s2_pad", [2, 16, 13, 13], [3, 3], [2, 2], [1, 1], [1, 1]),
    max_pool("3x3_asym", [1, 5, 9, 7], [3, 2], [1, 2], [0, 1], [2, 0]),
    max_pool("3x3_s2_ceil", [1, 8, 14, 14], [3, 3], [2, 2], [0, 0], [0, 0], "ceil"),
    max_pool("caffe_4x4_ceil", [1, 1, 4, 4], [3, 3], [2, 2], [0, 0], [0, 0], "ceil"),
    max_pool("same_upper", [1, 4, 7, 8], [3, 3], [2, 2], [0, 0], [0, 0], "floor", "same_upper"),
    max_pool("same_lower", [1, 4, 7, 8], [2, 2], [2, 2], [0, 0], [0, 0], "floor", "same_lower"),
    max_pool("valid", [1, 4, 7, 8], [2, 3], [2, 2], [1, 1], [1, 1], "floor", "valid"),
    max_pool("whole", [2, 3, 5, 6], [5, 6], [1, 1], [0, 0], [0, 0]),
    max_pool("1d", [2, 3, 17], [3], [2], [1], [0]),
    max_pool("3d", [1, 3, 6, 7, 8], [2, 3, 2], [2, 2, 2], [0, 1, 0], [0, 1, 0]),
    max_pool8("plain", [1, 3, 6, 6], [2, 2], [2, 2], [0, 0], [0, 0], [1, 1]),
    max_pool8("dilated", [1, 2, 9, 10], [3, 3], [1, 2], [1, 1], [1, 1], [2, 2]),
    max_pool8("axis2_i32", [2, 2, 7, 7], [3, 3], [2, 2], [1, 1], [1, 1], [1, 1], 2, "i32"),
    max_pool8("1d", [1, 2, 12], [3], [2], [0], [1], [2]),
    avg_pool("2x2_s2", [1, 17, 8, 8], [2, 2], [2, 2], [0, 0], [0, 0], True),
    avg_pool("3x3_pad_exclude", [1, 3, 7, 9], [3, 3], [2, 2], [1, 1], [1, 1], True),
    avg_pool("3x3_pad_include", [1, 3, 7, 9], [3, 3], [2, 2], [1, 1], [1, 1], False),
    avg_pool("end_pad_include", [1, 1, 2, 2], [2, 2], [1, 1], [0, 0], [1, 1], False),
    avg_pool("end_pad_exclude", [1, 1, 2, 2], [2, 2], [1, 1], [0, 0], [1, 1], True),
    avg_pool("ceil_exclude", [1, 4, 8, 8], [3, 3], [2, 2], [0, 0], [0, 0], True, "ceil"),
    avg_pool("same_upper", [1, 4, 7, 8], [3, 3], [2, 2], [0, 0], [0, 0], True, "floor", "same_upper"),
    avg_pool("same_lower_include", [1, 4, 8, 8], [3, 3], [2, 2], [0, 0], [0, 0], False, "floor", "same_lower"),
    avg_pool("global", [2, 33, 7, 7], [7, 7], [1, 1], [0, 0], [0, 0], True),
    avg_pool("global_64", [1, 2, 64, 64], [64, 64], [1, 1], [0, 0], [0, 0], False),
    avg_pool("1d", [2, 3, 17], [4], [3], [1], [1], True),
    avg_pool("3d", [1, 3, 6, 6, 6], [2, 2, 3], [2, 2, 2], [0, 0, 1], [0, 0, 1], False),
    Case("AvgPool14_ceil_torch", "AvgPool", [normal(1, 3, 9, 9)],
         lambda p: o14.avg_pool(p, [2, 2], [1, 1], [1, 1], [2, 2], True, "ceil_torch", "explicit")),
    adaptive("1d", [1, 3, 7], [3], "Avg"),
    adaptive("2d", [2, 5, 7, 9], [3, 4], "Avg"),
    adaptive("3d", [1, 2, 5, 6, 7], [2, 3, 4], "Avg"),
    adaptive("1x1", [1, 8, 7, 7], [1, 1], "Avg"),
    adaptive("1d", [1, 3, 7], [3], "Max"),
    adaptive("2d", [2, 5, 7, 9], [3, 4], "Max"),
    adaptive("3d", [1, 2, 5, 6, 7], [2, 3, 4], "Max"),
    batch_norm("nchw", [2, 17, 5, 6], ov.opset5),
    batch_norm("nc", [3, 7], ov.opset5),
    batch_norm("ncd", [2, 4, 9], ov.opset5),
    batch_norm("ncdhw", [1, 3, 2, 3, 4], ov.opset5, 1e-2),
    batch_norm("opset1", [2, 5, 4, 3], ov.opset1),
    mvn6("hw", [2, 3, 5, 6], [2, 3]),
    mvn6("chw", [2, 3, 5, 6], [1, 2, 3], mode="outside_sqrt"),
    mvn6("last", [2, 7, 33], [-1]),
    mvn6("no_variance", [2, 3, 4], [1, 2], False),
    mvn6("rank5", [1, 2, 3, 4, 5], [2, 3, 4]),
    mvn1("spatial", [2, 3, 5, 6], False, True),
    mvn1("across", [2, 3, 5, 6], True, True),
    mvn1("no_variance", [2, 3, 5, 6], False, False),
    normalize_l2("channels", [2, 5, 3, 4], [1]),
    normalize_l2("chw_max", [2, 5, 3, 4], [1, 2, 3], "max"),
    normalize_l2("last", [3, 7], [1]),
    # Without axes each element is divided by its own absolute value (specification): OpenVINO's CPU device agrees.
    Case("GRN_4d", "GRN", [normal(2, 5, 3, 4)], lambda p: o1.grn(p, 0.33)),
    Case("GRN_2d", "GRN", [normal(3, 7)], lambda p: o1.grn(p, 1e-3)),
    Case("GRN_3d", "GRN", [normal(2, 4, 5)], lambda p: o1.grn(p, 0.5)),
    lrn("across", [1, 7, 3, 4], [1], 1e-1, 0.75, 2.0, 5),
    lrn("alexnet", [1, 16, 5, 5], [1], 1e-4, 0.75, 1.0, 5),
    lrn("spatial", [1, 3, 7, 8], [2, 3], 0.5, 0.5, 1.0, 3),
    lrn("size3", [1, 3, 1, 1], [1], 3.0, 1.0, 1.0, 3),
    softmax("axis1", [2, 19, 3, 4], 1, o1),
    softmax("axis0", [5, 3], 0, o1),
    softmax("last", [2, 3, 1000], 2, o1),
    softmax("8_negative", [2, 3, 37], -1, o8),
    softmax("8_middle", [2, 17, 5], -2, o8),
    softmax("rank5", [1, 2, 3, 4, 5], 2, o8),
    Case("SoftMax_large_values", "SoftMax", [np.array([[1000, 1000, -1000], [-2000, -2001, 0]], np.float32)],
         lambda p: o8.softmax(p, 1)),
    Case("LogSoftmax_last", "LogSoftmax", [normal(3, 11)], lambda p: ov.opset5.log_softmax(p, -1)),
    Case("LogSoftmax_axis1", "LogSoftmax", [normal(2, 5, 3, 4)], lambda p: ov.opset5.log_softmax(p, 1)),
    *nearest_cases(),
    *linear_cases(),
    interpolate4("nearest_x2_scales", [1, 5, 4, 6], [8, 12], [2, 3], "nearest", "asymmetric", "floor", [2.0, 2.0]),
    interpolate4("linear_onnx_scales", [1, 3, 5, 6], [7, 9], [2, 3], "linear_onnx", scales=[1.5, 1.6]),
    interpolate4("linear_onnx_1d", [2, 3, 9], [14], [2], "linear_onnx"),
    interpolate4("linear_onnx_3d", [1, 2, 3, 4, 5], [5, 6, 7], [2, 3, 4], "linear_onnx"),
    interpolate4("nearest_axis1", [1, 4, 3, 3], [6], [1], "nearest", "asymmetric", "floor"),
    interpolate4("nearest_all_axes", [1, 2, 4, 5], [1, 4, 8, 5], [0, 1, 2, 3], "nearest", "asymmetric", "floor"),
    interpolate4("linear_antialias", [1, 2, 12, 10], [5, 4], [2, 3], "linear", antialias=True,
                 expected=antialias_expected([5, 4])),
    interpolate4("cubic_coeff", [1, 2, 6, 6], [9, 9], [2, 3], "cubic", cube=-0.5),
    interpolate11("nearest_sizes", [1, 3, 7, 5], [12, 3], [2, 3], "nearest", "asymmetric", "floor"),
    interpolate11("linear_onnx_scales", [1, 3, 6, 5], [2.0, 2.0], [2, 3], "linear_onnx", is_scales=True),
    interpolate11("cubic_sizes", [1, 3, 6, 5], [9, 11], [2, 3], "cubic"),
    interpolate11("bilinear_pillow", [1, 3, 12, 10], [5, 17], [2, 3], "bilinear_pillow"),
    # Pillow's own coefficient: OpenVINO's CPU device takes no other.
    interpolate11("bicubic_pillow", [1, 3, 12, 10], [5, 17], [2, 3], "bicubic_pillow", cube=-0.5),
    interpolate1("nearest", [1, 2, 4, 5], [8, 10], [2, 3], "nearest", align_corners=False),
    interpolate1("linear", [1, 2, 4, 5], [7, 9], [2, 3], "linear", align_corners=False),
    interpolate1("linear_align", [1, 2, 4, 5], [7, 9], [2, 3], "linear", align_corners=True),
]
