#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Has OpenVINO read what `headrace quantize` writes, and compares.

- Its answers in f32 with Headrace's for the same file: both read the same out of it (1e-3).
- Its answers in int8, to which its low-precision passes turn the file, with those in f32 of the original: they find the
  form that they look for, and it is near (5e-2).

Usage: check_quantized.py HEADRACE FOLDER
Needs: openvino, numpy.
"""
import os
import subprocess
import sys

import numpy as np
import openvino as ov
import openvino.opset13 as ops

from checks import check_all
from check_converted import difference

RNG = np.random.default_rng(5)
FLOATS = {"INFERENCE_PRECISION_HINT": "f32", "LP_TRANSFORMS_MODE": "NO", "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"}
SAMPLES = 8
BYTES = ("u8", "i8")


def weights(*shape):
    return (RNG.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))).astype(np.float32)


def bias(t, channels, rank=4):
    shape = [1, channels] + [1] * (rank - 2)
    return ops.add(t, RNG.standard_normal(shape).astype(np.float32) * np.float32(0.1))


def convolution(t, inputs, outputs, stride=1, groups=1, size=3):
    pads = [size // 2, size // 2]
    if groups == 1:
        wei = ops.constant(weights(outputs, inputs, size, size))
        return ops.convolution(t, wei, [stride, stride], pads, pads, [1, 1])
    wei = ops.constant(weights(groups, outputs // groups, inputs // groups, size, size))
    return ops.group_convolution(t, wei, [stride, stride], pads, pads, [1, 1])


def mobile_block(x):
    """An inverted residual block with depthwise convolution, a pool and a classifier."""
    t = ops.clamp(bias(convolution(x, 3, 16, stride=2), 16), 0.0, 6.0)
    u = ops.clamp(bias(convolution(t, 16, 48, size=1), 48), 0.0, 6.0)
    u = ops.clamp(bias(convolution(u, 48, 48, groups=48), 48), 0.0, 6.0)
    t = ops.add(bias(convolution(u, 48, 16, size=1), 16), t)
    t = ops.reduce_mean(ops.relu(t), np.array([2, 3]), False)
    return ops.matmul(t, ops.constant(weights(10, 16)), False, True)


def attention_like(x):
    """Matrix products of rank 3 that share their data, with and without transposition, and one of two activations."""
    t = ops.reshape(x, np.array([1, 32, 24]), False)
    t = ops.tanh(t)
    q = bias(ops.matmul(t, ops.constant(weights(24, 24)), False, False), 24, 2)
    k = ops.matmul(t, ops.constant(weights(24, 24)), False, True)
    scores = ops.softmax(ops.matmul(q, k, False, True), 2)
    mixed = ops.matmul(scores, t, False, False)
    return ops.matmul(ops.gelu(mixed, "erf"), ops.constant(weights(7, 24)), False, True)


NETWORKS = {"mobile_block": mobile_block, "attention_like": attention_like}
OPTIONS = ((), ("--preset", "performance"), ("--method", "mse"), ("--no-bias-correction",))


def make(name, folder):
    x = ops.parameter([1, 3, 16, 16], np.float32, name="x")
    x.output(0).set_names({"x"})
    y = NETWORKS[name](x)
    y.output(0).set_names({"y"})
    path = os.path.join(folder, name + ".xml")
    ov.save_model(ov.Model([y], [x], name), path, compress_to_fp16=False)
    return path


def byte_layers(compiled):
    """Convolutions and matrix products that the compiled model runs on bytes."""
    layers = (op.get_rt_info() for op in compiled.get_runtime_model().get_ordered_ops())
    return sum(1 for info in layers if info["layerType"].astype(str) in ("Convolution", "FullyConnected", "MatMul")
               and info["runtimePrecision"].astype(str) in BYTES)


def check(core, headrace, folder, name, options):
    source, out = make(name, folder), os.path.join(folder, name + "_int8.xml")
    data = RNG.standard_normal((SAMPLES, 3, 16, 16)).astype(np.float32)
    np.save(os.path.join(folder, "data.npy"), data)
    np.save(os.path.join(folder, "x.npy"), data[:1])
    run = lambda *arguments: subprocess.run([headrace, *arguments], check=True, stdout=subprocess.DEVNULL)
    run("quantize", source, "-o", out, "--data", os.path.join(folder, "data.npy"), *options)
    run("run", out, "-d", "CPU", "-i", os.path.join(folder, "x.npy"), "-o", folder)
    ours = np.load(os.path.join(folder, "y.npy"))
    expected = core.compile_model(source, "CPU", FLOATS)(data[:1])[0]
    floats = core.compile_model(out, "CPU", FLOATS)(data[:1])[0]
    int8 = core.compile_model(out, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    if byte_layers(int8) == 0:
        return "OpenVINO computes no layer on bytes"
    return (difference(floats, ours, 1e-3) or difference(expected, ours, 5e-2)
            or difference(expected, int8(data[:1])[0], 5e-2))


def main():
    headrace, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    core = ov.Core()
    cases = [(name, options) for name in NETWORKS for options in OPTIONS]
    check_all(((f"{name} {' '.join(options)}", (name, options)) for name, options in cases),
              lambda case: check(core, headrace, folder, *case), "quantized networks agree with OpenVINO's")


if __name__ == "__main__":
    main()
