# SPDX-License-Identifier: Apache-2.0
"""Functions of one element, arithmetic, comparisons, logic, selection, conversion."""
import numpy as np
import openvino as ov

from .case import Case, const, flags, integers, normal, text, uniform

o1 = ov.opset1
INF = np.inf

# name in Python, type in IR, opset, range of inputs
UNARY = [
    ("relu", "ReLU", 1, (-3, 3)), ("sigmoid", "Sigmoid", 1, (-9, 9)), ("tanh", "Tanh", 1, (-4, 4)),
    ("exp", "Exp", 1, (-5, 5)), ("log", "Log", 1, (0.01, 9)), ("sqrt", "Sqrt", 1, (0, 9)), ("abs", "Abs", 1, (-3, 3)),
    ("negative", "Negative", 1, (-3, 3)), ("sign", "Sign", 1, (-3, 3)), ("floor", "Floor", 1, (-9, 9)),
    ("ceiling", "Ceiling", 1, (-9, 9)), ("erf", "Erf", 1, (-3, 3)), ("sin", "Sin", 1, (-9, 9)),
    ("cos", "Cos", 1, (-9, 9)), ("tan", "Tan", 1, (-1.3, 1.3)), ("asin", "Asin", 1, (-1, 1)),
    ("acos", "Acos", 1, (-1, 1)), ("atan", "Atan", 1, (-9, 9)), ("sinh", "Sinh", 1, (-3, 3)),
    ("cosh", "Cosh", 1, (-3, 3)), ("asinh", "Asinh", 4, (-9, 9)), ("acosh", "Acosh", 4, (1, 9)),
    ("atanh", "Atanh", 4, (-0.98, 0.98)), ("softplus", "SoftPlus", 4, (-25, 25)), ("mish", "Mish", 4, (-9, 9)),
    ("hswish", "HSwish", 4, (-6, 6)), ("hsigmoid", "HSigmoid", 5, (-6, 6)), ("softsign", "SoftSign", 9, (-9, 9)),
]

# The largest arguments at which f32 implementations still agree within 1e-4; also the values where functions bend.
BENDS = np.array([-100, -6, -3, -1, -0.5, -0.0, 0.0, 0.5, 1, 3, 6, 100], np.float32)
BENT = {"ReLU", "Sigmoid", "Tanh", "Abs", "Negative", "Sign", "Floor", "Ceiling", "Erf", "Atan", "SoftPlus", "Mish",
        "HSwish", "HSigmoid", "SoftSign"}


def function_of(name, opset):
    return getattr(getattr(ov, f"opset{opset}"), name)


def unary_cases():
    for name, op, opset, (low, high) in UNARY:
        make = function_of(name, opset)
        for shape in ([2, 17, 5, 3], [7], [1, 3, 2, 3, 5]):
            yield Case(f"{op}_{text(shape)}", op, [uniform(low, high, *shape)], make)
        if op in BENT:
            yield Case(f"{op}_bends", op, [BENDS], make)
    for op, name in (("Abs", "abs"), ("Negative", "negative"), ("Sign", "sign"), ("ReLU", "relu")):
        yield Case(f"{op}_i32", op, [integers(-9, 9, 3, 7)], function_of(name, 1))


