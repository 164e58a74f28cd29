# SPDX-License-Identifier: Apache-2.0
"""Recurrent cells and sequences."""
import numpy as np

from .case import Case, const, node, normal, weights

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
DEFAULTS = {"LSTM": ["sigmoid", "tanh", "tanh"], "GRU": ["sigmoid", "tanh"], "RNN": ["tanh"]}
OPSET = {"LSTMCell": 4, "GRUCell": 3, "RNNCell": 1, "LSTMSequence": 5, "GRUSequence": 5, "RNNSequence": 5}


def make(kind, is_sequence, name, batch=2, steps=5, inputs=3, hidden=4, lengths=None, **attributes):
    directions = 2 if attributes.get("direction") == "bidirectional" else 1
    rows = GATES[kind] * hidden
    bias_rows = rows + hidden * bool(attributes.get("linear_before_reset"))
    lead = (directions,) if is_sequence else ()
    fixed = [weights(1, *lead, rows, inputs), weights(2, *lead, rows, hidden), weights(3, *lead, bias_rows)]
    state = (batch, directions, hidden) if is_sequence else (batch, hidden)
    sources = [normal(batch, steps, inputs) if is_sequence else normal(batch, inputs)]
    sources += [normal(*state)] * (2 if kind == "LSTM" else 1)
    op = kind + ("Sequence" if is_sequence else "Cell")
    if is_sequence:  # OpenVINO has defaults for the cells alone
        attributes.setdefault("activations", DEFAULTS[kind])

    def build(*parameters):
        given = list(parameters)
        if is_sequence:
            given.append(const([steps] * batch if lengths is None else lengths, np.int32))
        return node(OPSET[op], op, [*given, *fixed], hidden_size=hidden, **attributes)

    return Case(f"{op}_{name}", op, sources, build)


def shared_cases(kind, is_sequence):
    two = {"activations": {"LSTM": ["relu", "sigmoid", "relu"], "GRU": ["tanh", "relu"], "RNN": ["sigmoid"]}[kind]}
    yield make(kind, is_sequence, "plain")
    yield make(kind, is_sequence, "wide", batch=1, inputs=17, hidden=33)
    yield make(kind, is_sequence, "clip", clip=0.3)
    yield make(kind, is_sequence, "activations", **two)
    if kind == "GRU":
        yield make(kind, is_sequence, "linear_before_reset", linear_before_reset=True)
        yield make(kind, is_sequence, "linear_before_reset_clip", linear_before_reset=True, clip=0.5)


def sequence_cases(kind):
    extra = [{}] + ([{"linear_before_reset": True}] if kind == "GRU" else [])
    for more in extra:
        tail = "_linear" if more else ""
        yield make(kind, True, "reverse" + tail, direction="reverse", **more)
        yield make(kind, True, "bidirectional" + tail, direction="bidirectional", **more)
        yield make(kind, True, "lengths" + tail, batch=3, lengths=[5, 2, 3], **more)
        yield make(kind, True, "lengths_reverse" + tail, batch=3, lengths=[1, 4, 5], direction="reverse", **more)
        yield make(kind, True, "lengths_bidirectional" + tail, batch=3, lengths=[3, 5, 1], direction="bidirectional",
                   **more)
    yield make(kind, True, "one_step", steps=1, batch=1)


CASES = [case for kind in GATES for is_sequence in (False, True) for case in shared_cases(kind, is_sequence)]
CASES += [case for kind in GATES for case in sequence_cases(kind)]
