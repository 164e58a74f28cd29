# SPDX-License-Identifier: Apache-2.0
"""Arrays of a case as .npy files."""
import numpy as np


def save(folder, stem, arrays):
    """Writes STEM0.npy, STEM1.npy, ... and returns their names."""
    files = [f"{stem}{index}.npy" for index in range(len(arrays))]
    for file, array in zip(files, arrays):
        np.save(folder / file, array)
    return files
