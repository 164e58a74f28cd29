# SPDX-License-Identifier: Apache-2.0
"""The ONNX side of cases/public-reports.md: every report's own input with its right value, and its whole kind (other
axes, ranks, strides, types) with ONNX Runtime's answers."""
import dataclasses
import itertools

import numpy as np
from onnx import helper

from report_case import Case, counting, f32, i64, ones, small
from report_windows import transposed, windows

INF, NAN = np.float32(np.inf), np.float32(np.nan)


def products():
    """#28, R11: Gemm and MatMul."""
    b, c = counting(3, 2, start=1), f32([10, 20])
    yield Case("28", "alpha_beta", "Gemm", [f32([[1, 2, 3]]), b, c], {"alpha": .5, "beta": 2.}, (1, 2),
               expected=[f32([[31, 54]])])
    yield Case("28", "column", "Gemm", [counting(2, 3, start=1), b, f32([[10], [20]])], {}, (1, 2),
               expected=[f32([[32, 38], [69, 84]])])
    for ta, tb, n in itertools.product((0, 1), (0, 1), (1, 2, 3, 5)):
        a, w = small(3, 2) if ta else small(2, 3), small(n, 3, seed=2) if tb else small(3, n, seed=2)
        for label, bias in (("none", None), ("scalar", f32(3)), ("one", f32([3])), ("row", small(n)), ("row2", small(1, n)),
                            ("column", small(2, 1)), ("full", small(2, n))):
            inputs = [a, w] + ([] if bias is None else [bias])
            yield Case("28", f"a{ta}b{tb}n{n}_{label}", "Gemm", inputs, {"transA": ta, "transB": tb, "beta": .5},
                       (1, 2)[:len(inputs) - 1])
    yield Case("28", "in_the_run", "Gemm", [small(2, 3), small(3, 5), small(5)], {"alpha": 2.})
    yield Case("R11", "vector_by_matrix", "MatMul", [f32([1, 2, 3]), f32([[1], [2], [3]])], expected=[f32([14])])
    for a, w in (((3,), (3,)), ((2, 3), (3,)), ((1, 1, 4, 5), (3, 5, 2)), ((3, 4, 5), (5, 2)), ((2, 1, 4, 5), (3, 5, 1)),
                 ((5,), (3, 5, 2)), ((3, 4, 5), (5,)), ((0, 3), (3, 2)), ((2, 0), (0, 3))):
        for weights in ((), (1,)):
            label = "x".join(map(str, a)) + "_" + "x".join(map(str, w))
            yield Case("R11", f"{label}_{len(weights)}", "MatMul", [small(*a), small(*w, seed=2)], {}, weights)


def per_channel():
    """#17, #37, R5: slopes, batch statistics, local response."""
    x = -counting(1, 3, 2, 3, start=1)
    yield Case("17", "last_axis", "PRelu", [x, f32([.5, 1.5, 2.5])], {}, (1,), expected=[x * f32([.5, 1.5, 2.5])])
    for shape in ((3, 1, 1), (1,), (), (1, 3, 1, 1), (2, 3), (1, 1, 1, 3), (1, 3, 2, 3)):
        for weights in ((), (1,)):
            yield Case("17", "slope_" + "x".join(map(str, shape)) + f"_{len(weights)}", "PRelu",
                       [x, small(*shape) * f32(.5)], {}, weights)
    for shape in ((4,), (2, 4), (2, 4, 4)):  # the length equals both the channels and the last axis
        yield Case("17", f"rank{len(shape)}", "PRelu", [small(*shape), f32([1, 2, 3, 4])], {}, (1,))
    x, one = f32([1, 3]).reshape(2, 1, 1, 1), [f32([1]), f32([0]), f32([0]), f32([1])]
    yield Case("37", "inference", "BatchNormalization", [x, *one], {"epsilon": 0.}, (1, 2, 3, 4), expected=[x])
    yield Case("37", "training", "BatchNormalization", [x, *one], {"epsilon": 0., "training_mode": 1, "momentum": .9},
               (1, 2, 3, 4), outputs=3, expected=[f32([-1, 1]).reshape(2, 1, 1, 1), f32([.2]), f32([1])])
    yield Case("37", "training_channels", "BatchNormalization", [small(3, 4, 2, 5), *(small(4, seed=s) for s in range(3)),
                                                                 ones(4)], {"training_mode": 1}, (1, 2, 3, 4), outputs=3)
    for size, alpha, right in ((3, 3., [.166667, .133333, .214286]),):
        yield Case("R5", f"size{size}", "LRN", [f32([1, 2, 3]).reshape(1, 3, 1, 1)],
                   {"size": size, "alpha": alpha, "beta": 1., "bias": 1.}, expected=[f32(right).reshape(1, 3, 1, 1)])
    yield Case("R5", "even", "LRN", [ones(1, 3, 1, 1)], {"size": 2, "alpha": 2., "beta": 1.}, error="even")
    for size in (1, 3, 5, 7):
        yield Case("R5", f"channels_{size}", "LRN", [small(2, 4, 3, 2)], {"size": size, "alpha": .5, "beta": .75, "bias": 2.})


