#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the models of report_cases.py with their inputs and right answers: make_report_cases.py OUT

OUT/index.json lists them as make_node_cases.py does; "error" is what the refusal of a model has to say.
"""
import dataclasses
import json
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime

from case_files import save
from report_cases import all_cases


WIDER = {np.float64: np.float32, np.int16: np.int32, np.uint16: np.int32}


def run(case):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(case.model().SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, case.fed())


def answers(case):
    """By hand, or ONNX Runtime's: in another type where it lacks a kernel for the case's."""
    if case.expected is not None or case.error:
        return case.expected or []
    kind = case.inputs[0].dtype.type
    try:
        return run(case)
    except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
        inputs = [v.astype(WIDER[kind]) if v.dtype.type == kind else v for v in case.inputs]
        return [v.astype(kind) for v in run(dataclasses.replace(case, inputs=inputs))]


def main():
    out = pathlib.Path(sys.argv[1])
    models = out / "with space, 中文 и кириллица"  # R16
    models.mkdir(parents=True, exist_ok=True)
    entries = []
    for case in all_cases():
        stem = f"{case.report}_{case.name}"
        assert all(entry["name"] != stem for entry in entries), stem
        onnx.save(case.model(), models / f"{stem}.onnx")
        entries.append({"name": stem, "group": "reports", "model": str(models / f"{stem}.onnx"), "error": case.error,
                        "tolerance": case.tolerance, "inputs": save(out, stem + ".input", case.fed().values()),
                        "outputs": save(out, stem + ".output", answers(case))})
    (out / "index.json").write_text(json.dumps(entries, indent=1))
    print(f"{len(entries)} cases in {out}")


main()
