# SPDX-License-Identifier: Apache-2.0
"""Single layers: those that OpenCV computes as Caffe does, and formulas of caffe's layers for the rest."""
import numpy

RANDOM = numpy.random.default_rng(3)


def normal(*shape):
    return RANDOM.normal(0, 1, shape).astype(numpy.float32)


def case(name, layer, shapes, blobs=(), tops=1, expected=None, inputs=None, **more):
    """One layer "l" on inputs x0, x1, ... of the shapes; expected(*inputs, *blobs) gives its results."""
    arrays = inputs if inputs is not None else [normal(*shape) for shape in shapes]
    blobs = [numpy.asarray(blob, numpy.float32) for blob in blobs]
    text = ""
    for i, array in enumerate(arrays):
        text += f'input: "x{i}" input_shape {{ {" ".join(f"dim: {dim}" for dim in array.shape)} }}\n'
    text += 'layer { name: "l" ' + " ".join(f'bottom: "x{i}"' for i in range(len(arrays)))
    text += " " + " ".join(f'top: "y{i}"' for i in range(tops)) + f" {layer} }}\n"
    results = expected(*arrays, *blobs) if expected else None
    return {"name": name, "prototxt": text, "weights": {"l": blobs} if blobs else {},
            "inputs": {f"x{i}": array for i, array in enumerate(arrays)},
            "expected": [results] if isinstance(results, numpy.ndarray) else results, **more}


def convolutions():
    for name, params, shape, blobs in (
            ("plain", "num_output: 4 kernel_size: 3", (1, 3, 7, 9), [(4, 3, 3, 3), (4,)]),
            ("pad_stride", "num_output: 4 kernel_size: 3 pad: 1 stride: 2", (2, 3, 7, 8), [(4, 3, 3, 3), (4,)]),
            ("pairs", "num_output: 2 kernel_h: 1 kernel_w: 5 pad_h: 0 pad_w: 2 stride_h: 1 stride_w: 2", (1, 3, 6, 9), [(2, 3, 1, 5), (2,)]),
            ("group", "num_output: 6 kernel_size: 3 pad: 1 group: 3", (1, 6, 5, 5), [(6, 2, 3, 3), (6,)]),
            ("depthwise", "num_output: 8 kernel_size: 3 pad: 1 group: 8 bias_term: false", (1, 8, 6, 6), [(8, 1, 3, 3)]),
            ("dilated", "num_output: 3 kernel_size: 3 pad: 2 dilation: 2", (1, 4, 9, 9), [(3, 4, 3, 3), (3,)])):
        yield case(f"conv_{name}", f'type: "Convolution" convolution_param {{ {params} }}', [shape], [normal(*b) for b in blobs])
    for name, params, shape, blobs in (
            ("plain", "num_output: 4 kernel_size: 3 stride: 2", (1, 3, 4, 5), [(3, 4, 3, 3), (4,)]),
            ("pad", "num_output: 2 kernel_size: 4 stride: 2 pad: 1 bias_term: false", (2, 3, 4, 4), [(3, 2, 4, 4)]),
            ("group", "num_output: 4 kernel_size: 4 stride: 2 pad: 1 group: 4 bias_term: false", (1, 4, 5, 5), [(4, 1, 4, 4)])):
        yield case(f"deconv_{name}", f'type: "Deconvolution" convolution_param {{ {params} }}', [shape], [normal(*b) for b in blobs])


def pools():
    for method in ("MAX", "AVE"):
        for name, params, shape in (
                ("k2s2", "kernel_size: 2 stride: 2", (1, 3, 8, 8)), ("k3s2", "kernel_size: 3 stride: 2", (1, 3, 8, 11)),
                ("k3s2p1", "kernel_size: 3 stride: 2 pad: 1", (1, 3, 8, 7)), ("k3s1p1", "kernel_size: 3 stride: 1 pad: 1", (2, 3, 5, 5)),
                ("pairs", "kernel_h: 3 kernel_w: 2 stride_h: 2 stride_w: 1 pad_h: 1 pad_w: 0", (1, 2, 6, 6)),
                ("k5s3p2", "kernel_size: 5 stride: 3 pad: 2", (1, 2, 10, 12)),
                ("global", "global_pooling: true", (2, 3, 5, 4))):
            yield case(f"pool_{method}_{name}", f'type: "Pooling" pooling_param {{ pool: {method} {params} }}', [shape],
                       expected=None if method == "MAX" or name == "global" else lambda x, p=params: average_pool(x, p))