def specials():
    """R2, R3, #14: what is no number, what is very large, sums of halves."""
    for values, right in (([1000, 1000, -1000], [.5, .5, 0]), ([-INF, -INF], [NAN, NAN])):
        yield Case("R2", f"softmax{len(values)}", "Softmax", [f32([values])], expected=[f32([right])])
    yield Case("R2", "half", "Softmax", [np.float16([8, 18, 28, 38, 48])], tolerance=1e-3)
    for axis, opset in itertools.product((-1, 0, 1, 2, 3), (11, 13)):
        for op in ("Softmax", "LogSoftmax", "Hardmax"):
            yield Case("A", f"{op}_{opset}_axis{axis}", op, [small(2, 3, 4, 5) * f32(300)], {"axis": axis}, opset=opset)
    for opset in (11, 13):
        yield Case("A", f"softmax_default_{opset}", "Softmax", [small(2, 3, 4)], opset=opset)
    values = f32([NAN, -1, 2, INF, -INF])
    yield Case("R3", "Relu", "Relu", [values], expected=[f32([NAN, 0, 2, INF, 0])])
    for op in ("Max", "Min"):
        for label, pair in (("left", [NAN, 1]), ("right", [1, NAN])):
            yield Case("R3", f"{op}_{label}", op, [f32([v] * 19) for v in pair], expected=[f32([NAN] * 19)])
        yield Case("R3", f"{op}_three", op, [f32([1, NAN]), f32([2, 2]), f32([NAN, 3])], expected=[f32([NAN, NAN])])
        yield Case("R3", f"Reduce{op}", "Reduce" + op, [f32([[1, NAN, 2], [1, 5, 2]])], {"axes": [1], "keepdims": 0},
                   expected=[f32([NAN, 5 if op == "Max" else 1])])
    for op in ("LeakyRelu", "Clip", "Abs", "Sigmoid", "Tanh", "Elu", "HardSwish", "Sqrt", "Sign", "Floor", "Softplus"):
        yield Case("R3", op, op, [f32([NAN, 1, 2])],
                   expected=None if op != "Sign" else [f32([NAN, 1, 1])])
    yield Case("R3", "MaxPool", "MaxPool", [f32([[[NAN, 1, 2, 3]]])], {"kernel_shape": [2]}, expected=[f32([[[NAN, 2, 3]]])])
    half = lambda v: np.full((1, 1, 64, 64) if v == 1 else (1, 1, 256, 256), v, np.float16)  # noqa: E731
    for v in (1, 2):
        for op, attributes in (("GlobalAveragePool", {}), ("ReduceMean", {"axes": [2, 3]})):
            yield Case("14", f"{op}_{v}", op, [half(v)], attributes, expected=[np.full((1, 1, 1, 1), v, np.float16)])
    yield Case("14", "conv", "Conv", [np.ones((1, 4096, 1, 1), np.float16)] * 2, {}, (1,),
               expected=[np.full((1, 1, 1, 1), 4096, np.float16)])
    yield Case("14", "matmul", "MatMul", [np.ones((1, 4096), np.float16), np.ones((4096, 1), np.float16)], {}, (1,),
               expected=[np.full((1, 1), 4096, np.float16)])
    yield Case("14", "gemm", "Gemm", [np.ones((1, 4096), np.float16), np.ones((4096, 1), np.float16)], {}, (1,),
               expected=[np.full((1, 1), 4096, np.float16)])
    yield Case("14", "sum", "ReduceSum", [np.full((4096,), .5, np.float16)], {"keepdims": 0},
               expected=[np.array(2048, np.float16)])
    for op in ("ReduceL2", "ReduceSumSquare", "ReduceL1", "ReduceLogSumExp"):
        yield Case("14", op, op, [ones(1, 4096)], {"axes": [1]})


