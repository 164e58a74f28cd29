# SPDX-License-Identifier: Apache-2.0
"""Small networks as IR files, arrays as .npy and pictures as .png, with Python's standard library alone."""
import pathlib
import struct
import zlib
from xml.sax.saxutils import quoteattr

# Names that quoting, splitting and encoding could break.
ODD_FOLDERS = ("with space", "中文 и кириллица", "quo'te\"d", "a=b,c;d", "per%cent#hash&amp;")

def _dims(shape):
    return "".join(f"<dim>{-1 if d == '?' else d}</dim>" for d in shape)


class IrText:
    """A network of f32 tensors, but for i64 constants. Layers are added in order; `add` returns what the next layer takes as input."""

    def __init__(self, name="net"):
        self.name = name
        self.layers = []
        self.edges = []
        self.weights = b""

    def _add_layer(self, name, kind, opset, data, inputs, output, tensor_names=None):
        index = len(self.layers)
        ports = "".join(f'<port id="{i}" precision="{p}">{_dims(s)}</port>' for i, (_, s, p) in enumerate(inputs))
        text = f'<layer id="{index}" name={quoteattr(name)} type="{kind}" version="opset{opset}">'
        if data:
            text += "<data " + " ".join(f"{k}={quoteattr(str(v))}" for k, v in data.items()) + "/>"
        if inputs:
            text += f"<input>{ports}</input>"
        if output is not None:
            shape, precision = output
            names = f' names={quoteattr(",".join(tensor_names))}' if tensor_names else ""
            text += f'<output><port id="{len(inputs)}" precision="{precision}"{names}>{_dims(shape)}</port></output>'
        self.layers.append(text + "</layer>")
        for position, (source, _, _) in enumerate(inputs):
            self.edges.append(f'<edge from-layer="{source[0]}" from-port="{source[1]}" to-layer="{index}" '
                              f'to-port="{position}"/>')
        return ((index, len(inputs)),) + output if output is not None else None

    def parameter(self, name, shape):
        data = {"shape": ",".join(str(d) for d in shape), "element_type": "f32"}
        return self._add_layer(name, "Parameter", 1, data, [], (shape, "FP32"), [name])

    def _constant(self, name, shape, packed, element_type, precision):
        data = {"element_type": element_type, "shape": ",".join(map(str, shape)), "offset": len(self.weights),
                "size": len(packed)}
        self.weights += packed
        return self._add_layer(name, "Const", 1, data, [], (shape, precision))

    def constant_i64(self, name, values):
        return self._constant(name, (len(values),), struct.pack(f"<{len(values)}q", *values), "i64", "I64")

    def constant(self, name, shape, values):
        return self._constant(name, shape, struct.pack(f"<{len(values)}f", *values), "f32", "FP32")

    def add(self, name, kind, inputs, shape, names=None, opset=1, precision="FP32", **data):
        return self._add_layer(name, kind, opset, data, inputs, (shape, precision), names or [name])

    def result(self, source):
        self._add_layer(f"result{len(self.layers)}", "Result", 1, {}, [source], None)

    def write(self, path):
        path = pathlib.Path(path)
        text = (f'<?xml version="1.0"?><net name={quoteattr(self.name)} version="11"><layers>{"".join(self.layers)}'
                f'</layers><edges>{"".join(self.edges)}</edges></net>')
        path.write_text(text, encoding="utf-8")
        path.with_suffix(".bin").write_bytes(self.weights)
        return path


def write_npy(path, shape, values, dtype="<f4", code="f"):
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({''.join(f'{d},' for d in shape)}), }}"
    text = text.ljust(117) + "\n"
    head = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()
    pathlib.Path(path).write_bytes(head + struct.pack(f"<{len(values)}{code}", *values))


def read_npy_f32(path):
    data = pathlib.Path(path).read_bytes()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    return list(struct.unpack(f"<{(len(data) - start) // 4}f", data[start:]))


def write_png(path, width, height, color_type, depth, rows, palette=None):
    """Rows are bytes; color types: 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGBA."""
    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color_type, 0, 0, 0))
    if palette:
        data += chunk(b"PLTE", bytes(palette))
    data += chunk(b"IDAT", zlib.compress(b"".join(b"\x00" + row for row in rows))) + chunk(b"IEND", b"")
    pathlib.Path(path).write_bytes(data)
