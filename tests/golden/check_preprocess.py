#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bakes pre-processing into a network twice, by `headrace convert` and by OpenVINO's PrePostProcessor, and has
OpenVINO run both: they must agree to 1e-4, for NCHW and NHWC networks, f32 and compressed.

Usage: check_preprocess.py HEADRACE_BINARY FOLDER
"""
import os
import subprocess
import sys

import numpy as np
import openvino as ov
from openvino import opset8 as ops
from openvino.preprocess import PrePostProcessor

from check_converted import difference
from checks import check_all, run

MEAN = [123.675, 116.28, 103.53]
SCALE = [58.395, 57.12, 57.375]
RNG = np.random.default_rng(5)


def network(layout, batch=1):
    """A padded convolution, so that a mean folded where it must not be shows at the border; then ReLU and an Add."""
    shape = {"NCHW": [batch, 3, 9, 11], "NHWC": [batch, 9, 11, 3]}[layout]
    x = ops.parameter(shape, np.float32, name="x")
    x.output(0).set_names({"x"})
    t = x if layout == "NCHW" else ops.transpose(x, np.array([0, 3, 1, 2]))
    weights = RNG.standard_normal([8, 3, 3, 3]).astype(np.float32)
    t = ops.convolution(t, weights, [2, 1], [1, 1], [1, 1], [1, 1])
    t = ops.relu(ops.add(t, RNG.standard_normal([1, 8, 1, 1]).astype(np.float32)))
    t.output(0).set_names({"y"})
    return ov.Model([t], [x], "net")


def add_steps(model, layout, steps):
    """The steps in PrePostProcessor's words; they run in the order in which they are added."""
    processor = PrePostProcessor(model)
    info = processor.input("x")
    info.model().set_layout(ov.Layout(layout))
    if "outside" in steps:
        info.tensor().set_layout(ov.Layout(steps["outside"]))
    if steps.get("reverse"):
        info.preprocess().reverse_channels()
    if "mean" in steps:
        info.preprocess().mean(steps["mean"])
    if "scale" in steps:
        info.preprocess().scale(steps["scale"])
    return processor.build()


def arguments(layout, steps):
    line = []
    if steps.get("reverse"):
        line.append("--reverse-input-channels")
    for name in ("mean", "scale"):
        if name in steps:
            values = steps[name] if isinstance(steps[name], list) else [steps[name]]
            line.append(f"--{name}={','.join(map(str, values))}")
    outside = f"->{steps['outside']}" if "outside" in steps else ""
    return line + ["--layout", f"x({layout}{outside})"]


CASES = (
    {"mean": MEAN}, {"scale": SCALE}, {"mean": MEAN, "scale": SCALE}, {"mean": 127.5, "scale": 127.5},
    {"reverse": True}, {"reverse": True, "mean": MEAN, "scale": SCALE}, {"outside": "NHWC"}, {"outside": "NCHW"},
    {"outside": "NHWC", "reverse": True, "mean": MEAN, "scale": SCALE},
    {"outside": "NCHW", "reverse": True, "mean": MEAN, "scale": 255.0},
)


def check(core, headrace, folder, layout, steps, halves):
    model = network(layout)
    source, out = os.path.join(folder, "net.xml"), os.path.join(folder, "baked.xml")
    ov.save_model(model, source, compress_to_fp16=False)
    extra = ["--compress-to-fp16"] if halves else []
    subprocess.run([headrace, "convert", source, "-o", out, *arguments(layout, steps), *extra], check=True,
                   stdout=subprocess.DEVNULL)
    expected = add_steps(core.read_model(source), layout, steps)
    written = core.read_model(out)
    if written.inputs[0].shape != expected.inputs[0].shape or written.inputs[0].get_any_name() != "x":
        return f"input is {written.inputs[0]}, expected {expected.inputs[0]}"
    wanted_layout = ov.Layout(steps.get("outside", layout))
    if ov.layout_helpers.get_layout(written.inputs[0]) != wanted_layout:
        return f"layout is {ov.layout_helpers.get_layout(written.inputs[0])}, expected {wanted_layout}"
    picture = RNG.integers(0, 256, list(expected.inputs[0].shape)).astype(np.float32)
    _, (wanted,) = run(core, expected, [picture])
    _, (actual,) = run(core, written, [picture])
    return difference(wanted, actual, 3e-3 if halves else 1e-4)


def main():
    headrace, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    core = ov.Core()
    cases = [(layout, steps, halves) for layout in ("NCHW", "NHWC") for steps in CASES for halves in (False, True)]
    check_all(((f"{layout} {steps} f16={halves}", (layout, steps, halves)) for layout, steps, halves in cases),
              lambda case: check(core, headrace, folder, *case), "networks with pre-processing baked in agree with OpenVINO's")


if __name__ == "__main__":
    main()
