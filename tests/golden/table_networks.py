# SPDX-License-Identifier: Apache-2.0
"""Networks that PyPI's onnx package does not hold, built from their published tables with seeded random weights.

mobilenet_v2: M. Sandler and others, MobileNetV2: Inverted Residuals and Linear Bottlenecks, 2018, table 2; batch
  normalization folded into the convolutions, as exporters write it.
bert_small: the encoder of J. Devlin and others, BERT, 2018, with 4 layers of width 512, 8 heads and 128 tokens, on
  embedded tokens, and a classifier over the mean of the tokens. GELU by Erf.
"""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

CLASSES = 1000
MOBILENET_V2_BLOCKS = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                       (6, 320, 1, 1))  # expansion, channels, repeats, first stride


class GraphBuilder:
    """Nodes and initialisers of one graph; every method returns the name of what it made."""

    def __init__(self, rng):
        self.rng = rng
        self.nodes = []
        self.initializers = []

    def node(self, kind, inputs, **attributes):
        name = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def constant(self, value):
        name = f"constant_{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def normal(self, shape, std):
        return self.constant(self.rng.standard_normal(shape, np.float32) * np.float32(std))

    def bias(self, size):
        return self.normal((size,), 0.1)

    def gemm(self, x, size_in, size_out):
        return self.node("Gemm", [x, self.normal((size_in, size_out), size_in ** -0.5), self.bias(size_out)])

    def model(self, name, input_shape, output, output_shape):
        x = helper.make_tensor_value_info("input", TensorProto.FLOAT, input_shape)
        y = helper.make_tensor_value_info(output, TensorProto.FLOAT, output_shape)
        graph = helper.make_graph(self.nodes, name, [x], [y], self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        return model


def mobilenet_v2(rng):
    b = GraphBuilder(rng)
    low, high = b.constant(np.float32(0)), b.constant(np.float32(6))

    def conv(x, size_in, size_out, kernel=1, stride=1, groups=1, is_clipped=True):
        fan_in = size_in // groups * kernel * kernel
        weights = b.normal((size_out, size_in // groups, kernel, kernel), (2.0 / fan_in) ** 0.5)
        y = b.node("Conv", [x, weights, b.bias(size_out)], group=groups, kernel_shape=[kernel] * 2, strides=[stride] * 2,
                   pads=[kernel // 2] * 4)
        return b.node("Clip", [y, low, high]) if is_clipped else y

    def block(x, size_in, size_out, stride, expansion):
        size = size_in * expansion
        y = conv(x, size_in, size) if expansion != 1 else x
        y = conv(y, size, size, kernel=3, stride=stride, groups=size)
        y = conv(y, size, size_out, is_clipped=False)
        return b.node("Add", [x, y]) if stride == 1 and size_in == size_out else y

    x, channels = conv("input", 3, 32, kernel=3, stride=2), 32
    for expansion, size, repeats, stride in MOBILENET_V2_BLOCKS:
        for i in range(repeats):
            x, channels = block(x, channels, size, stride if i == 0 else 1, expansion), size
    x = conv(x, channels, 1280)
    x = b.node("Flatten", [b.node("GlobalAveragePool", [x])])
    y = b.node("Softmax", [b.gemm(x, 1280, CLASSES)], axis=1)
    return b.model("mobilenet_v2", [1, 3, 224, 224], y, [1, CLASSES])


def bert_small(rng):
    layers, tokens, width, heads, inner = 4, 128, 512, 8, 2048
    b = GraphBuilder(rng)

    def linear(x, size_in, size_out):
        product = b.node("MatMul", [x, b.normal((size_in, size_out), size_in ** -0.5)])
        return b.node("Add", [product, b.bias(size_out)])

    def normalized(x):
        scale = b.constant(rng.uniform(0.7, 1.3, width).astype(np.float32))
        return b.node("LayerNormalization", [x, scale, b.bias(width)], axis=-1, epsilon=1e-12)

    def split_heads(x, order):
        shape = b.constant(np.array([1, tokens, heads, width // heads], np.int64))
        return b.node("Transpose", [b.node("Reshape", [x, shape])], perm=order)

    def attention(x):
        query = split_heads(linear(x, width, width), [0, 2, 1, 3])
        key = split_heads(linear(x, width, width), [0, 2, 3, 1])
        value = split_heads(linear(x, width, width), [0, 2, 1, 3])
        scores = b.node("Div", [b.node("MatMul", [query, key]), b.constant(np.float32((width // heads) ** 0.5))])
        mixed = b.node("MatMul", [b.node("Softmax", [scores], axis=-1), value])
        joined = b.node("Reshape", [b.node("Transpose", [mixed], perm=[0, 2, 1, 3]),
                                    b.constant(np.array([1, tokens, width], np.int64))])
        return linear(joined, width, width)

    def gelu(x):
        erf = b.node("Erf", [b.node("Div", [x, b.constant(np.float32(2.0 ** 0.5))])])
        return b.node("Mul", [b.node("Mul", [x, b.node("Add", [erf, b.constant(np.float32(1))])]),
                              b.constant(np.float32(0.5))])

    x = "input"
    for _ in range(layers):
        x = normalized(b.node("Add", [x, attention(x)]))
        x = normalized(b.node("Add", [x, linear(gelu(linear(x, width, inner)), inner, width)]))
    mean = b.node("ReduceMean", [x], axes=[1], keepdims=0)
    y = b.node("Softmax", [b.gemm(mean, width, CLASSES)], axis=1)
    return b.model("bert_small", [1, tokens, width], y, [1, CLASSES])


TABLE_NETWORKS = {"mobilenet_v2": mobilenet_v2, "bert_small": bert_small}
