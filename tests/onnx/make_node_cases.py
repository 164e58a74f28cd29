#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns the test data of Debian's libonnx-testdata into .npy files and a list: make_node_cases.py OUT [DATA]

One case per folder of DATA/{node,simple,pytorch-converted,pytorch-operator}. OUT/index.json lists them: name, group,
model, inputs and outputs (file names in OUT, in the model's order). What is no tensor of a type that .npy and Headrace
share has the file name null: its model has to be refused.
"""
import json
import pathlib
import sys

import numpy
import onnx
from onnx import numpy_helper

GROUPS = ["node", "simple", "pytorch-converted", "pytorch-operator"]
TYPES = {"float64", "float32", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"}

# ONNX 1.12 made its data by cutting bits off, where its standard now rounds to the nearest.
BFLOAT16_STEP = 2 ** -7


def tensor_of(path, value):
    """The array in a .pb file, or None for sequences, optionals and types that have no .npy form here."""
    if value.type.WhichOneof("value") != "tensor_type":
        return None
    tensor = onnx.TensorProto()
    tensor.ParseFromString(path.read_bytes())
    if tensor.data_type == onnx.TensorProto.STRING:
        return None
    array = numpy_helper.to_array(tensor)
    declared = value.type.tensor_type
    if declared.elem_type == onnx.TensorProto.BFLOAT16:  # the files hold its bits
        array = (array.astype(numpy.uint32) << 16).view(numpy.float32)
    shape = [dim.dim_value for dim in declared.shape.dim]
    if array.shape == (1,) and len(shape) > 1:  # what CastLike is like holds less than declared
        array = numpy.broadcast_to(array, shape)
    return array if str(array.dtype) in TYPES else None


def convert(folder, name, out):
    """The entry of one case, its arrays written to OUT."""
    model_path = folder / "model.onnx"
    graph = onnx.load(model_path, load_external_data=False).graph
    constants = {tensor.name for tensor in graph.initializer}
    ports = {
        "input": [value for value in graph.input if value.name not in constants],
        "output": list(graph.output),
    }
    entry = {"name": name, "model": str(model_path)}
    data = folder / "test_data_set_0"
    for kind, values in ports.items():
        files = []
        for index, value in enumerate(values):
            array = tensor_of(data / f"{kind}_{index}.pb", value)
            file = None if array is None else f"{name.replace('/', '-')}.{kind}{index}.npy"
            if file:
                numpy.save(out / file, array)
            files.append(file)
        entry[kind + "s"] = files
    if any(value.type.tensor_type.elem_type == onnx.TensorProto.BFLOAT16 for value in graph.output):
        entry["tolerance"] = BFLOAT16_STEP
    return entry


def main():
    out = pathlib.Path(sys.argv[1])
    root = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "/usr/share/libonnx-testdata/data")
    out.mkdir(parents=True, exist_ok=True)
    cases = []
    for group in GROUPS:
        for folder in sorted((root / group).iterdir()):
            if not (folder / "test_data_set_0").is_dir():
                continue
            cases.append(convert(folder, f"{group}/{folder.name}", out) | {"group": group})
    (out / "index.json").write_text(json.dumps(cases, indent=1))
    print(f"{len(cases)} cases in {out}")


main()
