// SPDX-License-Identifier: Apache-2.0
// Dimension orders of tensors, views, and which tensors a Concat takes in place.
#include <algorithm>

#include "ops/strided.hpp"
#include "ops/view.hpp"
#include "plan/opencl_planner.hpp"

namespace headrace::detail {
namespace {

// Dimensions from outermost to innermost in memory; dimensions of size 1 have no place of their own and stay where
// the logical order has them.
std::vector<std::size_t> memory_order(const TensorDesc& desc) {
  std::vector<std::size_t> sized;
  for (std::size_t i = 0; i < desc.shape.size(); ++i) {
    if (desc.shape[i] != 1) sized.push_back(i);
  }
  std::stable_sort(sized.begin(), sized.end(),
                   [&](std::size_t a, std::size_t b) { return desc.strides[a] > desc.strides[b]; });
  std::vector<std::size_t> order(desc.shape.size());
  auto next = sized.begin();
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = desc.shape[i] == 1 ? i : *next++;
  return order;
}

TensorDesc dense(ElementType type, const Shape& shape, std::vector<std::int64_t> strides) {
  return {type, shape, std::move(strides), 0};
}

// The largest non-constant input of the output's rank: its order is worth keeping.
const TensorDesc* order_model(const Node& node, const Graph& graph, const NominalLayouts& nominal,
                              std::size_t output_rank) {
  const TensorDesc* model = nullptr;
  for (const PortRef& input : node.inputs) {
    if (is_const(graph, input)) continue;
    const TensorDesc& desc = nominal.descs.at(input);
    if (desc.shape.size() != output_rank) continue;
    if (model == nullptr || desc.count() > model->count()) model = &desc;
  }
  return model;
}

TensorDesc nominal_output(const Node& node, const OutputInfo& output, const PlanRequest& request,
                          const NominalLayouts& nominal) {
  const LayoutRule rule = layout_rules(node, request.caps).output;
  if (rule == LayoutRule::kChannelsLast && output.shape.size() >= 3) {
    return dense(output.type, output.shape, channels_last_strides(output.shape));
  }
  if (rule == LayoutRule::kAny) {
    const TensorDesc* model = order_model(node, request.graph, nominal, output.shape.size());
    if (model != nullptr) return dense(output.type, output.shape, strides_in_order_of(*model, output.shape));
  }
  return dense(output.type, output.shape, row_major_strides(output.shape));
}

std::vector<LowerInput> nominal_inputs(const Node& node, const Graph& graph, const NominalLayouts& nominal) {
  std::vector<LowerInput> inputs;
  for (const PortRef& ref : node.inputs) {
    if (is_const(graph, ref)) {
      const Tensor& value = graph.at(ref).value;
      inputs.push_back({dense(value.type(), value.shape(), row_major_strides(value.shape())), &value});
    } else {
      inputs.push_back({nominal.descs.at(ref), nullptr});
    }
  }
  return inputs;
}

}  // namespace

std::vector<std::int64_t> strides_in_order_of(const TensorDesc& model, const Shape& shape) {
  const std::vector<std::size_t> order = memory_order(model);
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= std::max<std::int64_t>(shape[order[i]], 1);
  }
  return strides;
}

bool is_same_order(const TensorDesc& a, const TensorDesc& b) {
  return a.shape.size() == b.shape.size() && strides_in_order_of(a, a.shape) == strides_in_order_of(b, a.shape);
}

LayoutRules layout_rules(const Node& node, const KernelCaps& caps) {
  const OpDescriptor* op = find_op(node.type);
  return op->layouts != nullptr ? op->layouts(node, caps) : LayoutRules{};
}

LayoutRule input_rule(const LayoutRules& rules, std::size_t index) {
  if (rules.inputs.empty()) return LayoutRule::kAny;
  return rules.inputs[std::min(index, rules.inputs.size() - 1)];
}

NominalLayouts make_nominal_layouts(const PlanRequest& request) {
  NominalLayouts nominal;
  for (const PortRef& input : request.inputs) {
    const OutputInfo& info = request.graph.info(input);
    nominal.descs[input] = dense(info.type, info.shape, row_major_strides(info.shape));
  }
  for (const NodeId id : request.nodes) {
    const Node& node = request.graph.at(id);
    for (std::size_t port = 0; port < node.outputs.size(); ++port) {
      const OutputInfo& output = node.outputs[port];
      const PortRef ref{id, static_cast<std::int32_t>(port)};
      if (!node.inputs.empty() && !is_const(request.graph, node.inputs[0])) {
        const auto view = view_of(node, nominal_inputs(node, request.graph, nominal), port, output.shape);
        if (view) {
          nominal.descs[ref] = {output.type, output.shape, view->strides, view->offset_elems};
          nominal.views.insert(ref);
          continue;
        }
      }
      nominal.descs[ref] = nominal_output(node, output, request, nominal);
    }
  }
  return nominal;
}

// Walked from the last node to the first, so that a Concat inside a Concat (DenseNet) becomes a slice of the outer one.
std::map<PortRef, Slice> find_concat_slices(const PlanRequest& request, const NominalLayouts& nominal) {
  const Graph& graph = request.graph;
  std::set<PortRef> producible;
  for (const NodeId id : request.nodes) {
    const Node& node = graph.at(id);
    if (layout_rules(node, request.caps).output == LayoutRule::kRowMajor) continue;
    for (std::size_t port = 0; port < node.outputs.size(); ++port) {
      const PortRef ref{id, static_cast<std::int32_t>(port)};
      if (nominal.views.count(ref) == 0) producible.insert(ref);
    }
  }
  std::map<PortRef, Slice> slices;
  for (std::size_t n = request.nodes.size(); n-- > 0;) {
    const Node& node = graph.at(request.nodes[n]);
    if (node.type != "Concat") continue;
    const PortRef whole{node.id, 0};
    const Shape& shape = node.outputs[0].shape;
    const auto axis = static_cast<std::size_t>(normalize_axis(node.attributes.get_int("axis"), shape.size(), "axis"));
    std::int64_t position = 0;
    for (const PortRef& input : node.inputs) {
      const auto uses = std::count(node.inputs.begin(), node.inputs.end(), input);
      if (uses == 1 && producible.count(input) != 0 && slices.count(input) == 0 &&
          is_same_order(nominal.descs.at(input), nominal.descs.at(whole))) {
        slices[input] = {whole, axis, position};
      }
      position += graph.info(input).shape[axis];
    }
  }
  return slices;
}

}  // namespace headrace::detail
