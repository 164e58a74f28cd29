#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes networks of make_networks.py as IR again, this time as OpenVINO's ONNX reader makes them: with batch
normalizations, unfolded shapes and weights behind Convert, so that a converter has something to do.

Usage: make_unoptimized.py NETWORKS OUT      (the folder of make_networks.py; index.json is written as there)
"""
import json
import os
import sys

import openvino as ov

NAMES = ("densenet121", "inception_v2", "mobilenet_v2", "resnet50", "shufflenet", "bert_small")


def main():
    networks, out = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(networks, "index.json"), encoding="utf-8") as file:
        index = json.load(file)
    core = ov.Core()
    entries = []
    for entry in index:
        if entry["name"] not in NAMES:
            continue
        model = core.read_model(os.path.join(networks, entry["onnx"]))
        ov.serialize(model, os.path.join(out, entry["name"] + ".xml"))
        beside = os.path.relpath(networks, out)
        entries.append({**entry, "input": os.path.join(beside, entry["input"]),
                        "output": os.path.join(beside, entry["output"])})
    with open(os.path.join(out, "index.json"), "w", encoding="utf-8") as file:
        json.dump(entries, file, indent=1)
    print(f"{len(entries)} networks written as they were read")


if __name__ == "__main__":
    main()
