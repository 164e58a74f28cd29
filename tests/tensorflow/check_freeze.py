#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""samples/tensorflow/freeze.py on each kind of model, run by headrace against TensorFlow's answers:
check_freeze.py HEADRACE FREEZE.py OUT"""
import os
import pathlib
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy
import tensorflow as tf

HEADRACE, FREEZE, OUT = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
TOLERANCE = 1e-3  # design.md, section 8: whole networks


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"


def compare(name, model, *options, answer=None, x=None):
    """Freezes the model, runs it and compares with TensorFlow's answer."""
    out = OUT / f"{name}.pb"
    run(sys.executable, FREEZE, model, "-o", out, *options)
    if x is None:
        x, answer = OUT / f"{name}.input.npy", numpy.load(OUT / f"{name}.output.npy")
    run(HEADRACE, "run", out, "-d", "CPU", "-i", x, "-o", OUT / name)
    (file,) = (OUT / name).glob("*.npy")
    result = numpy.load(file)
    assert result.shape == answer.shape, f"{name}: {result.shape} for {answer.shape}"
    difference = numpy.abs(result - answer).max() / max(1, numpy.abs(answer).max())
    top = numpy.array_equal(numpy.argsort(result.ravel())[-5:], numpy.argsort(answer.ravel())[-5:])
    assert difference <= TOLERANCE and top, f"{name}: difference {difference}, same top-5: {top}"
    print(f"{name}: {file.name} {list(result.shape)}, difference {difference:.2g}")


def small_model():
    layers = tf.keras.layers
    return tf.keras.Sequential([
        tf.keras.Input((8, 8, 3)), layers.Conv2D(4, 3, padding="same"), layers.BatchNormalization(), layers.ReLU(),
        layers.Conv2DTranspose(3, 3, strides=2, padding="same"), layers.Dropout(0.3), layers.UpSampling2D(),
        layers.GlobalAveragePooling2D(), layers.Dense(5)])


def checkpoint():
    """A checkpoint of TensorFlow 1, an input for it and the answer."""
    v1 = tf.compat.v1
    values = numpy.random.default_rng(1).normal(size=(2, 3)).astype(numpy.float32)
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        y = tf.nn.relu(x @ v1.get_variable("w", [3, 6]), name="y")
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, str(OUT / "weights"))
        numpy.save(OUT / "x.npy", values)
        return session.run(y, {x: values})


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    model = small_model()
    for file in ("small.keras", "small.h5"):
        model.save(OUT / file)
        compare(file.replace(".", "_"), OUT / file, "--check")
    model.export(OUT / "saved_model", verbose=False)
    compare("saved", OUT / "saved_model", "--check")
    compare("frozen_checkpoint", OUT / "weights.meta", "--output", "y", answer=checkpoint(), x=OUT / "x.npy")
    compare("resnet50", "ResNet50", "--check")
    refused = subprocess.run([HEADRACE, "query", OUT / "saved_model" / "saved_model.pb", "-d", "CPU"],
                             capture_output=True, text=True, check=False)
    assert refused.returncode == 1 and "samples/tensorflow/freeze.py" in refused.stderr, refused.stderr


main()
