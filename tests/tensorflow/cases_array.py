# SPDX-License-Identifier: Apache-2.0
"""Cases of operators that move, pick and make elements, of constants' encodings and of control flow."""
import numpy
import tensorflow as tf

raw = tf.raw_ops
v1 = tf.compat.v1


def shapes(c):
    for shape in ([-1], [4, -1], [2, 2, 6], [-1, 1, 3]):
        c.add(f"reshape/{shape}", lambda x: tf.reshape(x, shape), c.floats(2, 3, 4))
    c.add("reshape/computed", lambda x: tf.reshape(x, tf.stack([tf.shape(x)[0], -1])), c.floats(2, 3, 4))
    for axis in (0, 1, 3, -1, -2):
        c.add(f"expand_dims/{axis}", lambda x: tf.expand_dims(x, axis), c.floats(2, 3, 4))
    c.add("squeeze/all", lambda x: tf.squeeze(x), c.floats(2, 1, 3, 1), open_axes=())
    for axes in ([1], [-1], [1, 3]):
        c.add(f"squeeze/{axes}", lambda x: tf.squeeze(x, axes), c.floats(2, 1, 3, 1))
    for order in ([0, 2, 1], [2, 0, 1], [2, 1, 0], [0, 1, 2]):
        c.add(f"transpose/{order}", lambda x: tf.transpose(x, order), c.floats(2, 3, 4))
    c.add("transpose/computed", lambda x, p: tf.transpose(x, p), c.floats(2, 3, 4), numpy.array([1, 2, 0], numpy.int32), open_axes=())
    for axis in (0, 1, -1):
        c.add(f"concat/{axis}", lambda x, y: tf.concat([x, y, x], axis), c.floats(2, 3, 4), c.floats(2, 3, 4))
        c.add(f"concat/v1_{axis}", lambda x, y: raw.Concat(concat_dim=abs(axis), values=[x, y]), c.floats(2, 3, 4), c.floats(2, 3, 4))
        c.add(f"pack/{axis}", lambda x, y: tf.stack([x, y], axis), c.floats(2, 3), c.floats(2, 3))
        c.add(f"unpack/{axis}", lambda x: tf.unstack(x, num=3, axis=axis), c.floats(3, 3, 3))
        c.add(f"split/{axis}", lambda x: tf.split(x, 2, axis), c.floats(4, 6, 2))
        c.add(f"split_v/{axis}", lambda x: tf.split(x, [1, 3, 2], axis), c.floats(6, 6, 6))
    c.add("split_v/rest", lambda x: tf.split(x, [1, -1, 2], 1), c.floats(2, 6))
    for kind in (tf.int32, tf.int64):
        c.add(f"shape/{kind.name}", lambda x: raw.Shape(input=x, out_type=kind), c.floats(2, 3, 4))
        c.add(f"size/{kind.name}", lambda x: raw.Size(input=x, out_type=kind), c.floats(2, 3, 4))
    c.add("shape/n", lambda x, y: list(raw.ShapeN(input=[x, y])), c.floats(2, 3), c.floats(4))
    c.add("rank", lambda x: raw.Rank(input=x) + tf.shape(x), c.floats(2, 3, 4))
    for repeats in ([2, 1, 1], [1, 2, 3]):
        c.add(f"tile/{repeats}", lambda x: tf.tile(x, repeats), c.floats(2, 3, 4))
    c.add("broadcast_to", lambda x: tf.broadcast_to(x, [2, 3, 4]), c.floats(3, 1))
    c.add("fill", lambda x: tf.fill(tf.shape(x), 2.5) + x, c.floats(2, 3))
    c.add("zeros_like", lambda x: raw.ZerosLike(x=x) + 1, c.floats(2, 3))
    c.add("ones_like", lambda x: raw.OnesLike(x=x) + x, c.ints(2, 3))
    c.add("range/ints", lambda x: tf.range(0, tf.shape(x)[0] * 3, 2) + 1, c.floats(4, 2))
    c.add("range/floats", lambda x: tf.range(0.5, 4, 0.75) * x, c.floats(1))
    for size in (2, 3):
        c.add(f"space_to_depth/{size}", lambda x: tf.nn.space_to_depth(x, size), c.floats(2, 6, 6, 2))
        c.add(f"depth_to_space/{size}", lambda x: tf.nn.depth_to_space(x, size), c.floats(2, 2, 3, 2 * size * size))
    c.add("space_to_batch", lambda x: tf.space_to_batch(x, [2, 3], [[0, 1], [2, 1]]), c.floats(2, 3, 6, 2))
    c.add("space_to_batch/one", lambda x: tf.space_to_batch(x, [2], [[1, 0]]), c.floats(2, 3, 2))
    c.add("batch_to_space", lambda x: tf.batch_to_space(x, [2, 3], [[0, 1], [1, 1]]), c.floats(12, 3, 4, 2))

    def dilated(x):
        x = tf.space_to_batch(x, [2, 2], [[2, 2], [2, 2]])
        return tf.batch_to_space(tf.nn.conv2d(x, c.floats(3, 3, 2, 3), 1, "VALID"), [2, 2], [[0, 0], [0, 0]])

    c.add("space_to_batch/dilated", dilated, c.floats(1, 8, 8, 2))


