// SPDX-License-Identifier: Apache-2.0
// QuantizeLevels: the number of the level, as a byte, that a FakeQuantize with one range for the whole tensor moves
// each element to. IR has no such type; the pass quantize_to_int8 makes it. NaN becomes 0.
#include <cmath>

#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"QuantizeLevels"};
constexpr std::int64_t kMaxLevels = 256;

// The numbers that the kernel takes, rounded as FakeQuantize's inputs are.
struct Range {
  float low = 0.0F, high = 1.0F, steps = 255.0F;
};

Range range_of(const Node& node) {
  return {static_cast<float>(node.attributes.get_double("in_low")),
          static_cast<float>(node.attributes.get_double("in_high")),
          static_cast<float>(node.attributes.get_int("levels") - 1)};
}

Attributes parse(std::string_view, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  const std::int64_t levels = parse_int(raw, "levels");
  if (levels < 2 || levels > kMaxLevels) {
    fail(ErrorCode::kBadModel, "attribute 'levels' is " + std::to_string(levels) + ", expected 2 to 256");
  }
  const double low = parse_double(raw, "in_low");
  const double high = parse_double(raw, "in_high");
  if (!(low < high)) fail(ErrorCode::kBadModel, "attribute 'in_low' is not below 'in_high'");
  attributes.set("levels", levels);
  attributes.set("in_low", low);
  attributes.set("in_high", high);
  return attributes;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 1, 1);
  if (inputs[0].type != ElementType::f32) {
    fail_node(node, "of type " + std::string(to_string(inputs[0].type)) + " is not supported, only f32");
  }
  return {{ElementType::u8, inputs[0].shape}};
}

Cost cost(const Node&, std::span<const InferInput> inputs, std::span<const InferOutput>) {
  constexpr std::int64_t kFlopsPerElement = 6;
  constexpr std::int64_t kBytesPerElement = 5;
  const std::int64_t count = count_elems(inputs[0].shape);
  return {kFlopsPerElement * count, kBytesPerElement * count};
}

// In float, step by step as FakeQuantize does.
std::uint8_t level_of(float x, const Range& range) {
  if (!(x > range.low)) return 0;
  if (x > range.high) return static_cast<std::uint8_t>(range.steps);
  return static_cast<std::uint8_t>(std::nearbyint((x - range.low) / (range.high - range.low) * range.steps));
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const Range range = range_of(node);
  const auto from = inputs[0].values<float>();
  const auto to = outputs[0].mutable_values<std::uint8_t>();
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = level_of(from[i], range);
}

Walk walk_of(std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs) {
  return {outputs[0].shape,
          {{Operand::output(0), outputs[0].offset, outputs[0].strides},
           {Operand::input(0), inputs[0].desc.offset, inputs[0].desc.strides}}};
}

KernelInstance instance_of(const KernelCaps& caps) {
  return vector_instance("quantize_wide", "", walk_vector_width(caps), "quantize_wide_u8");
}

Support supports(const Node&, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                 const KernelCaps& caps) {
  if (const Support support = supports_int_index(inputs, outputs); !support.ok) return support;
  if (const Support support = supports_walk(walk_of(inputs, outputs)); !support.ok) return support;
  return supports_instance(instance_of(caps), caps);
}

Lowered lower(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
              const KernelCaps& caps) {
  const Range range = range_of(node);
  const LowerArg extra[] = {range.low, range.high, range.steps};
  Lowered lowered;
  append_walk(lowered, instance_of(caps), walk_of(inputs, outputs), extra, caps);
  return lowered;
}

std::vector<KernelInstance> instances() { return vector_instances("quantize_wide", "", "quantize_wide_u8"); }

}  // namespace

const OpDescriptor& quantize_op() {
  static constexpr OpDescriptor op = {
      .types = kTypes,
      .parse = parse,
      .infer = infer,
      .cost = cost,
      .reference = reference,
      .supports = supports,
      .lower = lower,
      .instances = instances,
  };
  return op;
}

}  // namespace headrace
