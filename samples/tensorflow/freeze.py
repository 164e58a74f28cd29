#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Freezes a TensorFlow model into one graph (.pb) that every command of headrace takes.

  freeze.py MODEL -o OUT.pb [--input-shape N,H,W,C] [--output NODE]... [--seed N] [--check]

MODEL is a Keras file (.keras, .h5), the folder of a SavedModel, a checkpoint of TensorFlow 1 (its .meta file; name its
outputs with --output), or the name of a network of keras.applications (ResNet50), whose weights are then random by the
seed. --check writes OUT.input.npy and OUT.output.npy: random numbers and TensorFlow's answer.
"""
import argparse
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2


def fail(message):
    sys.exit(f"freeze.py: error: {message}")


def shape_of(text):
    return [None if part in ("?", "-1") else int(part) for part in text.split(",")] if text else None


def freeze_keras(model, shape):
    """The concrete function of a Keras model for inference, its variables as constants."""
    specs = [tf.TensorSpec(shape or tensor.shape, tensor.dtype, name=tensor.name) for tensor in model.inputs]
    function = tf.function(lambda *x: model(x[0] if len(x) == 1 else list(x), training=False), autograph=False)
    return convert_variables_to_constants_v2(function.get_concrete_function(*specs))


def freeze_saved_model(folder):
    """The function 'serving_default' of a SavedModel."""
    loaded = tf.saved_model.load(folder)
    if not loaded.signatures:
        fail(f"{folder} has no signatures")
    name = "serving_default" if "serving_default" in loaded.signatures else next(iter(loaded.signatures))
    return convert_variables_to_constants_v2(loaded.signatures[name])


def freeze_checkpoint(meta, outputs):
    """The graph of a .meta file with the values of the checkpoint beside it."""
    if not outputs:
        fail("a checkpoint holds its training too: name the outputs with --output")
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        v1.train.import_meta_graph(meta, clear_devices=True).restore(session, meta[: -len(".meta")])
        return v1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), outputs)


def load(arguments):
    path = arguments.model
    if path.endswith((".keras", ".h5", ".hdf5")):
        return freeze_keras(tf.keras.models.load_model(path, compile=False), shape_of(arguments.input_shape))
    if os.path.isdir(path):
        return freeze_saved_model(path)
    if not hasattr(tf.keras.applications, path):
        fail(f"'{path}' is no .keras, .h5 or .meta file, no folder and no network of keras.applications")
    tf.keras.utils.set_random_seed(arguments.seed)
    shape = shape_of(arguments.input_shape)
    network = getattr(tf.keras.applications, path)
    model = network(weights=None, input_shape=tuple(shape[1:]) if shape else None)
    return freeze_keras(model, shape)


def check(frozen, out, seed):
    """Writes random inputs and the answers of the frozen function."""
    random = numpy.random.default_rng(seed)
    inputs = [tensor for tensor in frozen.inputs if tensor.dtype != tf.resource]
    arrays = [random.normal(0, 1, [size or 1 for size in tensor.shape]).astype(tensor.dtype.as_numpy_dtype)
              for tensor in inputs]
    answers = tf.nest.flatten(frozen(*[tf.constant(array) for array in arrays]))
    for kind, values in (("input", arrays), ("output", answers)):
        for index, value in enumerate(values):
            numpy.save(out.with_suffix(f".{kind}{index or ''}.npy"), numpy.asarray(value))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("-o", dest="out", type=pathlib.Path, required=True)
    parser.add_argument("--input-shape")
    parser.add_argument("--output", action="append", default=[])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    if arguments.model.endswith(".meta"):
        graph_def = freeze_checkpoint(arguments.model, arguments.output)
    else:
        frozen = load(arguments)
        graph_def = frozen.graph.as_graph_def()
        if arguments.check:
            check(frozen, arguments.out, arguments.seed)
    arguments.out.write_bytes(graph_def.SerializeToString())
    inputs = [node.name for node in graph_def.node if node.op == "Placeholder"]
    print(f"wrote {arguments.out}: {len(graph_def.node)} nodes, inputs {', '.join(inputs)}")


main()
