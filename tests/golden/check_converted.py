#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Has OpenVINO read what GoldenConvertTest converted, and compares.

- Its answers for the converted model with its answers for the original: the optimizations keep the meaning.
- Its answers for the converted models, plain and compressed to f16, with Headrace's for the same files: both read the
  same out of them.
Where its answer for the original is not the stored one, a formula has made that, as OpenVINO is known to be wrong:
there Headrace's answer for the converted model is compared with the stored one.
Tolerances are those of design.md, section 8 (1e-4 single operators, 1e-3 networks, of max(1, max |e|)).

Usage: check_converted.py CASES CONVERTED      (the folders of GoldenConvertTest)
"""
import json
import os
import sys

import numpy as np
import openvino as ov

from checks import check_all, run


def difference(expected, actual, tolerance):
    """"" where shapes and types are equal, NaN and infinities in the same places, and the values close."""
    if expected.shape != actual.shape or expected.dtype != actual.dtype:
        return f"is {actual.dtype}{actual.shape}, expected {expected.dtype}{expected.shape}"
    e, a = expected.astype(np.float64), actual.astype(np.float64)
    finite = np.isfinite(e)
    if not np.array_equal(e[~finite], a[~finite], equal_nan=True) or not np.isfinite(a[finite]).all():
        return "has other NaN or infinities"
    if not finite.any():
        return ""
    error = np.abs(e[finite] - a[finite]).max()
    limit = tolerance * max(1.0, np.abs(e[finite]).max()) if expected.dtype.kind == "f" else 0
    return "" if error <= limit else f"differs by {error:.3g}, allowed {limit:.3g}"


def compare(what, expected, actual, tolerance):
    for i, (e, a) in enumerate(zip(expected, actual, strict=True)):
        text = difference(e, a, tolerance)
        if text:
            return f"{what}: output {i} {text}"
    return ""


def check(core, entry, cases, converted):
    names = entry["inputs"] if "inputs" in entry else [entry["input"]]
    inputs = [np.load(os.path.join(cases, name)) for name in names]
    tolerance = max(entry["tolerance"], 1e-4)
    stored = [np.load(os.path.join(cases, name)) for name in entry.get("outputs", [entry.get("output")])]
    ports, expected = run(core, os.path.join(cases, entry["model"]), inputs)
    if compare("", stored, expected, tolerance):
        path = os.path.join(converted, entry["name"])
        ours = [np.load(f"{path}.out{i}.npy") for i in range(len(stored))]
        return compare("Headrace and the formula", stored, ours, tolerance)
    for suffix in ("", "_f16"):
        path = os.path.join(converted, entry["name"] + suffix)
        again_ports, again = run(core, path + ".xml", inputs)
        if ports != again_ports:
            return f"{suffix}: outputs are {again_ports}, expected {ports}"
        ours = [np.load(f"{path}.out{i}.npy") for i in range(len(again))]
        text = compare(f"Headrace and OpenVINO on {suffix or 'f32'}", again, ours, tolerance)
        if not suffix:
            text = text or compare("OpenVINO before and after", expected, again, tolerance)
        if text:
            return text
    return ""


def main():
    cases, converted = sys.argv[1:]
    with open(os.path.join(cases, "index.json"), encoding="utf-8") as file:
        index = json.load(file)
    core = ov.Core()
    # What is not there was too large for GoldenConvertTest, which has failed where there is another reason.
    entries = [entry for entry in index if os.path.exists(os.path.join(converted, entry["name"] + ".xml"))]
    check_all(((entry["name"], entry) for entry in entries), lambda entry: check(core, entry, cases, converted),
              "models converted with equal answers")


if __name__ == "__main__":
    main()
