// SPDX-License-Identifier: Apache-2.0
// FakeQuantize: x is moved to the nearest of `levels` steps of an input range, then scaled to an output range.
#include <cmath>

#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"FakeQuantize"};
constexpr std::size_t kInputs = 5;  // x, input low and high, output low and high

Attributes parse(std::string_view, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  set_broadcast(attributes, raw);
  const std::int64_t levels = parse_int(raw, "levels");
  if (levels < 2) {
    fail(ErrorCode::kBadModel, "attribute 'levels' is " + std::to_string(levels) + ", expected 2 or more");
  }
  attributes.set("levels", levels);
  return attributes;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), kInputs, kInputs);
  for (std::size_t i = 1; i < kInputs; ++i) {
    if (infer_broadcast(node, inputs[0].shape, inputs[i].shape) != inputs[0].shape) {
      fail_node(node, "has a range of shape " + to_string(inputs[i].shape) + " for data of shape " +
                          to_string(inputs[0].shape));
    }
  }
  return {{inputs[0].type, inputs[0].shape}};
}

Cost cost(const Node&, std::span<const InferInput> inputs, std::span<const InferOutput>) {
  constexpr std::int64_t kFlopsPerElement = 8;
  const std::int64_t count = count_elems(inputs[0].shape);
  return {kFlopsPerElement * count, 2 * count * static_cast<std::int64_t>(size_bytes(inputs[0].type))};
}

std::vector<std::int64_t> strides_of(const Node& node, std::size_t index, const TensorDesc& desc, const Shape& shape) {
  return aligned_strides(node, index == 0 ? 0 : 1, desc, shape);
}

// In float, step by step as the kernels do: at the border between two levels double would choose the other one.
float quantized(float x, float in_low, float in_high, float out_low, float out_high, float steps) {
  const float low = in_low < in_high ? in_low : in_high;
  const float high = in_low < in_high ? in_high : in_low;
  if (x <= low) return out_low;
  if (x > high) return out_high;
  const float step = std::nearbyint((x - in_low) / (in_high - in_low) * steps);
  return step / steps * (out_high - out_low) + out_low;
}

// One range for the whole tensor, as nearly all networks have it.
bool quantize_plain(std::span<const Tensor> inputs, Tensor& output, float steps) {
  const auto is_plain = [](const Tensor& tensor) { return tensor.type() == ElementType::f32 && tensor.is_aligned(); };
  if (!is_plain(inputs[0]) || !is_plain(output)) return false;
  float range[kInputs - 1] = {};
  for (std::size_t i = 1; i < kInputs; ++i) {
    if (inputs[i].count() != 1) return false;
    range[i - 1] = static_cast<float>(real_at(inputs[i], 0));
  }
  const auto from = inputs[0].values<float>();
  const auto to = output.mutable_values<float>();
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i] = quantized(from[i], range[0], range[1], range[2], range[3], steps);
  }
  return true;
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  if (quantize_plain(inputs, outputs[0], static_cast<float>(node.attributes.get_int("levels") - 1))) return;
  const Shape& shape = outputs[0].shape();
  std::vector<std::vector<std::int64_t>> strides = {row_major_strides(shape)};
  for (std::size_t i = 0; i < kInputs; ++i) {
    strides.push_back(strides_of(node, i, dense_desc(inputs[i].type(), inputs[i].shape()), shape));
  }
  const auto steps = static_cast<float>(node.attributes.get_int("levels") - 1);
  const auto value = [&](std::size_t i, std::int64_t at) { return static_cast<float>(real_at(inputs[i], at)); };
  walk_elements(shape, strides, [&](const std::vector<std::int64_t>& at) {
    set_real(outputs[0], at[0],
             static_cast<double>(quantized(value(0, at[1]), value(1, at[2]), value(2, at[3]), value(3, at[4]),
                                           value(4, at[5]), steps)));
  });
}

Walk walk_of(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs) {
  Walk walk{outputs[0].shape, {{Operand::output(0), outputs[0].offset, outputs[0].strides}}};
  for (std::size_t i = 0; i < kInputs; ++i) {
    const TensorDesc& desc = inputs[i].desc;
    walk.operands.push_back({Operand::input(i), desc.offset, strides_of(node, i, desc, outputs[0].shape)});
  }
  return walk;
}

KernelInstance instance_of(const KernelCaps& caps) {
  return vector_instance("fake_quantize_wide", "", walk_vector_width(caps));
}

Support supports(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                 const KernelCaps& caps) {
  if (outputs[0].type != ElementType::f32) return Support::no("FakeQuantize of a type other than f32 has no kernel");
  if (const Support support = supports_int_index(inputs, outputs); !support.ok) return support;
  if (const Support support = supports_walk(walk_of(node, inputs, outputs)); !support.ok) return support;
  return supports_instance(instance_of(caps), caps);
}

Lowered lower(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
              const KernelCaps& caps) {
  const LowerArg steps = static_cast<float>(node.attributes.get_int("levels") - 1);
  Lowered lowered;
  append_walk(lowered, instance_of(caps), walk_of(node, inputs, outputs), std::span(&steps, 1), caps);
  return lowered;
}

std::vector<KernelInstance> instances() { return vector_instances("fake_quantize_wide", ""); }

}  // namespace

const OpDescriptor& fake_quantize_op() {
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
