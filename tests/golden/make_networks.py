#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes whole networks with ONNX Runtime's answers into a folder.

The topologies are the light_*.onnx files of PyPI's onnx package. There every weight is one constant; here they are
replaced by seeded random ones of He scale (batch-norm statistics near 0 and 1), and the last layer is scaled so that
its logits spread by LOGIT_STD: a flat softmax would agree with anything. OpenVINO converts the result to IR (f32).
Others come from published tables: see table_networks.py.

For each network NAME: NAME.onnx, NAME.xml, NAME.bin, NAME_input.npy, NAME_output.npy; index.json lists
{name, model, onnx, input, output, input_name, output_name, tolerance}. Networks that are there already are kept.

Usage: make_networks.py FOLDER [--only resnet50,squeezenet]
Needs: onnx, onnxruntime, openvino, numpy. Space: 3 GB for all of them. Time: about a minute.
"""
import argparse
import json
import os
import sys
import zlib

import numpy as np
import onnx
import onnxruntime
import openvino as ov
from onnx import helper, numpy_helper

from table_networks import TABLE_NETWORKS

VERSION = 1  # changes when the written files do
LOGIT_STD = 3.0
TOLERANCE = 1e-3  # design.md, section 8: whole networks

LIGHT_NETWORKS = {
    "squeezenet": "light_squeezenet", "resnet50": "light_resnet50", "inception_v1": "light_inception_v1",
    "inception_v2": "light_inception_v2", "densenet121": "light_densenet121", "shufflenet": "light_shufflenet",
    "alexnet": "light_bvlc_alexnet", "zfnet": "light_zfnet512", "vgg19": "light_vgg19",
}
NETWORKS = (*LIGHT_NETWORKS, *TABLE_NETWORKS)


def weight_roles(graph):
    """Maps each tensor that a layer reads as a weight to (layer type, input index, node)."""
    roles = {}
    for node in graph.node:
        if node.op_type in ("Conv", "Gemm", "BatchNormalization", "Mul", "Add"):
            for index, name in enumerate(node.input):
                roles[weight_name(graph, name)] = (node.op_type, index, node)
    return roles


def weight_name(graph, name):
    """The tensor behind an Unsqueeze or Reshape, through which some layers read their weights."""
    for node in graph.node:
        if node.op_type in ("Unsqueeze", "Reshape") and node.output[0] == name:
            return node.input[0]
    return name


def attribute(node, name, default):
    return next((helper.get_attribute_value(a) for a in node.attribute if a.name == name), default)


def random_weight(rng, shape, role):
    """He scale for filters, and values near those of a trained network for everything else."""
    kind, index, node = role
    if kind == "Conv" and index == 1:
        return rng.standard_normal(shape, np.float32) * np.float32(np.sqrt(2.0 / np.prod(shape[1:])))
    if kind == "Gemm" and index == 1:
        fan_in = np.prod(shape[1:]) if attribute(node, "transB", 0) else shape[0]
        return rng.standard_normal(shape, np.float32) * np.float32(np.sqrt(2.0 / fan_in))
    is_scale = (kind, index) in (("BatchNormalization", 1), ("BatchNormalization", 4)) or kind == "Mul"
    if is_scale:
        return rng.uniform(0.7, 1.3, shape).astype(np.float32)
    return rng.standard_normal(shape, np.float32) * np.float32(0.1)  # biases, means


def with_random_weights(model, rng):
    """Returns the model with every float weight an initialiser of seeded random values, and one graph input."""
    graph = model.graph
    roles = weight_roles(graph)
    values = {init.name: numpy_helper.to_array(init) for init in graph.initializer}
    filled = {n.output[0]: tuple(values[n.input[0]]) for n in graph.node if n.op_type == "ConstantOfShape"}
    shapes = {name: value.shape for name, value in values.items() if value.dtype == np.float32}
    shapes.update(filled)
    produced = {name for node in graph.node for name in node.output}
    weights = {}
    for name in sorted(shapes):
        if name in roles:
            weights[name] = random_weight(rng, shapes[name], roles[name])
        elif name in filled:
            sys.exit(f"make_networks.py: error: {name} is filled with a constant, but no layer reads it as a weight")
    kept = {name: value for name, value in values.items() if name not in weights and value.dtype != np.float32}
    nodes = [node for node in graph.node if node.op_type != "ConstantOfShape"]
    inputs = [i for i in graph.input if i.name not in values and i.name not in produced]
    used = {name for node in nodes for name in node.input}
    initializers = {n: v for n, v in {**kept, **weights}.items() if n in used}
    new_graph = helper.make_graph(nodes, graph.name, inputs, list(graph.output),
                                  [numpy_helper.from_array(v, n) for n, v in initializers.items()])
    new_model = helper.make_model(new_graph, opset_imports=model.opset_import)
    new_model.ir_version = 8
    return new_model


def session_of(model_bytes):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model_bytes, options, providers=["CPUExecutionProvider"])


def last_layer(graph):
    """The node that makes the logits: the last Gemm or Conv."""
    return [node for node in graph.node if node.op_type in ("Gemm", "Conv")][-1]


def scale_logits(model, image):
    """Scales the last layer's weights so that the logits have a standard deviation of LOGIT_STD."""
    node = last_layer(model.graph)
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    del probe.graph.output[:]
    probe.graph.output.append(helper.make_tensor_value_info(node.output[0], onnx.TensorProto.FLOAT, None))
    session = session_of(probe.SerializeToString())
    logits = session.run(None, {session.get_inputs()[0].name: image})[0]
    if not np.isfinite(logits).all() or logits.std() == 0:
        sys.exit(f"make_networks.py: error: {model.graph.name}: logits are {logits.ravel()[:4]}, weights are not sensible")
    # A power of two changes no mantissa: the same answer on every machine.
    factor = np.float32(2.0 ** np.round(np.log2(LOGIT_STD / logits.std())))
    for init in model.graph.initializer:
        if init.name == weight_name(model.graph, node.input[1]):
            init.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(init) * factor, init.name))


