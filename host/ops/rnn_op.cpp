// SPDX-License-Identifier: Apache-2.0
// Recurrent cells (one step) and sequences (all steps, in one or both directions): LSTM, GRU and RNN.
//
// Cell: X [N, I], H [N, S] (LSTM: C [N, S]), W [G*S, I], R [G*S, S], B; results H', (C') [N, S].
// Sequence: X [N, T, I], H [N, D, S] (C), lengths [N], W [D, G*S, I], R, B; results Y [N, D, T, S], H', (C') [N, D, S].
// Behind a sequence's length Y is 0 and the state stays; the reverse direction starts at the length's end.
#include <algorithm>
#include <cmath>

#include "ops/checks.hpp"
#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/rnn_gates.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"LSTMCell", "GRUCell", "RNNCell", "LSTMSequence", "GRUSequence", "RNNSequence"};

bool is_sequence(std::string_view type) { return type.ends_with("Sequence"); }

Attributes parse(std::string_view type, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  set_rnn_attributes(attributes, rnn_kind(type), raw);
  if (is_sequence(type)) {
    attributes.set("direction", parse_enum(raw, "direction", "forward", {"forward", "reverse", "bidirectional"}));
  }
  return attributes;
}

// Sizes and the places of the inputs.
struct RnnForm {
  RnnKind kind = RnnKind::kRnn;
  bool is_sequence = false;
  std::int64_t batch = 1, steps = 1, directions = 1, input_size = 1, hidden_size = 1;

  std::size_t states() const { return kind == RnnKind::kLstm ? 2 : 1; }
  std::size_t weights_at() const { return 1 + states() + (is_sequence ? 1 : 0); }
};

RnnForm form_of(const Node& node, const Shape& x) {
  RnnForm form;
  form.kind = rnn_kind(node.type);
  form.is_sequence = is_sequence(node.type);
  check_rank(node, x, form.is_sequence ? 3 : 2, "X");
  form.batch = x[0];
  form.steps = form.is_sequence ? x[1] : 1;
  form.input_size = x.back();
  form.hidden_size = node.attributes.get_int("hidden_size");
  if (form.hidden_size < 1) fail_node(node, "has hidden_size " + std::to_string(form.hidden_size));
  if (form.is_sequence && node.attributes.get_string("direction") == "bidirectional") form.directions = 2;
  return form;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  const RnnForm form = form_of(node, inputs.empty() ? Shape{} : inputs[0].shape);
  const std::size_t first = form.weights_at();
  if (rnn_kind(node.type) == RnnKind::kLstm && inputs.size() == first + 4) {
    fail(ErrorCode::kUnsupported, "peephole weights (input P) cannot run");
  }
  check_input_count(node, inputs.size(), first + 3, first + 3);
  check_float_type(node, inputs, 0, "X");
  const auto shaped = [&](Shape shape) {  // a sequence's tensors have the directions in front of the rest
    if (form.is_sequence) shape.insert(shape.begin(), form.directions);
    return shape;
  };
  const std::int64_t rows = count_elems({count_gates(form.kind), form.hidden_size});
  Shape state = {form.batch, form.hidden_size};
  if (form.is_sequence) state.insert(state.begin() + 1, form.directions);
  for (std::size_t i = 1; i <= form.states(); ++i) check_shape(node, inputs[i].shape, state, i == 1 ? "H" : "C");
  if (form.is_sequence) {
    check_index_type(node, inputs, first - 1, "sequence lengths");
    check_shape(node, inputs[first - 1].shape, {form.batch}, "sequence lengths");
  }
  check_shape(node, inputs[first].shape, shaped({rows, form.input_size}), "W");
  check_shape(node, inputs[first + 1].shape, shaped({rows, form.hidden_size}), "R");
  check_shape(node, inputs[first + 2].shape, shaped({count_bias_blocks(node, form.kind) * form.hidden_size}), "B");
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    if (!form.is_sequence || i != first - 1) check_same_types(node, inputs, {0, i});
  }
  std::vector<InferOutput> outputs;
  if (form.is_sequence) {
    outputs.push_back({inputs[0].type, {form.batch, form.directions, form.steps, form.hidden_size}});
  }
  for (std::size_t i = 0; i < form.states(); ++i) outputs.push_back({inputs[0].type, state});
  return outputs;
}

std::vector<std::int64_t> lengths_of(const Node& node, const RnnForm& form, std::span<const Tensor> inputs) {
  if (!form.is_sequence) return std::vector<std::int64_t>(static_cast<std::size_t>(form.batch), 1);
  std::vector<std::int64_t> lengths = to_int64s(inputs[form.weights_at() - 1]);
  for (const std::int64_t length : lengths) {
    if (length >= 0 && length <= form.steps) continue;
    fail(ErrorCode::kInvalidArgument, node.type + " has a sequence length of " + std::to_string(length) +
                                          " for sequences of " + std::to_string(form.steps));
  }
  return lengths;
}

