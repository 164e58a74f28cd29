# SPDX-License-Identifier: Apache-2.0
"""Cases of functions of elements, reductions and matrix products."""
import numpy
import tensorflow as tf

raw = tf.raw_ops

UNARY = {"Abs": (-2, 2), "Acos": (-0.9, 0.9), "Acosh": (1.1, 4), "Asin": (-0.9, 0.9), "Asinh": (-2, 2), "Atan": (-2, 2),
         "Atanh": (-0.9, 0.9), "Ceil": (-3, 3), "Cos": (-3, 3), "Cosh": (-2, 2), "Erf": (-2, 2), "Exp": (-3, 2),
         "Floor": (-3, 3), "Log": (0.1, 4), "Neg": (-2, 2), "Sigmoid": (-4, 4), "Sign": (-2, 2), "Sin": (-3, 3),
         "Sinh": (-2, 2), "Sqrt": (0, 4), "Tan": (-1.2, 1.2), "Tanh": (-3, 3), "Rsqrt": (0.1, 4), "Square": (-2, 2),
         "Reciprocal": (0.3, 3), "Inv": (0.3, 3), "Round": (-3, 3), "Rint": (-3, 3), "Log1p": (-0.8, 3),
         "Expm1": (-2, 2), "Erfc": (-2, 2)}
ACTIVATIONS = ["Relu", "Relu6", "Elu", "Selu", "Softplus", "Softsign"]
BINARY = ["Add", "AddV2", "Sub", "Mul", "RealDiv", "Div", "FloorDiv", "FloorMod", "Mod", "Maximum", "Minimum", "Pow",
          "SquaredDifference", "DivNoNan", "MulNoNan", "Xdivy", "Xlogy"]
INTEGERS = ["Add", "AddV2", "Sub", "Mul", "Div", "FloorDiv", "TruncateDiv", "FloorMod", "TruncateMod", "Maximum",
            "Minimum", "SquaredDifference"]
COMPARISONS = ["Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"]


def unary(c):
    for name, (low, high) in UNARY.items():
        c.add(f"unary/{name}", lambda x: getattr(raw, name)(x=x), c.floats(3, 7, low=low, high=high))
    for name in ACTIVATIONS:
        c.add(f"unary/{name}", lambda x: getattr(raw, name)(features=x), c.floats(2, 5, 3, low=-8, high=8))
    for name in ("Abs", "Neg", "Sign", "Square"):
        c.add(f"unary/int{name}", lambda x: getattr(raw, name)(x=x), c.ints(3, 5))
    c.add("unary/halves", lambda x: tf.round(x), numpy.arange(-2.5, 3, 0.5, dtype=numpy.float32))
    for alpha in (0.2, 0.01, 1.5):
        c.add(f"unary/leaky{alpha}", lambda x: tf.nn.leaky_relu(x, alpha), c.floats(3, 5))
        c.add(f"unary/raw_leaky{alpha}", lambda x: raw.LeakyRelu(features=x, alpha=alpha), c.floats(3, 5))
    odd = numpy.array([0, -0.0, 1, numpy.inf, -numpy.inf, numpy.nan], numpy.float32)
    for name in ("IsNan", "IsInf", "IsFinite"):
        c.add(f"unary/{name}", lambda x: getattr(raw, name)(x=x), odd)
    c.add("unary/LogicalNot", tf.logical_not, c.ints(3, 4, low=0, high=2).astype(bool))
    c.add("clip/floats", lambda x: tf.clip_by_value(x, -0.5, 0.7), c.floats(3, 5))
    c.add("clip/ints", lambda x: raw.ClipByValue(t=x, clip_value_min=-3, clip_value_max=4), c.ints(3, 5))
    c.add("clip/raw", lambda x: raw.ClipByValue(t=x, clip_value_min=-0.5, clip_value_max=0.75), c.floats(3, 5))
    c.add("unary/swish", lambda x: tf.nn.silu(x), c.floats(3, 5))
    c.add("unary/gelu", lambda x: tf.nn.gelu(x), c.floats(3, 5))
    c.add("unary/gelu_tanh", lambda x: tf.nn.gelu(x, approximate=True), c.floats(3, 5))
    c.add("unary/hard_swish", lambda x: x * tf.nn.relu6(x + 3) * numpy.float32(1 / 6), c.floats(3, 5, low=-5, high=5))