def shapes():
    """#44, R8, R10, section A: Reshape, empty tensors, indices, slices, pads."""
    yield Case("44", "zero_and_minus", "Reshape", [counting(2, 3, 4), i64(0, -1)], {}, (1,))
    yield Case("44", "cannot_infer", "Reshape", [ones(1, 0), i64(-1, 0)], {}, (1,), error="infer")
    yield Case("44", "allowzero", "Reshape", [ones(0, 3), i64(3, 0)], {"allowzero": 1}, (1,))
    yield Case("44", "allowzero_and_minus", "Reshape", [ones(0, 3), i64(0, -1)], {"allowzero": 1}, (1,), error="infer")
    yield Case("44", "to_scalar", "Reshape", [ones(1, 1), np.zeros(0, np.int64)], {}, (1,))
    for op in ("Relu", "Sigmoid", "Neg", "Exp", "Abs"):
        for shape in ((0, 3), (3, 0), (2, 0, 4), (0,)):
            yield Case("44", f"{op}_{'x'.join(map(str, shape))}", op, [ones(*shape)])
    for axis in (0, 1, 2, 3, -1, -3):
        yield Case("44", f"flatten_{axis}", "Flatten", [counting(2, 3, 4)], {"axis": axis})
    yield Case("44", "flatten_scalar", "Flatten", [f32(5)], {"axis": 0})
    scalars = [helper.make_node("Unsqueeze", [f"in{i}", "in2"], [f"u{i}"]) for i in (0, 1)]
    joined = [helper.make_node("Concat", ["u0", "u1"], ["out0"], axis=0)]
    for weights in ((2,), (0, 1, 2)):
        yield Case("44", f"scalars_{len(weights)}", "", [f32(3), f32(4), i64(0)], nodes=scalars + joined, weights=weights,
                   expected=[f32([3, 4])])
    yield Case("44", "concat_empty", "Concat", [ones(2, 0), ones(2, 3), ones(2, 0)], {"axis": 1})
    for op in ("ReduceSum", "ReduceProd"):
        yield Case("44", f"{op}_of_nothing", op, [ones(2, 0), i64(1)] if op == "ReduceSum" else [ones(2, 0)],
                   {"keepdims": 0} | ({} if op == "ReduceSum" else {"axes": [1]}), (1,) if op == "ReduceSum" else ())
    x = counting(12)
    for axis, rank in ((0, 1), (0, 2), (1, 2), (-1, 3)):
        data = x.reshape({1: (12,), 2: (3, 4), 3: (2, 2, 3)}[rank])
        last = data.shape[axis] - 1
        for label, index in (("minus", i64(-1)), ("last", i64(last)), ("both", i64(0, -1, -last - 1)), ("scalar", np.int64(-1))):
            for weights in ((), (1,)):
                yield Case("R8", f"{label}_{rank}d_axis{axis}_{len(weights)}", "Gather", [data, index], {"axis": axis}, weights)
        for value in (last + 1, -last - 2, 2**62):
            yield Case("R8", f"outside_{rank}d_axis{axis}_{value}", "Gather", [data, i64(value)], {"axis": axis}, (1,),
                       error=str(value))
    for op, index in (("GatherElements", i64(0, 12)), ("GatherND", i64(12).reshape(1, 1))):
        yield Case("R8", f"outside_{op}", op, [x, index], {}, (1,), error="12")
    for size, parts in ((10, 3), (7, 2), (9, 3)):
        for axis in (0, 1, -1):
            shape = [2, 2, 2]
            shape[axis] = size
            yield Case("R10", f"{size}_in_{parts}_axis{axis}", "Split", [counting(*shape)],
                       {"axis": axis, "num_outputs": parts}, opset=18, outputs=parts)
    yield Case("R10", "5_in_4", "Split", [counting(5)], {"num_outputs": 4}, opset=18, outputs=4, error="axis of size 5")
    most, least = 2**63 - 1, -2**63
    for start, end, step in ((-1, most, -1), (-1, least, -1), (0, most, 1), (-3, most, 2), (100, least, -3), (5, 2, -1),
                             (2, 5, -1), (-100, 100, 4)):
        yield Case("A", f"slice_{start}_{end}_{step}", "Slice", [x, i64(start), i64(end), i64(0), i64(step)], {}, (1, 2, 3, 4),
                   expected=[x[::-1]] if (start, end, step) == (-1, least, -1) else None)
    for mode, pads in itertools.product(("constant", "edge", "reflect"), ([0, 1, 1, 0], [1, 2, 0, 1])):
        yield Case("A", f"pad_{mode}_{pads[1]}", "Pad", [counting(3, 4), i64(*pads)], {"mode": mode}, (1,))
    for pads in ([-1, 0, 0, -2], [-1, 2, 1, -1], [0, -1, 0, -1]):
        yield Case("A", f"pad_{pads}".replace(" ", ""), "Pad", [counting(3, 4), i64(*pads)], {}, (1,))
    for mode, target in itertools.product(("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"), (6, 50, 7)):
        yield Case("A", f"resize_{mode}_{target}", "Resize", [counting(1, 1, 20), None, None, i64(1, 1, target)],
                   {"mode": "nearest", "nearest_mode": mode, "coordinate_transformation_mode": "half_pixel"}, (3,))


