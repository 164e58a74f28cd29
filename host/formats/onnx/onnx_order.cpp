// SPDX-License-Identifier: Apache-2.0
// The names that ONNX nodes mention, their bodies included.
#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/import/node_order.hpp"
#include "formats/onnx/onnx_reader_impl.hpp"

namespace headrace::detail {
namespace {

// Every name that a graph's nodes and outputs mention; those it makes itself among them.
void add_mentioned(const OnnxGraph& graph, std::vector<std::string_view>& names) {
  for (const OnnxNode& node : graph.nodes) {
    names.insert(names.end(), node.inputs.begin(), node.inputs.end());
    for (const OnnxAttribute& attribute : node.attributes) {
      if (attribute.g != nullptr) add_mentioned(*attribute.g, names);
    }
  }
  for (const OnnxValueInfo& output : graph.outputs) names.push_back(output.name);
}

}  // namespace

std::string onnx_node_text(const OnnxNode& node) {
  const std::string_view name = node.name.empty() && !node.outputs.empty() ? node.outputs[0] : node.name;
  return "node " + quote(name) + " (" + readable(node.op_type) + ")";
}

std::vector<std::size_t> order_onnx_nodes(std::span<const OnnxNode> nodes, std::span<const std::string_view> outputs,
                                          const std::function<bool(std::string_view)>& is_outside) {
  std::vector<NodeNames> names;
  names.reserve(nodes.size());
  for (const OnnxNode& node : nodes) {
    NodeNames& entry = names.emplace_back(NodeNames{node.inputs, {}, node.outputs});
    for (const OnnxAttribute& attribute : node.attributes) {
      if (attribute.g != nullptr) add_mentioned(*attribute.g, entry.mentioned);
    }
  }
  return order_nodes(names, outputs, {is_outside, [&](std::size_t i) { return onnx_node_text(nodes[i]); }});
}

}  // namespace headrace::detail
