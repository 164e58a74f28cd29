#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks of keras.applications with seeded random weights as frozen graphs: make_networks.py OUT [NAME...]

Statistics and biases are random too, so that every layer shows in the result, which is the logits of TensorFlow.
"""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import json
import pathlib

import numpy
import tensorflow as tf
from keras.src import layers
from keras.src.applications import convnext
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

# Small pictures and, for those marked thin, a quarter of the channels: what is tested is the graph.
NETWORKS = {"VGG16": (32, "thin"), "ResNet50": (64, "thin"), "ResNet50V2": (64, "thin"), "MobileNet": (64, ""),
            "MobileNetV2": (64, ""), "MobileNetV3Small": (64, ""), "InceptionV3": (75, "thin"), "Xception": (71, "thin"),
            "DenseNet121": (64, "thin"), "NASNetMobile": (64, ""), "EfficientNetB0": (64, ""),
            "EfficientNetV2B0": (64, ""), "ConvNeXt": (64, "")}
CLASSES = 40


def quarter(layer):
    """The layer class with a quarter of its filters, or of its units where they are many."""

    class Thin(layer):
        def __init__(self, count, *arguments, **options):
            is_large = count > 1000 or "filters" in layer.__init__.__code__.co_varnames
            super().__init__(max(count // 4, 4) if is_large else count, *arguments, **options)

    return Thin


def build(name):
    size, kind = NETWORKS[name]
    options = {"weights": None, "input_shape": (size, size, 3), "classes": CLASSES, "classifier_activation": None}
    if name == "ConvNeXt":
        return convnext.ConvNeXt([1, 1, 2, 1], [24, 48, 96, 192], name="convnext", **options)
    kinds = ("Conv2D", "SeparableConv2D", "Dense") if kind == "thin" else ()
    whole = {layer: getattr(layers, layer) for layer in kinds}
    for layer, old in whole.items():
        setattr(layers, layer, quarter(old))
    model = getattr(tf.keras.applications, name)(**options)
    for layer, old in whole.items():
        setattr(layers, layer, old)
    return model


def randomize(model, random):
    """Values that keep a signal's size through a deep network, and that no two channels share."""
    for variable in model.variables:
        shape, name = variable.shape, variable.path
        if "kernel" in name:
            fan_in = max(numpy.prod(shape) / max(shape[-1], 1), 1) if "depthwise" not in name else numpy.prod(shape[:2])
            value = random.normal(0, numpy.sqrt(2 / fan_in), shape)
        elif "variance" in name or "gamma" in name:
            value = random.uniform(0.7, 1.3, shape)
        elif len(shape) == 0 or "seed" in name or not numpy.issubdtype(numpy.dtype(variable.dtype), numpy.floating):
            continue
        else:
            value = random.normal(0, 0.1, shape)
        variable.assign(value.astype(variable.dtype))


def make(name, out):
    random = numpy.random.default_rng(1)
    size = NETWORKS[name][0]
    model = build(name)
    randomize(model, random)
    function = tf.function(lambda x: model(x, training=False))
    concrete = function.get_concrete_function(tf.TensorSpec((None, size, size, 3), tf.float32, name="x"))
    frozen = convert_variables_to_constants_v2(concrete)
    model_file = out / f"{name}.pb"
    model_file.write_bytes(frozen.graph.as_graph_def().SerializeToString())
    x = random.normal(0, 1, (2, size, size, 3)).astype(numpy.float32)
    if name.startswith(("EfficientNet", "ConvNeXt", "MobileNetV3")):
        x = numpy.clip(x * 60 + 127, 0, 255)  # their first layers normalize
    answer = frozen(tf.constant(x))
    answer = numpy.asarray(answer[0] if isinstance(answer, (list, tuple)) else answer)
    numpy.save(out / f"{name}.input.npy", x)
    numpy.save(out / f"{name}.output.npy", answer)
    print(f"{name}: {model_file.stat().st_size / 1e6:.0f} MB, logits of deviation {answer.std():.3g}", flush=True)
    return {"name": name, "group": "keras", "model": str(model_file), "inputs": [f"{name}.input.npy"],
            "outputs": [f"{name}.output.npy"], "tolerance": 1e-3}


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    names = sys.argv[2:] or list(NETWORKS)
    (out / "index.json").write_text(json.dumps([make(name, out) for name in names], indent=1))


main()
