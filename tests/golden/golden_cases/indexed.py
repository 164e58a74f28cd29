# SPDX-License-Identifier: Apache-2.0
"""Operators that read or write where indices say, and others that only rearrange or code elements."""
import numpy as np
import openvino as ov

from .case import Case, const, integers, node, normal, text, uniform
from .movement import i64


def scatter_cases():
    for axis, shape, picks in ((0, (5, 3), (2,)), (1, (2, 6, 3), (2, 2)), (-1, (2, 7), (3,)), (2, (1, 2, 5, 4), (1,))):
        place = axis % len(shape)
        updates = shape[:place] + picks + shape[place + 1:]
        values = np.random.default_rng(axis + 7).permutation(shape[place])[:int(np.prod(picks))].reshape(picks)
        yield Case(f"ScatterUpdate_{text(shape)}_axis{axis}", "ScatterUpdate", [normal(*shape), normal(*updates)],
                   lambda d, u, values=values, axis=axis: node(3, "ScatterUpdate", [d, i64(values), u, i64(axis)]))
    yield Case("ScatterUpdate_i32_computed", "ScatterUpdate",
               [integers(0, 9, 4, 3), integers(0, 4, 1), integers(0, 9, 1, 3)],
               lambda d, i, u: node(3, "ScatterUpdate", [d, i, u, i64(0)]))
    for axis, shape, picked in ((0, (4, 3), (2, 3)), (1, (3, 6), (3, 4)), (-1, (2, 2, 5), (2, 1, 3))):
        place = axis % len(shape)
        order = np.random.default_rng(axis + 9).permuted(np.broadcast_to(np.arange(shape[place]), (99, shape[place])), axis=1)
        rows = np.moveaxis(np.zeros(picked, np.int64), place, -1)
        for i, index in enumerate(np.ndindex(rows.shape[:-1])):
            rows[index] = order[i][:rows.shape[-1]]
        index = np.moveaxis(rows, -1, place)
        yield Case(f"ScatterElementsUpdate_{text(shape)}_axis{axis}", "ScatterElementsUpdate",
                   [normal(*shape), normal(*picked)],
                   lambda d, u, index=index, axis=axis: node(3, "ScatterElementsUpdate", [d, i64(index), u, i64(axis)]))
    repeated = [[0, 1, 1, 1], [2, 2, 0, -1], [1, 1, 1, 1]]
    for reduction in ("sum", "prod", "min", "max", "mean"):
        for init in (True, False):
            for dtype in (np.float32, np.int32):
                source = normal if dtype == np.float32 else lambda *s: integers(-9, 9, *s)
                yield Case(f"ScatterElementsUpdate_{reduction}_init{init}_{np.dtype(dtype).name}",
                           "ScatterElementsUpdate", [source(3, 4), source(3, 4)],
                           lambda d, u, r=reduction, init=init: node(
                               12, "ScatterElementsUpdate", [d, i64(repeated), u, i64(1)], reduction=r,
                               use_init_val=init))
    for shape, index in (((4, 3, 2), [[1], [3]]), ((4, 3, 2), [[0, 1], [3, 2], [1, 0]]), ((5,), [[[4], [0]]]),
                         ((2, 3), [[0, 0], [1, 2]])):
        rows = np.array(index)
        updates = rows.shape[:-1] + shape[rows.shape[-1]:]
        for opset in (4, 15):
            yield Case(f"ScatterNDUpdate{opset}_{text(shape)}_{text(rows.shape)}", "ScatterNDUpdate",
                       [normal(*shape), normal(*updates)],
                       lambda d, u, index=index, opset=opset: node(opset, "ScatterNDUpdate", [d, i64(index), u]))
    for reduction in ("sum", "sub", "prod", "min", "max"):
        yield Case(f"ScatterNDUpdate_{reduction}", "ScatterNDUpdate", [normal(4, 2), normal(4, 2)],
                   lambda d, u, r=reduction: node(15, "ScatterNDUpdate", [d, i64([[1], [3], [1], [0]]), u],
                                                  reduction=r))
    yield Case("ScatterNDUpdate_sum_i64", "ScatterNDUpdate",
               [integers(-9, 9, 5, dtype=np.int64), integers(-9, 9, 3, dtype=np.int64)],
               lambda d, u: node(15, "ScatterNDUpdate", [d, i64([[1], [4], [1]]), u], reduction="sum"))


