// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN over a sequence.
#include <algorithm>

#include "formats/onnx/onnx_context.hpp"

namespace headrace::detail {
namespace {

// ONNX's names of activations are IR's in other letters.
std::string ir_activations(const OnnxContext& c, const std::vector<std::string>& names, std::size_t per_direction) {
  std::string list;
  for (std::size_t i = 0; i < per_direction && i < names.size(); ++i) {
    std::string name = names[i];
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char letter) { return std::tolower(letter); });
    if (name != "sigmoid" && name != "tanh" && name != "relu") c.refuse("activation '" + names[i] + "'");
    // IR has one list for both directions.
    for (std::size_t other = i; other < names.size(); other += per_direction) {
      if (names[other] != names[i]) c.refuse("different activations for the two directions");
    }
    list += (i == 0 ? "" : ",") + name;
  }
  return list;
}

struct Recurrent {
  std::int64_t gates = 1;
  bool is_batch_first = false;
  PortRef x;      // [batch, steps, input]
  PortRef batch;  // i64 [1]
  std::int64_t directions = 1;
  std::int64_t hidden = 1;
  RawAttributes attributes;
};

Recurrent read_common(OnnxContext& c, std::int64_t gates, const std::string& default_activations,
                      std::size_t activation_count) {
  Recurrent r;
  r.gates = gates;
  r.is_batch_first = c.attr_int("layout", 0) != 0;
  r.x = r.is_batch_first ? c.input(0) : c.transpose(c.input(0), {1, 0, 2});
  r.batch = c.slice(c.shape_of(r.x), 0, 1, 0);
  const std::string direction = c.attr_string("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    fail(ErrorCode::kBadModel, "direction '" + direction + "'");
  }
  r.directions = direction == "bidirectional" ? 2 : 1;
  r.hidden = c.has_attribute("hidden_size") ? c.attr_int("hidden_size", 1) : c.dim(c.input(2), 2);
  const std::vector<std::string> activations = c.attr_strings("activations");
  if (!c.attr_floats("activation_alpha").empty() || !c.attr_floats("activation_beta").empty()) {
    // Sigmoid, Tanh and Relu have no parameters; what is given for them means nothing.
    static_cast<void>(ir_activations(c, activations, activation_count));
  }
  r.attributes = {
      {"hidden_size", text(r.hidden)},
      {"direction", direction},
      {"activations", activations.empty() ? default_activations : ir_activations(c, activations, activation_count)},
      {"activations_alpha", ""},
      {"activations_beta", ""},
      {"clip", text(c.attr_float("clip", 0))}};
  return r;
}

PortRef initial_state(OnnxContext& c, const Recurrent& r, std::size_t input) {
  if (c.has_input(input)) {
    return r.is_batch_first ? c.input(input) : c.transpose(c.input(input), {1, 0, 2});
  }
  const PortRef shape = c.concat({r.batch, c.constant_ints({r.directions, r.hidden})}, 0);
  return c.broadcast(c.constant_scalar(0, c.element_type(r.x)), shape);
}

PortRef sequence_lengths(OnnxContext& c, const Recurrent& r) {
  if (c.has_input(4)) return c.input(4);
  const PortRef steps = c.convert(c.slice(c.shape_of(r.x), 1, 2, 0), ElementType::i32);
  return c.broadcast(steps, r.batch);
}

// Blocks of `hidden` rows along axis 1 in another order.
PortRef reorder_gates(OnnxContext& c, PortRef x, const Recurrent& r, const Ints& order) {
  Ints rows;
  for (const std::int64_t gate : order) {
    for (std::int64_t i = 0; i < r.hidden; ++i) rows.push_back(gate * r.hidden + i);
  }
  return c.gather(x, c.constant_ints(rows), 1);
}

