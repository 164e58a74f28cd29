// SPDX-License-Identifier: Apache-2.0
// OneHot: a new axis of size depth that is on where its coordinate equals the index, off elsewhere.
#include <algorithm>

#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"OneHot"};

Attributes parse(std::string_view, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  attributes.set("axis", parse_int(raw, "axis", -1));
  attributes.set("negative_indices_mode",
                 parse_enum(raw, "negative_indices_mode", "ignore_negative", {"ignore_negative", "normalize"}));
  return attributes;
}

std::size_t axis_of(const Node& node, const Shape& indices) {
  return normalize_one_axis(node, node.attributes.get_int("axis"), indices.size() + 1);
}

bool is_normalizing(const Node& node) { return node.attributes.get_string("negative_indices_mode") == "normalize"; }

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 4, 4);
  const std::int64_t depth = int_at(values_of(inputs), 1);
  if (depth < 0) fail_node(node, "has the depth " + std::to_string(depth));
  if (inputs[0].type != ElementType::i32 && inputs[0].type != ElementType::i64) {
    fail_node(node, "needs i32 or i64 indices, has " + std::string(to_string(inputs[0].type)));
  }
  if (inputs[2].type != inputs[3].type || count_elems(inputs[2].shape) != 1 || count_elems(inputs[3].shape) != 1) {
    fail_node(node, "needs one on_value and one off_value of equal types");
  }
  Shape shape = inputs[0].shape;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis_of(node, shape)), depth);
  return {{inputs[2].type, shape}};
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const std::vector<std::int64_t> indices = to_int64s(inputs[0]);
  const std::int64_t depth = to_int64s(inputs[1])[0];
  const std::int64_t inner = row_major_strides(outputs[0].shape())[axis_of(node, inputs[0].shape())];
  const std::size_t bytes = size_bytes(outputs[0].type());
  for (std::int64_t i = 0; i < outputs[0].count(); ++i) {
    const std::int64_t index = indices[static_cast<std::size_t>(i / (inner * depth) * inner + i % inner)];
    const std::int64_t wanted = index < 0 && is_normalizing(node) ? index + depth : index;
    const Tensor& value = i / inner % depth == wanted ? inputs[2] : inputs[3];
    std::copy_n(value.data(), bytes, outputs[0].mutable_data() + static_cast<std::size_t>(i) * bytes);
  }
}

KernelInstance one_hot_instance(std::size_t elem_bytes) {
  const std::string bytes = std::to_string(elem_bytes);
  return {"one_hot_wide.cl", "ELEM=" + bytes, "one_hot_wide_b" + bytes};
}

Support supports(const Node&, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                 const KernelCaps& caps) {
  const KernelInstance instance = one_hot_instance(size_bytes(outputs[0].type));
  if (!caps.offers(instance)) return Support::no("the programmed bitstream lacks " + instance.entry);
  return supports_int_index(inputs, outputs);
}

LayoutRules layouts(const Node&, const KernelCaps&) { return {{LayoutRule::kRowMajor}, LayoutRule::kRowMajor}; }

Lowered lower(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
              const KernelCaps&) {
  Lowered lowered;
  if (outputs[0].count() == 0) return lowered;
  const std::size_t axis = axis_of(node, inputs[0].desc.shape);
  const std::int64_t inner = row_major_strides(outputs[0].shape)[axis];
  const std::int64_t depth = outputs[0].shape[axis];
  KernelLaunch launch;
  launch.instance = one_hot_instance(size_bytes(outputs[0].type));
  launch.args = {Operand::input(0), Operand::input(2), Operand::input(3), Operand::output(0)};
  for (const std::int64_t value :
       {inputs[0].desc.offset, inputs[2].desc.offset, inputs[3].desc.offset, outputs[0].offset, depth, inner,
        std::int64_t{inputs[0].desc.type == ElementType::i64 ? 1 : 0}, std::int64_t{is_normalizing(node) ? 1 : 0}}) {
    launch.args.emplace_back(static_cast<std::int32_t>(value));
  }
  launch.global = {static_cast<std::size_t>(outputs[0].count() / (depth * inner)), 1, 1};
  lowered.launches.push_back(std::move(launch));
  return lowered;
}

std::vector<KernelInstance> instances() {
  return {one_hot_instance(1), one_hot_instance(2), one_hot_instance(4), one_hot_instance(8)};
}

}  // namespace

const OpDescriptor& one_hot_op() {
  static constexpr OpDescriptor op = {
      .types = kTypes,
      .parse = parse,
      .infer = infer,
      .reference = reference,
      .supports = supports,
      .layouts = layouts,
      .lower = lower,
      .instances = instances,
  };
  return op;
}

}  // namespace headrace