def random_network(name):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    if name in TABLE_NETWORKS:
        return TABLE_NETWORKS[name](rng), rng
    source = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data", "light", LIGHT_NETWORKS[name] + ".onnx")
    return with_random_weights(onnx.load(source), rng), rng


def make_network(name, folder):
    model, rng = random_network(name)
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    image = rng.standard_normal(shape, np.float32)
    scale_logits(model, image)
    path = lambda ending: os.path.join(folder, name + ending)
    onnx.save(model, path(".onnx"))
    session = session_of(path(".onnx"))
    answer = session.run(None, {session.get_inputs()[0].name: image})[0]
    np.save(path("_input.npy"), image)
    np.save(path("_output.npy"), answer)
    ov.save_model(ov.convert_model(path(".onnx")), path(".xml"), compress_to_fp16=False)
    return {"name": name, "version": VERSION, "model": name + ".xml", "onnx": name + ".onnx",
            "input": name + "_input.npy", "output": name + "_output.npy",
            "input_name": session.get_inputs()[0].name, "output_name": session.get_outputs()[0].name,
            "tolerance": TOLERANCE, "max": float(answer.max())}


def is_complete(entry, folder):
    files = [entry.get(key, "") for key in ("model", "onnx", "input", "output")]
    return entry.get("version") == VERSION and all(f and os.path.exists(os.path.join(folder, f)) for f in files)


def write_index(entries, folder):
    temporary = os.path.join(folder, f"index.json.tmp{os.getpid()}")
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump([entries[name] for name in NETWORKS if name in entries], file, indent=1)
    os.replace(temporary, os.path.join(folder, "index.json"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--only", default=",".join(NETWORKS), help="names, comma-separated (default: all)")
    options = parser.parse_args()
    names = options.only.split(",")
    unknown = [name for name in names if name not in NETWORKS]
    if unknown:
        parser.error(f"unknown network {unknown[0]}, there are {', '.join(NETWORKS)}")
    os.makedirs(options.folder, exist_ok=True)
    index = os.path.join(options.folder, "index.json")
    entries = {}
    if os.path.exists(index):
        with open(index, encoding="utf-8") as file:
            entries = {entry["name"]: entry for entry in json.load(file)}
    for name in names:
        if name in entries and is_complete(entries[name], options.folder):
            print(f"{name}: there already")
            continue
        entries[name] = make_network(name, options.folder)
        write_index(entries, options.folder)
        print(f"{name}: largest output {entries[name]['max']:.3f}", flush=True)


if __name__ == "__main__":
    main()