// Runs one direction of one batch element; `lane` is its place among the states, [batch, directions].
class Lane {
 public:
  Lane(const RnnForm& form, std::span<const Tensor> inputs, std::span<Tensor> outputs, std::int64_t lane)
      : form_(form), inputs_(inputs), outputs_(outputs), lane_(lane) {}

  void run(RnnStepper& stepper, const Tensor& x, std::int64_t length, bool is_reverse) {
    RnnState state{initial(1), form_.states() == 2 ? initial(2) : std::vector<double>()};
    const std::span<const float> all = x.values<float>();
    const std::int64_t batch = lane_ / form_.directions;
    for (std::int64_t t = 0; t < length; ++t) {
      const std::int64_t at = is_reverse ? length - 1 - t : t;
      stepper.step(all.subspan(static_cast<std::size_t>((batch * form_.steps + at) * form_.input_size),
                               static_cast<std::size_t>(form_.input_size)),
                   state);
      if (form_.is_sequence) store(outputs_[0], lane_ * form_.steps + at, state.hidden);
    }
    const std::vector<double> zeros(static_cast<std::size_t>(form_.hidden_size), 0.0);
    for (std::int64_t t = length; t < form_.steps; ++t) store(outputs_[0], lane_ * form_.steps + t, zeros);
    const std::size_t first = form_.is_sequence ? 1 : 0;
    // A file may leave trailing outputs away.
    if (first < outputs_.size()) store(outputs_[first], lane_, state.hidden);
    if (form_.states() == 2 && first + 1 < outputs_.size()) store(outputs_[first + 1], lane_, state.cell);
  }

 private:
  std::vector<double> initial(std::size_t input) const {
    std::vector<double> values;
    for (std::int64_t i = 0; i < form_.hidden_size; ++i) {
      values.push_back(real_at(inputs_[input], lane_ * form_.hidden_size + i));
    }
    return values;
  }

  void store(Tensor& to, std::int64_t row, const std::vector<double>& values) const {
    for (std::size_t i = 0; i < values.size(); ++i) {
      set_real(to, row * form_.hidden_size + static_cast<std::int64_t>(i), values[i]);
    }
  }

  const RnnForm& form_;
  std::span<const Tensor> inputs_;
  std::span<Tensor> outputs_;
  std::int64_t lane_;
};

std::span<const float> part(const Tensor& tensor, std::int64_t index, std::int64_t parts) {
  const std::size_t size = tensor.values<float>().size() / static_cast<std::size_t>(parts);
  return tensor.values<float>().subspan(static_cast<std::size_t>(index) * size, size);
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const RnnForm form = form_of(node, inputs[0].shape());
  const std::vector<std::int64_t> lengths = lengths_of(node, form, inputs);
  const Tensor x = convert(inputs[0], ElementType::f32);
  std::vector<Tensor> weights;
  for (std::size_t i = 0; i < 3; ++i) weights.push_back(convert(inputs[form.weights_at() + i], ElementType::f32));
  for (std::int64_t d = 0; d < form.directions; ++d) {
    const bool is_reverse = form.is_sequence && (d == 1 || node.attributes.get_string("direction") == "reverse");
    RnnStepper stepper(node, form.kind,
                       {part(weights[0], d, form.directions), part(weights[1], d, form.directions),
                        part(weights[2], d, form.directions)});
    for (std::int64_t n = 0; n < form.batch; ++n) {
      Lane(form, inputs, outputs, n * form.directions + d)
          .run(stepper, x, lengths[static_cast<std::size_t>(n)], is_reverse);
    }
  }
}

Cost cost(const Node& node, std::span<const InferInput> inputs, std::span<const InferOutput>) {
  const RnnForm form = form_of(node, inputs[0].shape);
  const std::int64_t rows = count_elems({count_gates(form.kind), form.hidden_size, form.directions});
  Cost result{2 * count_elems({form.batch, form.steps, rows}) * (form.input_size + form.hidden_size), 0};
  for (const InferInput& input : inputs) {
    result.bytes += count_elems(input.shape) * static_cast<std::int64_t>(size_bytes(input.type));
  }
  return result;
}

}  // namespace

const OpDescriptor& rnn_op() {
  static constexpr OpDescriptor op = {
      .types = kTypes, .parse = parse, .infer = infer, .cost = cost, .reference = reference};
  return op;
}

}  // namespace headrace