def binary(c):
    shapes = {"same": ((3, 4), (3, 4)), "row": ((2, 3, 4), (4,)), "outer": ((3, 1), (1, 4)), "scalar": ((2, 3), ()),
              "left": ((4,), (2, 3, 4))}
    for name in BINARY:
        low = 0.2 if name in ("Pow", "Xlogy") else -3
        for kind in ("same", "row", "outer") if name in ("Sub", "RealDiv", "FloorMod") else ("same",):
            a, b = shapes[kind]
            c.add(f"binary/{name}_{kind}", lambda x, y: getattr(raw, name)(x=x, y=y), c.floats(*a, low=low, high=3),
                  c.floats(*b, low=0.2, high=3) * (1 if low > 0 else numpy.float32(-1)), open_axes=())
    for kind, (a, b) in shapes.items():
        c.add(f"binary/broadcast_{kind}", lambda x, y: raw.Sub(x=x, y=y), c.floats(*a), c.floats(*b), open_axes=())
    for name in INTEGERS:
        divisor = c.ints(3, 4, low=1, high=6) * numpy.where(c.ints(3, 4) > 0, 1, -1).astype(numpy.int32)
        c.add(f"binary/int_{name}", lambda x, y: getattr(raw, name)(x=x, y=y), c.ints(3, 4), divisor)
    c.add("binary/int64_FloorDiv", lambda x: x // 3, c.ints(9, dtype=numpy.int64))
    for name in COMPARISONS:
        c.add(f"compare/{name}", lambda x, y: getattr(raw, name)(x=x, y=y), c.ints(4, 5, low=0, high=3),
              c.ints(5, low=0, high=3), open_axes=())
        c.add(f"compare/float{name}", lambda x: getattr(raw, name)(x=x, y=tf.constant(0.5)), c.floats(4, 5))
    flags = c.ints(4, 5, low=0, high=2).astype(bool)
    for name in ("LogicalAnd", "LogicalOr"):
        c.add(f"compare/{name}", lambda x, y: getattr(raw, name)(x=x, y=y), flags, flags[::-1].copy())
    for name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
        c.add(f"binary/{name}", lambda x, y: getattr(raw, name)(x=x, y=y), c.ints(6), c.ints(6))
    rows = numpy.array([True, False, True])
    c.add("select/rows", lambda k, x, y: raw.Select(condition=k, x=x, y=y), rows, c.floats(3, 4), c.floats(3, 4),
          open_axes=())
    c.add("select/scalar", lambda x, y: raw.Select(condition=tf.reduce_sum(x) > 0, x=x, y=y), c.floats(3, 4), c.floats(3, 4))
    c.add("select/v2", lambda k, x: raw.SelectV2(condition=k, t=x, e=tf.constant(2.0)), rows, c.floats(4, 3), open_axes=())
    c.add("select/where3", lambda x: tf.where(x > 0, x, -x), c.floats(3, 4))
    c.add("add_n", lambda x, y, z: tf.add_n([x, y, z]), c.floats(3, 4), c.floats(3, 4), c.floats(3, 4))


def reductions(c):
    for name in ("Mean", "Sum", "Max", "Min", "Prod", "EuclideanNorm"):
        for axes, keeps in (([0], False), ([1, 2], True), ([-1], False), ([0, 1, 2], False), ([2, 0], True)):
            c.add(f"reduce/{name}{axes}{'k' * keeps}", lambda x: getattr(raw, name)(input=x, axis=axes, keep_dims=keeps),
                  c.floats(2, 3, 4))
    c.add("reduce/scalar_axis", lambda x: raw.Sum(input=x, axis=1), c.floats(2, 3, 4))
    c.add("reduce/no_axes", lambda x: raw.Sum(input=x, axis=numpy.zeros([0], numpy.int32)), c.floats(2, 3))
    c.add("reduce/int_sum", lambda x: tf.reduce_sum(x, 1), c.ints(3, 4))
    c.add("reduce/int_mean", lambda x: tf.reduce_mean(x, 1), c.ints(3, 4))
    c.add("reduce/int_max", lambda x: tf.reduce_max(x), c.ints(3, 4))
    flags = c.ints(4, 3, low=0, high=2).astype(bool)
    for name in ("All", "Any"):
        for axes in ([0], [1], [0, 1]):
            c.add(f"reduce/{name}{axes}", lambda x: getattr(raw, name)(input=x, axis=axes), flags)


def products(c):
    for a in (False, True):
        for b in (False, True):
            left = c.floats(*((4, 3) if a else (3, 4)))
            right = c.floats(*((5, 4) if b else (4, 5)))
            c.add(f"matmul/{'a' * a}{'b' * b}plain", lambda x: raw.MatMul(a=x, b=tf.constant(right), transpose_a=a, transpose_b=b), left)
            deep = c.floats(2, *left.shape)
            wide = c.floats(2, *right.shape)
            c.add(f"batch_matmul/{'a' * a}{'b' * b}plain", lambda x, y: raw.BatchMatMul(x=x, y=y, adj_x=a, adj_y=b), deep, wide)
    c.add("batch_matmul/v2", lambda x: raw.BatchMatMulV2(x=x, y=tf.constant(c.floats(4, 5))), c.floats(2, 1, 3, 4))
    c.add("batch_matmul/v3", lambda x, y: raw.BatchMatMulV3(x=x, y=y, Tout=tf.float32), c.floats(2, 3, 4), c.floats(1, 4, 2),
          open_axes=())
    for equation, shapes in (("ij,jk->ik", ((3, 4), (4, 5))), ("abc,cd->abd", ((2, 3, 4), (4, 5))),
                             ("bthd,bshd->bhts", ((1, 3, 2, 4), (1, 5, 2, 4))), ("ij->ji", ((3, 4),)),
                             ("abc,cde->abde", ((2, 3, 4), (4, 2, 3)))):
        c.add(f"einsum/{equation.replace('->', '_')}", lambda *x: raw.Einsum(inputs=list(x), equation=equation),
              *[c.floats(*shape) for shape in shapes], open_axes=())


def add_all(c):
    for part in (unary, binary, reductions, products):
        part(c)