def defaults():
    """R20: Dropout, attributes that are left out."""
    x = f32([[-100, -1, 0, 1]])
    for opset, inputs in ((11, [x]), (12, [x, f32(.5)]), (17, [x])):
        yield Case("R20", f"dropout_{opset}", "Dropout", inputs, {}, (1,)[:len(inputs) - 1], opset=opset, outputs=2,
                   expected=[x, np.ones_like(x, bool)])
    for op in ("LeakyRelu", "HardSigmoid", "Elu", "Selu", "ThresholdedRelu", "Celu", "HardSwish", "Softsign"):
        yield Case("R20", op, op, [x])
    yield Case("R20", "lrn", "LRN", [small(1, 5, 2, 2)], {"size": 3})
    yield Case("R20", "batch_norm", "BatchNormalization", [small(1, 2, 3), ones(2), ones(2), ones(2), ones(2)], {}, (1, 2, 3, 4))
    yield Case("R20", "max_pool", "MaxPool", [small(1, 2, 5, 5)], {"kernel_shape": [2, 2]})
    yield Case("R20", "softmax", "Softmax", [small(2, 3, 4)])
    yield Case("R20", "instance_norm", "InstanceNormalization", [small(1, 2, 3), ones(2), ones(2)], {}, (1, 2))
    yield Case("R20", "arg_max", "ArgMax", [small(3, 4)])
    yield Case("R20", "reduce_mean", "ReduceMean", [small(3, 4)])
    yield Case("R20", "transpose", "Transpose", [small(2, 3, 4)])
    yield Case("R20", "squeeze", "Squeeze", [small(1, 3, 1)])
    yield Case("R20", "clip", "Clip", [x])
    yield Case("R20", "top_k", "TopK", [counting(2, 4), i64(2)], {}, (1,), outputs=2)


