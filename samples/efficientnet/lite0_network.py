# SPDX-License-Identifier: Apache-2.0
"""EfficientNet-Lite0 as an ONNX graph over given weights.

The network is EfficientNet-B0 without squeeze-and-excitation and with ReLU6 in place of Swish. Its weights come from
TensorFlow: padding is "SAME" (at stride 2 the extra row and column stand at the end) and epsilon is 1e-3.
"""
import onnx
from onnx import TensorProto, helper, numpy_helper

IMAGE_SIZE = 224
EPSILON = 1e-3
# Blocks per stage and the stride of the stage's first block; all other sizes follow from the weights.
STAGES = ((1, 1), (2, 2), (2, 2), (3, 2), (3, 1), (4, 2), (1, 1))


class _Builder:
    def __init__(self, weights):
        self.weights = weights
        self.nodes = []
        self.initializers = []
        self.used = set()

    def constant(self, name):
        if name not in self.used:
            self.used.add(name)
            self.initializers.append(numpy_helper.from_array(self.weights[name], name))
        return name

    def scalar(self, name, value):
        if name not in self.used:
            self.used.add(name)
            self.initializers.append(helper.make_tensor(name, TensorProto.FLOAT, [], [value]))
        return name

    def add(self, kind, name, inputs, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def conv(self, x, size, name, stride=1, is_depthwise=False):
        """Returns the output's name and its height."""
        shape = self.weights[f"{name}.weight"].shape
        kernel = shape[2]
        out = -(-size // stride)
        total = max((out - 1) * stride + kernel - size, 0)
        begin, end = total // 2, total - total // 2
        y = self.add("Conv", name, [x, self.constant(f"{name}.weight")], kernel_shape=[kernel, kernel],
                     strides=[stride, stride], pads=[begin, begin, end, end], group=shape[0] if is_depthwise else 1)
        return y, out

    def batch_norm(self, x, name):
        inputs = [x] + [self.constant(f"{name}.{part}") for part in ("weight", "bias", "running_mean", "running_var")]
        return self.add("BatchNormalization", name, inputs, epsilon=EPSILON)

    def relu6(self, x):
        return self.add("Clip", f"{x}.relu6", [x, self.scalar("zero", 0.0), self.scalar("six", 6.0)])


def _block(net, x, size, name, stride):
    y = x
    if f"{name}._expand_conv.weight" in net.weights:
        y, size = net.conv(y, size, f"{name}._expand_conv")
        y = net.relu6(net.batch_norm(y, f"{name}._bn0"))
    y, size = net.conv(y, size, f"{name}._depthwise_conv", stride, is_depthwise=True)
    y = net.relu6(net.batch_norm(y, f"{name}._bn1"))
    y, size = net.conv(y, size, f"{name}._project_conv")
    y = net.batch_norm(y, f"{name}._bn2")
    entry = net.weights.get(f"{name}._expand_conv.weight", net.weights[f"{name}._depthwise_conv.weight"])
    channels_in = entry.shape[1] if f"{name}._expand_conv.weight" in net.weights else entry.shape[0]
    if stride == 1 and channels_in == net.weights[f"{name}._project_conv.weight"].shape[0]:
        y = net.add("Add", f"{name}.add", [y, x])
    return y, size


def make_lite0(weights):
    """Returns the checked ONNX model: input `image` [1,3,224,224], outputs `scores` [1,1000], softmax included."""
    net = _Builder(weights)
    x, size = net.conv("image", IMAGE_SIZE, "_conv_stem", 2)
    x = net.relu6(net.batch_norm(x, "_bn0"))
    index = 0
    for count, stride in STAGES:
        for position in range(count):
            x, size = _block(net, x, size, f"_blocks.{index}", stride if position == 0 else 1)
            index += 1
    x, size = net.conv(x, size, "_conv_head")
    x = net.relu6(net.batch_norm(x, "_bn1"))
    x = net.add("GlobalAveragePool", "pool", [x])
    x = net.add("Flatten", "flatten", [x], axis=1)
    x = net.add("Gemm", "logits", [x, net.constant("_fc.weight"), net.constant("_fc.bias")], transB=1)
    net.add("Softmax", "scores", [x], axis=1)
    classes = weights["_fc.bias"].shape[0]
    graph = helper.make_graph(
        net.nodes, "efficientnet-lite0",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, IMAGE_SIZE, IMAGE_SIZE])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, classes])], net.initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    return model
