// SPDX-License-Identifier: Apache-2.0
// Cells of recurrent networks, as bodies of TensorIterators have them.
#include "core/error.hpp"
#include "formats/old_ir/old_ir_context.hpp"

namespace headrace::detail {
namespace {

// Weights are [gates * hidden, input + hidden]: those of the input beside those of the state, the gates in the order
// that IR still has (f, i, c, o and z, r, h).
std::vector<PortRef> convert_cell(OldIrContext& c, std::string_view type, std::int64_t gates, std::size_t states) {
  if (c.count_inputs() != 1 + states) {
    fail(ErrorCode::kBadModel,
         "has " + std::to_string(c.count_inputs()) + " inputs, expected " + std::to_string(1 + states));
  }
  const std::int64_t hidden = c.get_int({"hidden_size"}, 0);
  constexpr std::int64_t kMost = 1 << 20;
  if (hidden < 1 || hidden > kMost) fail(ErrorCode::kBadModel, "hidden_size is " + std::to_string(hidden));
  const std::int64_t input = c.dim(c.input(), 1);
  const PortRef weights = c.blob("weights", {gates * hidden, input + hidden});
  const bool resets_before = c.get_bool({"linear_before_reset"}, false);
  const std::int64_t blocks = resets_before ? gates + 1 : gates;
  RawAttributes attributes = {{"hidden_size", text(hidden)}, {"clip", text(c.get_float({"clip"}, 0))}};
  if (c.has({"activations"})) attributes["activations"] = c.get_string({"activations"}, "");
  if (resets_before) attributes["linear_before_reset"] = "true";
  std::vector<PortRef> inputs = c.inputs();
  inputs.push_back(c.slice(weights, 0, input, 1));
  inputs.push_back(c.slice(weights, input, input + hidden, 1));
  inputs.push_back(c.blob("biases", {blocks * hidden}));
  const PortRef y = c.add(type, type == "LSTMCell" ? 4 : 3, inputs, attributes, states);
  std::vector<PortRef> outputs;
  for (std::size_t i = 0; i < states; ++i) outputs.push_back({y.node, static_cast<std::int32_t>(i)});
  return outputs;
}

std::vector<PortRef> convert_lstm(OldIrContext& c) { return convert_cell(c, "LSTMCell", 4, 2); }
std::vector<PortRef> convert_gru(OldIrContext& c) { return convert_cell(c, "GRUCell", 3, 1); }
std::vector<PortRef> convert_rnn(OldIrContext& c) { return convert_cell(c, "RNNCell", 1, 1); }

constexpr OldIrConverter kConverters[] = {
    {"LSTMCell", convert_lstm},
    {"GRUCell", convert_gru},
    {"RNNCell", convert_rnn},
};

}  // namespace

std::span<const OldIrConverter> recurrent_old_ir() { return kConverters; }

}  // namespace headrace::detail
