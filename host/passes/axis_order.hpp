// SPDX-License-Identifier: Apache-2.0
// What becomes of an operator when the axes of its inputs are in another order.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "passes/rewriter.hpp"

namespace headrace {

// y = Transpose(x, order): axis k of y is axis order[k] of x.
using AxisOrder = std::vector<std::int64_t>;

bool is_identity_order(const AxisOrder& order);

// The order of a Transpose whose order is a constant or, with known shapes, left out; nothing for other nodes.
std::optional<AxisOrder> transpose_order(const Graph& graph, const Node& node);

struct Reordered {
  Node node;        // reads x where it read y; new constants are in the graph already
  AxisOrder order;  // of its outputs: Transpose(node(x), order) = the old node(y)
};

// The node for inputs before their Transposes: of those inputs that are no constants each is a Transpose by one order
// of four axes or more. Nothing where the node has no other order of axes or something is not known.
std::optional<Reordered> reordered(Rewriter& rewriter, const Node& node);

}  // namespace headrace