// [directions, gates * hidden]: the sum of the biases of the input and of the state.
PortRef summed_bias(OnnxContext& c, const Recurrent& r) {
  const std::int64_t size = r.gates * r.hidden;
  if (!c.has_input(3)) return c.filled(0, c.element_type(r.x), {r.directions, size});
  return c.binary("Add", c.slice(c.input(3), 0, size, 1), c.slice(c.input(3), size, 2 * size, 1));
}

// IR gives [batch, directions, steps, hidden] and states of [batch, directions, hidden].
std::vector<PortRef> outputs_of(OnnxContext& c, const Recurrent& r, PortRef sequence, std::size_t states) {
  std::vector<PortRef> outputs = {c.transpose(sequence, r.is_batch_first ? Ints{0, 2, 1, 3} : Ints{2, 1, 0, 3})};
  for (std::size_t i = 1; i <= states; ++i) {
    const PortRef state{sequence.node, static_cast<std::int32_t>(i)};
    outputs.push_back(r.is_batch_first ? state : c.transpose(state, {1, 0, 2}));
  }
  return outputs;
}

// Inputs: X, W, R, B, sequence_lens, initial_h, initial_c, P.
std::vector<PortRef> convert_lstm(OnnxContext& c) {
  if (c.has_input(7)) c.refuse("peepholes (input P)");
  if (c.attr_int("input_forget", 0) != 0) c.refuse("input_forget");
  const Recurrent r = read_common(c, 4, "sigmoid,tanh,tanh", 3);
  const Ints order = {2, 0, 3, 1};  // ONNX: input, output, forget, cell; IR: forget, input, cell, output
  const PortRef sequence = c.add("LSTMSequence", 5,
                                 {r.x, initial_state(c, r, 5), initial_state(c, r, 6), sequence_lengths(c, r),
                                  reorder_gates(c, c.input(1), r, order), reorder_gates(c, c.input(2), r, order),
                                  reorder_gates(c, summed_bias(c, r), r, order)},
                                 r.attributes, 3);
  return outputs_of(c, r, sequence, 2);
}

// Biases of a GRU with linear_before_reset: the hidden gate keeps the state's apart.
PortRef gru_bias(OnnxContext& c, const Recurrent& r, bool is_linear) {
  if (!is_linear) return summed_bias(c, r);
  if (!c.has_input(3)) return c.filled(0, c.element_type(r.x), {r.directions, 4 * r.hidden});
  const PortRef bias = c.input(3);
  const PortRef gates =
      c.binary("Add", c.slice(bias, 0, 2 * r.hidden, 1), c.slice(bias, 3 * r.hidden, 5 * r.hidden, 1));
  return c.concat({gates, c.slice(bias, 2 * r.hidden, 3 * r.hidden, 1), c.slice(bias, 5 * r.hidden, 6 * r.hidden, 1)},
                  1);
}

std::vector<PortRef> convert_gru(OnnxContext& c) {
  Recurrent r = read_common(c, 3, "sigmoid,tanh", 2);
  const bool is_linear = c.attr_int("linear_before_reset", 0) != 0;
  r.attributes["linear_before_reset"] = text(is_linear);
  const PortRef sequence =
      c.add("GRUSequence", 5,
            {r.x, initial_state(c, r, 5), sequence_lengths(c, r), c.input(1), c.input(2), gru_bias(c, r, is_linear)},
            r.attributes, 2);
  return outputs_of(c, r, sequence, 1);
}

std::vector<PortRef> convert_rnn(OnnxContext& c) {
  const Recurrent r = read_common(c, 1, "tanh", 1);
  const PortRef sequence =
      c.add("RNNSequence", 5,
            {r.x, initial_state(c, r, 5), sequence_lengths(c, r), c.input(1), c.input(2), summed_bias(c, r)},
            r.attributes, 2);
  return outputs_of(c, r, sequence, 1);
}

constexpr OnnxConverter kConverters[] = {
    {"LSTM", convert_lstm},
    {"GRU", convert_gru},
    {"RNN", convert_rnn},
};

}  // namespace

std::span<const OnnxConverter> recurrent_onnx() { return kConverters; }

}  // namespace headrace::detail
