// SPDX-License-Identifier: Apache-2.0
// One step of the recurrent cells LSTM, GRU and RNN, shared by the cell and the sequence operators.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ops/descriptor.hpp"

namespace headrace {

enum class RnnKind { kLstm, kGru, kRnn };

// "LSTMCell", "GRUSequence", ... -> the kind.
RnnKind rnn_kind(std::string_view type);
// Gates in the rows of the weights: LSTM 4 (f, i, c, o), GRU 3 (z, r, h), RNN 1.
std::int64_t count_gates(RnnKind kind);

// Sets hidden_size, activations, activations_alpha, activations_beta, clip and, for GRU, linear_before_reset from IR's
// text. The lists may be shorter than the number of activations. Throws kBadModel or, for a function that is not known
// and weights in another order of gates, kUnsupported.
void set_rnn_attributes(Attributes& attributes, RnnKind kind, const RawAttributes& raw);

// Biases per gate and hidden element: GRU has a fourth block where the reset gate is applied behind the product.
std::int64_t count_bias_blocks(const Node& node, RnnKind kind);

// What a step reads besides its state; all row-major, of one direction.
struct RnnWeights {
  std::span<const float> w;  // [gates * H, I]
  std::span<const float> r;  // [gates * H, H]
  std::span<const float> b;  // [blocks * H]
};

// An activation of a gate with its numbers.
struct RnnFunction {
  std::string_view name;
  double (*compute)(double alpha, double beta, double x) = nullptr;
  double alpha = 0;
  double beta = 0;
};

// The hidden state and, for LSTM, the cell state of one batch element: H values each.
struct RnnState {
  std::vector<double> hidden;
  std::vector<double> cell;
};

// Computes steps of one cell; keeps its buffers between them. Sums are kept in double. Not thread-safe.
class RnnStepper {
 public:
  // The node's attributes are read once. The weights must outlive the stepper.
  RnnStepper(const Node& node, RnnKind kind, RnnWeights weights);

  // Replaces the state by that after input x (I values).
  void step(std::span<const float> x, RnnState& state);

 private:
  // The gate's sum for hidden element i without a bias.
  double input_sum(std::int64_t row, std::span<const float> x) const;
  double state_sum(std::int64_t row, const std::vector<double>& hidden) const;
  double clipped(double value) const;
  double activated(std::size_t function, double value) const;
  void step_lstm(std::span<const float> x, RnnState& state);
  void step_gru(std::span<const float> x, RnnState& state);
  void step_rnn(std::span<const float> x, RnnState& state);

  RnnKind kind_;
  RnnWeights weights_;
  std::int64_t hidden_size_;
  std::vector<RnnFunction> functions_;
  double clip_;
  bool resets_behind_ = false;  // GRU's linear_before_reset
  std::vector<double> next_;
  std::vector<double> reset_;
};

}  // namespace headrace
