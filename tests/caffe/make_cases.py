#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes Caffe models with inputs and right results: layers and whole networks, by OpenCV's DNN module (PyPI
opencv-python-headless 4, which still reads Caffe), or by formulas where that is known to differ from Caffe.
Some of the networks are written as old IR besides. onnx_node_cases runs what index.json lists.

Usage: make_cases.py FOLDER
"""
import json
import pathlib
import sys

import cv2
import numpy

import layer_cases
import networks
import old_ir
import old_ir_lstm
from caffe_model import write_model

NETWORK_TOLERANCE = 1e-3
HALF_TOLERANCE = 5e-3  # the weights were rounded, the results are those of the unrounded ones
# The old versions that networks are written in too; halves for one whose result does not hang on single comparisons.
OLD_IR = {"vgg16": ((2, False),), "resnet50": ((5, False), (7, True)), "squeezenet": ((2, False), (6, False)),
          "mobilenet": ((3, False),), "googlenet": ((2, False), (4, False)), "mobilenet_ssd": ((5, False), (7, False))}


def by_opencv(path, inputs):
    """The results of all outputs, in the file's order."""
    net = cv2.dnn.readNetFromCaffe(str(path.with_suffix(".prototxt")), str(path.with_suffix(".caffemodel")))
    net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
    net.setPreferableTarget(cv2.dnn.DNN_TARGET_CPU)
    for name, array in inputs.items():
        net.setInput(array, name)
    names = net.getUnconnectedOutLayersNames()
    return [numpy.array(result) for result in net.forward(names)]


def padded_detections(rows, most):
    """IR's form of a detector's result: `most` rows, the end of which is marked by -1. Caffe lists the detections of a
    picture by label (detection_output_layer.cpp), OpenCV by score."""
    rows = rows.reshape(-1, 7)
    rows = rows[rows[:, 2] > 0]  # OpenCV fills up with zeros
    rows = rows[numpy.lexsort((-rows[:, 2], rows[:, 1], rows[:, 0]))]
    assert 0 < len(rows) < most, f"{len(rows)} detections tell nothing"
    result = numpy.zeros((1, 1, most, 7), numpy.float32)
    result[0, 0, :len(rows)] = rows
    result[0, 0, len(rows), 0] = -1
    return result


class Writer:
    def __init__(self, folder):
        self.folder = folder
        self.index = []

    def add(self, group, name, prototxt, weights, inputs, expected=None, tolerance=1e-4, detections=0, is_v1=False):
        path = self.folder / f"{group}-{name}.x"
        write_model(path, prototxt, weights, is_v1)
        outputs = expected if expected is not None else by_opencv(path, inputs)
        if detections:
            outputs = [padded_detections(outputs[0], detections)]
        self.append(f"{group}/{name}", group, path.with_suffix(".prototxt"), list(inputs.values()), outputs, tolerance)

    def append(self, name, group, model, inputs, outputs, tolerance):
        entry = {"name": name, "group": group, "model": str(model), "tolerance": tolerance}
        for kind, arrays in (("inputs", inputs), ("outputs", outputs)):
            entry[kind] = []
            for i, array in enumerate(arrays):
                file = f'{name.replace("/", "-")}.{kind}{i}.npy'
                numpy.save(self.folder / file, numpy.ascontiguousarray(array, numpy.float32))
                entry[kind].append(file)
        self.index.append(entry)

    def add_old_ir(self, network, version, half=False):
        """The last network again, as an old IR with the same results."""
        case = next(case for case in reversed(self.index) if case["group"] == "network")
        name = f'{case["name"].split("/")[1]}-v{version}{"-half" if half else ""}'
        path = self.folder / f"old_ir-{name}.x"
        old_ir.Writer(network, version, half).write(path)
        self.index.append(case | {"name": f"old_ir/{name}", "group": "old_ir", "model": str(path.with_suffix(".xml")),
                                  "tolerance": HALF_TOLERANCE if half else NETWORK_TOLERANCE})


def add_networks(writer):
    for make in networks.NETWORKS:
        net = make()
        shape = [int(dim) for dim in net.lines[1].replace("}", "").split("dim:")[1:]]
        picture = numpy.random.default_rng(17).normal(0, 1, shape).astype(numpy.float32)
        writer.add("network", make.__name__, net.text(), net.weights, {"data": picture}, tolerance=NETWORK_TOLERANCE,
                   detections=100 if make is networks.mobilenet_ssd else 0, is_v1=net.is_v1)
        for version, half in OLD_IR.get(make.__name__, ()):
            writer.add_old_ir(net, version, half)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    writer = Writer(folder)
    for case in layer_cases.cases():
        writer.add("layer", **case)
    add_networks(writer)
    lstm = folder / "old_ir-lstm.x"
    writer.append("old_ir/lstm", "old_ir", lstm.with_suffix(".xml"), *old_ir_lstm.case(lstm), 1e-4)
    (folder / "index.json").write_text(json.dumps(writer.index, indent=1))
    print(f"{len(writer.index)} cases in {folder}")


if __name__ == "__main__":
    main()
