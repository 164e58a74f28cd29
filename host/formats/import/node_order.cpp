// SPDX-License-Identifier: Apache-2.0
#include "formats/import/node_order.hpp"

#include <queue>
#include <unordered_map>

#include "core/error.hpp"
#include "core/file.hpp"

namespace headrace::detail {
namespace {

using Producers = std::unordered_map<std::string_view, std::size_t>;

Producers producers_of(std::span<const NodeNames> nodes, const NodeSurroundings& around) {
  Producers producers;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string_view name : nodes[i].outputs) {
      if (name.empty()) continue;
      const auto [other, is_new] = producers.emplace(name, i);
      if (!is_new) {
        fail(ErrorCode::kBadModel,
             around.text_of(i) + " and " + around.text_of(other->second) + " both make the tensor " + quote(name));
      }
      if (around.is_outside(name)) {
        fail(ErrorCode::kBadModel,
             around.text_of(i) + " makes the tensor " + quote(name) + ", which the graph has already");
      }
    }
  }
  return producers;
}

// The nodes whose outputs a node reads, itself or in its bodies.
std::vector<std::size_t> read_nodes(std::span<const NodeNames> nodes, std::size_t node, const Producers& producers,
                                    const NodeSurroundings& around) {
  std::vector<std::size_t> result;
  for (const std::string_view name : nodes[node].inputs) {
    if (name.empty()) continue;
    if (const auto found = producers.find(name); found != producers.end()) {
      result.push_back(found->second);
    } else if (!around.is_outside(name)) {
      fail(ErrorCode::kBadModel, around.text_of(node) + ": nothing makes its input " + quote(name));
    }
  }
  for (const std::string_view name : nodes[node].mentioned) {
    if (const auto found = producers.find(name); found != producers.end()) result.push_back(found->second);
  }
  return result;
}

std::string cycle_text(const std::vector<std::size_t>& waiting, const NodeSurroundings& around) {
  std::string message = "the graph has a cycle through ";
  std::size_t shown = 0;
  for (std::size_t i = 0; i < waiting.size() && shown < 4; ++i) {
    if (waiting[i] == 0) continue;
    message += (shown++ == 0 ? "" : ", ") + around.text_of(i);
  }
  return message;
}

}  // namespace

std::vector<std::size_t> order_nodes(std::span<const NodeNames> nodes, std::span<const std::string_view> outputs,
                                     const NodeSurroundings& around) {
  const Producers producers = producers_of(nodes, around);
  std::vector<std::size_t> stack;
  for (const std::string_view name : outputs) {
    if (const auto found = producers.find(name); found != producers.end()) {
      stack.push_back(found->second);
    } else if (!around.is_outside(name)) {
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
    for (const std::size_t producer : read_nodes(nodes, node, producers, around)) {
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
  if (order.size() != live_count) fail(ErrorCode::kBadModel, cycle_text(waiting, around));
  return order;
}

}  // namespace headrace::detail
