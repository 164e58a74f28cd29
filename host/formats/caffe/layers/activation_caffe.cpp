// SPDX-License-Identifier: Apache-2.0
// Functions of one blob, element by element.
#include <cmath>

#include "core/error.hpp"
#include "formats/caffe/caffe_context.hpp"
#include "formats/import/layer_parts.hpp"

namespace headrace::detail {
namespace {

std::vector<PortRef> convert_unary(CaffeContext& c) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {"Sigmoid", "Sigmoid"}, {"TanH", "Tanh"}, {"AbsVal", "Abs"}, {"SigmoidCrossEntropyLoss", "Sigmoid"}};
  for (const auto& [from, to] : kTypes) {
    if (from == c.layer().type) return {c.unary(to, c.input())};
  }
  fail(ErrorCode::kInternal, "a type without its function");
}

// log(1 + exp(x)).
std::vector<PortRef> convert_bnll(CaffeContext& c) { return {c.add("SoftPlus", 4, {c.input()})}; }

std::vector<PortRef> convert_relu(CaffeContext& c) {
  return {add_relu(c, c.input(), c.params("relu_param").get_float("negative_slope", 0))};
}

std::vector<PortRef> convert_relu6(CaffeContext& c) {
  return {c.add("Clamp", 1, {c.input()}, {{"min", "0"}, {"max", "6"}})};
}

// One slope for each channel, or a single one.
std::vector<PortRef> convert_prelu(CaffeContext& c) {
  const bool is_shared = c.params("prelu_param").get_bool("channel_shared", false);
  const std::int64_t count = is_shared ? 1 : c.count_values(0);
  const auto channels = c.static_dim(c.input(), 1);
  if (!is_shared && channels && *channels != count) {
    fail(ErrorCode::kBadModel,
         "has " + std::to_string(count) + " slopes for " + std::to_string(*channels) + " channels");
  }
  return {c.binary("PReLU", c.input(), c.blob_constant(0, {count}))};
}

std::vector<PortRef> convert_elu(CaffeContext& c) {
  return {c.add("Elu", 1, {c.input()}, {{"alpha", text(c.params("elu_param").get_float("alpha", 1))}})};
}

std::vector<PortRef> convert_power(CaffeContext& c) {
  const CaffeParams& params = c.params("power_param");
  return {add_power(c, c.input(), params.get_float("power", 1), params.get_float("scale", 1),
                    params.get_float("shift", 0))};
}

// ln(base), where the base -1 stands for e.
double log_of_base(const CaffeParams& params) {
  const double base = params.get_float("base", -1);
  if (base == -1) return 1;
  if (!(base > 0)) fail(ErrorCode::kBadModel, "base is " + text(base));
  return std::log(base);
}

// base ^ (shift + scale * x).
std::vector<PortRef> convert_exp(CaffeContext& c) {
  const CaffeParams& params = c.params("exp_param");
  const double factor = log_of_base(params);
  const PortRef exponent =
      add_power(c, c.input(), 1, factor * params.get_float("scale", 1), factor * params.get_float("shift", 0));
  return {c.unary("Exp", exponent)};
}

// log_base(shift + scale * x).
std::vector<PortRef> convert_log(CaffeContext& c) {
  const CaffeParams& params = c.params("log_param");
  const double factor = log_of_base(params);
  if (factor == 0) fail(ErrorCode::kBadModel, "base is 1");
  const PortRef argument = add_power(c, c.input(), 1, params.get_float("scale", 1), params.get_float("shift", 0));
  return {add_power(c, c.unary("Log", argument), 1, 1 / factor, 0)};
}

std::vector<PortRef> convert_threshold(CaffeContext& c) {
  const double threshold = c.params("threshold_param").get_float("threshold", 0);
  return {c.convert(c.binary("Greater", c.input(), c.constant_like(threshold, c.input())), ElementType::f32)};
}

std::vector<PortRef> convert_clip(CaffeContext& c) {
  const CaffeParams& params = c.params("clip_param");
  if (!params.has("min") || !params.has("max")) fail(ErrorCode::kBadModel, "needs min and max");
  return {c.add("Clamp", 1, {c.input()},
                {{"min", text(params.get_float("min", 0))}, {"max", text(params.get_float("max", 0))}})};
}

// x * sigmoid(beta * x).
std::vector<PortRef> convert_swish(CaffeContext& c) {
  const double beta = c.params("swish_param").get_float("beta", 1);
  return {c.add("Swish", 4, {c.input(), c.constant_like(beta, c.input())})};
}

// Dropout drops nothing in a run; Split is one blob under several names.
std::vector<PortRef> convert_identity(CaffeContext& c) { return {c.input()}; }

std::vector<PortRef> convert_split(CaffeContext& c) { return std::vector<PortRef>(c.count_outputs(), c.input()); }

constexpr CaffeConverter kConverters[] = {
    {"Sigmoid", convert_unary},
    {"TanH", convert_unary},
    {"AbsVal", convert_unary},
    {"BNLL", convert_bnll},
    {"SigmoidCrossEntropyLoss", convert_unary},
    {"ReLU", convert_relu},
    {"ReLU6", convert_relu6},
    {"PReLU", convert_prelu},
    {"ELU", convert_elu},
    {"Power", convert_power},
    {"Exp", convert_exp},
    {"Log", convert_log},
    {"Threshold", convert_threshold},
    {"Clip", convert_clip},
    {"Swish", convert_swish},
    {"Dropout", convert_identity},
    {"Split", convert_split},
};

}  // namespace

std::span<const CaffeConverter> activation_caffe() { return kConverters; }

}  // namespace headrace::detail
