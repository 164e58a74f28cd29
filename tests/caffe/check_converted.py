#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Converts every case of make_cases.py to IR; OpenVINO must read it and compute the same numbers.

Usage: check_converted.py HEADRACE FOLDER
"""
import json
import pathlib
import subprocess
import sys

import numpy
import openvino

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "golden"))
import checks  # noqa: E402

# Where OpenVINO is known to be wrong (facts of the project, section 2.8), or has no kernel.
NOT_OPENVINO = {
    "layer/lrn": "the constant k is ignored",
    "layer/lrn_within": "the constant k is ignored",
    "network/googlenet": "the constant k of LRN is ignored",
    "old_ir/googlenet-v2": "the constant k of LRN is ignored",
    "old_ir/googlenet-v4": "the constant k of LRN is ignored",
}


def main():
    headrace, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    core = openvino.Core()

    def check(case):
        out = folder / "converted" / (pathlib.Path(case["model"]).stem + ".xml")
        subprocess.run([headrace, "convert", case["model"], "-o", out], check=True, stdout=subprocess.DEVNULL)
        inputs = [numpy.load(folder / file) for file in case["inputs"]]
        _, results = checks.run(core, str(out), inputs)
        for i, (file, result) in enumerate(zip(case["outputs"], results, strict=True)):
            wanted = numpy.load(folder / file)
            if wanted.shape != result.shape:
                return f"output {i}: {result.shape} instead of {wanted.shape}"
            error = abs(wanted - result).max()
            if not error <= case["tolerance"] * max(1, abs(wanted).max()):
                return f"output {i}: off by {error:.2e}"
        return ""

    (folder / "converted").mkdir(exist_ok=True)
    index = json.loads((folder / "index.json").read_text())
    checks.check_all(((case["name"], case) for case in index if case["name"] not in NOT_OPENVINO), check,
                     "converted Caffe models equal OpenCV in OpenVINO")


main()
