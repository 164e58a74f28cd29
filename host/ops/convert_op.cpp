// SPDX-License-Identifier: Apache-2.0
// Convert and ConvertLike: every stored element type to every other.
#include <algorithm>

#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"Convert", "ConvertLike"};

constexpr ElementType kKernelTypes[] = {ElementType::f32, ElementType::f16, ElementType::i8,     ElementType::u8,
                                        ElementType::i32, ElementType::i64, ElementType::boolean};

Attributes parse(std::string_view type, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  if (type == "ConvertLike") return attributes;
  const std::string wanted = parse_string(raw, "destination_type", "");
  if (wanted.empty()) fail(ErrorCode::kBadModel, "attribute 'destination_type' is missing");
  const std::optional<ElementType> destination = find_element_type(wanted);
  if (!destination) fail(ErrorCode::kUnsupported, "Convert to element type '" + wanted + "' is not supported");
  attributes.set("destination_type", std::string(to_string(*destination)));
  return attributes;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  const bool is_like = node.type == "ConvertLike";
  check_input_count(node, inputs.size(), is_like ? 2 : 1, is_like ? 2 : 1);
  if (is_like) return {{inputs[1].type, inputs[0].shape}};
  return {{*find_element_type(node.attributes.get_string("destination_type")), inputs[0].shape}};
}

void reference(const Node&, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const Tensor converted = convert(inputs[0], outputs[0].type());
  std::copy_n(converted.data(), converted.size_bytes(), outputs[0].mutable_data());
}

// Booleans have rules of their own: anything that is not zero is true.
std::string kernel_type(ElementType type) {
  return type == ElementType::boolean ? "bool" : std::string(to_string(type));
}

KernelInstance instance_of(ElementType from, ElementType to) {
  return {"convert_wide.cl", "FROM=t_" + kernel_type(from) + ",TO=t_" + kernel_type(to), "convert_wide"};
}

Walk walk_of(std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs) {
  return {outputs[0].shape,
          {{Operand::output(0), outputs[0].offset, outputs[0].strides},
           {Operand::input(0), inputs[0].desc.offset, inputs[0].desc.strides}}};
}

Support supports(const Node&, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                 const KernelCaps& caps) {
  for (const ElementType type : {inputs[0].desc.type, outputs[0].type}) {
    const bool has_kernel = std::find(std::begin(kKernelTypes), std::end(kKernelTypes), type) != std::end(kKernelTypes);
    if (!has_kernel) return Support::no("Convert of " + std::string(to_string(type)) + " has no kernel");
  }
  if (const Support support = supports_int_index(inputs, outputs); !support.ok) return support;
  if (const Support support = supports_walk(walk_of(inputs, outputs)); !support.ok) return support;
  return supports_instance(instance_of(inputs[0].desc.type, outputs[0].type), caps);
}

Lowered lower(const Node&, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
              const KernelCaps& caps) {
  Lowered lowered;
  append_walk(lowered, instance_of(inputs[0].desc.type, outputs[0].type), walk_of(inputs, outputs), {}, caps);
  return lowered;
}

std::vector<KernelInstance> instances() {
  std::vector<KernelInstance> all;
  for (const ElementType from : kKernelTypes) {
    for (const ElementType to : kKernelTypes) all.push_back(instance_of(from, to));
  }
  return all;
}

}  // namespace

const OpDescriptor& convert_op() {
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