def gather_cases():
    for axis, shape, picked in ((0, (4, 3), (6, 3)), (1, (2, 5, 3), (2, 2, 3)), (-1, (3, 4), (3, 7)), (0, (7,), (3,))):
        yield Case(f"GatherElements_{text(shape)}_axis{axis}", "GatherElements",
                   [normal(*shape), integers(0, shape[axis], *picked)],
                   lambda d, i, axis=axis: node(6, "GatherElements", [d, i], axis=axis))
    yield Case("GatherElements_negative", "GatherElements", [integers(0, 99, 3, 4)],
               lambda d: node(6, "GatherElements", [d, i64([[-1, 0, -4, 2]] * 3)], axis=1))
    for opset in (5, 8):
        for batch, shape, picked in ((0, (4, 3, 2), (5, 2)), (0, (4, 3), (2, 3, 1)), (1, (2, 4, 3), (2, 5, 1)),
                                     (2, (2, 3, 4, 5), (2, 3, 2, 1)), (1, (3, 4), (3, 1)), (2, (2, 2, 4), (2, 2, 1))):
            depth = picked[-1]
            most = min(shape[batch:batch + depth])
            yield Case(f"GatherND{opset}_{text(shape)}_{text(picked)}_batch{batch}", "GatherND",
                       [normal(*shape), integers(0, most, *picked)],
                       lambda d, i, b=batch, opset=opset: node(opset, "GatherND", [d, i], batch_dims=b))


def axis_cases():
    for axis in (0, 1, -1):
        for exclusive in (False, True):
            for reverse in (False, True):
                yield Case(f"CumSum_axis{axis}_{exclusive}_{reverse}", "CumSum", [normal(3, 4, 5)],
                           lambda p, a=axis, e=exclusive, r=reverse: node(3, "CumSum", [p, i64(a)], exclusive=e,
                                                                          reverse=r))
    yield Case("CumSum_i32_default", "CumSum", [integers(-9, 9, 6, 2)], lambda p: node(3, "CumSum", [p, i64(0)]))
    for shift, axes, shape in (([2], [0], (5, 3)), ([-1, 3], [0, 1], (4, 5)), ([1, 2], [-1, -1], (2, 7)),
                               ([100], [1], (2, 3, 4)), ([3, 1], [0, 2], (2, 3, 4))):
        yield Case(f"Roll_{text(shape)}_{text(shift)}_{text(axes)}", "Roll", [normal(*shape)],
                   lambda p, s=shift, a=axes: node(7, "Roll", [p, i64(s), i64(a)]))
    for batch, seq, shape, lengths in ((0, 1, (3, 5, 2), [5, 1, 3]), (1, 0, (4, 2), [2, 4]), (2, 1, (2, 6, 3), [1, 6, 2]),
                                       (0, -1, (2, 3, 4), [2, 3])):
        yield Case(f"ReverseSequence_{text(shape)}_{batch}_{seq}", "ReverseSequence", [normal(*shape)],
                   lambda p, b=batch, s=seq, n=lengths: node(1, "ReverseSequence", [p, const(n, np.int32)], batch_axis=b,
                                                             seq_axis=s))
    for right in (False, True):
        for kind in ("i32", "i64"):
            yield Case(f"Bucketize_{right}_{kind}", "Bucketize", [integers(0, 8, 4, 6)],
                       lambda p, r=right, k=kind: node(3, "Bucketize", [p, const([1, 3, 3, 6], np.int32)],
                                                       output_type=k, with_right_bound=r))
        yield Case(f"Bucketize_{right}_f32", "Bucketize", [uniform(-2, 2, 20)],
                   lambda p, r=right: node(3, "Bucketize", [p, const([-1, 0, 0.5])], output_type="i64",
                                                  with_right_bound=r))
        yield Case(f"SearchSorted_{right}", "SearchSorted", [integers(0, 9, 2, 5)],
                   lambda p, r=right: node(15, "SearchSorted", [const([[1, 3, 5], [0, 4, 8]], np.int32), p],
                                           right_mode=r))
        yield Case(f"SearchSorted_one_list_{right}", "SearchSorted", [uniform(-1, 4, 3, 4)],
                   lambda p, r=right: node(15, "SearchSorted", [const([0, 1, 1, 2, 3]), p], right_mode=r))