def parameterised_cases():
    x = uniform(-8, 8, 2, 5, 3, 4)
    halves = np.arange(-4.5, 5, 0.5, dtype=np.float32)
    yield Case("Round_even", "Round", [halves], lambda p: ov.opset5.round(p, "half_to_even"))
    yield Case("Round_away", "Round", [halves], lambda p: ov.opset5.round(p, "half_away_from_zero"))
    yield Case("Gelu2", "Gelu", [x], lambda p: ov.opset2.gelu(p))
    yield Case("Gelu7_erf", "Gelu", [x], lambda p: ov.opset7.gelu(p, "erf"))
    yield Case("Gelu7_tanh", "Gelu", [x], lambda p: ov.opset7.gelu(p, "tanh"))
    yield Case("Swish_plain", "Swish", [x], lambda p: ov.opset4.swish(p))
    yield Case("Swish_beta", "Swish", [x], lambda p: ov.opset4.swish(p, const(0.7)))
    yield Case("Elu_1", "Elu", [x], lambda p: o1.elu(p, 1.0))
    yield Case("Elu_half", "Elu", [x], lambda p: o1.elu(p, 0.5))
    yield Case("Selu", "Selu", [x], lambda p: o1.selu(p, const(1.67326), const(1.0507)))
    yield Case("Clamp_relu6", "Clamp", [x], lambda p: o1.clamp(p, 0.0, 6.0))
    yield Case("Clamp_negative", "Clamp", [x], lambda p: o1.clamp(p, -2.5, -0.5))
    yield Case("Clamp_i32", "Clamp", [integers(-9, 9, 3, 7)], lambda p: o1.clamp(p, -3.0, 4.0))
    yield Case("HardSigmoid", "HardSigmoid", [x], lambda p: o1.hard_sigmoid(p, const(0.2), const(0.5)))
    yield Case("HardSigmoid_steep", "HardSigmoid", [x], lambda p: o1.hard_sigmoid(p, const(1.5), const(-0.25)))
    yield Case("PReLU_scalar", "PReLU", [x], lambda p: o1.prelu(p, const([0.25])))
    yield Case("PReLU_channels", "PReLU", [x], lambda p: o1.prelu(p, const([0.1, 0.2, 0.3, 0.4, -0.5])))
    yield Case("PReLU_channels4d", "PReLU", [x],
               lambda p: o1.prelu(p, const(np.linspace(-1, 1, 5).reshape(1, 5, 1, 1))))
    yield Case("PReLU_case17", "PReLU", [-np.arange(1, 19, dtype=np.float32).reshape(1, 3, 2, 3)],
               lambda p: o1.prelu(p, const([0.5, 1.5, 2.5])))
    yield Case("PReLU_2d", "PReLU", [normal(4, 3)], lambda p: o1.prelu(p, const([0.5, 1.5, 2.5])))


ARITHMETIC = [("add", "Add"), ("subtract", "Subtract"), ("multiply", "Multiply"), ("divide", "Divide"),
              ("maximum", "Maximum"), ("minimum", "Minimum"), ("squared_difference", "SquaredDifference"),
              ("power", "Power"), ("mod", "Mod"), ("floor_mod", "FloorMod")]
COMPARISONS = [("equal", "Equal"), ("not_equal", "NotEqual"), ("greater", "Greater"),
               ("greater_equal", "GreaterEqual"), ("less", "Less"), ("less_equal", "LessEqual")]
LOGIC = [("logical_and", "LogicalAnd"), ("logical_or", "LogicalOr"), ("logical_xor", "LogicalXor")]
BROADCASTS = [([2, 3, 4, 5], [2, 3, 4, 5]), ([2, 3, 4, 5], [1, 3, 1, 1]), ([2, 1, 4, 1], [3, 1, 5]), ([3, 7], []),
              ([7], [2, 5, 1])]


