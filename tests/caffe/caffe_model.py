# SPDX-License-Identifier: Apache-2.0
"""Writes .prototxt and .caffemodel files without Caffe. Field numbers are those of Caffe's published caffe.proto."""
import numpy


def varint(value):
    out = b""
    while value >= 128:
        out += bytes([value % 128 + 128])
        value >>= 7
    return out + bytes([value])


def field(number, data):
    """A length-delimited field."""
    return varint(number * 8 + 2) + varint(len(data)) + data


def blob(array, is_legacy):
    """A BlobProto: packed floats with a BlobShape, or with num, channels, height and width."""
    if is_legacy:
        dims = [1] * (4 - array.ndim) + list(array.shape)
        shape = b"".join(varint((i + 1) * 8) + varint(dim) for i, dim in enumerate(dims))
    else:
        shape = field(7, field(1, b"".join(varint(dim) for dim in array.shape)))
    return shape + field(5, array.astype("<f4").tobytes())


def write_model(path, prototxt, weights, is_v1=False):
    """PATH.prototxt and PATH.caffemodel; weights: {layer: [arrays]}."""
    path.with_suffix(".prototxt").write_text(prototxt)
    layer_number, name_number, blobs_number = (2, 4, 6) if is_v1 else (100, 1, 7)
    parts = []
    for name, arrays in weights.items():
        layer = field(name_number, name.encode())
        layer += b"".join(field(blobs_number, blob(numpy.asarray(array), is_v1)) for array in arrays)
        parts.append(field(layer_number, layer))
    path.with_suffix(".caffemodel").write_bytes(b"".join(parts))


class Net:
    """A network that grows layer by layer, with seeded weights."""

    def __init__(self, name, shape, seed, is_v1=False):
        self.random = numpy.random.default_rng(seed)
        self.is_v1 = is_v1
        dims = " ".join(f"dim: {dim}" for dim in shape)
        self.lines = [f'name: "{name}"', f'input: "data" input_shape {{ {dims} }}']
        self.weights = {}
        self.channels = {"data": shape[1]}

    def layer(self, kind, name, bottoms, tops=None, params="", channels=None):
        """Appends a layer; its first top is called NAME unless tops are given."""
        bottoms = [bottoms] if isinstance(bottoms, str) else bottoms
        tops = [name] if tops is None else tops
        word = {"InnerProduct": "INNER_PRODUCT"}.get(kind, kind.upper()) if self.is_v1 else f'"{kind}"'
        blobs = "".join(f' bottom: "{b}"' for b in bottoms) + "".join(f' top: "{t}"' for t in tops)
        self.lines.append(f'{"layers" if self.is_v1 else "layer"} {{ name: "{name}" type: {word}{blobs} {params} }}')
        for top in tops:
            self.channels[top] = channels if channels else self.channels[bottoms[0]]
        return tops[0]

    def conv(self, name, bottom, count, kernel, stride=1, pad=0, group=1, bias=True, dilation=1, gain=2.0):
        inputs = self.channels[bottom] // group
        scale = (gain / (inputs * kernel * kernel)) ** 0.5
        arrays = [self.random.normal(0, scale, (count, inputs, kernel, kernel))]
        if bias:
            arrays.append(self.random.normal(0, 0.1, count))
        self.weights[name] = arrays
        params = f"num_output: {count} kernel_size: {kernel}"
        for word, value, usual in (("stride", stride, 1), ("pad", pad, 0), ("group", group, 1), ("dilation", dilation, 1)):
            params += f" {word}: {value}" if value != usual else ""
        params += "" if bias else " bias_term: false"
        return self.layer("Convolution", name, bottom, params=f"convolution_param {{ {params} }}", channels=count)

    def dense(self, name, bottom, count, inputs):
        self.weights[name] = [self.random.normal(0, (1 / inputs) ** 0.5, (count, inputs)), self.random.normal(0, 0.1, count)]
        return self.layer("InnerProduct", name, bottom, params=f"inner_product_param {{ num_output: {count} }}",
                          channels=count)

    def batch_norm(self, bottom):
        """BatchNorm and Scale in place, as ResNet's files have them."""
        count = self.channels[bottom]
        total = 999.98
        self.weights[f"bn_{bottom}"] = [self.random.normal(0, 0.1, count) * total,
                                        self.random.uniform(0.5, 2, count) * total, numpy.array([total])]
        self.weights[f"scale_{bottom}"] = [self.random.uniform(0.5, 1.5, count), self.random.normal(0, 0.1, count)]
        self.layer("BatchNorm", f"bn_{bottom}", bottom, [bottom], "batch_norm_param { use_global_stats: true }")
        return self.layer("Scale", f"scale_{bottom}", bottom, [bottom], "scale_param { bias_term: true }")

    def relu(self, bottom):
        return self.layer("ReLU", f"relu_{bottom}", bottom, [bottom])

    def pool(self, name, bottom, kernel, stride, pad=0, method="MAX"):
        params = f"pooling_param {{ pool: {method} kernel_size: {kernel} stride: {stride} pad: {pad} }}"
        return self.layer("Pooling", name, bottom, params=params)

    def global_pool(self, name, bottom):
        return self.layer("Pooling", name, bottom, params="pooling_param { pool: AVE global_pooling: true }")

    def concat(self, name, bottoms, axis=1):
        return self.layer("Concat", name, bottoms, params=f"concat_param {{ axis: {axis} }}",
                          channels=sum(self.channels[b] for b in bottoms))

    def softmax(self, bottom):
        return self.layer("Softmax", "prob", bottom)

    def text(self):
        return "\n".join(self.lines) + "\n"
