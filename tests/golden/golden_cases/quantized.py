# SPDX-License-Identifier: Apache-2.0
"""FakeQuantize, the weight decompressions that OpenVINO writes, and quantized layers as its tools write them."""
import numpy as np
import openvino as ov

from .case import Case, const, normal, uniform

o1 = ov.opset1


def fake_quantize(name, x, levels, in_low, in_high, out_low, out_high):
    build = lambda p: o1.fake_quantize(p, const(in_low), const(in_high), const(out_low), const(out_high), levels)
    return Case("FakeQuantize_" + name, "FakeQuantize", [x], build)


def decompressed_conv(dtype, zero_point):
    """Weights of a small integer type -> Convert -> [Subtract] -> Multiply -> Convolution."""

    def build(p):
        rng = np.random.default_rng(6)
        low = 0 if dtype == np.uint8 else -127
        values = o1.convert(const(rng.integers(low, 127, (6, 3, 3, 3)), dtype), "f32")
        if zero_point:
            values = o1.subtract(values, o1.convert(const(np.full((6, 1, 1, 1), 64), dtype), "f32"))
        scaled = o1.multiply(values, const(rng.uniform(0.001, 0.01, (6, 1, 1, 1))))
        return o1.convolution(p, scaled, [1, 1], [1, 1], [1, 1], [1, 1])

    name = f"Convert_weights_{np.dtype(dtype).name}" + ("_zero_point" if zero_point else "")
    return Case(name, "Convert", [normal(1, 3, 6, 6)], build)


def f16_weights(p):
    values = np.random.default_rng(7).standard_normal((4, 3, 3, 3)).astype(np.float16)
    return o1.convolution(p, o1.convert(o1.constant(values), "f32"), [1, 1], [1, 1], [1, 1], [1, 1])


def on_grid(p, low, high):
    return o1.fake_quantize(p, const(low), const(high), const(low), const(high), 256)


def i8_weights(seed, *shape):
    """i8 -> Convert -> Multiply by a scale per output channel, as NNCF writes them."""
    rng = np.random.default_rng(seed)
    values = o1.convert(const(rng.integers(-127, 128, shape), np.int8), "f32")
    return o1.multiply(values, const(rng.uniform(0.0005, 0.005, (shape[0],) + (1,) * (len(shape) - 1))))


def fake_quantized_weights(seed, levels, *shape):
    """FakeQuantize on f32 weights with a range per output channel, as POT writes them."""
    rng = np.random.default_rng(seed)
    low = -rng.uniform(0.1, 0.4, (shape[0],) + (1,) * (len(shape) - 1)).astype(np.float32)
    high = -low if levels == 255 else -low * np.float32(127 / 128)
    values = const(rng.standard_normal(shape) * 0.15)
    return o1.fake_quantize(values, const(low), const(high), const(low), const(high), levels)


def convolution(p, wei, stride=1, pad=0):
    return o1.convolution(p, wei, [stride, stride], [pad, pad], [pad, pad], [1, 1])


def quantized_conv(name, x, low, high, wei, stride=1, pad=0):
    return Case("FakeQuantize_conv_" + name, "FakeQuantize", [x],
                lambda p: convolution(on_grid(p, low, high), wei(), stride, pad))


def quantized_block(p):
    """A residual block and a classifier: shared levels, MaxPool behind FakeQuantize, bias, residual, ReLU."""
    stem = o1.relu(o1.add(convolution(on_grid(p, -2.0, 2.0 * 127 / 128), i8_weights(1, 24, 3, 5, 5), 2, 2),
                          const(np.linspace(-0.2, 0.2, 24).reshape(1, 24, 1, 1))))
    pooled = o1.max_pool(on_grid(stem, 0.0, 3.0), [2, 2], [1, 1], [1, 1], [3, 3], "floor")
    branch = on_grid(o1.relu(convolution(pooled, i8_weights(2, 16, 24, 1, 1))), 0.0, 1.0)
    sum_ = o1.relu(o1.add(convolution(branch, fake_quantized_weights(3, 255, 24, 16, 3, 3), 1, 1), pooled))
    mean = on_grid(o1.reduce_mean(sum_, const([2, 3], np.int64), False), 0.0, 4.0)
    return o1.matmul(mean, i8_weights(4, 10, 24), False, True)


CHANNEL_LOW = -np.array([1, 2, 3], np.float32).reshape(1, 3, 1, 1)

CASES = [
    fake_quantize("scalar_256", uniform(-3, 3, 1, 3, 5, 5), 256, -2.0, 2.0, -2.0, 2.0),
    fake_quantize("scalar_levels2", uniform(-3, 3, 4, 5), 2, -1.0, 1.0, 0.0, 1.0),
    fake_quantize("shifted", uniform(-1, 7, 2, 3, 4), 16, 0.0, 6.0, -1.0, 5.0),
    fake_quantize("channels", uniform(-4, 4, 2, 3, 4, 4), 255, CHANNEL_LOW, -CHANNEL_LOW, CHANNEL_LOW, -CHANNEL_LOW),
    fake_quantize("mixed", uniform(-4, 4, 1, 3, 4, 4), 128, CHANNEL_LOW, -CHANNEL_LOW, 0.0, 10.0),
    decompressed_conv(np.int8, False),
    decompressed_conv(np.uint8, True),
    quantized_conv("unsigned", uniform(-1, 3, 2, 19, 7, 9), 0.0, 2.5, lambda: i8_weights(1, 33, 19, 3, 3), pad=1),
    quantized_conv("signed", normal(1, 19, 7, 9), -2.0, 2.0 * 127 / 128, lambda: i8_weights(2, 17, 19, 3, 3), 2, 1),
    quantized_conv("shifted", normal(1, 70, 5, 5), -0.75, 1.8, lambda: i8_weights(3, 64, 70, 1, 1), pad=1),
    quantized_conv("weights_255", normal(1, 16, 5, 5), -0.75, 1.8,
                   lambda: fake_quantized_weights(4, 255, 20, 16, 3, 3), pad=1),
    quantized_conv("weights_256", normal(1, 16, 5, 5), -0.75, 1.8,
                   lambda: fake_quantized_weights(5, 256, 20, 16, 3, 3), pad=1),
    Case("FakeQuantize_matmul", "FakeQuantize", [normal(2, 5, 70)],
         lambda p: o1.matmul(on_grid(p, -0.75, 1.8), i8_weights(6, 33, 70), False, True)),
    # Behind rounding, another order of sums now and then chooses the neighbouring level: 1/255 of a range.
    Case("FakeQuantize_block", "FakeQuantize", [normal(1, 3, 20, 22)], quantized_block, tolerance=2e-3),
    Case("Convert_weights_float16", "Convert", [normal(1, 3, 6, 6)], f16_weights),
]
