# SPDX-License-Identifier: Apache-2.0
"""Cases of operators on pictures: convolutions, pools, normalizations, resizing, quantization."""
import itertools

import numpy
import tensorflow as tf

raw = tf.raw_ops


def convolutions(c):
    kernels = [((3, 3), (1, 1), (1, 1)), ((3, 2), (2, 1), (1, 1)), ((2, 5), (2, 3), (1, 1)), ((3, 3), (1, 1), (2, 3)),
               ((1, 1), (2, 2), (1, 1)), ((4, 4), (3, 3), (1, 1))]
    for (kernel, strides, dilations), padding in itertools.product(kernels, ["SAME", "VALID"]):
        text = f"k{kernel}s{strides}d{dilations}{padding}".replace(" ", "")
        weights = c.floats(*kernel, 3, 4)
        c.add(f"conv2d/{text}", lambda x: raw.Conv2D(
            input=x, filter=tf.constant(weights), strides=[1, *strides, 1], dilations=[1, *dilations, 1],
            padding=padding), c.floats(2, 9, 10, 3))
        deep = c.floats(*kernel, 3, 2)
        if strides[0] == strides[1] and (strides == (1, 1) or dilations == (1, 1)):
            c.add(f"depthwise/{text}", lambda x: raw.DepthwiseConv2dNative(
                input=x, filter=tf.constant(deep), strides=[1, *strides, 1], dilations=[1, *dilations, 1],
                padding=padding), c.floats(2, 9, 10, 3))
        # The convolution from the wanted sizes here gives sizes for the transposed one.
        sizes = [2, 9, 10, 3]
        with tf.Graph().as_default():
            small = tf.nn.conv2d(tf.zeros(sizes), weights, strides, padding, dilations=dilations).shape.as_list()
        if dilations == (1, 1):
            c.add(f"backprop/{text}", lambda x: raw.Conv2DBackpropInput(
                input_sizes=sizes, filter=tf.constant(weights), out_backprop=x, strides=[1, *strides, 1],
                padding=padding), c.floats(*small))
    weights = c.floats(3, 3, 3, 4)
    for pads in ([[0, 0], [1, 2], [3, 0], [0, 0]], [[0, 0], [0, 0], [1, 1], [0, 0]]):
        flat = sum(pads, [])
        c.add(f"conv2d/explicit{flat}", lambda x: raw.Conv2D(
            input=x, filter=tf.constant(weights), strides=[1, 2, 2, 1], padding="EXPLICIT", explicit_paddings=flat),
              c.floats(1, 8, 7, 3))
    grouped = c.floats(3, 3, 2, 6)
    c.add("conv2d/groups3", lambda x: raw.Conv2D(input=x, filter=tf.constant(grouped), strides=[1, 1, 1, 1],
                                                 padding="SAME"), c.floats(1, 5, 6, 6))
    c.add("conv2d/weights_computed", lambda x, w: raw.Conv2D(
        input=x, filter=w, strides=[1, 1, 1, 1], padding="SAME"), c.floats(1, 5, 6, 3), weights, open_axes=())
    c.add("conv2d/open_picture", lambda x: raw.Conv2D(input=x, filter=tf.constant(weights), strides=[1, 2, 2, 1],
                                                      padding="SAME"), c.floats(1, 6, 7, 3), open_axes=(0, 1, 2))
    for kernel, strides, padding in itertools.product([(2, 3, 3)], [(1, 1, 1), (1, 2, 2)], ["SAME", "VALID"]):
        deep = c.floats(*kernel, 2, 3)
        c.add(f"conv3d/s{strides}{padding}".replace(" ", ""), lambda x: raw.Conv3D(
            input=x, filter=tf.constant(deep), strides=[1, *strides, 1], padding=padding), c.floats(1, 4, 6, 5, 2))

    # Keras computes the sizes of its Conv2DTranspose from the shape of the input.
    def transposed(x):
        shape = tf.shape(x)
        sizes = tf.stack([shape[0], shape[1] * 2, shape[2] * 2, 3])
        return raw.Conv2DBackpropInput(input_sizes=sizes, filter=tf.constant(weights), out_backprop=x,
                                       strides=[1, 2, 2, 1], padding="SAME")

    c.add("backprop/computed_sizes", transposed, c.floats(2, 4, 5, 4))
    c.add("backprop/computed_open_sizes", transposed, c.floats(2, 4, 5, 4), open_axes=(0, 1, 2))


