// SPDX-License-Identifier: Apache-2.0
// GroupNormalization: channels in groups, each group of a batch element normalized, then scaled and shifted by channel.
#include <cmath>

#include "ops/checks.hpp"
#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"GroupNormalization"};

Attributes parse(std::string_view, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  attributes.set("num_groups", parse_int(raw, "num_groups"));
  attributes.set("epsilon", parse_double(raw, "epsilon"));
  return attributes;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 3, 3);
  check_float_type(node, inputs, 0, "data");
  check_same_types(node, inputs, {0, 1, 2});
  const Shape& data = inputs[0].shape;
  if (data.size() < 2) fail_node(node, "needs data of rank 2 or more, has " + to_string(data));
  check_shape(node, inputs[1].shape, {data[1]}, "scale");
  check_shape(node, inputs[2].shape, {data[1]}, "bias");
  const std::int64_t groups = node.attributes.get_int("num_groups");
  if (groups < 1 || data[1] % groups != 0) {
    fail_node(node, "cannot cut " + std::to_string(data[1]) + " channels into " + std::to_string(groups) + " groups");
  }
  return {{inputs[0].type, data}};
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const Shape& data = inputs[0].shape();
  const std::int64_t groups = node.attributes.get_int("num_groups");
  const double epsilon = node.attributes.get_double("epsilon");
  const std::int64_t pixels = count_between(data, 2, data.size());
  const std::int64_t size = data[1] / groups * pixels;
  for (std::int64_t g = 0; g < data[0] * groups && size != 0; ++g) {
    double sum = 0;
    double squares = 0;
    for (std::int64_t i = 0; i < size; ++i) sum += real_at(inputs[0], g * size + i);
    const double mean = sum / static_cast<double>(size);
    for (std::int64_t i = 0; i < size; ++i) squares += std::pow(real_at(inputs[0], g * size + i) - mean, 2);
    const double scale = 1 / std::sqrt(squares / static_cast<double>(size) + epsilon);
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t channel = (g % groups) * (data[1] / groups) + i / pixels;
      const double value = (real_at(inputs[0], g * size + i) - mean) * scale;
      set_real(outputs[0], g * size + i, value * real_at(inputs[1], channel) + real_at(inputs[2], channel));
    }
  }
}

Cost cost(const Node&, std::span<const InferInput> inputs, std::span<const InferOutput>) {
  constexpr std::int64_t kFlopsPerElement = 8;
  const std::int64_t count = count_elems(inputs[0].shape);
  return {kFlopsPerElement * count, 2 * count * static_cast<std::int64_t>(size_bytes(inputs[0].type))};
}

}  // namespace

const OpDescriptor& group_norm_op() {
  static constexpr OpDescriptor op = {
      .types = kTypes, .parse = parse, .infer = infer, .cost = cost, .reference = reference};
  return op;
}

}  // namespace headrace
