// SPDX-License-Identifier: Apache-2.0
// Normalizations by mean and variance, by norms and by neighbours.
#include <numeric>

#include "formats/onnx/onnx_window.hpp"

namespace headrace::detail {
namespace {

constexpr double kEpsilon = static_cast<double>(1e-5F);

// Mean and variance of the batch; the running ones move towards them by 1 - momentum.
std::vector<PortRef> train_batch_norm(OnnxContext& c) {
  const PortRef x = c.input(0);
  const std::size_t rank = c.rank(x);
  Ints axes = {0};
  for (const std::int64_t axis : iota(2, static_cast<std::int64_t>(rank))) axes.push_back(axis);
  const PortRef mean = c.reduce("ReduceMean", x, axes, true);
  const PortRef difference = c.binary("Subtract", x, mean);
  const PortRef variance = c.reduce("ReduceMean", c.binary("Multiply", difference, difference), axes, true);
  const PortRef epsilon = c.constant_like(c.attr_float("epsilon", kEpsilon), variance);
  const PortRef deviation = c.unary("Sqrt", c.binary("Add", variance, epsilon));
  const PortRef scale = c.convert(per_channel(c, c.input(1), rank), c.element_type(x));
  const PortRef bias = c.convert(per_channel(c, c.input(2), rank), c.element_type(x));
  std::vector<PortRef> outputs = {
      c.binary("Add", c.binary("Multiply", c.binary("Divide", difference, deviation), scale), bias)};
  const double momentum = c.attr_float("momentum", static_cast<double>(0.9F));
  for (const auto& [running, batch] : {std::pair{c.input(3), mean}, std::pair{c.input(4), variance}}) {
    const PortRef kept = c.binary("Multiply", running, c.constant_like(momentum, running));
    const PortRef flat = c.convert(c.reshape(batch, {-1}), c.element_type(running));
    outputs.push_back(c.binary("Add", kept, c.binary("Multiply", flat, c.constant_like(1 - momentum, running))));
  }
  return outputs;
}

std::vector<PortRef> convert_batch_norm(OnnxContext& c) {
  if (c.attr_int("training_mode", 0) != 0 && c.opset() >= 14) return train_batch_norm(c);
  if (c.wants_output(1)) c.refuse("the outputs of training");
  if (c.attr_int("spatial", 1) == 0) c.refuse("spatial 0");
  const ElementType type = c.element_type(c.input(0));
  std::vector<PortRef> inputs = {c.input(0)};
  for (std::size_t i = 1; i < 5; ++i) inputs.push_back(c.convert(c.input(i), type));
  return {c.add("BatchNormInference", 5, inputs, {{"epsilon", text(c.attr_float("epsilon", kEpsilon))}})};
}

PortRef mean_variance(OnnxContext& c, PortRef x, const Ints& axes, double epsilon, const char* mode = "inside_sqrt") {
  return c.add("MVN", 6, {x, c.constant_ints(axes)},
               {{"eps", text(epsilon)}, {"normalize_variance", "true"}, {"eps_mode", mode}});
}

std::vector<PortRef> convert_instance_norm(OnnxContext& c) {
  const PortRef x = c.input(0);
  const std::size_t rank = c.rank(x);
  const PortRef y = mean_variance(c, x, iota(2, static_cast<std::int64_t>(rank)), c.attr_float("epsilon", kEpsilon));
  const PortRef scaled = c.binary("Multiply", y, per_channel(c, c.input(1), rank));
  return {c.binary("Add", scaled, per_channel(c, c.input(2), rank))};
}

std::vector<PortRef> convert_mvn(OnnxContext& c) {
  const Ints axes = c.attr_ints("axes").value_or(Ints{0, 2, 3});
  return {mean_variance(c, c.input(0), axes, static_cast<double>(1e-9F), "outside_sqrt")};
}

// Groups of channels; scale and bias are per group in opset 18, per channel from 21 on.
std::vector<PortRef> convert_group_norm(OnnxContext& c) {
  const PortRef x = c.input(0);
  const std::size_t rank = c.rank(x);
  const std::int64_t groups = c.attr_int("num_groups", 1);
  const ElementType type = c.element_type(x);
  const PortRef grouped = c.reshape(c.convert(x, ElementType::f32), {0, groups, -1});
  PortRef y = mean_variance(c, grouped, {2}, c.attr_float("epsilon", kEpsilon));
  const bool is_per_group = c.opset() < 21;
  const std::size_t scale_rank = is_per_group ? 3 : rank;
  if (!is_per_group) y = c.reshape_to(y, c.shape_of(x));
  const PortRef scale = c.convert(per_channel(c, c.input(1), scale_rank), ElementType::f32);
  const PortRef bias = c.convert(per_channel(c, c.input(2), scale_rank), ElementType::f32);
  y = c.binary("Add", c.binary("Multiply", y, scale), bias);
  return {c.convert(is_per_group ? c.reshape_to(y, c.shape_of(x)) : y, type)};
}

// Outputs: y, the mean and the inverse of the deviation, the latter two over the axes from `axis` on.
std::vector<PortRef> convert_layer_norm(OnnxContext& c) {
  const PortRef given = c.input(0);
  const ElementType type = c.element_type(given);
  const PortRef x = c.convert(given, ElementType::f32);
  const auto rank = static_cast<std::int64_t>(c.rank(x));
  const Ints axes = iota(c.axis(c.attr_int("axis", -1), static_cast<std::size_t>(rank)), rank);
  const double epsilon = c.attr_float("epsilon", kEpsilon);
  PortRef y;
  std::vector<PortRef> statistics;
  if (c.wants_output(1) || c.wants_output(2)) {
    const PortRef mean = c.reduce("ReduceMean", x, axes, true);
    const PortRef difference = c.binary("Subtract", x, mean);
    const PortRef variance = c.reduce("ReduceMean", c.binary("Multiply", difference, difference), axes, true);
    const PortRef deviation = c.unary("Sqrt", c.binary("Add", variance, c.constant_like(epsilon, variance)));
    const PortRef inverse = c.binary("Divide", c.constant_like(1, deviation), deviation);
    y = c.binary("Multiply", difference, inverse);
    statistics = {mean, inverse};
  } else {
    y = mean_variance(c, x, axes, epsilon);
  }
  y = c.binary("Multiply", y, c.convert(c.input(1), ElementType::f32));
  if (c.has_input(2)) y = c.binary("Add", y, c.convert(c.input(2), ElementType::f32));
  std::vector<PortRef> outputs = {c.convert(y, type)};
  outputs.insert(outputs.end(), statistics.begin(), statistics.end());
  return outputs;
}

std::vector<PortRef> convert_rms_norm(OnnxContext& c) {
  const PortRef given = c.input(0);
  const PortRef x = c.convert(given, ElementType::f32);
  const auto rank = static_cast<std::int64_t>(c.rank(x));
  const Ints axes = iota(c.axis(c.attr_int("axis", -1), static_cast<std::size_t>(rank)), rank);
  const PortRef square = c.reduce("ReduceMean", c.binary("Multiply", x, x), axes, true);
  const PortRef root = c.unary("Sqrt", c.binary("Add", square, c.constant_like(c.attr_float("epsilon", kEpsilon), x)));
  const PortRef y = c.convert(c.binary("Divide", x, root), c.element_type(given));
  return {c.binary("Multiply", y, c.input(1))};
}

std::vector<PortRef> convert_lrn(OnnxContext& c) {
  return {c.add("LRN", 1, {c.input(0), c.constant_ints({1})},
                {{"alpha", text(c.attr_float("alpha", static_cast<double>(1e-4F)))},
                 {"beta", text(c.attr_float("beta", 0.75))},
                 {"bias", text(c.attr_float("bias", 1))},
                 {"size", text(c.attr_int("size", 0))}})};
}

// A vector of zeros stays one.
std::vector<PortRef> convert_lp_normalization(OnnxContext& c) {
  const PortRef x = c.input(0);
  const std::int64_t p = c.attr_int("p", 2);
  if (p != 1 && p != 2) fail(ErrorCode::kBadModel, "p is " + text(p));
  const PortRef norm = c.reduce(p == 1 ? "ReduceL1" : "ReduceL2", x, {c.attr_int("axis", -1)}, true);
  const PortRef is_zero = c.binary("Equal", norm, c.constant_like(0, norm));
  return {c.binary("Divide", x, c.select(is_zero, c.constant_like(1, norm), norm))};
}

constexpr OnnxConverter kConverters[] = {
    {"BatchNormalization", convert_batch_norm},
    {"InstanceNormalization", convert_instance_norm},
    {"MeanVarianceNormalization", convert_mvn},
    {"GroupNormalization", convert_group_norm},
    {"LayerNormalization", convert_layer_norm},
    {"RMSNormalization", convert_rms_norm},
    {"LRN", convert_lrn},
    {"LpNormalization", convert_lp_normalization},
};

}  // namespace

std::span<const OnnxConverter> normalize_onnx() { return kConverters; }

}  // namespace headrace::detail
