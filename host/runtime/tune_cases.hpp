// SPDX-License-Identifier: Apache-2.0
// Layers whose forms `headrace tune` measures: those of a model, or of a list of ordinary ones.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "ops/descriptor.hpp"

namespace headrace {

// A graph of one layer between Parameters and a Result; constants are constants.
struct LayerGraph {
  Graph graph;
  NodeId layer;
};

struct TuneCase {
  std::string layer;  // where the shape is from, for people
  FormChoice choice;
  std::function<LayerGraph()> make;  // fills the weights: large
};

// The choices that lowering has in a graph after the passes; each shape class once, in running order.
std::vector<TuneCase> model_cases(const std::shared_ptr<const Graph>& graph, const KernelCaps& caps);

// Those of the ordinary layers (ordinary_layers.hpp), with random weights, bias and ReLU.
std::vector<TuneCase> ordinary_cases(const KernelCaps& caps);

// Values in [-1, 1), levels 0 to 255 or integers 0, 1: the same at every call.
Tensor pseudo_random_tensor(ElementType type, const Shape& shape);

}  // namespace headrace
