#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often EfficientNet-Lite0 in bytes names the same class as in floats, on real pictures: 95 % at least.

The pictures are the photographs that scikit-image ships. Of each, some views (crops at random places and of random
sizes, half of them mirrored) calibrate the network by `headrace quantize`, others are looked at by both networks. The
options of quantize were chosen on other views of these photographs (seed 11), so that the share is a fair one.

Usage: check_agreement.py HEADRACE FOLDER_OF_THE_NETWORK FOLDER DEVICE [options of quantize]
Needs: numpy, scikit-image. Time: about half a minute.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

import numpy as np

sys.path.append(os.path.join(os.path.dirname(__file__), "../../samples/efficientnet"))
from make_efficientnet_lite0 import package_file, prepare  # noqa: E402

PHOTOGRAPHS = ("astronaut.png", "brick.png", "camera.png", "cell.png", "chelsea.png", "clock_motion.png", "coffee.png",
               "coins.png", "grass.png", "gravel.png", "hubble_deep_field.jpg", "ihc.png", "moon.png",
               "motorcycle_left.png", "retina.jpg", "rocket.jpg")
CALIBRATION_VIEWS, VIEWS = 3, 10
WANTED = 0.95
BATCH = 40


def views(picture, count, rng):
    """Crops of 60 to 100 % of the shorter side."""
    side = min(picture.shape[:2])
    for i in range(count):
        size = int(side * rng.uniform(0.6, 1.0))
        y, x = (int(rng.integers(0, total - size + 1)) for total in picture.shape[:2])
        view = picture[y:y + size, x:x + size]
        yield prepare(view[:, ::-1] if i % 2 else view)


def make_data(folder):
    import skimage.io
    chosen, fresh = np.random.default_rng(11), np.random.default_rng(2026)
    calibration, looked_at = [], []
    for name in PHOTOGRAPHS:
        picture = skimage.io.imread(package_file("skimage", f"data/{name}"))
        calibration += views(picture, CALIBRATION_VIEWS, chosen)
        looked_at += views(picture, VIEWS, fresh)
    np.save(folder / "calibration.npy", np.concatenate(calibration))
    return np.concatenate(looked_at)


def classes_of(headrace, model, device, data, folder):
    classes = []
    for begin in range(0, len(data), BATCH):
        part = data[begin:begin + BATCH]
        np.save(folder / "part.npy", part)
        shape = "[" + ",".join(map(str, part.shape)) + "]"
        done = subprocess.run([headrace, "run", model, "-d", device, "--input-shape", shape, "-i", folder / "part.npy",
                               "-o", folder / "out", "--json"], check=True, capture_output=True)
        (output,) = json.loads(done.stdout)["outputs"].values()
        classes += np.load(folder / "out" / output["file"]).argmax(1).tolist()
    return np.array(classes)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("headrace")
    parser.add_argument("network", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("device")
    options, quantize = parser.parse_known_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    floats, quantized = options.network / "efficientnet-lite0.xml", options.folder / "int8.xml"
    looked_at = make_data(options.folder)
    start = time.monotonic()
    subprocess.run([options.headrace, "quantize", floats, "-o", quantized, "--data", options.folder / "calibration.npy",
                    "-d", options.device, *quantize], check=True,
                   stdout=subprocess.DEVNULL)
    bytes_ = quantized.read_text(encoding="utf-8").count('element_type="i8"')
    print(f"{bytes_} layers quantized in {time.monotonic() - start:.1f} s")
    expected, actual = (classes_of(options.headrace, model, options.device, looked_at, options.folder)
                        for model in (floats, quantized))
    share = float((expected == actual).mean())
    print(f"{len(looked_at)} views of {len(PHOTOGRAPHS)} pictures, {len(set(expected.tolist()))} classes: "
          f"the same class for {100 * share:.1f} %")
    sys.exit(0 if share >= WANTED else 1)


if __name__ == "__main__":
    main()