def binary_cases():
    for name, op in ARITHMETIC:
        make = function_of(name, 1)
        for a, b in BROADCASTS:
            # Powers need positive bases; a quotient near a whole number would make Mod a coin toss.
            low, high = (0.3, 2.5) if op == "Power" else (-4, 4)
            second = uniform(0.6, 2.5, *b) if op in ("Power", "Divide", "Mod", "FloorMod") else uniform(low, high, *b)
            yield Case(f"{op}_{text(a)}_{text(b)}", op, [uniform(low, high, *a), second], make)
        if op not in ("Power", "SquaredDifference", "Divide"):
            second = integers(1, 7, 4, 5) if "Mod" in op else integers(-9, 9, 4, 5)
            yield Case(f"{op}_i32", op, [integers(-30, 30, 3, 4, 5), second], make)
    yield Case("Add_i64", "Add", [integers(-99, 99, 6, dtype=np.int64), integers(-9, 9, 6, dtype=np.int64)], o1.add)
    yield Case("Multiply_const", "Multiply", [normal(1, 9, 5, 5)],
               lambda p: o1.multiply(p, const(np.linspace(-1, 1, 9).reshape(1, 9, 1, 1))))
    yield Case("Add_pdpd", "Add", [normal(2, 3, 4, 5), normal(2, 3)],
               lambda p, q: o1.add(p, q, "PDPD"))
    # The specification's m_pythondiv rounds down; OpenVINO's CPU device rounds to zero.
    yield Case("Divide_i32_floor", "Divide", [integers(-30, 30, 20), np.array([3, -4] * 10, np.int32)], o1.divide,
               lambda p, q: [p // q])
    yield Case("Power_square", "Power", [normal(2, 7)], lambda p: o1.power(p, const(2.0)))
    yield Case("Power_half", "Power", [uniform(0.1, 4, 2, 7)], lambda p: o1.power(p, const(-0.5)))
    yield Case("Power_cube_negative", "Power", [normal(2, 7)], lambda p: o1.power(p, const(3.0)))


def boolean_cases():
    for name, op in COMPARISONS:
        make = function_of(name, 1)
        yield Case(f"{op}_f32", op, [np.array([1, 2, 3, -1, 0, -0.0], np.float32),
                                     np.array([1, 3, 2, -1, -0.0, 0], np.float32)], make)
        yield Case(f"{op}_i32_broadcast", op, [integers(0, 4, 2, 3, 1), integers(0, 4, 1, 5)], make)
    for name, op in LOGIC:
        yield Case(op, op, [flags(2, 3, 4), flags(3, 1)], function_of(name, 1))
    yield Case("LogicalNot", "LogicalNot", [flags(3, 7)], o1.logical_not)
    yield Case("Select_same", "Select", [flags(2, 3), normal(2, 3), normal(2, 3)], o1.select)
    yield Case("Select_broadcast", "Select", [flags(3, 1), normal(2, 1, 4), normal(3, 4)], o1.select)
    yield Case("Select_scalar", "Select", [flags(2, 5), normal(2, 5)], lambda c, p: o1.select(c, p, const(-1.0)))
    yield Case("Select_i64", "Select", [flags(4), integers(0, 9, 4, dtype=np.int64),
                                        integers(0, 9, 4, dtype=np.int64)], o1.select)


def convert_cases():
    x = np.array([-2.7, -0.5, 0.0, 0.4, 1.9, 100.2], np.float32)
    for target in ("i32", "i64", "i8", "boolean", "f16"):
        yield Case(f"Convert_f32_{target}", "Convert", [x], lambda p, t=target: o1.convert(p, t))
    yield Case("Convert_f32_u8", "Convert", [np.abs(x)], lambda p: o1.convert(p, "u8"))
    for dtype in (np.int32, np.int64, np.int8, np.uint8, np.float16, bool):
        source = np.array([0, 1, 2, 7, 100, 50], np.float32).astype(dtype)
        yield Case(f"Convert_{np.dtype(dtype).name}_f32", "Convert", [source], lambda p: o1.convert(p, "f32"))
    yield Case("Convert_i64_i32", "Convert", [np.array([-5, 0, 7], np.int64)], lambda p: o1.convert(p, "i32"))
    yield Case("ConvertLike", "ConvertLike", [x], lambda p: o1.convert_like(p, const([1], "int32")))


def special_value_cases():
    """NaN and infinities go through (cases/public-reports.md, R2, R3): hand values, since OpenVINO drops NaN."""
    x = np.array([np.nan, -1, 2, INF, -INF, 0], np.float32)
    yield Case("ReLU_nan", "ReLU", [x], o1.relu, lambda p: [np.where(p < 0, np.float32(0), p)])
    yield Case("Maximum_nan", "Maximum", [x], lambda p: o1.maximum(p, const([1.0])), lambda p: [np.maximum(p, 1)])
    yield Case("Minimum_nan", "Minimum", [x], lambda p: o1.minimum(const([1.0]), p), lambda p: [np.minimum(1, p)])
    yield Case("Clamp_nan", "Clamp", [x], lambda p: o1.clamp(p, -0.5, 1.5), lambda p: [np.clip(p, -0.5, 1.5)])
    yield Case("Add_nan", "Add", [x], lambda p: o1.add(p, const([INF])),
               lambda p: [np.array([np.nan, INF, INF, INF, np.nan, INF], np.float32)])
    yield Case("Abs_nan", "Abs", [x], o1.abs, lambda p: [np.abs(p)])
    yield Case("Sigmoid_infinite", "Sigmoid", [x], o1.sigmoid,
               lambda p: [np.array([np.nan, 1 / (1 + np.e), 1 / (1 + np.exp(-2.0)), 1, 0, 0.5], np.float32)])
    yield Case("Sqrt_negative", "Sqrt", [np.array([-1, 4, 0, INF, np.nan], np.float32)], o1.sqrt,
               lambda p: [np.array([np.nan, 2, 0, INF, np.nan], np.float32)])


CASES = [*unary_cases(), *parameterised_cases(), *binary_cases(), *boolean_cases(), *convert_cases(),
         *special_value_cases()]
