// SPDX-License-Identifier: Apache-2.0
// Softmax, LogSoftmax, Hardmax and the losses that stand on them.
#include "formats/onnx/onnx_context.hpp"

namespace headrace::detail {
namespace {

PortRef hardmax(OnnxContext& c, PortRef x, std::int64_t axis) {
  const PortRef top = c.add(
      "TopK", 11, {x, c.constant_int(1)},
      {{"axis", text(axis)}, {"mode", "max"}, {"sort", "value"}, {"stable", "true"}, {"index_element_type", "i64"}}, 2);
  const PortRef index = c.squeeze({top.node, 1}, {axis});
  const PortRef depth = c.gather(c.shape_of(x), c.constant_int(axis), 0);
  return c.add("OneHot", 1, {index, depth, c.constant_like(1, x), c.constant_like(0, x)}, {{"axis", text(axis)}});
}

PortRef along_axis(OnnxContext& c, PortRef x, std::int64_t axis) {
  const std::string type = c.type();
  if (type == "Hardmax") return hardmax(c, x, axis);
  if (type == "LogSoftmax") return c.add("LogSoftmax", 5, {x}, {{"axis", text(axis)}});
  return c.add("SoftMax", 8, {x}, {{"axis", text(axis)}});
}

// From opset 13 on along one axis; before, over all dimensions from `axis` on taken together.
std::vector<PortRef> convert_softmax(OnnxContext& c) {
  const PortRef x = c.input(0);
  if (c.opset() >= 13) return {along_axis(c, x, c.attr_int("axis", -1))};
  const auto rank = static_cast<std::int64_t>(c.rank(x));
  const std::int64_t axis = c.axis(c.attr_int("axis", 1), static_cast<std::size_t>(rank));
  if (axis == rank - 1) return {along_axis(c, x, axis)};
  const PortRef shape = c.shape_of(x);
  // 0 copies the dimensions in front, -1 takes the rest.
  Ints flat(static_cast<std::size_t>(axis), 0);
  flat.push_back(-1);
  return {c.reshape_to(along_axis(c, c.reshape(x, flat), axis), shape)};
}

// Weighted mean or sum of -log(probability) of the wanted classes. log_probability is [N, C, d...], target [N, d...].
PortRef negative_log_likelihood(OnnxContext& c, PortRef log_probability, PortRef target,
                                std::optional<PortRef> weight) {
  const ElementType type = c.element_type(log_probability);
  PortRef classes = c.convert(target, ElementType::i64);
  const PortRef one = c.constant_scalar(1, type);
  const PortRef zero = c.constant_scalar(0, type);
  std::optional<PortRef> is_ignored;
  if (c.has_attribute("ignore_index")) {
    is_ignored = c.binary("Equal", classes, c.constant_int(c.attr_int("ignore_index", 0)));
    classes = c.select(*is_ignored, c.constant_int(0), classes);
  }
  const PortRef picked = c.add("GatherElements", 6, {log_probability, c.unsqueeze(classes, {1})}, {{"axis", "1"}});
  PortRef loss = c.unary("Negative", c.squeeze(picked, {1}));
  PortRef factor = weight ? c.gather(*weight, classes, 0) : c.broadcast(one, c.shape_of(classes));
  if (is_ignored) factor = c.select(*is_ignored, zero, factor);
  loss = c.binary("Multiply", loss, factor);
  if (is_ignored) loss = c.select(*is_ignored, zero, loss);  // 0 times an infinite loss too
  const std::string reduction = c.attr_string("reduction", "mean");
  if (reduction == "none") return loss;
  const Ints all = iota(0, static_cast<std::int64_t>(c.rank(loss)));
  const PortRef sum = c.reduce("ReduceSum", loss, all, false);
  if (reduction == "sum") return sum;
  if (reduction != "mean") fail(ErrorCode::kBadModel, "reduction '" + reduction + "'");
  return c.binary("Divide", sum, c.reduce("ReduceSum", factor, all, false));
}

std::vector<PortRef> convert_nll_loss(OnnxContext& c) {
  return {negative_log_likelihood(c, c.input(0), c.input(1), c.maybe_input(2))};
}

std::vector<PortRef> convert_cross_entropy(OnnxContext& c) {
  const PortRef log_probability = c.add("LogSoftmax", 5, {c.input(0)}, {{"axis", "1"}});
  return {negative_log_likelihood(c, log_probability, c.input(1), c.maybe_input(2)), log_probability};
}

constexpr OnnxConverter kConverters[] = {
    {"Softmax", convert_softmax},
    {"LogSoftmax", convert_softmax},
    {"Hardmax", convert_softmax},
    {"NegativeLogLikelihoodLoss", convert_nll_loss},
    {"SoftmaxCrossEntropyLoss", convert_cross_entropy},
};

}  // namespace

std::span<const OnnxConverter> softmax_onnx() { return kConverters; }

}  // namespace headrace::detail
