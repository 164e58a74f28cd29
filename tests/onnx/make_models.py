#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole ONNX models with ONNX Runtime's answers: make_models.py OUT

PP-OCRv4 (text detection, recognition, direction) and silero-vad in its six forms come from PyPI packages that carry
them (requirements.txt), the others from built_models.py. OUT/index.json lists the cases as make_node_cases.py does,
several for models that take several shapes.
"""
import importlib.util
import json
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime

from built_models import vit, yolo
from case_files import save

TOLERANCE = 1e-3  # design.md, section 8: whole networks


def files_of(package, folder):
    """The folder inside a package, which is not imported: what its code needs is not installed."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        sys.exit(f"make_models.py: error: no package {package}: install tests/onnx/requirements.txt (tests/run.sh)")
    return pathlib.Path(spec.submodule_search_locations[0]) / folder


def picture(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def speech(rng, *shape):
    return (rng.standard_normal(shape) * 0.1).astype(np.float32)


def state(rng, batch=1):
    return (rng.standard_normal((2, batch, 128)) * 0.3).astype(np.float32)


def all_cases(out):
    """Yields name, model file and a function that makes the inputs by name."""
    ocr, vad = files_of("rapidocr_onnxruntime", "models"), files_of("silero_vad", "data")
    for size in ((1, 3, 96, 160), (1, 3, 64, 64), (2, 3, 32, 96)):
        yield "pp_ocr_det", ocr / "ch_PP-OCRv4_det_infer.onnx", lambda r, s=size: {"x": picture(r, *s)}
    for size in ((2, 3, 48, 160), (1, 3, 48, 320)):
        yield "pp_ocr_rec", ocr / "ch_PP-OCRv4_rec_infer.onnx", lambda r, s=size: {"x": picture(r, *s)}
    yield ("pp_ocr_cls", ocr / "ch_ppocr_mobile_v2.0_cls_infer.onnx", lambda r: {"x": picture(r, 3, 3, 48, 192)})
    for name in ("silero_vad", "silero_vad_op18_ifless"):
        for rate, count in ((16000, 576), (8000, 288)):
            yield name, vad / f"{name}.onnx", lambda r, f=rate, c=count: {
                "input": speech(r, 1, c), "state": state(r), "sr": np.array(f, np.int64)}
    yield "silero_vad_16k_op15", vad / "silero_vad_16k_op15.onnx", lambda r: {
        "input": speech(r, 3, 576), "state": state(r, 3), "sr": np.array(16000, np.int64)}
    yield "silero_vad_half", vad / "silero_vad_half.onnx", lambda r: {"input": speech(r, 1, 576), "state": state(r)}
    yield ("silero_vad_openvino_16k", vad / "silero_vad_openvino_16k.onnx",
           lambda r: {"input": speech(r, 1, 576), "state": state(r)})
    for length in (1, 5):
        yield "silero_vad_16k_sequence", vad / "silero_vad_16k_sequence.onnx", lambda r, n=length: {
            "input": speech(r, n, 576), "h": state(r)[:1], "c": state(r)[:1]}
    for name, model in (("yolo", yolo()), ("vit", vit())):
        onnx.checker.check_model(model)
        onnx.save(model, out / f"{name}.onnx")
    for _ in range(3):  # another count of objects in each
        yield "yolo", out / "yolo.onnx", lambda r: {"images": picture(r, 1, 3, 64, 64)}
    for batch in (1, 3):
        yield "vit", out / "vit.onnx", lambda r, n=batch: {"pixels": picture(r, n, 3, 48, 48)}


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    entries = []
    for number, (name, path, make_inputs) in enumerate(all_cases(out)):
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        feeds = make_inputs(np.random.default_rng(number))
        outputs = session.run(None, feeds)
        stem = f"{number}_{name}"
        entries.append({"name": f"model/{stem}", "group": "model", "model": str(path), "tolerance": TOLERANCE,
                        "inputs": save(out, stem + ".input", [feeds[port.name] for port in session.get_inputs()]),
                        "outputs": save(out, stem + ".output", outputs)})
        print(stem, [value.shape for value in outputs])
    (out / "index.json").write_text(json.dumps(entries, indent=1))


main()
