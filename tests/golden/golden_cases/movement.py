# SPDX-License-Identifier: Apache-2.0
"""Operators that move elements, compute shapes or make constants."""
import numpy as np
import openvino as ov

from .case import Case, const, integers, node, normal, text

o1, o8 = ov.opset1, ov.opset8


def i64(values):
    return const(values, "int64")


def concat_cases():
    yield Case("Concat_channels", "Concat", [normal(1, 16, 5, 4), normal(1, 3, 5, 4)], lambda *p: o1.concat(p, 1))
    yield Case("Concat_aligned", "Concat", [normal(1, 32, 7, 7), normal(1, 64, 7, 7)], lambda *p: o1.concat(p, 1))
    yield Case("Concat_batch", "Concat", [normal(2, 3, 4), normal(1, 3, 4)], lambda *p: o1.concat(p, 0))
    yield Case("Concat_negative", "Concat", [normal(2, 3, 4), normal(2, 3, 1), normal(2, 3, 2)],
               lambda *p: o1.concat(p, -1))
    yield Case("Concat_1d_i64", "Concat", [integers(0, 9, 2, dtype=np.int64), integers(0, 9, 3, dtype=np.int64)],
               lambda *p: o1.concat(p, 0))
    yield Case("Concat_with_const", "Concat", [normal(2, 3)], lambda p: o1.concat([p, const(np.ones((2, 2)))], 1))
    yield Case("Concat_same_twice", "Concat", [normal(1, 3, 2, 2)], lambda p: o1.concat([p, p], 1))


def split_cases():
    yield Case("Split_channels", "Split", [normal(1, 12, 5, 4)], lambda p: o1.split(p, i64(1), 3))
    yield Case("Split_last_negative", "Split", [normal(2, 3, 8)], lambda p: o1.split(p, i64(-1), 2))
    yield Case("Split_batch", "Split", [normal(4, 3)], lambda p: o1.split(p, i64(0), 4))
    yield Case("VariadicSplit_channels", "VariadicSplit", [normal(1, 20, 3, 4)],
               lambda p: o1.variadic_split(p, i64(1), i64([16, 1, 3])))
    yield Case("VariadicSplit_rest", "VariadicSplit", [normal(2, 10)],
               lambda p: o1.variadic_split(p, i64(1), i64([4, -1, 2])))


def slice_cases():
    def slice8(name, shape, start, stop, step, axes=None):
        extra = [i64(axes)] if axes is not None else []
        return Case("Slice_" + name, "Slice", [normal(*shape)],
                    lambda p: o8.slice(p, i64(start), i64(stop), i64(step), *extra))

    yield slice8("plain", [10, 7], [1, 2], [8, 6], [1, 1])
    yield slice8("steps", [10, 7], [0, 1], [10, 7], [3, 2])
    yield slice8("negative", [10, 7], [-3, -5], [-1, -1], [1, 1])
    yield slice8("reverse", [10, 7], [9], [-11], [-1], [0])
    yield slice8("reverse_step2", [10, 7], [8, 6], [0, -8], [-2, -3])
    yield slice8("clipped", [10, 7], [-100], [100], [1], [1])
    yield slice8("negative_axis", [2, 3, 8], [2], [2**63 - 1], [2], [-1])
    yield slice8("channels", [1, 16, 5, 5], [4], [12], [1], [1])
    yield slice8("crop", [1, 3, 9, 9], [1, 2], [8, 7], [1, 1], [2, 3])

    def strided(name, shape, begin, end, strides=None, bm=(), em=(), na=(), sh=(), el=()):
        extra = [i64(strides)] if strides else []
        masks = {"begin_mask": list(bm), "end_mask": list(em), "new_axis_mask": list(na), "shrink_axis_mask": list(sh),
                 "ellipsis_mask": list(el)}
        return Case("StridedSlice_" + name, "StridedSlice", [normal(*shape)],
                    lambda p: node(1, "StridedSlice", [p, i64(begin), i64(end), *extra], **masks))

    yield strided("plain", [4, 6, 5], [1, 2, 0], [3, 6, 5], [1, 1, 1], [0, 0, 0], [0, 0, 0])
    yield strided("strides", [4, 6, 5], [0, 5, 0], [4, 0, 5], [2, -2, 3], [0, 0, 0], [0, 0, 0])
    yield strided("masks", [4, 6, 5], [9, 2, 9], [9, 4, 9], [1, 1, 2], [1, 0, 1], [1, 0, 1])
    yield strided("shrink", [4, 6, 5], [1, 0, 2], [2, 6, 3], [1, 1, 1], [0, 0, 0], [0, 0, 0], sh=[1, 0, 1])
    yield strided("new_axis", [4, 6], [0, 0, 1], [0, 4, 5], [1, 1, 1], [0, 1, 0], [0, 1, 0], na=[1, 0, 0])
    yield strided("ellipsis", [2, 3, 4, 5], [0, 1], [0, 4], [1, 2], [0, 0], [0, 0], el=[1, 0])
    yield strided("short", [4, 6, 5], [1], [3], None, [0], [0])
    yield strided("negative", [4, 6, 5], [-3, -2], [-1, 6], [1, 1], [0, 0], [0, 0])


