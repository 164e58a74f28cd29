# SPDX-License-Identifier: Apache-2.0
"""FakeQuantize, and the weight decompressions that OpenVINO writes."""
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


CHANNEL_LOW = -np.array([1, 2, 3], np.float32).reshape(1, 3, 1, 1)

CASES = [
    fake_quantize("scalar_256", uniform(-3, 3, 1, 3, 5, 5), 256, -2.0, 2.0, -2.0, 2.0),
    fake_quantize("scalar_levels2", uniform(-3, 3, 4, 5), 2, -1.0, 1.0, 0.0, 1.0),
    fake_quantize("shifted", uniform(-1, 7, 2, 3, 4), 16, 0.0, 6.0, -1.0, 5.0),
    fake_quantize("channels", uniform(-4, 4, 2, 3, 4, 4), 255, CHANNEL_LOW, -CHANNEL_LOW, CHANNEL_LOW, -CHANNEL_LOW),
    fake_quantize("mixed", uniform(-4, 4, 1, 3, 4, 4), 128, CHANNEL_LOW, -CHANNEL_LOW, 0.0, 10.0),
    decompressed_conv(np.int8, False),
    decompressed_conv(np.uint8, True),
    Case("Convert_weights_float16", "Convert", [normal(1, 3, 6, 6)], f16_weights),
]