def report_cases(c):
    """Small inputs of public reports: MMdnn#153 (SAME pads the end), opencv#9992 (flattening is NHWC)."""
    ones = numpy.ones([3, 3, 1, 1], numpy.float32)
    picture = numpy.arange(16, dtype=numpy.float32).reshape(1, 4, 4, 1)
    c.add("reports/same_stride2", lambda x: tf.nn.conv2d(x, ones, 2, "SAME"), picture)
    count = numpy.arange(9, dtype=numpy.float32).reshape(3, 3, 1, 1)
    for size in (1, 2):
        c.add(f"reports/same_tiny{size}", lambda x: tf.nn.conv2d(x, count, 2, "SAME"),
              numpy.ones([1, size, size, 1], numpy.float32))
    identity = numpy.eye(2, dtype=numpy.float32).reshape(1, 1, 2, 2)
    column = numpy.arange(1, 9, dtype=numpy.float32).reshape(8, 1)
    flat = numpy.arange(1, 9, dtype=numpy.float32).reshape(1, 2, 2, 2)
    convolved = lambda x: tf.nn.conv2d(x, identity, 1, "SAME")
    c.add("reports/flatten", lambda x: tf.matmul(tf.reshape(convolved(x), [1, 8]), column), flat)
    c.add("reports/reshape_rows", lambda x: tf.reshape(convolved(x), [-1, 4, 2]), flat)
    c.add("reports/mean", lambda x: tf.reduce_mean(convolved(x), [1, 2]), flat)
    c.add("reports/concat", lambda x: tf.concat([convolved(x), x], 3), flat)
    c.add("reports/squeeze", lambda x: tf.squeeze(tf.nn.max_pool2d(convolved(x), 2, 2, "VALID"), [1, 2]), flat)
    c.add("reports/open_batch", lambda x: tf.matmul(tf.reshape(x, [-1, 4]), tf.ones([4, 1])), c.floats(3, 2, 2, 1))


def pools(c):
    windows = [((2, 2), (2, 2)), ((3, 3), (2, 2)), ((3, 2), (1, 2)), ((5, 5), (3, 3)), ((1, 1), (2, 2))]
    for (kernel, strides), padding in itertools.product(windows, ["SAME", "VALID"]):
        text = f"k{kernel}s{strides}{padding}".replace(" ", "")
        arguments = {"ksize": [1, *kernel, 1], "strides": [1, *strides, 1], "padding": padding}
        c.add(f"max_pool/{text}", lambda x: raw.MaxPool(input=x, **arguments), c.floats(2, 7, 8, 3))
        c.add(f"avg_pool/{text}", lambda x: raw.AvgPool(value=x, **arguments), c.floats(2, 7, 8, 3))
    c.add("max_pool/v2", lambda x: raw.MaxPoolV2(input=x, ksize=[1, 2, 3, 1], strides=[1, 2, 1, 1], padding="SAME"),
          c.floats(1, 5, 6, 2))
    c.add("max_pool/explicit", lambda x: raw.MaxPool(
        input=x, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="EXPLICIT",
        explicit_paddings=[0, 0, 1, 0, 0, 1, 0, 0]), c.floats(1, 5, 6, 2))
    for padding in ("SAME", "VALID"):
        arguments = {"ksize": [1, 2, 3, 2, 1], "strides": [1, 2, 2, 1, 1], "padding": padding}
        c.add(f"max_pool3d/{padding}", lambda x: raw.MaxPool3D(input=x, **arguments), c.floats(1, 4, 5, 3, 2))
        c.add(f"avg_pool3d/{padding}", lambda x: raw.AvgPool3D(input=x, **arguments), c.floats(1, 4, 5, 3, 2))


