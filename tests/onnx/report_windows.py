# SPDX-License-Identifier: Apache-2.0
"""Reports on convolutions and pools: pads, windows, transposed convolutions."""
import itertools

from report_case import Case, counting, f32, ones, small


def windows():
    """#1, #7, #8, #20, section A: pads of convolutions and pools."""
    x = counting(1, 1, 4, 4)
    for kind, right in (("SAME_UPPER", [[45, 39], [66, 50]]), ("SAME_LOWER", [[10, 24], [51, 90]])):
        yield Case("1", kind, "Conv", [x, ones(1, 1, 3, 3)], {"auto_pad": kind, "strides": [2, 2]}, (1,),
                   expected=[f32([[right]])])
    for size, right in ((1, 4), (2, 8)):
        yield Case("1", f"small_{size}", "Conv", [ones(1, 1, size, size), counting(1, 1, 3, 3)],
                   {"auto_pad": "SAME_UPPER", "strides": [2, 2]}, (1,), expected=[f32([[[[right]]]])])
    for kind, rank, stride in itertools.product(("SAME_UPPER", "SAME_LOWER", "VALID"), (1, 2, 3), (1, 2, 3)):
        data, attributes = small(2, 3, *(7, 6, 5)[:rank]), {"auto_pad": kind, "strides": [stride] * rank}
        yield Case("1", f"conv_{kind}_{rank}d_s{stride}", "Conv", [data, small(4, 3, *(3, 2, 4)[:rank])], attributes, (1,))
        for op in ("MaxPool", "AveragePool") if stride < 3 else ():  # ONNX Runtime refuses the negative padding
            yield Case("1", f"{op}_{kind}_{rank}d_s{stride}", op, [data], {**attributes, "kernel_shape": [3, 2, 2][:rank]})
    x = counting(1, 1, 3, 3, start=1)
    for pads, right in (([0, 0, 1, 1], [[12, 16, 9], [24, 28, 15], [15, 17, 9]]),
                        ([1, 1, 0, 0], [[1, 3, 5], [5, 12, 16], [11, 24, 28]]),
                        ([1, 0, 0, 2], [[3, 5, 3, 0], [12, 16, 9, 0], [24, 28, 15, 0]])):
        yield Case("8", "pads_" + "".join(map(str, pads)), "Conv", [x, ones(1, 1, 2, 2)], {"pads": pads}, (1,),
                   expected=[f32([[right]])])
    for pads in ([0, 0, 1, 1], [1, 1, 0, 0], [1, 0, 0, 2], [0, 2, 1, 0]):
        label = "".join(map(str, pads))
        for kernel, group, dilation, stride in itertools.product((1, 3), (1, 5), (1, 2), (1, 2)):
            yield Case("8", f"{label}_k{kernel}g{group}d{dilation}s{stride}", "Conv",
                       [small(2, 5, 7, 8), small(10, 5 // group, kernel, kernel)],
                       {"pads": pads, "group": group, "dilations": [dilation] * 2, "strides": [stride] * 2}, (1,))
        for op, ceil in itertools.product(("MaxPool", "AveragePool"), (0, 1)):
            yield Case("8", f"{op}_{label}_ceil{ceil}", op, [small(1, 3, 7, 7)],
                       {"pads": pads, "kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": ceil})
    yield Case("8", "weights_in_the_run", "Conv", [small(1, 3, 6, 6), small(4, 3, 3, 3)], {"pads": [1, 0, 0, 2]})
    for flag, right in ((1, [[1, .5], [.5, .25]]), (0, [[1, 1], [1, 1]])):
        yield Case("20", f"include{flag}", "AveragePool", [ones(1, 1, 2, 2)],
                   {"kernel_shape": [2, 2], "pads": [0, 0, 1, 1], "count_include_pad": flag}, expected=[f32([[right]])])
        for rank in (1, 2, 3):
            for pads in itertools.product((0, 1), repeat=2):
                yield Case("20", f"include{flag}_{rank}d_{pads[0]}{pads[1]}", "AveragePool", [small(1, 2, *[5] * rank)],
                           {"kernel_shape": [2] * rank, "pads": [pads[0]] * rank + [pads[1]] * rank,
                            "count_include_pad": flag})
    yield Case("7", "ceil", "MaxPool", [counting(1, 1, 4, 4)], {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1},
               expected=[f32([[[[10, 11], [14, 15]]]])])
    # A window that begins in the padding at the end does not count (section A).
    for rank in (1, 2, 3):
        yield Case("A", f"max_pool_ceil_{rank}d", "MaxPool", [small(1, 2, *[5] * rank)],
                   {"kernel_shape": [2] * rank, "strides": [2] * rank, "pads": [1] * 2 * rank, "ceil_mode": 1})


def transposed():
    """#30: transposed convolutions."""
    x, w = counting(1, 1, 2, 2, start=1), counting(1, 1, 2, 2, start=1)
    yield Case("30", "output_padding", "ConvTranspose", [x, ones(1, 1, 3, 3)],
               {"strides": [2, 2], "pads": [1] * 4, "output_padding": [1, 1]}, (1,),
               expected=[f32([[[[1, 3, 2, 2], [4, 10, 6, 6], [3, 7, 4, 4], [3, 7, 4, 4]]]])])
    spread = [[1, 0, 4, 0, 4], [0] * 5, [6, 0, 20, 0, 16], [0] * 5, [9, 0, 24, 0, 16]]
    yield Case("30", "stride_and_dilation", "ConvTranspose", [x, w], {"strides": [2, 2], "dilations": [2, 2]}, (1,),
               expected=[f32([[spread]])])
    yield Case("30", "groups", "ConvTranspose", [f32([1, 10]).reshape(1, 2, 1, 1), counting(2, 2, 1, 1, start=1)],
               {"group": 2}, (1,), expected=[f32([1, 2, 30, 40]).reshape(1, 4, 1, 1)])
    yield Case("30", "size", "ConvTranspose", [small(1, 1, 50), small(1, 1, 3)],
               {"strides": [2], "dilations": [3], "pads": [4, 4]}, (1,))
    for rank, stride, dilation, group, padding in itertools.product((1, 2, 3), (1, 2, 3), (1, 2), (1, 2), (0, 1)):
        if padding >= stride:
            continue
        yield Case("30", f"{rank}d_s{stride}d{dilation}g{group}o{padding}", "ConvTranspose",
                   [small(2, 4, *(4, 3, 2)[:rank]), small(4, 3, *(3, 2, 2)[:rank]), small(3 * group)],
                   {"strides": [stride] * rank, "dilations": [dilation] * rank, "group": group,
                    "output_padding": [padding] * rank, "pads": [1] + [0] * (2 * rank - 1)}, (1, 2))
    for kind in ("SAME_UPPER", "SAME_LOWER"):
        for stride in (2, 3):
            yield Case("30", f"{kind}_s{stride}", "ConvTranspose", [small(1, 2, 4, 5), small(2, 3, 3, 3)],
                       {"auto_pad": kind, "strides": [stride] * 2}, (1,))
    yield Case("30", "output_shape", "ConvTranspose", [small(1, 2, 4, 5), small(2, 3, 3, 3)],
               {"strides": [2, 2], "output_shape": [10, 11]}, (1,))
