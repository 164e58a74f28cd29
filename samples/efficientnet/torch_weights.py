# SPDX-License-Identifier: Apache-2.0
"""Reads weights from PyTorch's old file format with numpy alone.

The file is a row of pickles - magic number, protocol version, system facts, the dictionary of tensors, the list of
storage keys - and then the storages themselves, each an element count (8 bytes, little-endian) and the elements. A
pickle may call any function it names, so the unpickler here admits the three names that such a file needs and refuses
every other.
"""
import collections
import pickle
import struct
from dataclasses import dataclass

import numpy as np

MAGIC = 0x1950A86A20F9469CFC6C
PROTOCOL = 1001
MAX_ELEMENTS = 1 << 28  # per storage; the networks read here have at most 1.3 million
DTYPES = {"FloatStorage": np.dtype("<f4"), "LongStorage": np.dtype("<i8")}


class WeightsError(Exception):
    """The file is damaged, or holds something that this reader does not admit."""


@dataclass(frozen=True)
class _Storage:
    dtype: np.dtype
    key: str
    count: int


@dataclass(frozen=True)
class _TensorView:
    storage: _Storage
    offset: int
    shape: tuple
    strides: tuple


def _rebuild_tensor(storage, offset, shape, strides, *_unused):
    if not isinstance(storage, _Storage) or len(shape) != len(strides):
        raise WeightsError("a tensor without a storage, or with another number of strides than dimensions")
    last = offset + sum((d - 1) * s for d, s in zip(shape, strides))
    if min((offset, *shape, *strides), default=0) < 0 or (0 not in shape and last >= storage.count):
        raise WeightsError(f"a tensor of shape {shape} reaches past its storage '{storage.key}'")
    return _TensorView(storage, offset, tuple(shape), tuple(strides))


class _RestrictedUnpickler(pickle.Unpickler):
    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuild_tensor
        if module == "torch" and name in DTYPES:
            return name
        raise WeightsError(f"the file asks for {module}.{name}, which is not admitted")

    def persistent_load(self, pid):
        kind, storage_type, key, _location, count, _view = pid
        if kind != "storage" or storage_type not in DTYPES or not 0 <= count <= MAX_ELEMENTS:
            raise WeightsError(f"unknown storage {pid!r}")
        return _Storage(DTYPES[storage_type], str(key), count)


def _read_storages(file, wanted, keys):
    if sorted(keys) != sorted(wanted):
        raise WeightsError("the list of storages does not match the tensors")
    storages = {}
    for key in keys:
        header = file.read(8)
        count = struct.unpack("<q", header)[0] if len(header) == 8 else -1
        if count != wanted[key].count:
            raise WeightsError(f"storage '{key}' has {count} elements, its tensors need {wanted[key].count}")
        data = file.read(count * wanted[key].dtype.itemsize)
        if len(data) != count * wanted[key].dtype.itemsize:
            raise WeightsError(f"the file ends inside storage '{key}'")
        storages[key] = np.frombuffer(data, wanted[key].dtype)
    return storages


def read_torch_weights(path):
    """Returns the file's tensors as {name: numpy array}, each dense and row-major.

    Throws WeightsError for a damaged file and for one that names anything else than tensors.
    """
    with open(path, "rb") as file:
        try:
            head = [_RestrictedUnpickler(file).load() for _ in range(3)]
            tensors = _RestrictedUnpickler(file).load()
            keys = _RestrictedUnpickler(file).load()
        except (pickle.UnpicklingError, EOFError, ValueError, TypeError, IndexError, KeyError) as error:
            raise WeightsError(f"{path} is not a PyTorch weights file: {error}") from error
        if head[0] != MAGIC or head[1] != PROTOCOL or not head[2].get("little_endian"):
            raise WeightsError(f"{path} is not a PyTorch weights file of protocol {PROTOCOL}")
        wanted = {view.storage.key: view.storage for view in tensors.values()}
        storages = _read_storages(file, wanted, keys)
    result = {}
    for name, view in tensors.items():
        data = storages[view.storage.key][view.offset:]
        strides = tuple(s * data.itemsize for s in view.strides)
        result[name] = np.ascontiguousarray(np.lib.stride_tricks.as_strided(data, view.shape, strides, writeable=False))
    return result
