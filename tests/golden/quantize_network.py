#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes an IR again with FakeQuantize on the data and i8 weights for its dense convolutions and matrix products.

The form is NNCF's: weights i8 -> Convert -> Multiply by a scale per output channel, data through a FakeQuantize of 256
levels whose range is the smallest and largest value seen in one run on INPUT.npy, moved so that zero is a level.

Usage: quantize_network.py MODEL.xml INPUT.npy OUT.xml
Needs: openvino, numpy.
"""
import argparse

import numpy as np
import openvino as ov

o1 = ov.opset1
LEVELS = 256
F32 = {"INFERENCE_PRECISION_HINT": "f32"}


def quantizable(model):
    """Nodes with constant f32 weights, and the weights."""
    for node in model.get_ordered_ops():
        if node.get_type_name() not in ("Convolution", "MatMul"):
            continue
        source = node.input_value(1).get_node()
        if source.get_type_name() == "Constant" and source.get_element_type() == ov.Type.f32:
            yield node, source.get_data()


def ranges_of(core, path, image):
    """Smallest and largest value of every tensor that is going to be quantized, by the node's and port's name."""
    model = core.read_model(path)
    outputs = {}
    for node, _ in quantizable(model):
        source = node.input_value(0)
        outputs[(source.get_node().get_friendly_name(), source.get_index())] = source
    watched = model.add_outputs(list(outputs.values()))
    result = core.compile_model(model, "CPU", F32)(image)
    first = len(result) - len(watched)
    return {key: (float(result[first + i].min()), float(result[first + i].max())) for i, key in enumerate(outputs)}


def with_zero_level(low, high):
    """The range widened to hold zero and moved so that zero is a level."""
    low, high = min(low, 0.0), max(high, 1e-3)
    scale = (high - low) / (LEVELS - 1)
    zero = round(-low / scale)
    return np.float32(-zero * scale), np.float32((LEVELS - 1 - zero) * scale)


def i8_weights(weights, axis):
    axes = tuple(i for i in range(weights.ndim) if i != axis)
    scale = np.maximum(np.abs(weights).max(axes, keepdims=True), 1e-8) / 127
    levels = np.clip(np.rint(weights / scale), -127, 127).astype(np.int8)
    return o1.multiply(o1.convert(o1.constant(levels), "f32"), o1.constant(scale.astype(np.float32)))


def quantize(core, path, image):
    ranges = ranges_of(core, path, image)
    model = core.read_model(path)
    made = {}
    for node, weights in list(quantizable(model)):
        source = node.input_value(0)
        key = (source.get_node().get_friendly_name(), source.get_index())
        if key not in made:
            low, high = (o1.constant(value) for value in with_zero_level(*ranges[key]))
            made[key] = o1.fake_quantize(source, low, high, low, high, LEVELS)
        is_columns = node.get_type_name() == "MatMul" and not node.get_attributes()["transpose_b"]
        node.input(0).replace_source_output(made[key].output(0))
        node.input(1).replace_source_output(i8_weights(weights, weights.ndim - 1 if is_columns else 0).output(0))
    model.validate_nodes_and_infer_types()
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("input")
    parser.add_argument("out")
    options = parser.parse_args()
    ov.save_model(quantize(ov.Core(), options.model, np.load(options.input)), options.out, compress_to_fp16=False)


if __name__ == "__main__":
    main()
