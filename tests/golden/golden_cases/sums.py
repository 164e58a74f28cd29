# SPDX-License-Identifier: Apache-2.0
"""Convolutions, transposed convolutions, matrix products, attention."""
import openvino as ov

from .case import Case, const, normal, weights

o1 = ov.opset1


def conv(name, x, w, strides, begin, end, dilations, auto_pad="explicit"):
    build = lambda p: o1.convolution(p, weights(1, *w), strides, begin, end, dilations, auto_pad)
    return Case("Convolution_" + name, "Convolution", [normal(*x)], build)


def group_conv(name, x, w, strides, begin, end, dilations, auto_pad="explicit"):
    build = lambda p: o1.group_convolution(p, weights(2, *w), strides, begin, end, dilations, auto_pad)
    return Case("GroupConvolution_" + name, "GroupConvolution", [normal(*x)], build)


def deconv(name, x, w, strides, begin, end, dilations, out_pad=None, auto_pad="explicit", shape=None, is_group=False):
    op = "GroupConvolutionBackpropData" if is_group else "ConvolutionBackpropData"
    make = o1.group_convolution_backprop_data if is_group else o1.convolution_backprop_data
    extra = {"output_padding": out_pad} if out_pad else {}

    def build(p):
        if shape is None:
            return make(p, weights(3, *w), strides, pads_begin=begin, pads_end=end, dilations=dilations,
                        auto_pad=auto_pad, **extra)
        return make(p, weights(3, *w), strides, const(shape, "int64"), begin, end, dilations, auto_pad, **extra)

    return Case(f"{op}_{name}", op, [normal(*x)], build)


def matmul(name, a, b, transpose_a=False, transpose_b=False, is_const=False):
    if is_const:
        build = lambda p: o1.matmul(p, weights(4, *b), transpose_a, transpose_b)
        return Case("MatMul_" + name, "MatMul", [normal(*a)], build)
    build = lambda p, q: o1.matmul(p, q, transpose_a, transpose_b)
    return Case("MatMul_" + name, "MatMul", [normal(*a), normal(*b)], build)


def attention(name, q, k, v, mask=None, causal=False):
    inputs = [normal(*s) for s in (q, k, v)] + ([normal(*mask)] if mask else [])
    build = lambda *p: ov.opset13.scaled_dot_product_attention(*p, causal=causal)
    return Case("ScaledDotProductAttention_" + name, "ScaledDotProductAttention", inputs, build)


