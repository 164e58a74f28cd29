# SPDX-License-Identifier: Apache-2.0
"""An LSTM as the Model Optimizer of 2018 wrote it: a cell between two Reshapes in a TensorIterator's body."""
import numpy

BATCH, STEPS, INPUT, HIDDEN = 2, 5, 3, 4


def layer(number, name, kind, inputs, outputs, inside=""):
    def ports(tag, first, shapes):
        text = "".join(f'<port id="{first + i}">' + "".join(f"<dim>{dim}</dim>" for dim in shape) + "</port>"
                       for i, shape in enumerate(shapes))
        return f"<{tag}>{text}</{tag}>" if text else ""
    return (f'<layer id="{number}" name="{name}" precision="FP32" type="{kind}">{ports("input", 0, inputs)}'
            f'{ports("output", len(inputs), outputs)}{inside}</layer>')


def edge(from_layer, from_port, to_layer, to_port):
    return f'<edge from-layer="{from_layer}" from-port="{from_port}" to-layer="{to_layer}" to-port="{to_port}"/>'


def network(weights, biases):
    """The XML; the .bin holds weights, then biases."""
    x, state, step = (BATCH, STEPS, INPUT), (BATCH, HIDDEN), (BATCH, INPUT)
    blobs = (f'<data hidden_size="{HIDDEN}"/><blobs><weights offset="0" size="{weights.nbytes}"/>'
             f'<biases offset="{weights.nbytes}" size="{biases.nbytes}"/></blobs>')
    body = (layer(0, "squeeze", "Reshape", [(BATCH, 1, INPUT)], [step], f'<data dim="-1,{INPUT}"/>') +
            layer(1, "cell", "LSTMCell", [step, state, state], [state, state], blobs) +
            layer(2, "unsqueeze", "Reshape", [state], [(BATCH, 1, HIDDEN)], f'<data dim="-1,1,{HIDDEN}"/>'))

    def port(tag, outer, inner, inner_port, slices=""):
        return f'<{tag} {slices}external_port_id="{outer}" internal_layer_id="{inner}" internal_port_id="{inner_port}"/>'
    each = 'axis="1" part_size="1" stride="1" '
    inside = (f'<port_map>{port("input", 0, 0, 0, each)}{port("input", 1, 1, 1)}{port("input", 2, 1, 2)}'
              f'{port("output", 3, 2, 1, each)}</port_map><back_edges>{edge(1, 3, 1, 1)}{edge(1, 4, 1, 2)}</back_edges>'
              f"<body><layers>{body}</layers><edges>{edge(0, 1, 1, 0)}{edge(1, 3, 2, 0)}</edges></body>")
    layers = "".join(layer(i, name, "Input", [], [shape]) for i, (name, shape) in enumerate((("x", x), ("h", state), ("c", state))))
    layers += layer(3, "lstm", "TensorIterator", [x, state, state], [(BATCH, STEPS, HIDDEN)], inside)
    edges = "".join(edge(i, 0, 3, i) for i in range(3))
    return f'<net name="lstm" version="6"><layers>{layers}</layers><edges>{edges}</edges></net>'


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def case(path):
    """Writes the network; returns its inputs and result."""
    random = numpy.random.default_rng(9)
    weights = random.normal(0, 0.5, (4 * HIDDEN, INPUT + HIDDEN)).astype("<f4")
    biases = random.normal(0, 0.5, 4 * HIDDEN).astype("<f4")
    path.with_suffix(".xml").write_text(network(weights, biases))
    path.with_suffix(".bin").write_bytes(weights.tobytes() + biases.tobytes())
    x = random.normal(0, 1, (BATCH, STEPS, INPUT)).astype("f4")
    first_h, first_c = (random.normal(0, 1, (BATCH, HIDDEN)).astype("f4") for _ in range(2))
    h, c = first_h, first_c
    results = []
    for step in range(STEPS):
        gates = numpy.concatenate([x[:, step], h], 1) @ weights.T + biases
        forget, enter, cell, leave = numpy.split(gates, 4, 1)
        c = sigmoid(forget) * c + sigmoid(enter) * numpy.tanh(cell)
        h = sigmoid(leave) * numpy.tanh(c)
        results.append(h)
    return [x, first_h, first_c], [numpy.stack(results, 1)]
