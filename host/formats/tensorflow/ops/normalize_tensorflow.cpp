// SPDX-License-Identifier: Apache-2.0
// Normalizations, softmax.
#include "formats/tensorflow/tensorflow_layout.hpp"

namespace headrace::detail {
namespace {

// Inputs: x, scale, offset, mean, variance.
TensorflowValues convert_batch_norm(TensorflowContext& c) {
  if (c.attr_bool("is_training", true))
    c.refuse("is_training: statistics of the batch (freeze the graph for inference)");
  const std::size_t spatial = c.rank(c.input(0)) == 5 ? 3 : 2;
  const PortRef x = to_channels_first(c, c.input(0), spatial);
  const ElementType type = c.element_type(x);
  std::vector<PortRef> inputs = {x};
  for (std::size_t i = 1; i < 5; ++i) inputs.push_back(c.convert(c.input(i), type));
  const double epsilon = c.attr_float("epsilon", static_cast<double>(1e-4F));
  const PortRef y = c.add("BatchNormInference", 5, inputs, {{"epsilon", text(epsilon)}});
  return {from_channels_first(c, y, spatial)};
}

// TensorFlow sums squares; IR takes their mean over the window.
TensorflowValues convert_lrn(TensorflowContext& c) {
  const std::int64_t radius = c.attr_int("depth_radius", 5);
  if (radius < 0 || radius > 1'000'000) fail(ErrorCode::kBadModel, "depth_radius is " + text(radius));
  const std::int64_t size = 2 * radius + 1;
  const PortRef x = c.transpose(c.input(0), {0, 3, 1, 2});
  const PortRef y = c.add("LRN", 1, {x, c.constant_ints({1})},
                          {{"size", text(size)},
                           {"bias", text(c.attr_float("bias", 1))},
                           {"alpha", text(c.attr_float("alpha", 1) * static_cast<double>(size))},
                           {"beta", text(c.attr_float("beta", 0.5))}});
  return {c.transpose(y, {0, 2, 3, 1})};
}

TensorflowValues convert_softmax(TensorflowContext& c) {
  const bool is_log = c.node().op == "LogSoftmax";
  return {c.add(is_log ? "LogSoftmax" : "SoftMax", is_log ? 5 : 8, {c.input(0)}, {{"axis", "-1"}})};
}

// Half the sum of squares.
TensorflowValues convert_l2_loss(TensorflowContext& c) {
  const PortRef x = c.input(0);
  const Ints axes = iota(0, static_cast<std::int64_t>(c.rank(x)));
  const PortRef sum = c.reduce("ReduceSum", c.binary("Multiply", x, x), axes, false);
  return {c.binary("Multiply", sum, c.constant_like(0.5, x))};
}

constexpr TensorflowConverter kConverters[] = {
    {"FusedBatchNorm", convert_batch_norm},
    {"FusedBatchNormV2", convert_batch_norm},
    {"FusedBatchNormV3", convert_batch_norm},
    {"LRN", convert_lrn},
    {"Softmax", convert_softmax},
    {"LogSoftmax", convert_softmax},
    {"L2Loss", convert_l2_loss},
};

}  // namespace

std::span<const TensorflowConverter> normalize_tensorflow() { return kConverters; }

}  // namespace headrace::detail
