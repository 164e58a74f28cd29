// SPDX-License-Identifier: Apache-2.0
#include "ops/rnn_gates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

double sigmoid(double, double, double x) { return 1 / (1 + std::exp(-x)); }
double tanh_of(double, double, double x) { return std::tanh(x); }
double relu(double, double, double x) { return x > 0 || x != x ? x : 0; }
double hard_sigmoid(double alpha, double beta, double x) { return std::fmin(std::fmax(alpha * x + beta, 0), 1); }
double affine(double alpha, double beta, double x) { return alpha * x + beta; }
double leaky_relu(double alpha, double, double x) { return x < 0 ? alpha * x : x; }
double soft_sign(double, double, double x) { return x / (1 + std::fabs(x)); }
double soft_plus(double, double, double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }
double elu(double alpha, double, double x) { return x < 0 ? alpha * std::expm1(x) : x; }
double scaled_tanh(double alpha, double beta, double x) { return alpha * std::tanh(beta * x); }
double thresholded_relu(double alpha, double, double x) { return x > alpha ? x : 0; }
double identity(double, double, double x) { return x; }

// The functions with the defaults of their numbers, as ONNX gives them for the same names.
constexpr RnnFunction kFunctions[] = {
    {"sigmoid", sigmoid},
    {"tanh", tanh_of},
    {"relu", relu},
    {"hardsigmoid", hard_sigmoid, 0.2, 0.5},
    {"affine", affine, 1, 0},
    {"leakyrelu", leaky_relu, 0.01},
    {"softsign", soft_sign},
    {"softplus", soft_plus},
    {"elu", elu, 1},
    {"scaledtanh", scaled_tanh, 1, 1},
    {"thresholdedrelu", thresholded_relu, 1},
    {"identity", identity},
};

// Null where the name is not known.
const RnnFunction* find_function(std::string_view name) {
  const auto found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                  [&](const RnnFunction& function) { return function.name == name; });
  return found == std::end(kFunctions) ? nullptr : found;
}

