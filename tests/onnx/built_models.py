# SPDX-License-Identifier: Apache-2.0
"""Networks of today's shapes with seeded random weights: a YOLOv8-like detector with NonMaxSuppression, a ViT-like
encoder."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper


class Net:
    """Collects nodes; every method returns the name of its output."""

    def __init__(self, name, seed):
        self.name, self.nodes, self.weights = name, [], []
        self.rng = np.random.default_rng(seed)

    def op(self, op_type, inputs, outputs=1, **attributes):
        names = [f"{op_type.lower()}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op_type, inputs, names, name=f"n{len(self.nodes)}", **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, value):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def random(self, *shape, scale):
        return self.constant((self.rng.standard_normal(shape) * scale).astype(np.float32))

    def model(self, inputs, outputs):
        values = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ports]
                  for ports in (inputs, outputs)]
        graph = helper.make_graph(self.nodes, self.name, *values, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class Yolo(Net):
    """The blocks of YOLOv8, narrow."""

    def conv(self, x, channels, kernel=1, stride=1):
        inputs, outputs = channels
        weights = self.random(outputs, inputs, kernel, kernel, scale=(2 / (inputs * kernel * kernel)) ** 0.5)
        return self.op("Conv", [x, weights, self.random(outputs, scale=0.1)], strides=[stride] * 2,
                       pads=[kernel // 2] * 4)

    def silu(self, x, channels, kernel=1, stride=1):
        y = self.conv(x, channels, kernel, stride)
        return self.op("Mul", [y, self.op("Sigmoid", [y])])

    def c2f(self, x, channels):
        inputs, outputs = channels
        half = outputs // 2
        a, b = self.op("Split", [self.silu(x, (inputs, outputs)), self.ints(half, half)], 2, axis=1)
        c = self.silu(self.silu(b, (half, half), 3), (half, half), 3)
        joined = self.op("Concat", [a, b, self.op("Add", [b, c])], axis=1)
        return self.silu(joined, (3 * half, outputs))

    def sppf(self, x, channels):
        half = channels // 2
        parts = [self.silu(x, (channels, half))]
        for _ in range(3):
            parts.append(self.op("MaxPool", [parts[-1]], kernel_shape=[5, 5], strides=[1, 1], pads=[2] * 4))
        return self.silu(self.op("Concat", parts, axis=1), (4 * half, channels))

    def upsample(self, x):
        scales = self.constant(np.array([1, 1, 2, 2], np.float32))
        return self.op("Resize", [x, "", scales], mode="nearest", coordinate_transformation_mode="asymmetric",
                       nearest_mode="floor")

    def head(self, x, channels, classes, bins):
        """[N, 4 * bins + classes, H * W]"""
        boxes = self.conv(self.silu(x, (channels, channels), 3), (channels, 4 * bins))
        scores = self.conv(self.silu(x, (channels, channels), 3), (channels, classes))
        joined = self.op("Concat", [boxes, scores], axis=1)
        return self.op("Reshape", [joined, self.ints(0, 4 * bins + classes, -1)])


def yolo(size=64, classes=5, bins=8):
    """Boxes, scores and labels of the objects found: how many depends on the picture."""
    net = Yolo("yolo", 8)
    p3 = net.c2f(net.silu(net.silu(net.silu("images", (3, 8), 3, 2), (8, 16), 3, 2), (16, 32), 3, 2), (32, 32))
    p4 = net.c2f(net.silu(p3, (32, 48), 3, 2), (48, 48))
    p5 = net.sppf(net.c2f(net.silu(p4, (48, 64), 3, 2), (64, 64)), 64)
    n4 = net.c2f(net.op("Concat", [net.upsample(p5), p4], axis=1), (112, 48))
    n3 = net.c2f(net.op("Concat", [net.upsample(n4), p3], axis=1), (80, 32))
    heads = [net.head(x, c, classes, bins) for x, c in ((n3, 32), (n4, 48), (p5, 64))]
    both = net.op("Concat", heads, axis=2)
    sides, scores = net.op("Split", [both, net.ints(4 * bins, classes)], 2, axis=1)
    # Distances to the four sides as the expectation over bins.
    spread = net.op("Transpose", [net.op("Reshape", [sides, net.ints(0, 4, bins, -1)])], perm=[0, 2, 1, 3])
    weights = net.constant(np.arange(bins, dtype=np.float32).reshape(1, bins, 1, 1))
    distances = net.op("Squeeze", [net.op("Conv", [net.op("Softmax", [spread], axis=1), weights]), net.ints(1)])
    grids = [(np.stack(np.meshgrid(np.arange(size // s), np.arange(size // s)), 0).reshape(2, -1) + 0.5, s)
             for s in (8, 16, 32)]
    anchors = net.constant(np.concatenate([g for g, _ in grids], 1)[None].astype(np.float32))
    strides = net.constant(np.concatenate([np.full((1, g.shape[1]), s) for g, s in grids], 1)[None].astype(np.float32))
    near, far = net.op("Split", [distances, net.ints(2, 2)], 2, axis=1)
    corners = net.op("Concat", [net.op("Sub", [anchors, near]), net.op("Add", [anchors, far])], axis=1)
    boxes = net.op("Transpose", [net.op("Mul", [corners, strides])], perm=[0, 2, 1])
    scores = net.op("Sigmoid", [scores])
    chosen = net.op("NonMaxSuppression", [boxes, scores, net.ints(6), net.constant(np.float32(0.45)),
                                          net.constant(np.float32(0.52))])
    columns = [net.op("Reshape", [net.op("Gather", [chosen, net.ints(i)], axis=1), net.ints(-1)]) for i in (1, 2)]
    found = net.op("Gather", [net.op("Squeeze", [boxes, net.ints(0)]), columns[1]], axis=0)
    place = net.op("Concat", [net.op("Unsqueeze", [c, net.ints(1)]) for c in columns], axis=1)
    net.nodes.append(helper.make_node("GatherND", [net.op("Squeeze", [scores, net.ints(0)]), place], ["scores"]))
    net.nodes.append(helper.make_node("Identity", [found], ["boxes"]))
    return net.model([("images", [1, 3, size, size])], [("boxes", ["count", 4]), ("scores", ["count"])])


def vit(size=48, patch=8, width=48, heads=3, layers=3):
    """Class scores; any batch."""
    net = Net("vit", 9)
    count = (size // patch) ** 2

    def linear(x, inputs, outputs):
        y = net.op("MatMul", [x, net.random(inputs, outputs, scale=inputs ** -0.5)])
        return net.op("Add", [y, net.random(outputs, scale=0.1)])

    def norm(x):
        scale = net.constant((1 + 0.1 * net.rng.standard_normal(width)).astype(np.float32))
        return net.op("LayerNormalization", [x, scale, net.random(width, scale=0.1)], axis=-1, epsilon=1e-6)

    def attention(x):
        qkv = net.op("Reshape", [linear(x, width, 3 * width), net.ints(0, count + 1, 3, heads, width // heads)])
        q, k, v = (net.op("Squeeze", [part, net.ints(0)]) for part in
                   net.op("Split", [net.op("Transpose", [qkv], perm=[2, 0, 3, 1, 4])], 3, axis=0))
        scores = net.op("MatMul", [q, net.op("Transpose", [k], perm=[0, 1, 3, 2])])
        scaled = net.op("Mul", [scores, net.constant(np.float32((width // heads) ** -0.5))])
        mixed = net.op("Transpose", [net.op("MatMul", [net.op("Softmax", [scaled], axis=-1), v])], perm=[0, 2, 1, 3])
        return linear(net.op("Reshape", [mixed, net.ints(0, count + 1, width)]), width, width)

    def gelu(x):
        error = net.op("Erf", [net.op("Div", [x, net.constant(np.float32(2 ** 0.5))])])
        one = net.op("Add", [error, net.constant(np.float32(1))])
        return net.op("Mul", [net.op("Mul", [x, one]), net.constant(np.float32(0.5))])

    weights = net.random(width, 3, patch, patch, scale=(3 * patch * patch) ** -0.5)
    patches = net.op("Conv", ["pixels", weights], strides=[patch] * 2)
    tokens = net.op("Transpose", [net.op("Reshape", [patches, net.ints(0, width, -1)])], perm=[0, 2, 1])
    batch = net.op("Gather", [net.op("Shape", ["pixels"]), net.ints(0)], axis=0)
    shape = net.op("Concat", [batch, net.ints(1, width)], axis=0)
    first = net.op("Expand", [net.random(1, 1, width, scale=1.0), shape])
    x = net.op("Add", [net.op("Concat", [first, tokens], axis=1), net.random(1, count + 1, width, scale=0.3)])
    for _ in range(layers):
        x = net.op("Add", [x, attention(norm(x))])
        x = net.op("Add", [x, linear(gelu(linear(norm(x), width, 4 * width)), 4 * width, width)])
    head = net.op("Gather", [norm(x), net.constant(np.int64(0))], axis=1)
    net.nodes.append(helper.make_node("Identity", [linear(head, width, 10)], ["logits"]))
    return net.model([("pixels", ["batch", 3, size, size])], [("logits", ["batch", 10])])
