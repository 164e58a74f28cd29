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

from make_cases import ORACLE


def run(core, path, inputs):
    model = core.read_model(path)
    request = core.compile_model(model, "CPU", ORACLE).create_infer_request()
    request.infer(inputs)
    ports = [(port.get_any_name() if port.names else "", str(port.element_type)) for port in model.outputs]
    return ports, [np.array(tensor.data) for tensor in request.output_tensors]


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
    failures = []
    for entry in index:
        try:
            text = check(core, entry, cases, rewritten)
        except Exception as error:  # collected, so that one run shows every broken model
            text = str(error).strip().splitlines()[-1][:200]
        if text:
            failures.append(f"check_rewritten.py: error: {entry['name']}: {text}")
    print(f"{len(index) - len(failures)} models written again with equal answers, {len(failures)} failed")
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
