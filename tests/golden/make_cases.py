#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes single-operator IRs with OpenVINO's answers into a folder.

Each case is one operator in a network of its own: CASE.xml, CASE.bin, CASE_in<i>.npy, CASE_out<i>.npy. index.json lists
{name, op, model, inputs, outputs, tolerance}. Inputs are seeded by the case's name, so a case never depends on others.
OpenVINO runs on its CPU device in f32 with one thread and without its low-precision rewrites. Where it is known to be
wrong (facts/openvino-and-ir.md, section 2.8; cases/public-reports.md, section A) the case gives a formula (`expected`)
or is left out with a comment.

Usage: make_cases.py FOLDER [--only TEXT]      (cases whose name contains TEXT)
Needs: openvino, numpy. Time: well under two minutes.
"""
import argparse
import json
import os
import sys
import zlib

import numpy as np
import openvino as ov

from golden_cases import ALL_CASES

TOLERANCE = 1e-4  # design.md, section 8: single operators
ORACLE = {"INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0", "LP_TRANSFORMS_MODE": "NO",
          "INFERENCE_NUM_THREADS": "1"}


def make_inputs(case):
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    return [np.ascontiguousarray(source(rng)) if callable(source) else np.asarray(source) for source in case.inputs]


def build_model(case, inputs):
    parameters = [ov.opset1.parameter(list(x.shape), x.dtype, name=f"in{i}") for i, x in enumerate(inputs)]
    outputs = case.build(*parameters)
    if not isinstance(outputs, (list, tuple)):
        outputs = list(outputs.outputs())
    results = [ov.opset1.result(output) for output in outputs]
    return ov.Model(results, parameters, case.name)


def answers(core, path, inputs):
    request = core.compile_model(core.read_model(path), "CPU", ORACLE).create_infer_request()
    request.infer(inputs)
    return [np.array(tensor.data) for tensor in request.output_tensors]


def write_case(core, case, folder):
    inputs = make_inputs(case)
    model = case.name + ".xml"
    path = os.path.join(folder, model)
    ov.save_model(build_model(case, inputs), path, compress_to_fp16=False)
    outputs = case.expected(*inputs) if case.expected else answers(core, path, inputs)
    entry = {"name": case.name, "op": case.op, "model": model, "inputs": [], "outputs": [],
             "tolerance": case.tolerance or TOLERANCE}
    for kind, arrays in (("in", inputs), ("out", outputs)):
        for i, array in enumerate(arrays):
            name = f"{case.name}_{kind}{i}.npy"
            np.save(os.path.join(folder, name), array)
            entry[kind + "puts"].append(name)
    return entry


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    names = [case.name for case in ALL_CASES]
    twins = {name for name in names if names.count(name) > 1}
    if twins:
        sys.exit(f"make_cases.py: error: two cases are called {min(twins)}")
    core = ov.Core()
    entries, failures = [], []
    for case in ALL_CASES:
        if options.only not in case.name:
            continue
        try:
            entries.append(write_case(core, case, options.folder))
        except Exception as error:  # collected, so that one run shows every broken case
            failures.append(f"{case.name}: {str(error).strip().splitlines()[-1][:200]}")
    with open(os.path.join(options.folder, "index.json"), "w", encoding="utf-8") as file:
        json.dump(entries, file, indent=1)
    print(f"{len(entries)} cases, {len({e['op'] for e in entries})} operators")
    if failures:
        sys.exit("\n".join(f"make_cases.py: error: {failure}" for failure in failures))


if __name__ == "__main__":
    main()
