// SPDX-License-Identifier: Apache-2.0
// MaxPool and AvgPool in one to three dimensions.
#include "ops/move.hpp"
#include "ops/pool.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"MaxPool", "AvgPool"};
constexpr std::int32_t kIndexOpset = 8;  // from here on MaxPool gives the places of the maxima as well

std::string parse_auto_pad(const RawAttributes& raw) {
  const std::string pad =
      parse_enum(raw, "auto_pad", "explicit", {"explicit", "notset", "same_upper", "same_lower", "valid"});
  return pad == "notset" ? "explicit" : pad;
}

Attributes parse(std::string_view type, std::int32_t opset, const RawAttributes& raw) {
  Attributes attributes;
  const std::vector<std::int64_t> kernel = parse_ints(raw, "kernel");
  const std::vector<std::int64_t> ones(kernel.size(), 1);
  const std::vector<std::int64_t> zeros(kernel.size(), 0);
  attributes.set("kernel", kernel);
  attributes.set("strides", parse_ints(raw, "strides", ones));
  attributes.set("dilations", parse_ints(raw, "dilations", ones));
  attributes.set("pads_begin", parse_ints(raw, "pads_begin", zeros));
  attributes.set("pads_end", parse_ints(raw, "pads_end", zeros));
  attributes.set("auto_pad", parse_auto_pad(raw));
  attributes.set("rounding_type", parse_enum(raw, "rounding_type", "floor", {"floor", "ceil", "ceil_torch"}));
  if (type == "AvgPool") {
    attributes.set("exclude-pad", parse_bool(raw, "exclude-pad", false));
  } else {
    attributes.set("axis", parse_int(raw, "axis", 0));
    attributes.set("index_element_type", parse_enum(raw, "index_element_type", "i64", {"i32", "i64"}));
    attributes.set("has_indices", opset >= kIndexOpset);  // a pass may clear it where nothing reads them
  }
  return attributes;
}

bool has_indices(const Node& node) { return node.type == "MaxPool" && node.attributes.get_bool("has_indices"); }

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 1, 1);
  const Shape& shape = inputs[0].shape;
  if (shape.size() < 3 || shape.size() > 5) {
    fail_node(node, "needs a tensor of rank 3 to 5, has " + to_string(shape));
  }
  const Shape pooled = pooled_shape(shape, make_pool_axes(node, spatial_shape(shape)));
  std::vector<InferOutput> outputs = {{inputs[0].type, pooled}};
  if (has_indices(node)) {
    normalize_one_axis(node, node.attributes.get_int("axis"), shape.size());
    outputs.push_back({*find_element_type(node.attributes.get_string("index_element_type")), pooled});
  }
  return outputs;
}

PoolKind kind_of(const Node& node) { return node.type == "MaxPool" ? PoolKind::kMax : PoolKind::kAverage; }

PoolSpec spec_of(const Node& node, const Shape& shape) {
  PoolSpec spec;
  spec.kind = kind_of(node);
  spec.axes = make_pool_axes(node, spatial_shape(shape));
  if (has_indices(node)) spec.index_axis = normalize_one_axis(node, node.attributes.get_int("axis"), shape.size());
  return spec;
}

Cost cost(const Node& node, std::span<const InferInput> inputs, std::span<const InferOutput> outputs) {
  return pool_cost(make_pool_axes(node, spatial_shape(inputs[0].shape)), inputs, outputs);
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  pool_reference(spec_of(node, inputs[0].shape()), inputs[0], outputs);
}

Support supports(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                 const KernelCaps& caps) {
  return pool_supports(kind_of(node), inputs, outputs, caps);
}

LayoutRules layouts(const Node&, const KernelCaps&) { return pool_layouts(); }

Lowered lower(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
              const KernelCaps& caps) {
  return pool_lower(spec_of(node, inputs[0].desc.shape), inputs[0].desc, outputs, caps);
}

}  // namespace

const OpDescriptor& pool_op() {
  static constexpr OpDescriptor op = {
      .types = kTypes,
      .parse = parse,
      .infer = infer,
      .cost = cost,
      .reference = reference,
      .supports = supports,
      .layouts = layouts,
      .lower = lower,
      .instances = pool_instances,
  };
  return op;
}

}  // namespace headrace
