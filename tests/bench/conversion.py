#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What reading and converting models costs: conversion.py HEADRACE NETWORKS_FOLDER [-d POCL] [--gib 1] [--rounds 5]

NETWORKS_FOLDER comes from tests/golden/make_networks.py and holds resnet50.onnx and .xml. Prints, each the median of
fresh processes on warm files: the time of `headrace convert` for ResNet-50; reading its IR and its ONNX, and compiling
them for a device (`headrace bench` says both); the peak memory of converting an ONNX model with so many GiB of weights in a file beside it, which is
made in a temporary folder.
Needs: numpy, onnx. Space: twice the GiB.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH = 4096


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"conversion.py: error: {' '.join(map(str, command))}: {done.stderr}")
    return done.stdout


def seconds(*command):
    start = time.perf_counter()
    run(*command)
    return time.perf_counter() - start


# A process of its own in between: what is forked from this one counts this one's memory as its own.
LAUNCHER = """import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"""


def peak_bytes(*command):
    return int(run(sys.executable, "-c", LAUNCHER, *command)) * 1024


def load_figures(headrace, model, device, rounds):
    """Medians of reading alone and of reading and compiling, in ms."""
    figures = [json.loads(run(headrace, "bench", model, "-d", device, "--niter", "1", "--json")) for _ in range(rounds + 1)]
    return [statistics.median(figure[name] for figure in figures[1:]) for name in ("read_ms", "load_ms")]


def write_large(folder, gib):
    """A chain of matrix products whose weights lie beside the model; returns the model and its bytes."""
    count = max(1, int(gib * 2 ** 30 / (4 * WIDTH * WIDTH)))
    nodes, weights = [], []
    for i in range(count):
        matrix = np.random.default_rng(i).standard_normal((WIDTH, WIDTH), dtype=np.float32)
        weights.append(numpy_helper.from_array(matrix * np.float32(WIDTH ** -0.5), f"w{i}"))
        nodes.append(helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"]))
    ports = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, WIDTH])] for name in ("x0", f"x{count}")]
    model = helper.make_model(helper.make_graph(nodes, "large", *ports, weights), ir_version=8,
                              opset_imports=[helper.make_opsetid("", 17)])
    onnx.save_model(model, folder / "large.onnx", save_as_external_data=True, location="large.data")
    return folder / "large.onnx", count * 4 * WIDTH * WIDTH


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("headrace", type=pathlib.Path)
    parser.add_argument("networks", type=pathlib.Path)
    parser.add_argument("-d", "--device", default="POCL")
    parser.add_argument("--gib", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    onnx_file, ir_file = options.networks / "resnet50.onnx", options.networks / "resnet50.xml"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model, size = write_large(folder, options.gib)
        peak = peak_bytes(options.headrace, "convert", model, "-o", folder / "large.xml")
        convert = [seconds(options.headrace, "convert", onnx_file, "-o", folder / "out.xml")
                   for _ in range(options.rounds)]
    print(f"convert ResNet-50                  {statistics.median(convert):7.2f} s")
    ir, onnx_figures = (load_figures(options.headrace, file, options.device, options.rounds) for file in (ir_file, onnx_file))
    for name, a, b in (("read ResNet-50", ir[0], onnx_figures[0]), ("read and compile it, kernels cached", ir[1], onnx_figures[1])):
        print(f"{name:35}{a:7.1f} ms from IR, {b:.1f} ms from ONNX ({b / a:.2f})")
    print(f"convert {size / 2 ** 30:.2f} GiB of weights, peak    {peak / 2 ** 30:7.2f} GiB, {peak / size:.2f} of the file")


if __name__ == "__main__":
    main()