def block_cases():
    for shape, block, begin, end in (((4, 3, 2, 2), [1, 1, 2, 2], [0, 0, 0, 0], [0, 0, 0, 0]),
                                     ((12, 2, 3), [1, 2, 3], [0, 1, 2], [0, 0, 1]),
                                     ((8, 1, 2, 3), [1, 1, 4, 2], [0, 0, 1, 0], [0, 0, 2, 3]),
                                     ((6, 5), [1, 3], [0, 2], [0, 1])):
        yield Case(f"BatchToSpace_{text(shape)}_{text(block)}", "BatchToSpace", [normal(*shape)],
                   lambda p, b=block, s=begin, e=end: node(2, "BatchToSpace", [p, i64(b), i64(s), i64(e)]))
    for shape, block, begin, end in (((1, 3, 4, 4), [1, 1, 2, 2], [0, 0, 0, 0], [0, 0, 0, 0]),
                                     ((2, 1, 3, 5), [1, 1, 2, 3], [0, 0, 1, 0], [0, 0, 0, 1]),
                                     ((2, 3, 4), [1, 3, 2], [0, 0, 1], [0, 3, 1]), ((3, 5), [1, 4], [0, 2], [0, 1])):
        yield Case(f"SpaceToBatch_{text(shape)}_{text(block)}", "SpaceToBatch", [normal(*shape)],
                   lambda p, b=block, s=begin, e=end: node(2, "SpaceToBatch", [p, i64(b), i64(s), i64(e)]))


def bit_cases():
    for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
        for dtype in (np.int32, np.uint8, bool):
            draw = [integers(0, 2 if dtype == bool else 99, *shape, dtype=dtype) for shape in ((3, 4), (4,))]
            yield Case(f"{op}_{np.dtype(dtype).name}", op, draw, lambda a, b, op=op: node(13, op, [a, b]))
    for dtype in (np.int32, np.uint8, bool):
        yield Case(f"BitwiseNot_{np.dtype(dtype).name}", "BitwiseNot", [integers(0, 2, 7, dtype=dtype)],
                   lambda a: node(13, "BitwiseNot", [a]))
    for op in ("BitwiseLeftShift", "BitwiseRightShift"):
        for dtype in (np.int32, np.uint8):
            yield Case(f"{op}_{np.dtype(dtype).name}", op, [integers(0, 99, 3, 4, dtype=dtype), integers(0, 5, 4, dtype=dtype)],
                       lambda a, b, op=op: node(15, op, [a, b]))


def made_cases():
    for name, rows, columns, diagonal, batch, kind in (("square", 3, 3, 0, None, "f32"), ("wide", 2, 5, 1, None, "i32"),
                                                       ("low", 4, 3, -2, [2], "f32"), ("far", 3, 3, 9, [2, 1], "i64")):
        extra = [i64(batch)] if batch else []
        yield Case("Eye_" + name, "Eye", [normal(1)],
                   lambda p, r=rows, c=columns, d=diagonal, e=extra, k=kind: [
                       node(9, "Eye", [const(r, np.int32), const(c, np.int32), const(d, np.int32), *e],
                            output_type=k).output(0), ov.opset1.relu(p).output(0)])
    equations = (("ij,jk->ik", (3, 4), (4, 5)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)), ("ij->ji", (3, 4)),
                 ("ij->", (3, 4)), ("ii->i", (4, 4)), ("i,j->ij", (3,), (4,)), ("bhid,bhjd->bhij", (1, 2, 3, 4), (1, 2, 5, 4)),
                 ("...ij,...jk->...ik", (2, 3, 4), (1, 4, 2)), ("ab,cd", (2, 3), (3, 2)), ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
                 ("abc,abd->cd", (2, 3, 4), (2, 3, 5)))
    for equation, *shapes in equations:
        name = "".join(c if c.isalpha() else {",": "_", ">": "_to_", ".": "n"}.get(c, "") for c in equation)
        yield Case(f"Einsum_{name}", "Einsum", [normal(*s) for s in shapes],
                   lambda *p, e=equation: node(7, "Einsum", list(p), equation=e))
    for mode in ("bilinear", "bicubic", "nearest"):
        for padding in ("zeros", "border", "reflection"):
            for corners in (False, True):
                yield Case(f"GridSample_{mode}_{padding}_{corners}", "GridSample",
                           [normal(2, 3, 5, 4), uniform(-1.7, 1.7, 2, 3, 6, 2)],
                           lambda d, g, m=mode, q=padding, c=corners: node(9, "GridSample", [d, g], mode=m,
                                                                           padding_mode=q, align_corners=c))


CASES = [*scatter_cases(), *gather_cases(), *axis_cases(), *block_cases(), *bit_cases(), *made_cases()]
