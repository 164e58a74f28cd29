# SPDX-License-Identifier: Apache-2.0
"""What the scripts that make TensorFlow's cases share: one graph, its inputs and TensorFlow's own answers."""
import json
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy
import tensorflow as tf

v1 = tf.compat.v1
v1.disable_eager_execution()


class Cases:
    """Collects cases; write() makes OUT/index.json, which tests/onnx/node_cases.cpp runs."""

    def __init__(self, out, group, seed=1):
        self.out = pathlib.Path(out)
        self.out.mkdir(parents=True, exist_ok=True)
        self.group = group
        self.entries = []
        self.random = numpy.random.default_rng(seed)

    def floats(self, *shape, low=-2.0, high=2.0):
        return self.random.uniform(low, high, shape).astype(numpy.float32)

    def ints(self, *shape, low=-9, high=10, dtype=numpy.int32):
        return self.random.integers(low, high, shape).astype(dtype)

    def add(self, name, build, *arrays, open_axes=(0,)):
        """One case: build(placeholders...) gives a tensor or a list of them. The axes of open_axes are unknown in the
        file, as Keras leaves the batch."""
        file = name.replace("/", "-")
        with tf.Graph().as_default() as graph:
            feeds = {}
            for index, array in enumerate(arrays):
                shape = [None if axis in open_axes else size for axis, size in enumerate(array.shape)]
                feeds[v1.placeholder(array.dtype, shape, name=f"in{index}")] = array
            outputs = build(*feeds)
            outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
            named = [tf.identity(output, name=f"out{index}") for index, output in enumerate(outputs)]
            with v1.Session() as session:
                answers = session.run(named, {tensor: array for tensor, array in feeds.items()})
            self.save(file, name, graph.as_graph_def(), list(arrays), answers)

    def save(self, file, name, graph_def, arrays, answers, **more):
        model = self.out / f"{file}.pb"
        model.write_bytes(graph_def.SerializeToString())
        entry = {"name": name, "group": self.group, "model": str(model), "inputs": [], "outputs": []} | more
        for kind, values in (("inputs", arrays), ("outputs", answers)):
            for index, value in enumerate(values):
                path = f"{file}.{kind}{index}.npy"
                numpy.save(self.out / path, numpy.asarray(value))
                entry[kind].append(path)
        self.entries.append(entry)

    def write(self):
        names = [entry["name"] for entry in self.entries]
        assert len(set(names)) == len(names), [name for name in names if names.count(name) > 1]
        (self.out / "index.json").write_text(json.dumps(self.entries, indent=1))
        print(f"{len(self.entries)} cases in {self.out}")