def pad_cases():
    for mode in ("constant", "edge", "reflect", "symmetric"):
        yield Case(f"Pad_{mode}", "Pad", [normal(1, 3, 5, 4)],
                   lambda p, m=mode: o1.pad(p, i64([0, 0, 2, 1]), i64([0, 0, 1, 3]), m))
        yield Case(f"Pad_{mode}_1d", "Pad", [normal(6)], lambda p, m=mode: o1.pad(p, i64([3]), i64([2]), m))
    yield Case("Pad_value", "Pad", [normal(2, 3)],
               lambda p: o1.pad(p, i64([1, 0]), i64([0, 2]), "constant", const(-1.5)))
    yield Case("Pad_channels", "Pad", [normal(1, 5, 4, 4)],
               lambda p: o1.pad(p, i64([0, 1, 0, 0]), i64([0, 2, 1, 1]), "constant"))
    yield Case("Pad_i32", "Pad", [integers(0, 9, 2, 3)],
               lambda p: o1.pad(p, i64([1, 1]), i64([1, 1]), "constant", const(7, "int32")))
    yield Case("Pad12_negative", "Pad", [normal(5, 6)],
               lambda p: ov.opset12.pad(p, i64([-1, 2]), i64([1, -2]), "constant", const(0.5)))


def shape_cases():
    for order in ([0, 2, 3, 1], [0, 3, 1, 2], [3, 2, 1, 0], [1, 0, 2, 3]):
        yield Case(f"Transpose_{text(order)}", "Transpose", [normal(2, 17, 4, 5)],
                   lambda p, order=order: o1.transpose(p, i64(order)))
    yield Case("Transpose_2d", "Transpose", [normal(33, 18)], lambda p: o1.transpose(p, i64([1, 0])))
    yield Case("Transpose_5d", "Transpose", [normal(1, 2, 3, 4, 5)], lambda p: o1.transpose(p, i64([0, 4, 2, 1, 3])))
    yield Case("Transpose_i64", "Transpose", [integers(0, 9, 3, 4, dtype=np.int64)],
               lambda p: o1.transpose(p, i64([1, 0])))
    for name, shape, target, special in (("flat", [1, 16, 3, 3], [1, -1], False), ("zero", [2, 3, 4], [0, -1], True),
                                         ("grow", [2, 12], [2, 3, 1, 4], False), ("scalar", [1, 1], [], False),
                                         ("keep_two", [2, 3, 4, 5], [0, 0, -1], True)):
        build = lambda p, t=target, s=special: o1.reshape(p, const(t, "int64"), s)
        yield Case(f"Reshape_{name}", "Reshape", [normal(*shape)], build)
    yield Case("Reshape_nchw_shuffle", "Reshape", [normal(1, 6, 4, 5)],
               lambda p: o1.reshape(p, i64([1, 2, 3, 4, 5]), False))
    yield Case("Squeeze_axes", "Squeeze", [normal(1, 3, 1, 4)], lambda p: o1.squeeze(p, i64([0, 2])))
    yield Case("Squeeze_negative", "Squeeze", [normal(2, 3, 1)], lambda p: o1.squeeze(p, i64([-1])))
    yield Case("Squeeze_all", "Squeeze", [normal(1, 3, 1, 4)], lambda p: ov.opset15.squeeze(p))
    yield Case("Unsqueeze_axes", "Unsqueeze", [normal(3, 4)], lambda p: o1.unsqueeze(p, i64([0, 2])))
    yield Case("Unsqueeze_negative", "Unsqueeze", [normal(3, 4)], lambda p: o1.unsqueeze(p, i64([-1])))
    yield Case("Unsqueeze_scalar", "Unsqueeze", [normal()], lambda p: o1.unsqueeze(p, i64([0])))
    yield Case("ShapeOf1", "ShapeOf", [normal(2, 3, 4)], lambda p: o1.shape_of(p))
    yield Case("ShapeOf3_i32", "ShapeOf", [normal(2, 3, 4)], lambda p: ov.opset3.shape_of(p, "i32"))
    yield Case("ShapeOf3_scalar", "ShapeOf", [normal()], lambda p: ov.opset3.shape_of(p, "i64"))


