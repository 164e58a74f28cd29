// SPDX-License-Identifier: Apache-2.0
// What a network costs, by layer and in all: for reports.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "graph/graph.hpp"

namespace headrace {

struct LayerCost {
  std::int64_t flops = 0;         // a multiply-add counts as two
  std::int64_t bytes = 0;         // read and written in one run, weights included
  std::int64_t parameters = 0;    // elements of the constants that the layer reads, those for shapes left out
  std::int64_t weight_bytes = 0;  // of these
};

// Whether a node is a layer that reports show: no Const, Parameter or Result.
bool is_layer(const Node& node);

// Nothing where the shapes are not resolved. Fused epilogues count one operation per element and part.
std::optional<LayerCost> layer_cost(const Graph& graph, const Node& node);

struct GraphTotals {
  std::int64_t layers = 0;
  std::int64_t constants = 0;
  std::int64_t parameters = 0;      // elements of floating or byte constants, each constant once
  std::int64_t constant_bytes = 0;  // of all constants as they are stored
  std::int64_t flops = 0;           // of the layers whose shapes are known
  std::int64_t moved_bytes = 0;     // of the layers whose shapes are known
  bool is_complete = true;          // whether all shapes are known
  std::map<std::string, std::int64_t> layers_by_type;
};

GraphTotals count_graph(const Graph& graph);

}  // namespace headrace
