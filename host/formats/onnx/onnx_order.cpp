// SPDX-License-Identifier: Apache-2.0
// The order in which the nodes of an ONNX graph are converted: files need not be sorted.
#include <functional>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/onnx/onnx_reader_impl.hpp"

namespace headrace::detail {
namespace {

using Producers = std::unordered_map<std::string_view, std::size_t>;

Producers producers_of(std::span<const OnnxNode> nodes, const std::function<bool(std::string_view)>& is_outside) {
  Producers producers;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string_view name : nodes[i].outputs) {
      if (name.empty()) continue;
      const auto [other, is_new] = producers.emplace(name, i);
      if (!is_new) {
        fail(ErrorCode::kBadModel, onnx_node_text(nodes[i]) + " and " + onnx_node_text(nodes[other->second]) +
                                       " both make the tensor " + quote(name));
      }
      if (is_outside(name)) {
        fail(ErrorCode::kBadModel,
             onnx_node_text(nodes[i]) + " makes the tensor " + quote(name) + ", which the graph has already");
      }
    }
  }
  return producers;
}

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

// The nodes whose outputs a node reads, itself or in its bodies.
std::vector<std::size_t> read_nodes(const OnnxNode& node, const Producers& producers,
                                    const std::function<bool(std::string_view)>& is_outside) {
  std::vector<std::size_t> result;
  for (const std::string_view name : node.inputs) {
    if (name.empty()) continue;
    if (const auto found = producers.find(name); found != producers.end()) {
      result.push_back(found->second);
    } else if (!is_outside(name)) {
      fail(ErrorCode::kBadModel, onnx_node_text(node) + ": nothing makes its input " + quote(name));
    }
  }
  std::vector<std::string_view> mentioned;
  for (const OnnxAttribute& attribute : node.attributes) {
    if (attribute.g != nullptr) add_mentioned(*attribute.g, mentioned);
  }
  for (const std::string_view name : mentioned) {
    if (const auto found = producers.find(name); found != producers.end()) result.push_back(found->second);
  }
  return result;
}

std::string cycle_text(std::span<const OnnxNode> nodes, const std::vector<std::size_t>& waiting) {
  std::string message = "the graph has a cycle through ";
  std::size_t shown = 0;
  for (std::size_t i = 0; i < nodes.size() && shown < 4; ++i) {
    if (waiting[i] == 0) continue;
    message += (shown++ == 0 ? "" : ", ") + onnx_node_text(nodes[i]);
  }
  return message;
}

}  // namespace

std::string readable(std::string_view text) {
  const std::string quoted = quote(text.substr(0, 60));
  return quoted.substr(1, quoted.size() - 2);
}

std::string onnx_node_text(const OnnxNode& node) {
  const std::string_view name = node.name.empty() && !node.outputs.empty() ? node.outputs[0] : node.name;
  return "node " + quote(name) + " (" + readable(node.op_type) + ")";
}

std::vector<std::size_t> order_onnx_nodes(std::span<const OnnxNode> nodes, std::span<const std::string_view> outputs,
                                          const std::function<bool(std::string_view)>& is_outside) {
  const Producers producers = producers_of(nodes, is_outside);
  std::vector<std::size_t> stack;
  for (const std::string_view name : outputs) {
    if (const auto found = producers.find(name); found != producers.end()) {
      stack.push_back(found->second);
    } else if (!is_outside(name)) {
      fail(ErrorCode::kBadModel, "nothing makes the graph's output " + quote(name));
    }
  }
  std::vector<bool> is_live(nodes.size(), false);
  std::vector<std::size_t> waiting(nodes.size(), 0);  // reads that are not there yet
  std::vector<std::vector<std::size_t>> readers(nodes.size());
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  std::size_t live_count = 0;
  while (!stack.empty()) {
    const std::size_t node = stack.back();
    stack.pop_back();
    if (is_live[node]) continue;
    is_live[node] = true;
    ++live_count;
    for (const std::size_t producer : read_nodes(nodes[node], producers, is_outside)) {
      readers[producer].push_back(node);
      ++waiting[node];
      stack.push_back(producer);
    }
    if (waiting[node] == 0) ready.push(node);
  }
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const std::size_t reader : readers[order.back()]) {
      if (--waiting[reader] == 0) ready.push(reader);
    }
  }
  if (order.size() != live_count) fail(ErrorCode::kBadModel, cycle_text(nodes, waiting));
  return order;
}

}  // namespace headrace::detail