def average_pool(x, params):
    """Caffe's pooling_layer.cpp: windows are divided by what of them lies inside the padded border."""
    words = params.replace(":", "").split()
    value = dict(zip(words[::2], (int(v) for v in words[1::2])))
    pick = lambda word, axis, usual: value.get(f"{word}_{axis}", value.get({"kernel": "kernel_size"}.get(word, word), usual))
    kernel, stride, pad = ([pick(word, axis, usual) for axis in "hw"] for word, usual in (("kernel", 1), ("stride", 1), ("pad", 0)))
    size = []
    for i in (0, 1):
        count = -(-(x.shape[2 + i] + 2 * pad[i] - kernel[i]) // stride[i]) + 1
        if any(pad) and (count - 1) * stride[i] >= x.shape[2 + i] + pad[i]:
            count -= 1
        size.append(count)
    y = numpy.zeros(x.shape[:2] + tuple(size), numpy.float32)
    for i in range(size[0]):
        for j in range(size[1]):
            begin = [i * stride[0] - pad[0], j * stride[1] - pad[1]]
            end = [min(begin[k] + kernel[k], x.shape[2 + k] + pad[k]) for k in (0, 1)]
            area = (end[0] - begin[0]) * (end[1] - begin[1])
            part = x[:, :, max(begin[0], 0):end[0], max(begin[1], 0):end[1]]
            y[:, :, i, j] = part.sum((2, 3)) / area
    return y


def weights():
    yield case("dense", 'type: "InnerProduct" inner_product_param { num_output: 5 }', [(3, 2, 3, 4)], [normal(5, 24), normal(5)])
    yield case("dense_no_bias", 'type: "InnerProduct" inner_product_param { num_output: 5 bias_term: false }', [(2, 7)], [normal(5, 7)])
    yield case("dense_axis2", 'type: "InnerProduct" inner_product_param { num_output: 5 axis: 2 }', [(2, 3, 4)], [normal(5, 4), normal(5)])
    yield case("dense_transposed", 'type: "InnerProduct" inner_product_param { num_output: 5 transpose: true }', [(2, 7)],
               [normal(7, 5), normal(5)], expected=lambda x, w, b: x @ w + b)
    mean, variance = normal(4), RANDOM.uniform(0.5, 2, 4)
    yield case("batch_norm", 'type: "BatchNorm" batch_norm_param { eps: 0.001 }', [(2, 4, 3, 3)], [mean * 7, variance * 7, [7]])
    yield case("batch_norm_default", 'type: "BatchNorm"', [(1, 4, 2, 2)], [mean, variance, [1]])
    yield case("scale", 'type: "Scale"', [(2, 4, 3, 3)], [normal(4)])
    yield case("scale_bias", 'type: "Scale" scale_param { bias_term: true }', [(2, 4, 3, 3)], [normal(4), normal(4)])
    yield case("scale_two", 'type: "Scale" scale_param { axis: 0 }', [(2, 4, 3, 3), (2, 4)],
               expected=lambda x, s: x * s[:, :, None, None])
    yield case("bias", 'type: "Bias"', [(2, 4, 3, 3)], [normal(4)], expected=lambda x, b: x + b[:, None, None])
    yield case("prelu", 'type: "PReLU"', [(2, 4, 3, 3)], [normal(4)])
    yield case("prelu_shared", 'type: "PReLU" prelu_param { channel_shared: true }', [(2, 4, 3, 3)], [[0.3]],
               expected=lambda x, a: numpy.where(x > 0, x, a * x))
    yield case("normalize_channels", 'type: "Normalize" norm_param { across_spatial: false channel_shared: false }', [(2, 4, 3, 3)], [normal(4)])
    yield case("normalize_all", 'type: "Normalize" norm_param { across_spatial: true channel_shared: true }', [(2, 4, 3, 3)], [[2.5]])


def elementwise():
    x = (2, 3, 4, 5)
    for name, layer in (("relu", '"ReLU"'), ("relu_slope", '"ReLU" relu_param { negative_slope: 0.1 }'), ("sigmoid", '"Sigmoid"'),
                        ("tanh", '"TanH"'), ("abs", '"AbsVal"'), ("elu", '"ELU"'), ("bnll", '"BNLL"'), ("relu6", '"ReLU6"'),
                        ("power", '"Power" power_param { power: 2 scale: 0.5 shift: 1 }'),
                        ("power_scale", '"Power" power_param { scale: -3 shift: 0.5 }'), ("dropout", '"Dropout"'),
                        ("softmax", '"Softmax"'), ("softmax_axis", '"Softmax" softmax_param { axis: 3 }'),
                        ("mvn", '"MVN"'), ("mvn_across", '"MVN" mvn_param { across_channels: true }'),
                        ("mvn_mean", '"MVN" mvn_param { normalize_variance: false }'),
                        ("lrn", '"LRN" lrn_param { local_size: 3 alpha: 0.5 beta: 0.75 }'),
                        ("lrn_within", '"LRN" lrn_param { local_size: 3 alpha: 0.5 beta: 0.75 norm_region: WITHIN_CHANNEL }')):
        expected = (lambda v: numpy.log1p(numpy.exp(v))) if name == "bnll" else None
        yield case(name, f"type: {layer}", [x], expected=expected)
    yield case("exp", 'type: "Exp" exp_param { base: 2 scale: 0.5 shift: 1 }', [x], expected=lambda v: 2 ** (1 + 0.5 * v))
    for name, params in (("sum", ""), ("prod", "eltwise_param { operation: PROD }"), ("max", "eltwise_param { operation: MAX }"),
                         ("coeff", "eltwise_param { coeff: 2 coeff: -0.5 coeff: 1 }")):
        yield case(f"eltwise_{name}", f'type: "Eltwise" {params}', [x] * 3)


def shapes():
    yield case("concat", 'type: "Concat"', [(1, 2, 3, 3), (1, 4, 3, 3)])
    yield case("concat_axis", 'type: "Concat" concat_param { axis: 2 }', [(1, 2, 3, 3), (1, 2, 5, 3)])
    yield case("slice", 'type: "Slice"', [(1, 6, 2, 2)], tops=3,
               expected=lambda x: numpy.split(x, 3, 1))
    yield case("slice_points", 'type: "Slice" slice_param { axis: 2 slice_point: 1 slice_point: 4 }', [(1, 2, 6, 2)], tops=3,
               expected=lambda x: numpy.split(x, (1, 4), 2))
    yield case("flatten", 'type: "Flatten"', [(2, 3, 2, 2)])
    yield case("flatten_axes", 'type: "Flatten" flatten_param { axis: 1 end_axis: 2 }', [(2, 3, 2, 2)])
    yield case("reshape", 'type: "Reshape" reshape_param { shape { dim: 0 dim: -1 dim: 6 } }', [(2, 3, 4, 2)])
    yield case("reshape_part", 'type: "Reshape" reshape_param { shape { dim: 2 dim: 2 } axis: 2 num_axes: 1 }', [(2, 3, 4, 2)],
               expected=lambda x: x.reshape(2, 3, 2, 2, 2))
    yield case("permute", 'type: "Permute" permute_param { order: 0 order: 2 order: 3 order: 1 }', [(2, 3, 4, 5)])
    yield case("crop", 'type: "Crop" crop_param { axis: 2 offset: 1 offset: 2 }', [(1, 2, 6, 7), (1, 2, 4, 4)])
    yield case("tile", 'type: "Tile" tile_param { axis: 1 tiles: 3 }', [(2, 2, 2, 3)], expected=lambda x: numpy.tile(x, (1, 3, 1, 1)))
    yield case("shuffle", 'type: "ShuffleChannel" shuffle_channel_param { group: 3 }', [(2, 6, 2, 2)])
    yield case("argmax", 'type: "ArgMax" argmax_param { axis: 1 }', [(2, 5, 3, 3)],
               expected=lambda x: x.argmax(1)[:, None].astype(numpy.float32))
    yield case("argmax_all", 'type: "ArgMax" argmax_param { top_k: 3 }', [(2, 5, 2)],
               expected=lambda x: numpy.argsort(-x.reshape(2, -1), 1)[:, :3].reshape(2, 1, 3).astype(numpy.float32))
    yield case("reduction", 'type: "Reduction" reduction_param { operation: SUMSQ axis: 2 coeff: 0.5 }', [(2, 3, 4, 2)],
               expected=lambda x: 0.5 * (x * x).sum((2, 3)))


def bilinear(x, height, width):
    """DeepLab's interp_layer.cpp: corners lie on corners."""
    def places(size, wanted):
        at = numpy.arange(wanted) * ((size - 1) / (wanted - 1) if wanted > 1 else 0)
        low = numpy.minimum(at.astype(int), size - 1)
        return low, numpy.minimum(low + 1, size - 1), (at - low)[:, None]
    low, high, part = places(x.shape[2], height)
    x = x[:, :, low] * (1 - part) + x[:, :, high] * part
    low, high, part = places(x.shape[3], width)
    return x[..., low] * (1 - part[:, 0]) + x[..., high] * part[:, 0]


def prior_boxes(shape, picture, sizes, ratios, steps, offset=0.5, clip=False, variances=(0.1,) * 4):
    """SSD's prior_box_layer.cpp. sizes: (min, max) pairs, max 0 for none; ratios besides 1, flipped ones included;
    picture and steps: (height, width)."""
    boxes = []
    for row in range(shape[0]):
        for column in range(shape[1]):
            x, y = (column + offset) * steps[1], (row + offset) * steps[0]
            for low, high in sizes:
                sides = [(low, low)] + ([((low * high) ** 0.5,) * 2] if high else [])
                sides += [(low * ratio ** 0.5, low / ratio ** 0.5) for ratio in ratios]
                boxes += [[(x - w / 2) / picture[1], (y - h / 2) / picture[0], (x + w / 2) / picture[1], (y + h / 2) / picture[0]]
                          for w, h in sides]
    boxes = numpy.array(boxes, numpy.float32)
    boxes = numpy.clip(boxes, 0, 1) if clip else boxes
    return numpy.stack([boxes.ravel(), numpy.tile(variances, len(boxes))])[None]


def detection():
    for name, params, size in (("size", "height: 7 width: 9", (7, 9)), ("zoom", "zoom_factor: 4", (17, 13)),
                               ("shrink", "shrink_factor: 2", (3, 2)), ("both", "shrink_factor: 2 zoom_factor: 3", (7, 4))):
        yield case(f"interp_{name}", f'type: "Interp" interp_param {{ {params} }}', [(1, 2, 5, 4)],
                   expected=lambda x, s=size: bilinear(x, *s).astype(numpy.float32))
    yield case("interp_crop", 'type: "Interp" interp_param { height: 6 width: 6 pad_beg: -1 pad_end: -2 }', [(1, 2, 7, 8)],
               expected=lambda x: bilinear(x[:, :, 1:-2, 1:-2], 6, 6).astype(numpy.float32))
    ssd = "variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2"
    for name, params, formula in (
            ("plain", f"min_size: 16 max_size: 30 aspect_ratio: 2 flip: true clip: false {ssd}", None),
            ("clip", f"min_size: 30 aspect_ratio: 2 aspect_ratio: 3 clip: true {ssd}", None),
            # OpenCV pairs sizes in another order, wants variances, and takes the picture's size from its blob alone.
            ("many", "min_size: 8 min_size: 20 max_size: 16 max_size: 30 aspect_ratio: 2 flip: false",
             {"picture": (32, 40), "sizes": ((8, 16), (20, 30)), "ratios": (2,), "steps": (8, 8)}),
            ("step", "min_size: 16 step: 9 offset: 0.25 img_size: 50 clip: true aspect_ratio: 2 aspect_ratio: 1",
             {"picture": (50, 50), "sizes": ((16, 0),), "ratios": (2, 0.5), "steps": (9, 9), "offset": 0.25, "clip": True})):
        yield case(f"prior_box_{name}", f'type: "PriorBox" prior_box_param {{ {params} }}', [(1, 8, 4, 5), (1, 3, 32, 40)],
                   expected=formula and (lambda x, data, f=formula: prior_boxes(x.shape[2:], **f)))
    rois = numpy.array([[0, 0, 0, 7, 7], [1, 2, 1, 9, 6], [0, 4, 4, 5, 5]], numpy.float32)
    yield case("roi_pooling", 'type: "ROIPooling" roi_pooling_param { pooled_h: 2 pooled_w: 3 spatial_scale: 1 }', None,
               inputs=[normal(2, 3, 10, 12), rois])
    yield case("psroi_pooling", 'type: "PSROIPooling" psroi_pooling_param { output_dim: 2 group_size: 2 spatial_scale: 0.5 }', None,
               inputs=[normal(2, 8, 10, 12), rois])


def cases():
    for group in (convolutions, pools, weights, elementwise, shapes, detection):
        yield from group()
