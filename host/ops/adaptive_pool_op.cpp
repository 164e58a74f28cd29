// SPDX-License-Identifier: Apache-2.0
// AdaptiveAvgPool and AdaptiveMaxPool: pooling to a given output size, with windows of uneven widths.
#include <algorithm>

#include "ops/move.hpp"
#include "ops/pool.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"AdaptiveAvgPool", "AdaptiveMaxPool"};
constexpr std::size_t kSpatialAxis = 2;  // AdaptiveMaxPool's indices count within a plane

Attributes parse(std::string_view type, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  if (type == "AdaptiveMaxPool") {
    attributes.set("index_element_type", parse_enum(raw, "index_element_type", "i64", {"i32", "i64"}));
    attributes.set("has_indices", true);  // a pass may clear it where nothing reads them
  }
  return attributes;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 2, 2);
  const Shape& shape = inputs[0].shape;
  if (shape.size() < 3 || shape.size() > 5) {
    fail_node(node, "needs a tensor of rank 3 to 5, has " + to_string(shape));
  }
  const Shape spatial = spatial_shape(shape);
  const std::vector<std::int64_t> sizes = ints_at(values_of(inputs), 1);
  Shape pooled = {shape[0], shape[1]};
  pooled.insert(pooled.end(), sizes.begin(), sizes.end());
  if (sizes.size() != spatial.size() || std::any_of(sizes.begin(), sizes.end(), [](auto size) { return size < 1; })) {
    fail_node(node, "has the output size " + to_string(Shape(sizes)) + " for an input of " + to_string(shape));
  }
  if (count_elems(spatial) == 0) fail_node(node, "has an empty input " + to_string(shape));
  std::vector<InferOutput> outputs = {{inputs[0].type, pooled}};
  if (node.type == "AdaptiveMaxPool" && node.attributes.get_bool("has_indices")) {
    outputs.push_back({*find_element_type(node.attributes.get_string("index_element_type")), pooled});
  }
  return outputs;
}

PoolKind kind_of(const Node& node) { return node.type == "AdaptiveMaxPool" ? PoolKind::kMax : PoolKind::kAverage; }

PoolSpec spec_of(const Node& node, const Shape& input, const Shape& output) {
  const PoolKind kind = kind_of(node);
  return {kind, make_adaptive_axes(spatial_shape(input), spatial_shape(output)), kSpatialAxis};
}

Cost cost(const Node&, std::span<const InferInput> inputs, std::span<const InferOutput> outputs) {
  return pool_cost(make_adaptive_axes(spatial_shape(inputs[0].shape), spatial_shape(outputs[0].shape)), inputs,
                   outputs);
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  pool_reference(spec_of(node, inputs[0].shape(), outputs[0].shape()), inputs[0], outputs);
}

Support supports(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                 const KernelCaps& caps) {
  return pool_supports(kind_of(node), inputs, outputs, caps);
}

LayoutRules layouts(const Node&, const KernelCaps&) { return pool_layouts(); }

Lowered lower(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
              const KernelCaps& caps) {
  return pool_lower(spec_of(node, inputs[0].desc.shape, outputs[0].shape), inputs[0].desc, outputs, caps);
}

}  // namespace

const OpDescriptor& adaptive_pool_op() {
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