def repeat_cases():
    yield Case("Broadcast1_numpy", "Broadcast", [normal(3, 1)], lambda p: o1.broadcast(p, i64([2, 3, 4])))
    yield Case("Broadcast1_explicit", "Broadcast", [normal(3)],
               lambda p: o1.broadcast(p, i64([2, 3, 4]), i64([1]), "explicit"))
    yield Case("Broadcast3_bidirectional", "Broadcast", [normal(1, 3, 5)],
               lambda p: ov.opset3.broadcast(p, i64([4, 1, 1]), None, "bidirectional"))
    yield Case("Broadcast3_scalar", "Broadcast", [normal()], lambda p: ov.opset3.broadcast(p, i64([2, 3])))
    yield Case("Tile_same_rank", "Tile", [normal(2, 3)], lambda p: o1.tile(p, i64([2, 3])))
    yield Case("Tile_more_repeats", "Tile", [normal(2, 3)], lambda p: o1.tile(p, i64([2, 1, 2])))
    yield Case("Tile_fewer_repeats", "Tile", [normal(2, 3, 4)], lambda p: o1.tile(p, i64([3])))


def gather_cases():
    yield Case("Gather1_axis0", "Gather", [normal(5, 4)], lambda p: o1.gather(p, const([3, 0, 3], "int32"), i64(0)))
    yield Case("Gather1_axis1_2d", "Gather", [normal(3, 7, 2)],
               lambda p: o1.gather(p, const([[0, 6], [2, 2]], "int32"), i64(1)))
    yield Case("Gather7_batch", "Gather", [normal(2, 5, 3)],
               lambda p: ov.opset7.gather(p, const([[1, 2], [4, 0]], "int64"), i64(1), 1))
    yield Case("Gather8_negative", "Gather", [normal(6, 3)], lambda p: o8.gather(p, i64([-1, 0, -6]), i64(0)))
    yield Case("Gather8_negative_axis_batch", "Gather", [normal(2, 3, 4)],
               lambda p: o8.gather(p, i64([[0, 3], [1, -1]]), i64(-1), 1))
    yield Case("Gather8_scalar", "Gather", [normal(4, 5)], lambda p: o8.gather(p, i64(2), i64(0)))
    yield Case("Gather8_runtime_indices", "Gather", [normal(4, 5), np.array([[3, 1], [0, 0]], np.int32)],
               lambda p, q: o8.gather(p, q, i64(1)))


def block_cases():
    for mode in ("blocks_first", "depth_first"):
        yield Case(f"DepthToSpace_{mode}", "DepthToSpace", [normal(1, 12, 3, 4)],
                   lambda p, m=mode: o1.depth_to_space(p, m, 2))
        yield Case(f"DepthToSpace_{mode}_3d", "DepthToSpace", [normal(1, 16, 2, 3, 2)],
                   lambda p, m=mode: o1.depth_to_space(p, m, 2))
        yield Case(f"SpaceToDepth_{mode}", "SpaceToDepth", [normal(2, 3, 4, 6)],
                   lambda p, m=mode: o1.space_to_depth(p, m, 2))
        yield Case(f"SpaceToDepth_{mode}_1d", "SpaceToDepth", [normal(2, 3, 9)],
                   lambda p, m=mode: o1.space_to_depth(p, m, 3))
    yield Case("ShuffleChannels_axis1", "ShuffleChannels", [normal(1, 12, 3, 4)],
               lambda p: ov.opset3.shuffle_channels(p, 1, 3))
    yield Case("ShuffleChannels_negative", "ShuffleChannels", [normal(2, 3, 8)],
               lambda p: ov.opset3.shuffle_channels(p, -1, 2))


def generated_cases():
    # A generated tensor alone would be folded into a constant: the operator sits in front of an addition.
    yield Case("Range1_f32", "Range", [normal(1)],
               lambda p: o1.add(p, o1.range(const(-1.0), const(3.0), const(0.5))))
    yield Case("Range4_i64", "Range", [integers(0, 9, 1, dtype=np.int64)],
               lambda p: o1.add(p, ov.opset4.range(i64(10), i64(0), i64(-3), "i64")))
    yield Case("OneHot_last", "OneHot", [np.array([0, 2, 1, 4, -1], np.int64)],
               lambda p: o1.one_hot(p, i64(4), const(1.0), const(0.0), -1))
    yield Case("OneHot_axis0", "OneHot", [integers(0, 5, 2, 3, dtype=np.int64)],
               lambda p: o1.one_hot(p, i64(5), const(2.0), const(-1.0), 0))
    yield Case("OneHot_i32", "OneHot", [integers(0, 3, 4)],
               lambda p: o1.one_hot(p, i64(3), const(1, "int32"), const(0, "int32"), 1))
    yield Case("Const_add", "Const", [normal(2, 3)], lambda p: o1.add(p, const(np.arange(6).reshape(2, 3))))


CASES = [*concat_cases(), *split_cases(), *slice_cases(), *pad_cases(), *shape_cases(), *repeat_cases(),
         *gather_cases(), *block_cases(), *generated_cases()]
