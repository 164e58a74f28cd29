// SPDX-License-Identifier: Apache-2.0
// Select: condition ? then : else, with broadcasting.
#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"Select"};

Attributes parse(std::string_view, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  set_broadcast(attributes, raw);
  return attributes;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 3, 3);
  if (inputs[0].type != ElementType::boolean) {
    fail_node(node, "expects a boolean condition, got " + std::string(to_string(inputs[0].type)));
  }
  if (inputs[1].type != inputs[2].type) {
    fail_node(node, "has values of types " + std::string(to_string(inputs[1].type)) + " and " +
                        std::string(to_string(inputs[2].type)) + ", which must be equal");
  }
  const Shape values = infer_broadcast(node, inputs[1].shape, inputs[2].shape);
  // pdpd places the other operands inside the first of the values; the condition never widens it.
  if (node.attributes.get_string("auto_broadcast") == "pdpd") {
    infer_broadcast(node, values, inputs[0].shape);
    return {{inputs[1].type, values}};
  }
  return {{inputs[1].type, infer_broadcast(node, values, inputs[0].shape)}};
}

// aligned_strides places operand 1 of a pair by pdpd's axis: here the condition and `else`.
std::vector<std::int64_t> strides_of(const Node& node, std::size_t index, const TensorDesc& desc, const Shape& shape) {
  return aligned_strides(node, index == 1 ? 0 : 1, desc, shape);
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const Shape& shape = outputs[0].shape();
  std::vector<std::vector<std::int64_t>> strides = {row_major_strides(shape)};
  for (std::size_t i = 0; i < 3; ++i) {
    strides.push_back(strides_of(node, i, dense_desc(inputs[i].type(), inputs[i].shape()), shape));
  }
  const bool is_float = is_floating(outputs[0].type());
  walk_elements(shape, strides, [&](const std::vector<std::int64_t>& at) {
    const std::size_t chosen = int_value_at(inputs[0], at[1]) != 0 ? 1 : 2;
    if (is_float) {
      set_real(outputs[0], at[0], real_at(inputs[chosen], at[chosen + 1]));
    } else {
      set_int(outputs[0], at[0], int_value_at(inputs[chosen], at[chosen + 1]));
    }
  });
}

Walk walk_of(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs) {
  Walk walk{outputs[0].shape, {{Operand::output(0), outputs[0].offset, outputs[0].strides}}};
  for (std::size_t i = 0; i < 3; ++i) {
    const TensorDesc& desc = inputs[i].desc;
    walk.operands.push_back({Operand::input(i), desc.offset, strides_of(node, i, desc, outputs[0].shape)});
  }
  return walk;
}

Support supports(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                 const KernelCaps& caps) {
  if (outputs[0].type == ElementType::f16) return Support::no("Select of element type f16 has no kernel");
  if (const Support support = supports_int_index(inputs, outputs); !support.ok) return support;
  if (const Support support = supports_walk(walk_of(node, inputs, outputs)); !support.ok) return support;
  return supports_instance(typed_instance("select_wide", outputs[0].type), caps);
}

Lowered lower(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
              const KernelCaps& caps) {
  Lowered lowered;
  append_walk(lowered, typed_instance("select_wide", outputs[0].type), walk_of(node, inputs, outputs), {}, caps);
  return lowered;
}

std::vector<KernelInstance> instances() {
  std::vector<KernelInstance> all;
  for (const ElementType type :
       {ElementType::f32, ElementType::i8, ElementType::u8, ElementType::i32, ElementType::i64}) {
    all.push_back(typed_instance("select_wide", type));
  }
  return all;
}

}  // namespace

const OpDescriptor& select_op() {
  static constexpr OpDescriptor op = {
      .types = kTypes,
      .parse = parse,
      .infer = infer,
      .reference = reference,
      .supports = supports,
      .lower = lower,
      .instances = instances,
  };
  return op;
}

}  // namespace headrace
