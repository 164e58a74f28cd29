# SPDX-License-Identifier: Apache-2.0
"""Operators with bodies: If, Loop, TensorIterator."""
import numpy as np
import openvino as ov

from .case import Case, const, node, normal, weights

o1, o8 = ov.opset1, ov.opset8
F32 = ov.Type.f32


def param(*shape, dtype=F32):
    return o1.parameter(list(shape), dtype)


def branch(shape, make):
    """A body of one Parameter; make(parameter) gives its outputs."""
    inner = param(*shape)
    outputs = make(inner)
    return ov.Model([o1.result(output) for output in outputs], [inner], "branch"), inner


def if_node(condition, value, then_make, else_make):
    made = o8.if_op(condition.output(0))
    bodies = [branch(list(value.output(0).shape), make) for make in (then_make, else_make)]
    made.set_then_body(bodies[0][0])
    made.set_else_body(bodies[1][0])
    made.set_input(value.output(0), bodies[0][1], bodies[1][1])
    for then_result, else_result in zip(bodies[0][0].results, bodies[1][0].results):
        made.set_output(then_result, else_result)
    return made


def conv(seed):
    return lambda p: [o1.relu(o1.convolution(p, weights(seed, 4, 3, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1]))]


def if_cases():
    for value in (0.0, 5.0):
        yield Case(f"If_computed_{value:.0f}", "If", [np.array([value], np.float32), normal(1, 3, 5, 4)],
                   lambda c, x: if_node(o1.greater(c, const(1)), x, conv(1), conv(2)))
    for flag in (True, False):
        yield Case(f"If_constant_{flag}", "If", [normal(1, 3, 5, 4)],
                   lambda x, flag=flag: if_node(const(flag, bool), x, conv(3), conv(4)))
        yield Case(f"If_constant_shapes_{flag}", "If", [normal(2, 3)],
                   lambda x, flag=flag: if_node(const(flag, bool), x, lambda p: [o1.transpose(p, const([1, 0], "int64"))],
                                                lambda p: [o1.relu(p)]))
    yield Case("If_by_shape", "If", [normal(1, 3, 4, 4)],
               lambda x: if_node(o1.greater(o8.gather(node(3, "ShapeOf", [x], output_type="i64"), const(2, "int64"),
                                                      const(0, "int64")), const(3, "int64")), x, conv(5), conv(6)))
    yield Case("If_two_outputs", "If", [np.array(True), normal(2, 3)],
               lambda c, x: if_node(c, x, lambda p: [o1.relu(p), o1.exp(p)], lambda p: [o1.negative(p), o1.abs(p)]))
    yield Case("If_passes_through", "If", [np.array(False), normal(2, 3)],
               lambda c, x: if_node(c, x, lambda p: [o1.relu(p)], lambda p: [p]))
    yield Case("If_nested", "If", [np.array(True), np.array([2], np.float32), normal(2, 3)],
               lambda c, n, x: if_node(c, o1.multiply(x, n), lambda p: [if_node(
                   o1.less(o1.reduce_sum(p, const([0, 1], "int64"), False), const(0)), p, lambda q: [o1.negative(q)],
                   lambda q: [o1.sqrt(o1.abs(q))]).output(0)], lambda p: [o1.relu(p)]))


def loop_node(trips, start, state, x, make, count=None, joins=True):
    """make(state, iteration, x) -> (condition, new state, what is joined)."""
    made = ov.opset5.loop(trips, start)
    inner_state = param(*state.output(0).shape)
    iteration = param(dtype=ov.Type.i64) if count is None else param(1, dtype=ov.Type.i64)
    inner_x = param(*x.output(0).shape)
    results = [o1.result(value) for value in make(inner_state, iteration, inner_x)]
    made.set_function(ov.Model(results, [iteration, inner_state, inner_x], "loop_body"))
    made.set_special_body_ports([0, 0])
    made.set_merged_input(inner_state, state.output(0), results[1].output(0))
    made.set_invariant_input(inner_x, x.output(0))
    last = made.get_iter_value(results[1].output(0), -1)
    return [last, made.get_concatenated_slices(results[2].output(0), 0, 1, 1, -1, 0)] if joins else [last]


