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

# Small pictures and, for those marked thin, a quarter of the channels: what is tested is the graph. "frozen": their
# variables are frozen by TensorFlow, which is slow; the others are built with constants.
NETWORKS = {"VGG16": (32, "thin"), "ResNet50": (64, "thin"), "ResNet50V2": (64, "thin"), "MobileNet": (64, ""),
            "MobileNetV2": (64, ""), "MobileNetV3Small": (64, ""), "InceptionV3": (75, "thin"), "Xception": (71, "thin"),
            "DenseNet121": (64, "thin"), "NASNetMobile": (64, ""), "EfficientNetB0": (64, "frozen"),
            "ConvNeXt": (64, "frozen")}
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


def freeze(model, x):
    """The graph that TensorFlow makes of the model's function, and its answer."""
    function = tf.function(lambda batch: model(batch, training=False), autograph=False)
    frozen = convert_variables_to_constants_v2(
        function.get_concrete_function(tf.TensorSpec((None, *x.shape[1:]), tf.float32, name="x")))
    answer = frozen(tf.constant(x))
    return frozen.graph.as_graph_def(), answer[0] if isinstance(answer, (list, tuple)) else answer


def build_graph(model, x):
    """The model built with constants in place of its variables, and its answer."""
    values = [[variable.numpy() for variable in variables]
              for variables in (model.trainable_variables, model.non_trainable_variables)]
    with tf.Graph().as_default() as graph:
        batch = tf.compat.v1.placeholder(tf.float32, (None, *x.shape[1:]), name="x")
        constants = [[tf.constant(value) for value in part] for part in values]
        output = tf.identity(model.stateless_call(*constants, batch, training=False)[0], name="logits")
        with tf.compat.v1.Session() as session:
            answer = session.run(output, {batch: x})
    return graph.as_graph_def(), answer


def make(name, out):
    random = numpy.random.default_rng(1)
    size = NETWORKS[name][0]
    model = build(name)
    randomize(model, random)
    x = random.normal(0, 1, (2, size, size, 3)).astype(numpy.float32)
    if name.startswith(("EfficientNet", "ConvNeXt", "MobileNetV3")):
        x = numpy.clip(x * 60 + 127, 0, 255)  # their first layers normalize
    graph_def, answer = (freeze if NETWORKS[name][1] == "frozen" else build_graph)(model, x)
    answer = numpy.asarray(answer)
    model_file = out / f"{name}.pb"
    model_file.write_bytes(graph_def.SerializeToString())
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
