// SPDX-License-Identifier: Apache-2.0
// SoftMax and LogSoftmax along one axis.
#include <cmath>
#include <limits>

#include "ops/axis_walk.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"SoftMax", "LogSoftmax"};

Attributes parse(std::string_view type, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  attributes.set("axis", parse_int(raw, "axis", type == "LogSoftmax" ? -1 : 1));
  return attributes;
}

std::size_t axis_of(const Node& node, std::size_t rank) {
  return normalize_one_axis(node, node.attributes.get_int("axis"), rank);
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 1, 1);
  axis_of(node, inputs[0].shape.size());
  return {{inputs[0].type, inputs[0].shape}};
}

Cost cost(const Node&, std::span<const InferInput> inputs, std::span<const InferOutput>) {
  constexpr std::int64_t kFlopsPerElement = 12;  // mostly the exponential
  const std::int64_t count = count_elems(inputs[0].shape);
  return {kFlopsPerElement * count, 2 * count * static_cast<std::int64_t>(size_bytes(inputs[0].type))};
}

// Without the maximum taken off, exp would overflow; NaN and two infinities make the whole row NaN.
void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const std::size_t axis = axis_of(node, inputs[0].shape().size());
  const AxisLoops loops = axis_loops(inputs[0].shape(), std::span(&axis, 1));
  const bool is_log = node.type == "LogSoftmax";
  for (const std::int64_t start : loops.starts) {
    double highest = -std::numeric_limits<double>::infinity();
    for (const std::int64_t offset : loops.offsets) {
      const double x = real_at(inputs[0], start + offset);
      if (x > highest || x != x) highest = x;
    }
    double sum = 0;
    for (const std::int64_t offset : loops.offsets) sum += std::exp(real_at(inputs[0], start + offset) - highest);
    for (const std::int64_t offset : loops.offsets) {
      const double x = real_at(inputs[0], start + offset) - highest;
      set_real(outputs[0], start + offset, is_log ? x - std::log(sum) : std::exp(x) / sum);
    }
  }
}

AxisPlan plan_of(const Node& node, std::span<const LowerInput> inputs, const TensorDesc& output) {
  const std::size_t axis = axis_of(node, output.shape.size());
  return plan_axis_walk(inputs[0].desc, std::span(&axis, 1), output.offset, output.strides);
}

Support supports(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                 const KernelCaps& caps) {
  if (outputs[0].type != ElementType::f32) {
    return Support::no(node.type + " of element type " + std::string(to_string(outputs[0].type)) + " has no kernel");
  }
  if (const Support support = supports_int_index(inputs, outputs); !support.ok) return support;
  const AxisPlan plan = plan_of(node, inputs, outputs[0]);
  if (const Support support = supports_axis_walk(plan, outputs[0].shape); !support.ok) return support;
  return supports_instance(axis_instance("softmax_wide", plan.walk.form, walk_vector_width(caps)), caps);
}

Lowered lower(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
              const KernelCaps& caps) {
  const AxisWalk walk = plan_of(node, inputs, outputs[0]).walk;
  const std::vector<LowerArg> extra = {
      static_cast<std::int32_t>(walk.sizes[2]), static_cast<std::int32_t>(walk.strides[1][2]),
      static_cast<std::int32_t>(walk.strides[0][2]), static_cast<std::int32_t>(node.type == "LogSoftmax" ? 1 : 0)};
  Lowered lowered;
  append_walk(lowered, axis_instance("softmax_wide", walk.form, walk_vector_width(caps)), walk.kept, extra, caps);
  return lowered;
}

std::vector<KernelInstance> instances() { return axis_instances("softmax_wide"); }

}  // namespace

const OpDescriptor& softmax_op() {
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