std::vector<std::string> split_names(const std::string& text) {
  std::vector<std::string> names;
  std::string name;
  for (const char c : text + ",") {
    if (c == ',') {
      if (!name.empty()) names.push_back(name);
      name.clear();
    } else if (c != ' ') {
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return names;
}

std::string default_functions(RnnKind kind) {
  if (kind == RnnKind::kLstm) return "sigmoid, tanh, tanh";
  return kind == RnnKind::kGru ? "sigmoid, tanh" : "tanh";
}

}  // namespace

RnnKind rnn_kind(std::string_view type) {
  if (type.starts_with("LSTM")) return RnnKind::kLstm;
  return type.starts_with("GRU") ? RnnKind::kGru : RnnKind::kRnn;
}

std::int64_t count_gates(RnnKind kind) {
  if (kind == RnnKind::kLstm) return 4;
  return kind == RnnKind::kGru ? 3 : 1;
}

void set_rnn_attributes(Attributes& attributes, RnnKind kind, const RawAttributes& raw) {
  attributes.set("hidden_size", parse_int(raw, "hidden_size"));
  const std::string given = parse_string(raw, "activations", "");
  const std::string wanted = split_names(given).empty() ? default_functions(kind) : given;
  const std::vector<std::string> names = split_names(wanted);
  if (names.size() != split_names(default_functions(kind)).size()) {
    fail(ErrorCode::kBadModel,
         "attribute 'activations' is '" + wanted + "', expected as many as '" + default_functions(kind) + "'");
  }
  for (const std::string& name : names) {
    if (find_function(name) != nullptr) continue;
    fail(ErrorCode::kUnsupported, "attribute 'activations' names the function '" + name + "', which is not known");
  }
  attributes.set("activations", wanted);
  attributes.set("activations_alpha", parse_doubles(raw, "activations_alpha", {}));
  attributes.set("activations_beta", parse_doubles(raw, "activations_beta", {}));
  const double clip = parse_double(raw, "clip", 0);
  if (!(clip >= 0)) fail(ErrorCode::kBadModel, "attribute 'clip' is negative");
  attributes.set("clip", clip);
  if (kind == RnnKind::kGru) attributes.set("linear_before_reset", parse_bool(raw, "linear_before_reset", false));
  if (kind != RnnKind::kLstm) return;
  if (parse_string(raw, "weights_format", "fico") != "fico" || parse_bool(raw, "input_forget", false)) {
    fail(ErrorCode::kUnsupported, "only weights_format 'fico' without input_forget can run");
  }
}

std::int64_t count_bias_blocks(const Node& node, RnnKind kind) {
  return count_gates(kind) + (kind == RnnKind::kGru && node.attributes.get_bool("linear_before_reset") ? 1 : 0);
}

RnnStepper::RnnStepper(const Node& node, RnnKind kind, RnnWeights weights)
    : kind_(kind),
      weights_(weights),
      hidden_size_(node.attributes.get_int("hidden_size")),
      clip_(node.attributes.get_double("clip")),
      next_(static_cast<std::size_t>(hidden_size_)),
      reset_(static_cast<std::size_t>(hidden_size_)) {
  const std::vector<double>& alpha = node.attributes.get_doubles("activations_alpha");
  const std::vector<double>& beta = node.attributes.get_doubles("activations_beta");
  for (const std::string& name : split_names(node.attributes.get_string("activations"))) {
    const std::size_t i = functions_.size();
    functions_.push_back(*find_function(name));
    if (i < alpha.size()) functions_.back().alpha = alpha[i];
    if (i < beta.size()) functions_.back().beta = beta[i];
  }
  resets_behind_ = kind == RnnKind::kGru && node.attributes.get_bool("linear_before_reset");
}

void RnnStepper::step(std::span<const float> x, RnnState& state) {
  switch (kind_) {
    case RnnKind::kLstm: return step_lstm(x, state);
    case RnnKind::kGru: return step_gru(x, state);
    case RnnKind::kRnn: return step_rnn(x, state);
  }
}

double RnnStepper::input_sum(std::int64_t row, std::span<const float> x) const {
  const float* w = weights_.w.data() + static_cast<std::size_t>(row) * x.size();
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += static_cast<double>(w[i]) * static_cast<double>(x[i]);
  return sum;
}

double RnnStepper::state_sum(std::int64_t row, const std::vector<double>& hidden) const {
  const float* r = weights_.r.data() + static_cast<std::size_t>(row) * hidden.size();
  double sum = 0;
  for (std::size_t i = 0; i < hidden.size(); ++i) sum += static_cast<double>(r[i]) * hidden[i];
  return sum;
}

double RnnStepper::clipped(double value) const {
  return clip_ > 0 ? std::clamp(value, -clip_, clip_) : value;  // NaN stays
}

double RnnStepper::activated(std::size_t function, double value) const {
  const RnnFunction& f = functions_[function];
  return f.compute(f.alpha, f.beta, value);
}

// i, f, o = f0(W x + R h + b), c = f1(...); C' = f * C + i * c, H' = o * f2(C').
void RnnStepper::step_lstm(std::span<const float> x, RnnState& state) {
  const auto gate = [&](std::int64_t block, std::int64_t i, std::size_t function) {
    const std::int64_t row = block * hidden_size_ + i;
    const double bias = static_cast<double>(weights_.b[static_cast<std::size_t>(row)]);
    return activated(function, clipped(input_sum(row, x) + state_sum(row, state.hidden) + bias));
  };
  for (std::int64_t i = 0; i < hidden_size_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double forget = gate(0, i, 0);
    const double input = gate(1, i, 0);
    const double candidate = gate(2, i, 1);
    const double output = gate(3, i, 0);
    state.cell[at] = forget * state.cell[at] + input * candidate;
    next_[at] = output * activated(2, state.cell[at]);
  }
  state.hidden.swap(next_);
}

// z, r = f0(W x + R h + b); h = f1(W x + b + R (r * h)), or f1(W x + b + r * (R h + b')); H' = (1 - z) h + z H.
void RnnStepper::step_gru(std::span<const float> x, RnnState& state) {
  const auto bias = [&](std::int64_t row) { return static_cast<double>(weights_.b[static_cast<std::size_t>(row)]); };
  const auto gate = [&](std::int64_t row) {
    return activated(0, clipped(input_sum(row, x) + state_sum(row, state.hidden) + bias(row)));
  };
  for (std::int64_t i = 0; i < hidden_size_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double reset = gate(hidden_size_ + i);
    reset_[at] = resets_behind_ ? reset : reset * state.hidden[at];
  }
  for (std::int64_t i = 0; i < hidden_size_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t row = 2 * hidden_size_ + i;
    const double past = resets_behind_ ? reset_[at] * (state_sum(row, state.hidden) + bias(row + hidden_size_))
                                       : state_sum(row, reset_);
    const double candidate = activated(1, clipped(input_sum(row, x) + past + bias(row)));
    const double update = gate(i);
    next_[at] = (1 - update) * candidate + update * state.hidden[at];
  }
  state.hidden.swap(next_);
}

void RnnStepper::step_rnn(std::span<const float> x, RnnState& state) {
  for (std::int64_t i = 0; i < hidden_size_; ++i) {
    const double bias = static_cast<double>(weights_.b[static_cast<std::size_t>(i)]);
    next_[static_cast<std::size_t>(i)] = activated(0, clipped(input_sum(i, x) + state_sum(i, state.hidden) + bias));
  }
  state.hidden.swap(next_);
}

}  // namespace headrace