def types():
    """The same meanings in types that are only stored."""
    for kind in (np.float64, np.float16):
        x = small(1, 3, 5, 6).astype(kind)
        pads = {"pads": [1, 0, 0, 2]}
        for name, op, inputs, attributes in (("conv", "Conv", [x, small(4, 3, 3, 3).astype(kind)], pads),
                                             ("pool", "MaxPool", [x], {**pads, "kernel_shape": [2, 3]}),
                                             ("mean", "AveragePool", [x], {**pads, "kernel_shape": [2, 3]}),
                                             ("gemm", "Gemm", [x[0, 0], x[0, 0], kind(1)], {"transB": 1}),
                                             ("prelu", "PRelu", [x, kind([1, 2, 3, 4, 5, 6])], {}),
                                             ("max", "Max", [kind([np.nan, 1]), kind([1, np.nan])], {}),
                                             ("relu", "Relu", [kind([np.nan, -1, 2])], {}),
                                             ("softmax", "Softmax", [kind([[1000, 1000, -1000]])], {}),
                                             ("gather", "Gather", [x, i64(-1, 0)], {"axis": 3}),
                                             ("slice", "Slice", [x, i64(-1), i64(-2**63), i64(3), i64(-1)], {}),
                                             ("empty", "Relu", [np.ones((0, 3), kind)], {})):
            case = Case("types", f"{name}_{np.dtype(kind).name}", op, inputs, attributes, tuple(range(1, len(inputs))),
                        tolerance=1e-3)
            yield case
    for kind in (np.uint8, np.int8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64):
        data = np.arange(12).astype(kind).reshape(3, 4)
        for name, op, inputs, attributes in (("gather", "Gather", [data, i64(-1, 0)], {"axis": 1}),
                                             ("slice", "Slice", [data, i64(-1), i64(-2**63), i64(1), i64(-1)], {}),
                                             ("concat", "Concat", [data, data], {"axis": -1}),
                                             ("pad", "Pad", [data, i64(0, -1, 1, 2)], {}),
                                             ("transpose", "Transpose", [data], {}),
                                             ("empty", "Concat", [np.ones((3, 0), kind), data], {"axis": 1}),
                                             ("max", "Max", [data, data[::-1].copy()], {}),
                                             ("split", "Split", [data], {"axis": 1, "num_outputs": 3})):
            outputs = 3 if op == "Split" else 1
            weights = tuple(range(1, len(inputs))) if op in ("Gather", "Slice", "Pad") else ()
            yield Case("types", f"{name}_{np.dtype(kind).name}", op, inputs, attributes, weights, 18, outputs)


def in_the_run(case):
    """The same node with its integer constants computed in the run: in1 + 0 and so on."""
    nodes = [helper.make_node("Add", [f"in{i}", f"in{len(case.inputs)}"], [f"sum{i}"]) for i in case.weights]
    names = ["" if v is None else f"sum{i}" if i in case.weights else f"in{i}" for i, v in enumerate(case.inputs)]
    outs = [f"out{i}" for i in range(case.outputs)]
    nodes.append(helper.make_node(case.op, names, outs, name="node", **case.attributes))
    return dataclasses.replace(case, name=case.name + "_run", nodes=nodes, weights=(), inputs=[*case.inputs, i64(0)])


def value_dependent():
    """Shapes that hang on values: every case of `shapes` whose constants are integers, with numbers of the run. No kernel
    can fail on an index while it runs: PoclRequestTest.IndicesOutOfRangeReadNothing has what it gives."""
    for case in shapes():
        if case.error and case.op.startswith("Gather"):
            continue
        if case.weights and not case.nodes and all(case.inputs[i].dtype == np.int64 for i in case.weights):
            yield in_the_run(case)


def all_cases():
    for group in (windows, transposed, products, per_channel, specials, shapes, defaults, types, value_dependent):
        yield from group()
