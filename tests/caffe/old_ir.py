# SPDX-License-Identifier: Apache-2.0
"""Writes the networks of networks.py as IR of versions 2, 5 and 7, as the Model Optimizers of 2017 to 2019 wrote Caffe
models: spellings, blobs, shapes of all ports. Source: the project's facts/openvino-and-ir.md, section 2.6."""
import re

import numpy


def value(params, name, usual=None):
    """The first number or word of a field in a layer's text."""
    found = re.search(rf"\b{name}: *\"?([^\s\"}}]+)", params)
    return usual if found is None else found.group(1)


def number(params, name, usual=None):
    found = value(params, name, usual)
    return found if found is None else float(found) if "." in str(found) else int(found)


def values(params, name):
    return ",".join(re.findall(rf"\b{name}: *([^\s}}]+)", params))


class Writer:
    def __init__(self, net, version, half=False):
        self.net, self.version, self.half = net, version, half
        self.bin = bytearray(b"#")  # so that nothing is aligned
        self.layers, self.edges = [], []
        self.made = {}  # blob: (layer, port, shape)
        shape = [int(dim) for dim in re.findall(r"dim: (\d+)", net.lines[1])]
        self.shape_of_data = shape
        self.add("data", "Input", [], [shape], "")
        self.made["data"] = (0, 0, shape)
        for line in net.lines[2:]:
            self.convert(line)

    def blobs(self, **arrays):
        text = ""
        for name, array in sorted(arrays.items()):  # biases come first
            data = numpy.asarray(array).astype("<f2" if self.half else "<f4").tobytes()
            text += f'<{name} offset="{len(self.bin)}" size="{len(data)}"/>'
            self.bin += data
        return text if self.version == 2 or not text else f"<blobs>{text}</blobs>"

    def data(self, kind, **attributes):
        """<data .../>, in files of version 2 under its old name."""
        old = {"Convolution": "convolution_data", "Pooling": "pooling_data", "Norm": "norm_data", "FullyConnected": "fc_data"}
        tag = old.get(kind, "data") if self.version == 2 else "data"
        words = " ".join('{}="{}"'.format(key.replace("__", "-"), text) for key, text in attributes.items())
        return f"<{tag} {words}/>"

    def window(self, kernel, stride, pad, dilation=1):
        if self.version > 2:
            return {"kernel": f"{kernel},{kernel}", "strides": f"{stride},{stride}", "pads_begin": f"{pad},{pad}",
                    "pads_end": f"{pad},{pad}", "dilations": f"{dilation},{dilation}"}
        return {f"{name}__{axis}": number for name, number in (("kernel", kernel), ("stride", stride), ("pad", pad),
                                                               ("dilation", 0 if dilation == 1 else dilation)) for axis in "xy"}

    def add(self, name, kind, bottoms, shapes, inside):
        number = len(self.layers)
        ports = ""
        for tag, first, dims in (("input", 0, [self.made[b][2] for b in bottoms]), ("output", len(bottoms), shapes)):
            text = "".join(f'<port id="{first + i}">' + "".join(f"<dim>{dim}</dim>" for dim in shape) + "</port>"
                           for i, shape in enumerate(dims))
            ports += f"<{tag}>{text}</{tag}>" if text else ""
        for i, bottom in enumerate(bottoms):
            layer, port, _ = self.made[bottom]
            self.edges.append(f'<edge from-layer="{layer}" from-port="{port}" to-layer="{number}" to-port="{i}"/>')
        precision = "FP16" if self.half else "FP32"
        self.layers.append(f'<layer id="{number}" name="{name}" precision="{precision}" type="{kind}">{inside}{ports}</layer>'
                           if self.version == 2 else
                           f'<layer id="{number}" name="{name}" precision="{precision}" type="{kind}">{ports}{inside}</layer>')
        return number, len(bottoms)

    def result(self, top, name, kind, bottoms, shape, inside=""):
        layer, port = self.add(name, kind, bottoms, [shape], inside)
        self.made[top] = (layer, port, shape)

    def convert(self, line):
        head, _, params = line.partition(" type: ")
        name = re.search(r'name: "([^"]+)"', head).group(1)
        kind = params.split()[0].strip('"')
        bottoms, top = re.findall(r'bottom: "([^"]+)"', params), re.search(r'top: "([^"]+)"', params).group(1)
        kind = {"CONVOLUTION": "Convolution", "POOLING": "Pooling", "INNER_PRODUCT": "InnerProduct", "RELU": "ReLU",
                "SOFTMAX": "Softmax", "DROPOUT": "Dropout"}.get(kind, kind)
        getattr(self, f"write_{kind}")(name, top, bottoms, self.made[bottoms[0]][2], params)

    def write_Convolution(self, name, top, bottoms, shape, params):
        kernel, count = number(params, "kernel_size"), number(params, "num_output")
        stride, pad, dilation = number(params, "stride", 1), number(params, "pad", 0), number(params, "dilation", 1)
        weights, *bias = self.net.weights[name]
        size = [(dim + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1 for dim in shape[2:]]
        inside = self.data("Convolution", **self.window(kernel, stride, pad, dilation), output=count, group=number(params, "group", 1))
        self.result(top, name, "Convolution", bottoms, [shape[0], count, *size],
                    inside + self.blobs(weights=weights, **({"biases": bias[0]} if bias else {})))

    def write_Pooling(self, name, top, bottoms, shape, params):
        method = "avg" if value(params, "pool") == "AVE" else "max"
        if "global_pooling" in params:
            kernel, stride, pad, size = shape[2], 1, 0, [1, 1]
        else:
            kernel, stride, pad = number(params, "kernel_size"), number(params, "stride"), number(params, "pad")
            size = []
            for dim in shape[2:]:
                count = -(-(dim + 2 * pad - kernel) // stride) + 1
                size.append(count - 1 if pad and (count - 1) * stride >= dim + pad else count)
        inside = self.data("Pooling", **self.window(kernel, stride, pad), **{"pool__method": method, "exclude__pad": "false"},
                           rounding_type="ceil")
        self.result(top, name, "Pooling", bottoms, [*shape[:2], *size], inside)

    def write_InnerProduct(self, name, top, bottoms, shape, params):
        weights, bias = self.net.weights[name]
        self.result(top, name, "FullyConnected", bottoms, [shape[0], len(bias)],
                    self.data("FullyConnected", **{"out__size": len(bias)}) + self.blobs(weights=weights, biases=bias))

    def write_BatchNorm(self, name, top, bottoms, shape, params):
        mean, variance, total = self.net.weights[name]
        self.result(top, name, "BatchNormalization", bottoms, shape,
                    self.data("BatchNormalization", epsilon="1e-05") + self.blobs(weights=variance / total, biases=mean / total))

    def write_Scale(self, name, top, bottoms, shape, params):
        scale, shift = self.net.weights[name]
        self.result(top, name, "ScaleShift", bottoms, shape, self.blobs(weights=scale, biases=shift))

    def write_ReLU(self, name, top, bottoms, shape, params):
        self.result(top, name, "ReLU", bottoms, shape, self.data("ReLU", negative_slope="0", engine="caffe.ReLUParameter.DEFAULT"))

    def write_Dropout(self, name, top, bottoms, shape, params):
        pass  # the Model Optimizer drops it

    def write_LRN(self, name, top, bottoms, shape, params):
        attributes = {"local__size": number(params, "local_size"), "alpha": number(params, "alpha"), "beta": number(params, "beta"),
                      "region": "across"}
        self.result(top, name, "Norm", bottoms, shape, self.data("Norm", **attributes))

    def write_Eltwise(self, name, top, bottoms, shape, params):
        self.result(top, name, "Eltwise", bottoms, shape, self.data("Eltwise", operation="sum", coeff=""))

    def write_Concat(self, name, top, bottoms, shape, params):
        axis = number(params, "axis")
        shape = list(shape)
        shape[axis] = sum(self.made[bottom][2][axis] for bottom in bottoms)
        self.result(top, name, "Concat", bottoms, shape, self.data("Concat", axis=axis))

    def write_Softmax(self, name, top, bottoms, shape, params):
        self.result(top, name, "SoftMax", bottoms, shape, self.data("SoftMax", axis=number(params, "axis", 1)))

    def write_Permute(self, name, top, bottoms, shape, params):
        order = values(params, "order")
        self.result(top, name, "Permute", bottoms, [shape[int(axis)] for axis in order.split(",")], self.data("Permute", order=order))

    def write_Flatten(self, name, top, bottoms, shape, params):
        self.result(top, name, "Flatten", bottoms, [shape[0], int(numpy.prod(shape[1:]))],
                    self.data("Flatten", axis="1", end_axis="-1"))

    def write_Reshape(self, name, top, bottoms, shape, params):
        dims = [shape[0], -1, int(values(params, "dim").split(",")[-1])]
        dims[1] = int(numpy.prod(shape)) // (dims[0] * dims[2])
        self.result(top, name, "Reshape", bottoms, dims, self.data("Reshape", axis="0", dim="0,-1,5", num_axes="-1"))

    def write_PriorBox(self, name, top, bottoms, shape, params):
        ratios = values(params, "aspect_ratio")
        count = 1 + ("max_size" in params) + 2 * len(ratios.split(","))
        inside = self.data("PriorBox", min_size=values(params, "min_size"), max_size=values(params, "max_size"), aspect_ratio=ratios,
                           flip="1", clip="0", variance=values(params, "variance"), step="0", offset="0.5", img_size="0")
        self.result(top, name, "PriorBox", bottoms, [1, 2, shape[2] * shape[3] * count * 4], inside)

    def write_DetectionOutput(self, name, top, bottoms, shape, params):
        keep = number(params, "keep_top_k")
        inside = self.data("DetectionOutput", num_classes=number(params, "num_classes"), share_location="1", background_label_id="0",
                           nms_threshold=number(params, "nms_threshold"), top_k=number(params, "top_k"), eta="1.0",
                           code_type="caffe.PriorBoxParameter.CENTER_SIZE", variance_encoded_in_target="0", keep_top_k=keep,
                           confidence_threshold=number(params, "confidence_threshold"), visualize="0")
        self.result(top, name, "DetectionOutput", bottoms, [1, 1, shape[0] * keep, 7], inside)

    def write(self, path):
        xml = f'<?xml version="1.0"?>\n<net batch="1" name="{path.stem}" version="{self.version}">\n<layers>\n'
        xml += "\n".join(self.layers) + "\n</layers>\n<edges>\n" + "\n".join(self.edges) + "\n</edges>\n</net>\n"
        path.with_suffix(".xml").write_text(xml)
        path.with_suffix(".bin").write_bytes(self.bin)
