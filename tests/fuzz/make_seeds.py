#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes small seed files for the fuzzers of model and tensor files: FOLDER/fuzz_ir/*, FOLDER/fuzz_npy/*,
FOLDER/fuzz_onnx/* (Debian's libonnx-testdata, where it is installed), FOLDER/fuzz_caffe/*,
FOLDER/fuzz_old_ir/*. Needs no packages.

Usage: make_seeds.py FOLDER
"""
import os
import struct
import sys

LAYER = '<layer id="{id}" name="{name}" type="{type}" version="opset{opset}">{data}{ports}</layer>'


def layer(number, name, kind, inputs, data="", opset=1):
    ports = ""
    if inputs:
        ports += "<input>" + "".join(f'<port id="{i}" precision="FP32"/>' for i in range(inputs)) + "</input>"
    if kind != "Result":
        ports += f'<output><port id="{inputs}" precision="FP32" names="{name},a\\,b"><dim>2</dim></port></output>'
    data = f"<data {data}/>" if data else ""
    return LAYER.format(id=number, name=name, type=kind, opset=opset, data=data, ports=ports)


def network(layers, edges, version=11):
    lines = [f'<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}"/>' for a, b, c, d in edges]
    return (f'<?xml version="1.0"?><net name="n" version="{version}"><layers>{"".join(layers)}</layers>'
            f'<edges>{"".join(lines)}</edges><rt_info/></net>').encode()


def ir_seeds():
    x = layer(0, "x", "Parameter", 0, 'shape="1,?,3..8" element_type="f32"')
    constant = layer(1, "c", "Const", 0, 'element_type="f32" shape="2, 2" offset="1" size="16"')
    yield "chain", network([x, layer(2, "s", "ReLU", 1), layer(3, "r", "Result", 1)], [(0, 0, 2, 0), (2, 1, 3, 0)])
    yield "constant", network([constant, layer(3, "r", "Result", 1)], [(1, 0, 3, 0)]) + b"\0" + bytes(range(32))
    yield "concat", network([x, constant, layer(2, "k", "Concat", 2, 'axis="-1"'), layer(3, "r", "Result", 1)],
                            [(0, 0, 2, 0), (1, 0, 2, 1), (2, 2, 3, 0)], 10) + b"\0" + bytes(32)
    pool = ('strides="2, 2" dilations="1,1" pads_begin="0,0" pads_end="1,1" kernel="3,3" rounding_type="ceil" '
            'auto_pad="same_upper" index_element_type="i64" axis="0"')
    yield "pool", network([x, layer(2, "p", "MaxPool", 1, pool, 8), layer(3, "r", "Result", 1)],
                          [(0, 0, 2, 0), (2, 1, 3, 0)])
    conv = 'strides="1,1" dilations="1,1" pads_begin="1,1" pads_end="1,1" auto_pad="explicit"'
    yield "conv", network([x, constant, layer(2, "v", "Convolution", 2, conv), layer(3, "r", "Result", 1)],
                          [(0, 0, 2, 0), (1, 0, 2, 1), (2, 2, 3, 0)]) + b"\0" + bytes(32)
    yield "unsupported", network([x, layer(2, "l", "Loop", 1, opset=5), layer(3, "r", "Result", 1)],
                                 [(0, 0, 2, 0), (2, 1, 3, 0)])
    yield "v7", network([x], [], 7)


def npy(header, data, version=1):
    length = len(header).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + length + header.encode() + data


def npy_seeds():
    for name, descr, order, shape, data in (("f4", "<f4", False, "(2,)", bytes(8)), ("f2", "<f2", True, "(2, 3)", bytes(12)),
                                            ("i8", "<i8", False, "()", bytes(8)), ("b1", "|b1", False, "(3,)", b"\0\1\7"),
                                            ("u1", "|u1", True, "(2, 2, 2)", bytes(8)), ("empty", "<i4", False, "(0, 4)", b"")):
        header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n"
        yield name, npy(header, data, 1 + len(name) % 3)


def onnx_seeds():
    """ONNX's own small models: every operator, bodies, external names."""
    root = "/usr/share/libonnx-testdata/data"
    for group in ("node", "simple", "pytorch-operator"):
        folder = os.path.join(root, group)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            path = os.path.join(folder, name, "model.onnx")
            if os.path.exists(path) and os.path.getsize(path) < 4096:
                with open(path, "rb") as file:
                    yield name, file.read()


def caffe_field(number, data):
    return bytes([number * 8 + 2 & 127 | (128 if number > 15 else 0)] + ([number * 8 + 2 >> 7] if number > 15 else []) +
                 [len(data)]) + data


def caffe_seeds():
    """One layer each, with weights in the forms that there are."""
    layers = {
        "conv": ("Convolution", "convolution_param { num_output: 2 kernel_size: 1 }"),
        "deconv": ("Deconvolution", "convolution_param { num_output: 2 kernel_h: 1 kernel_w: 1 group: 2 }"),
        "pool": ("Pooling", "pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 }"),
        "dense": ("InnerProduct", "inner_product_param { num_output: 2 axis: -1 }"),
        "scale": ("Scale", "scale_param { axis: 1 num_axes: -1 bias_term: true }"),
        "norm": ("BatchNorm", "batch_norm_param { eps: 1e-3f }"), "lrn": ("LRN", "lrn_param { norm_region: WITHIN_CHANNEL }"),
        "slice": ("Slice", "slice_param { slice_point: [1] } top: 'z'"), "crop": ("Crop", "bottom: 'x' crop_param { offset: 0 }"),
        "reshape": ("Reshape", "reshape_param { shape < dim: 0 dim: -1 > axis: 1 num_axes: 1 }"),
        "argmax": ("ArgMax", "argmax_param { out_max_val: true top_k: 2 }"), "prior": ("PriorBox", "bottom: 'x' prior_box_param { min_size: 2 }"),
        "interp": ("Interp", "interp_param { shrink_factor: 2 zoom_factor: 3 pad_beg: -1 }"), "loss": ("SoftmaxWithLoss", "bottom: 'l'"),
        "eltwise": ("Eltwise", "bottom: 'x' eltwise_param { coeff: 1 coeff: -2 }"), "python": ("Python", "python_param { layer: 'L' }"),
    }
    packed = caffe_field(7, caffe_field(1, b"\2\2\1\1")) + caffe_field(5, bytes(16))
    legacy = b"\x08\1\x10\1\x18\1\x20\2" + caffe_field(8, bytes(16))
    for name, (kind, params) in layers.items():
        text = (f"input: 'x' input_shape {{ dim: 1 dim: 2 dim: 4 dim: 4 }}\nlayer {{ name: 'a' type: '{kind}' bottom: 'x' "
                f"top: 'y' {params} include {{ phase: TEST }} }}\n")
        blobs = caffe_field(7, packed) + caffe_field(7, legacy)
        yield name, text.encode() + b"\0" + caffe_field(100, caffe_field(1, b"a") + blobs)
    yield "v1", (b"input: 'x' input_dim: [1, 1, 2, 2] layers { name: 'a' type: CONVOLUTION bottom: 'x' top: 'x' "
                 b"convolution_param { num_output: 2 kernel_size: 1 } }\0" +
                 caffe_field(2, caffe_field(4, b"a") + caffe_field(6, legacy) + caffe_field(6, legacy)))


def field(number, value):
    """One protobuf field: a varint of an int, else bytes with their length."""
    def varint(number):
        data = bytearray()
        while number >= 128:
            data.append(number % 128 + 128)
            number //= 128
        return bytes(data) + bytes([number])

    if isinstance(value, int):
        return varint(8 * number) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(8 * number + 2) + varint(len(value)) + value


def tf_attribute(name, number, value):
    return field(5, field(1, name) + field(2, field(number, value)))


def tf_node(name, op, inputs=(), attributes=b"", number=1):
    return field(number, field(1, name) + field(2, op) + b"".join(field(3, i) for i in inputs) + attributes)


def tf_const(name, kind, dims, content):
    shape = b"".join(field(2, field(1, dim)) for dim in dims)
    tensor = field(1, kind) + field(2, shape) + field(4, content)
    return tf_node(name, "Const", (), tf_attribute("dtype", 6, kind) + tf_attribute("value", 8, tensor))


def tensorflow_seeds():
    """Frozen graphs of a few nodes; what TensorFlow made for tests/tensorflow, where it has been made."""
    shape = b"".join(field(2, field(1, dim)) for dim in (1, 4, 4, 2))
    x = tf_node("x", "Placeholder", (), tf_attribute("dtype", 6, 1) + tf_attribute("shape", 7, shape))
    ints = lambda name, *values: tf_const(name, 3, (len(values),), struct.pack(f"<{len(values)}i", *values))
    strides = tf_attribute("strides", 1, field(3, b"\1\2\2\1")) + tf_attribute("padding", 2, "SAME")
    weights = tf_const("w", 1, (3, 3, 2, 1), struct.pack("<18f", *range(18)))
    yield "conv", x + weights + tf_node("y", "Conv2D", ("x", "w"), strides)
    yield "mean", x + ints("axes", 1, 2) + tf_node("y", "Mean", ("x", "axes"), tf_attribute("keep_dims", 5, 1))
    yield "slice", x + ints("b", 0, 1) + ints("e", 0, 3) + ints("s", 1, 2) + tf_node(
        "y", "StridedSlice", ("x", "b", "e", "s"), tf_attribute("begin_mask", 3, 1) + tf_attribute("shrink_axis_mask", 3, 2))
    flag = tf_const("p", 10, (), b"\1")
    yield "switch", x + flag + tf_node("s", "Switch", ("x", "p")) + tf_node("y", "Merge", ("s:0", "s:1"))
    function = field(1, field(1, "f") + field(2, field(1, "t")) + field(3, field(1, "r"))) + tf_node(
        "n", "Neg", ("t",), number=3) + field(4, field(1, "r") + field(2, "n:y:0"))
    call = tf_attribute("f", 10, field(1, "f"))
    yield "call", x + tf_node("y", "PartitionedCall", ("x",), call) + field(2, field(1, function))
    folder = "build/release/golden/tensorflow_cases"
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        path = os.path.join(folder, name)
        if name.endswith(".pb") and os.path.getsize(path) < 4096:
            with open(path, "rb") as file:
                yield name, file.read()


def old_ir_seeds():
    """One layer each, in versions 2, 5 and 7."""
    def ports(tag, first, shapes):
        return f"<{tag}>" + "".join(f'<port id="{first + i}">' + "".join(f"<dim>{dim}</dim>" for dim in shape) + "</port>"
                                    for i, shape in enumerate(shapes)) + f"</{tag}>"
    x = (1, 2, 4, 4)
    blobs = '<blobs><biases offset="1" size="8"/><weights offset="9" size="16"/></blobs>'
    layers = {
        "conv": (2, "Convolution", '<convolution_data kernel-x="1" kernel-y="1" stride-x="0" output="2"/>' + blobs, [x]),
        "pool": (5, "Pooling", '<data kernel="3,3" strides="2,2" pads_begin="1,1" pool-method="avg" rounding_type="ceil"/>', [(1, 2, 3, 3)]),
        "dense": (7, "FullyConnected", '<data out-size="2"/>' + blobs, [(1, 2)]),
        "scale": (3, "ScaleShift", '<weights offset="0" size="8"/>', [x]), "split": (6, "Split", '<data axis="1"/>', [(1, 1, 4, 4)] * 2),
        "reshape": (7, "Reshape", '<data dim="0,-1"/>', [(1, 32)]), "crop": (7, "Crop", '<data axis="2" offset="1" dim="2"/>', [(1, 2, 2, 4)]),
        "eltwise": (4, "Eltwise", '<data operation="sum" coeff="2"/>', [x]), "argmax": (7, "ArgMax", '<data top_k="1"/>', [(1, 1, 1)]),
        "resample": (5, "Resample", '<data type="caffe.ResampleParameter.NEAREST" factor="2"/>', [(1, 2, 8, 8)]),
        "norm": (2, "Norm", '<norm_data local-size="3" alpha="1" beta="0.75" region="same"/>', [x]), "unknown": (7, "TensorIterator", "", [x]),
    }
    for name, (version, kind, inside, shapes) in layers.items():
        yield name, (f'<net name="n" version="{version}" precision="FP32"><layers><layer id="0" name="x" type="Input">'
                     f'{ports("output", 0, [x])}</layer><layer id="1" name="l" type="{kind}">{inside}{ports("input", 0, [x])}'
                     f'{ports("output", 1, shapes)}</layer></layers><edges><edge from-layer="0" from-port="0" to-layer="1" '
                     f'to-port="0"/></edges><pre-process><channel id="0"><mean value="1"/></channel></pre-process></net>'
                     ).encode() + b"\0" + bytes(range(32))


def main():
    for fuzzer, seeds in (("fuzz_ir", ir_seeds()), ("fuzz_npy", npy_seeds()),
                          ("fuzz_onnx", onnx_seeds()),
                          ("fuzz_caffe", caffe_seeds()), ("fuzz_tensorflow", tensorflow_seeds()),
                          ("fuzz_old_ir", old_ir_seeds())):
        folder = os.path.join(sys.argv[1], fuzzer)
        os.makedirs(folder, exist_ok=True)
        for name, data in seeds:
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)


if __name__ == "__main__":
    main()