def as_f32(value):
    return o1.convert(value, "f32")


def loop_cases():
    for trips in (1, 3, 12):
        yield Case(f"Loop_{trips}", "Loop", [normal(1, 4), normal(1, 4)],
                   lambda s, x, n=trips: loop_node(const(n, "int64"), const(True, bool), s, x, lambda a, i, b: (
                       const(True, bool), o1.tanh(o1.add(a, b)), o1.multiply(o1.add(a, as_f32(i)), b))))
    yield Case("Loop_list_iteration", "Loop", [normal(1, 4), normal(1, 4)],
               lambda s, x: loop_node(const(4, "int64"), const(True, bool), s, x, lambda a, i, b: (
                   const(True, bool), o1.tanh(o1.add(a, b)), o1.multiply(o1.add(a, as_f32(i)), b)), count=1))
    # Ends when the state's sum passes 10: only the state is an output, whose shape does not depend on the run.
    yield Case("Loop_while", "Loop", [np.abs(np.arange(4, dtype=np.float32)).reshape(1, 4), normal(1, 4)],
               lambda s, x: loop_node(const(-1, "int64"), const(True, bool), s, x, lambda a, i, b: (
                   o1.less(o1.reduce_sum(a, const([0, 1], "int64"), False), const(10)), o1.add(a, const([[1, 2, 1, 1]])),
                   o1.relu(b)), joins=False))
    yield Case("Loop_not_started", "Loop", [normal(1, 4), normal(1, 4)],
               lambda s, x: loop_node(const(5, "int64"), const(False, bool), s, x, lambda a, i, b: (
                   const(True, bool), o1.add(a, b), o1.relu(b)), joins=False),
               expected=lambda s, x: [s])  # OpenVINO gives the shape [0, 4]
    yield Case("Loop_computed_trips", "Loop", [np.array(3, np.int64), normal(1, 4), normal(1, 4)],
               lambda n, s, x: loop_node(n, const(True, bool), s, x, lambda a, i, b: (
                   const(True, bool), o1.add(o1.multiply(a, const([[0.5]])), b), o1.relu(b)), joins=False))


def iterator(x, state, make, backward=False, part=1):
    """make(part of x, state) -> (state, output); slices along axis 1."""
    made = ov.opset1.tensor_iterator()
    shape = list(x.output(0).shape)
    inner_x = param(shape[0], part, *shape[2:])
    inner_state = param(*state.output(0).shape)
    results = [o1.result(value) for value in make(inner_x, inner_state)]
    made.set_body(ov.Model(results, [inner_x, inner_state], "ti_body"))
    order = (-1, -part, part, 0, 1) if backward else (0, part, part, -1, 1)
    made.set_sliced_input(inner_x, x.output(0), *order)
    made.set_merged_input(inner_state, state.output(0), results[0].output(0))
    last = made.get_iter_value(results[0].output(0), -1)
    return [last, made.get_concatenated_slices(results[1].output(0), *order)]


def lstm_like(x, state):
    flat = o1.reshape(x, const([2, -1], "int64"), False)
    new = o1.tanh(o1.add(o1.matmul(flat, weights(9, 3, 3), False, False), state))
    return new, o1.reshape(o1.relu(new), const([2, 1, 3], "int64"), False)


def iterator_cases():
    for steps in (2, 5, 20):
        for backward in (False, True):
            yield Case(f"TensorIterator_{steps}_{'back' if backward else 'forth'}", "TensorIterator",
                       [normal(2, steps, 3), normal(2, 3)], lambda x, s, b=backward: iterator(x, s, lstm_like, b))
    yield Case("TensorIterator_pairs", "TensorIterator", [normal(2, 6, 3), normal(2, 2, 3)],
               lambda x, s: iterator(x, s, lambda a, b: (o1.add(a, b), o1.multiply(a, b)), part=2))
    yield Case("TensorIterator_pairs_back", "TensorIterator", [normal(2, 20, 3), normal(2, 2, 3)],
               lambda x, s: iterator(x, s, lambda a, b: (o1.add(a, b), o1.multiply(a, b)), True, part=2))


CASES = [*if_cases(), *loop_cases(), *iterator_cases()]