CASES = [
    conv("1x1", [1, 5, 7, 9], [3, 5, 1, 1], [1, 1], [0, 0], [0, 0], [1, 1]),
    conv("1x1_s2", [2, 16, 9, 9], [32, 16, 1, 1], [2, 2], [0, 0], [0, 0], [1, 1]),
    conv("1x1_wide", [1, 64, 7, 7], [96, 64, 1, 1], [1, 1], [0, 0], [0, 0], [1, 1]),
    conv("1x1_pad", [1, 3, 5, 5], [4, 3, 1, 1], [1, 1], [1, 1], [1, 1], [1, 1]),
    conv("3x3_same", [1, 17, 13, 19], [33, 17, 3, 3], [1, 1], [1, 1], [1, 1], [1, 1]),
    conv("3x3_rgb_s2", [1, 3, 32, 32], [16, 3, 3, 3], [2, 2], [1, 1], [1, 1], [1, 1]),
    conv("3x3_asym_0011", [1, 1, 3, 3], [1, 1, 2, 2], [1, 1], [0, 0], [1, 1], [1, 1]),
    conv("3x3_asym_1100", [1, 1, 3, 3], [1, 1, 2, 2], [1, 1], [1, 1], [0, 0], [1, 1]),
    conv("3x3_asym_1002", [1, 1, 3, 3], [1, 1, 2, 2], [1, 1], [1, 0], [0, 2], [1, 1]),
    conv("3x3_dil2", [1, 8, 14, 11], [8, 8, 3, 3], [1, 1], [2, 2], [2, 2], [2, 2]),
    conv("3x3_dil_2x3_asym", [1, 4, 15, 16], [5, 4, 3, 3], [1, 2], [1, 3], [2, 0], [2, 3]),
    conv("5x5_s3_batch3", [3, 4, 17, 18], [6, 4, 5, 5], [3, 3], [2, 2], [2, 2], [1, 1]),
    conv("7x7_s2", [1, 3, 30, 31], [24, 3, 7, 7], [2, 2], [3, 3], [3, 3], [1, 1]),
    conv("1x7", [1, 6, 9, 12], [7, 6, 1, 7], [1, 1], [0, 3], [0, 3], [1, 1]),
    conv("7x1", [1, 6, 9, 12], [7, 6, 7, 1], [1, 1], [3, 0], [3, 0], [1, 1]),
    conv("stride_over_kernel", [1, 4, 11, 11], [4, 4, 2, 2], [3, 4], [0, 0], [0, 0], [1, 1]),
    conv("same_upper_even", [1, 2, 4, 4], [3, 2, 3, 3], [2, 2], [0, 0], [0, 0], [1, 1], "same_upper"),
    conv("same_lower_even", [1, 2, 4, 4], [3, 2, 3, 3], [2, 2], [0, 0], [0, 0], [1, 1], "same_lower"),
    conv("same_upper_2x2", [1, 2, 7, 6], [3, 2, 2, 2], [1, 2], [0, 0], [0, 0], [1, 1], "same_upper"),
    conv("same_upper_dil", [1, 2, 9, 9], [3, 2, 3, 3], [1, 1], [0, 0], [0, 0], [2, 2], "same_upper"),
    conv("valid", [1, 2, 9, 8], [3, 2, 3, 3], [2, 2], [1, 1], [1, 1], [1, 1], "valid"),
    conv("whole_picture", [2, 5, 6, 6], [10, 5, 6, 6], [1, 1], [0, 0], [0, 0], [1, 1]),
    conv("oc1", [1, 32, 5, 5], [1, 32, 3, 3], [1, 1], [1, 1], [1, 1], [1, 1]),
    conv("width757", [1, 3, 1, 757], [5, 3, 1, 1], [1, 1], [0, 0], [0, 0], [1, 1]),
    conv("1d", [2, 5, 31], [7, 5, 3], [1], [1], [1], [1]),
    conv("1d_s2_dil3", [1, 4, 40], [6, 4, 5], [2], [3], [4], [3]),
    conv("3d", [1, 3, 5, 6, 7], [4, 3, 3, 3, 3], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]),
    conv("3d_s2", [2, 2, 7, 8, 9], [3, 2, 2, 3, 1], [2, 1, 2], [0, 1, 0], [1, 1, 0], [1, 1, 1]),
    Case("Convolution_dynamic_weights", "Convolution", [normal(1, 3, 6, 6), normal(4, 3, 3, 3)],
         lambda x, w: o1.convolution(x, w, [1, 1], [1, 1], [1, 1], [1, 1])),
    group_conv("depthwise3", [1, 19, 12, 13], [19, 1, 1, 3, 3], [1, 1], [1, 1], [1, 1], [1, 1]),
    group_conv("depthwise3_s2", [2, 32, 15, 15], [32, 1, 1, 3, 3], [2, 2], [1, 1], [1, 1], [1, 1]),
    group_conv("depthwise5_asym", [1, 8, 14, 14], [8, 1, 1, 5, 5], [2, 2], [1, 2], [2, 1], [1, 1]),
    group_conv("depthwise_dil2", [1, 6, 11, 10], [6, 1, 1, 3, 3], [1, 1], [2, 2], [2, 2], [2, 2]),
    group_conv("depthwise_same_upper", [1, 16, 8, 8], [16, 1, 1, 3, 3], [2, 2], [0, 0], [0, 0], [1, 1], "same_upper"),
    group_conv("multiplier2", [1, 4, 7, 7], [4, 2, 1, 3, 3], [1, 1], [1, 1], [1, 1], [1, 1]),
    group_conv("groups2", [1, 8, 9, 9], [2, 6, 4, 3, 3], [1, 1], [1, 1], [1, 1], [1, 1]),
    group_conv("groups3_1x1", [2, 9, 5, 6], [3, 5, 3, 1, 1], [1, 1], [0, 0], [0, 0], [1, 1]),
    group_conv("groups1", [1, 3, 5, 5], [1, 4, 3, 3, 3], [1, 1], [0, 0], [0, 0], [1, 1]),
    group_conv("1d", [1, 6, 20], [3, 2, 2, 3], [1], [1], [1], [1]),
    group_conv("3d", [1, 4, 5, 5, 5], [2, 3, 2, 3, 3, 3], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]),
    deconv("s2_outpad", [1, 1, 2, 2], [1, 1, 3, 3], [2, 2], [1, 1], [1, 1], [1, 1], [1, 1]),
    deconv("s2_dil2", [1, 1, 2, 2], [1, 1, 2, 2], [2, 2], [0, 0], [0, 0], [2, 2]),
    deconv("4x4_s2", [1, 6, 5, 7], [6, 4, 4, 4], [2, 2], [1, 1], [1, 1], [1, 1]),
    deconv("3x3_s1_batch2", [2, 17, 6, 5], [17, 9, 3, 3], [1, 1], [1, 1], [1, 1], [1, 1]),
    deconv("s3_asym", [1, 3, 4, 4], [3, 5, 3, 5], [3, 2], [0, 1], [1, 2], [1, 1]),
    deconv("same_upper", [1, 2, 4, 5], [2, 3, 3, 3], [2, 2], [0, 0], [0, 0], [1, 1], auto_pad="same_upper"),
    deconv("output_shape", [1, 2, 5, 5], [2, 3, 3, 3], [2, 2], [0, 0], [0, 0], [1, 1], shape=[10, 10],
           auto_pad="same_upper"),
    deconv("output_shape_lower", [1, 2, 5, 5], [2, 3, 3, 3], [2, 2], [0, 0], [0, 0], [1, 1], shape=[10, 10],
           auto_pad="same_lower"),
    deconv("1d", [1, 3, 9], [3, 2, 4], [2], [1], [1], [1]),
    deconv("3d", [1, 2, 3, 3, 3], [2, 3, 2, 3, 2], [2, 1, 2], [0, 1, 0], [0, 1, 0], [1, 1, 1]),
    deconv("groups2", [1, 2, 1, 1], [2, 1, 2, 1, 1], [1, 1], [0, 0], [0, 0], [1, 1], is_group=True),
    deconv("groups3_s2", [1, 6, 5, 5], [3, 2, 4, 3, 3], [2, 2], [1, 1], [1, 1], [1, 1], [1, 1], is_group=True),
    deconv("depthwise4_s2", [1, 8, 6, 6], [8, 1, 1, 4, 4], [2, 2], [1, 1], [1, 1], [1, 1], is_group=True),
    deconv("1d", [1, 4, 7], [2, 2, 3, 3], [2], [1], [1], [1], is_group=True),
    matmul("2d", [5, 7], [7, 3]),
    matmul("2d_big", [33, 65], [65, 47]),
    matmul("ta", [7, 5], [7, 3], True, False),
    matmul("tb", [5, 7], [3, 7], False, True),
    matmul("tab", [7, 5], [3, 7], True, True),
    matmul("vector_matrix", [3], [3, 4]),
    matmul("matrix_vector", [4, 3], [3]),
    matmul("vector_vector", [6], [6]),
    matmul("vector_column", [3], [3, 1]),
    matmul("vector_ta", [3], [3, 4], True, False),
    matmul("batch", [2, 3, 4, 5], [2, 3, 5, 6]),
    matmul("batch_broadcast", [1, 1, 4, 5], [3, 5, 6]),
    matmul("batch_broadcast_both", [2, 1, 4, 5], [1, 3, 5, 6]),
    matmul("batch_tb", [2, 4, 5], [2, 6, 5], False, True),
    matmul("vector_batch", [5], [2, 3, 5, 4]),
    matmul("batch_vector", [2, 3, 4, 5], [5]),
    matmul("fc", [1, 128], [10, 128], False, True, True),
    matmul("fc_1000", [1, 65], [1000, 65], False, True, True),
    matmul("fc_plain", [3, 31], [31, 17], False, False, True),
    matmul("fc_rank3", [2, 5, 16], [16, 24], False, False, True),
    matmul("fc_ta", [31, 3], [31, 17], True, False, True),
    matmul("n1", [9, 16], [16, 1], False, False, True),
    matmul("const_batch", [2, 3, 4], [2, 4, 5], False, False, True),
    attention("plain", [1, 2, 5, 8], [1, 2, 7, 8], [1, 2, 7, 6]),
    attention("mask", [1, 2, 5, 8], [1, 2, 7, 8], [1, 2, 7, 8], [1, 1, 5, 7]),
    attention("causal", [2, 3, 6, 4], [2, 3, 6, 4], [2, 3, 6, 4], causal=True),
    attention("rank3", [3, 4, 8], [3, 9, 8], [3, 9, 8]),
]