def slices(c):
    for begin, size in (([0, 1, 0], [2, 2, 4]), ([1, 0, 2], [-1, -1, 1]), ([0, 0, 0], [1, -1, 2])):
        c.add(f"slice/{begin}{size}", lambda x: tf.slice(x, begin, size), c.floats(2, 3, 4))
    picks = {
        "plain": lambda x: x[1:3, ::2, 0:4:3], "negative": lambda x: x[-3:-1, :, ::-1], "shrink": lambda x: x[:, 1],
        "shrink_last": lambda x: x[..., -1], "new": lambda x: x[:, tf.newaxis, 1:, tf.newaxis], "ellipsis": lambda x: x[..., 1:3],
        "middle": lambda x: x[1, ..., 2:], "back": lambda x: x[::-2, 3:0:-1], "over": lambda x: x[1:99, -99:2],
        "all": lambda x: x[0, 1, 2], "mixed": lambda x: x[2:0:-1, tf.newaxis, ..., 0]}
    for name, pick in picks.items():
        c.add(f"strided_slice/{name}", pick, c.floats(4, 5, 6), open_axes=())
    c.add("strided_slice/open_batch", lambda x: x[:, 1:, ::2], c.floats(4, 5, 6))
    c.add("strided_slice/computed", lambda x: x[:, : tf.shape(x)[1] - 1], c.floats(2, 5, 3))
    for mode in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        c.add(f"pad/{mode}", lambda x: tf.pad(x, [[0, 0], [1, 2], [2, 0]], mode), c.floats(2, 3, 4))
    c.add("pad/value", lambda x: raw.PadV2(input=x, paddings=[[1, 0], [0, 2]], constant_values=1.5), c.floats(2, 3))
    c.add("pad/computed", lambda x, p: tf.pad(x, p), c.floats(2, 3), numpy.array([[1, 0], [0, 2]], numpy.int32), open_axes=())
    c.add("reverse/axes", lambda x: tf.reverse(x, [0, -1]), c.floats(2, 3, 4))
    c.add("reverse/flags", lambda x: raw.Reverse(tensor=x, dims=[False, True, False]), c.floats(2, 3, 4))
    c.add("reverse/sequence", lambda x: tf.reverse_sequence(x, [1, 3, 2], 1, 0), c.floats(3, 4, 2))