def normalizations(c):
    scale, offset, mean = c.floats(3), c.floats(3), c.floats(3)
    variance = c.floats(3, low=0.1, high=2)
    for op in (raw.FusedBatchNorm, raw.FusedBatchNormV2, raw.FusedBatchNormV3):
        for epsilon in (1e-3, 0.1):
            c.add(f"batch_norm/{op.__name__}{epsilon}", lambda x: op(
                x=x, scale=scale, offset=offset, mean=mean, variance=variance, epsilon=epsilon, is_training=False).y,
                  c.floats(2, 4, 5, 3))
    c.add("batch_norm/folded", lambda x: raw.FusedBatchNormV3(
        x=tf.nn.conv2d(x, c.floats(3, 3, 3, 3), 1, "SAME"), scale=scale, offset=offset, mean=mean, variance=variance,
        is_training=False).y, c.floats(2, 4, 5, 3))
    for radius, bias, alpha, beta in ((5, 1, 1, 0.5), (1, 2, 0.3, 0.75), (2, 1, 1e-2, 0.75)):
        c.add(f"lrn/r{radius}b{bias}a{alpha}", lambda x: tf.nn.local_response_normalization(x, radius, bias, alpha, beta),
              c.floats(1, 3, 2, 8))
    for shape in ((5,), (2, 3), (2, 3, 4), (2, 3, 4, 5)):
        c.add(f"softmax/{len(shape)}", tf.nn.softmax, c.floats(*shape))
        c.add(f"log_softmax/{len(shape)}", tf.nn.log_softmax, c.floats(*shape))
    c.add("l2_loss", lambda x: tf.nn.l2_loss(x), c.floats(2, 3))
    for axes in ([0, 1], [1, 2], [-1]):
        c.add(f"moments{axes}", lambda x: list(tf.nn.moments(x, axes)), c.floats(2, 3, 4))
    bias = c.floats(4)
    c.add("bias_add/last", lambda x: raw.BiasAdd(value=x, bias=bias), c.floats(2, 3, 4))
    c.add("bias_add/first", lambda x: raw.BiasAdd(value=x, bias=bias, data_format="NCHW"), c.floats(2, 4, 3, 2))
    c.add("bias_add/matrix", lambda x: raw.BiasAddV1(value=x, bias=bias), c.floats(2, 4))


def resizes(c):
    sizes = [((4, 5), (8, 10)), ((7, 5), (3, 4)), ((3, 4), (7, 11)), ((5, 5), (5, 5)), ((6, 20), (1, 6)), ((2, 2), (6, 3))]
    kinds = {"nearest": raw.ResizeNearestNeighbor, "bilinear": raw.ResizeBilinear, "bicubic": raw.ResizeBicubic}
    for (name, op), (size, target) in itertools.product(kinds.items(), sizes):
        for corners, centers in ((False, False), (True, False), (False, True)):
            text = f"{name}/{size[0]}x{size[1]}to{target[0]}x{target[1]}" + "c" * corners + "h" * centers
            c.add(f"resize_{text}", lambda x: op(images=x, size=list(target), align_corners=corners,
                                                 half_pixel_centers=centers), c.floats(2, *size, 3))
    c.add("resize_nearest/open", lambda x: raw.ResizeNearestNeighbor(images=x, size=tf.shape(x)[1:3] * 2),
          c.floats(1, 3, 4, 2), open_axes=(0, 1, 2))


def quantization(c):
    for low, high, bits, narrow in ((-1, 1, 8, False), (0, 6, 8, False), (-0.3, 2.1, 4, True), (0.5, 2, 8, False),
                                    (-3, -1, 8, True)):
        text = f"{low}to{high}b{bits}" + "n" * narrow
        arguments = {"num_bits": bits, "narrow_range": narrow}
        c.add(f"fake_quant/args{text}", lambda x: tf.quantization.fake_quant_with_min_max_args(x, low, high, **arguments),
              c.floats(2, 9))
        c.add(f"fake_quant/vars{text}", lambda x: tf.quantization.fake_quant_with_min_max_vars(x, float(low), float(high), **arguments),
              c.floats(2, 9))
    c.add("fake_quant/channels", lambda x: tf.quantization.fake_quant_with_min_max_vars_per_channel(
        x, [-1.0, 0.0, -3.0], [1.0, 2.0, 0.5]), c.floats(2, 4, 3))


def add_all(c):
    for part in (convolutions, report_cases, pools, normalizations, resizes, quantization):
        part(c)
