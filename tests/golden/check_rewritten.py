#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Has OpenVINO read the models that GoldenRewriteTest wrote, and compares its answers with those for the originals.

f32 models must give the same bits; models compressed to f16 must be readable and keep their input and output types.

Usage: check_rewritten.py CASES REWRITTEN      (the folder of make_cases.py, and the one that the test wrote)
"""
import json
import os
import sys

import numpy as np
import openvino as ov

from checks import check_all, run


def check(core, entry, cases, rewritten):
    inputs = [np.load(os.path.join(cases, name)) for name in entry["inputs"]]
    ports, expected = run(core, os.path.join(cases, entry["model"]), inputs)
    again_ports, again = run(core, os.path.join(rewritten, entry["model"]), inputs)
    if ports != again_ports:
        return f"outputs are {again_ports}, expected {ports}"
    for i, (a, b) in enumerate(zip(expected, again)):
        if a.shape != b.shape or a.tobytes() != b.tobytes():
            return f"output {i} differs"
    half_ports, _ = run(core, os.path.join(rewritten, entry["name"] + "_f16.xml"), inputs)
    return "" if half_ports == ports else f"compressed to f16: outputs are {half_ports}, expected {ports}"


def main():
    cases, rewritten = sys.argv[1:]
    with open(os.path.join(cases, "index.json"), encoding="utf-8") as file:
        index = json.load(file)
    core = ov.Core()
    check_all(((entry["name"], entry) for entry in index), lambda entry: check(core, entry, cases, rewritten),
              "models written again with equal answers")


if __name__ == "__main__":
    main()