def picks(c):
    for axis in (0, 1, 2, -1):
        c.add(f"gather/{axis}", lambda x: tf.gather(x, [[1, 0], [2, 1]], axis=axis), c.floats(3, 3, 3))
    c.add("gather/v1", lambda x: raw.Gather(params=x, indices=[2, 0]), c.floats(3, 4))
    c.add("gather/batch", lambda x: tf.gather(x, [[1, 0], [2, 1]], axis=2, batch_dims=1), c.floats(2, 3, 4))
    c.add("gather/scalar", lambda x: tf.gather(x, 1, axis=1), c.floats(3, 4))
    c.add("gather/computed", lambda x, i: tf.gather(x, i), c.floats(5, 2), c.ints(3, low=0, high=5))
    c.add("gather_nd/full", lambda x: tf.gather_nd(x, [[0, 1], [2, 3]]), c.floats(3, 4))
    c.add("gather_nd/rows", lambda x: tf.gather_nd(x, [[[1]], [[0]]]), c.floats(3, 4))
    for axis in (0, 1, -1):
        c.add(f"one_hot/{axis}", lambda x: tf.one_hot(x, 4, 2.0, -1.0, axis=axis), numpy.array([[0, 3], [-1, 5]], numpy.int32))
        for name in ("ArgMax", "ArgMin"):
            c.add(f"arg/{name}{axis}", lambda x: getattr(raw, name)(input=x, dimension=axis), c.floats(3, 4, 5))
    c.add("arg/ties", lambda x: [tf.argmax(x, 1), tf.argmin(x, 1, output_type=tf.int32)], numpy.array([[1, 3, 3, 1.0], [2, 2, 2, 2]], numpy.float32))
    c.add("top_k/v2", lambda x: list(tf.math.top_k(x, 3)), c.floats(2, 6))
    c.add("top_k/ties", lambda x: list(tf.math.top_k(x, 3)), numpy.array([[1, 3, 3, 1, 3.0]], numpy.float32))
    for exclusive in (False, True):
        for backwards in (False, True):
            c.add(f"cumsum/{'e' * exclusive}{'r' * backwards}plain", lambda x: tf.cumsum(x, 1, exclusive, backwards), c.floats(2, 5, 3))
    c.add("scatter_nd/sums", lambda x: tf.scatter_nd([[1], [3], [1]], x, [5, 2]), c.floats(3, 2), open_axes=())
    c.add("scatter_nd/update", lambda x, y: tf.tensor_scatter_nd_update(x, [[0, 1], [2, 2]], y), c.floats(3, 4), c.floats(2), open_axes=())
    c.add("scatter_nd/add", lambda x, y: tf.tensor_scatter_nd_add(x, [[1], [1]], y), c.floats(3, 4), c.floats(2, 4), open_axes=())
    c.add("where/places", lambda x: tf.where(x), c.ints(3, 4, low=0, high=2).astype(bool))
    for source in (numpy.float32, numpy.int32, numpy.int64, numpy.uint8, numpy.bool_):
        for target in (tf.float32, tf.int32, tf.int64, tf.bool):
            data = c.ints(3, 4, low=0, high=5).astype(source) if source != numpy.float32 else c.floats(3, 4, high=5)
            c.add(f"cast/{numpy.dtype(source).name}_{target.name}", lambda x: raw.Cast(x=x, DstT=target), data)


def control(c):
    c.add("identity/stop", lambda x: tf.stop_gradient(tf.identity(x)) + 1, c.floats(2, 3))
    c.add("identity/n", lambda x, y: list(raw.IdentityN(input=[x, y])), c.floats(2, 3), c.ints(4))
    c.add("identity/output_is_input", lambda x: x, c.floats(2, 3))
    c.add("identity/assert", lambda x: raw.EnsureShape(input=x, shape=[None, 3]) * 2, c.floats(2, 3))
    c.add("default/folded", lambda x: x * v1.placeholder_with_default(2.0, []), c.floats(2, 3))
    c.add("double/constant", lambda x: x * tf.cast(tf.constant([0.1, 2, 3e5], tf.float64), tf.float32), c.floats(2, 3))

    def phase(x):
        training = v1.placeholder_with_default(False, [], name="keras_learning_phase")
        dropped, kept = raw.Switch(data=x, pred=training).output_true, raw.Switch(data=x, pred=training).output_false
        return raw.Merge(inputs=[kept * 3, tf.nn.relu(dropped)]).output

    c.add("control/switch_merge", phase, c.floats(2, 3))

    def constants(x):
        training = v1.placeholder_with_default(True, [])
        sides = raw.Switch(data=training, pred=training)
        with tf.control_dependencies([tf.identity(sides.output_false)]):
            no = tf.constant(1.0)
        with tf.control_dependencies([tf.identity(sides.output_true)]):
            yes = tf.constant(2.0)
        return x * raw.Merge(inputs=[no, yes]).output

    c.add("control/switched_constants", constants, c.floats(2, 3))

    @tf.function
    def inner(x, y):
        return x * 2, tf.concat([x, y], 1), tf.math.top_k(x, 2).indices

    c.add("control/call", lambda x: list(inner(x, x + 1)), c.floats(2, 3))
    c.add("control/if", lambda x: raw.StatelessIf(
        cond=tf.constant(True), input=[x], Tout=[tf.float32],
        then_branch=tf.function(lambda t: t + 1).get_concrete_function(tf.TensorSpec([None, 3])),
        else_branch=tf.function(lambda t: t - 1).get_concrete_function(tf.TensorSpec([None, 3])))[0], c.floats(2, 3))
    c.add("control/while", lambda x: raw.StatelessWhile(
        input=[tf.constant(0), x],
        cond=tf.function(lambda i, t: i < 3).get_concrete_function(tf.TensorSpec([], tf.int32), tf.TensorSpec([None, 3])),
        body=tf.function(lambda i, t: (i + 1, t * 2 + 1)).get_concrete_function(
            tf.TensorSpec([], tf.int32), tf.TensorSpec([None, 3])))[1], c.floats(2, 3))


def add_all(c):
    for part in (shapes, slices, picks, control):
        part(c)
