// SPDX-License-Identifier: Apache-2.0
// What a pass did to a graph, told by the graph before and after.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace headrace {

struct LayerChange {
  std::string kind;   // "folded" into a constant, "fused" into another layer, "replaced", "removed" or "added"
  std::string layer;  // its name before, of an added one after
  std::string type;
  std::string into;       // name of the layer or constant that stands for it now, or ""
  std::string into_type;  // its type, or ""
  friend bool operator==(const LayerChange&, const LayerChange&) = default;
};

// The layers of a graph (without Const, Parameter and Result) as a pass may change them.
class LayerSnapshot {
 public:
  explicit LayerSnapshot(const Graph& graph);

  // What has changed since, layers in the order of their ids.
  std::vector<LayerChange> changes_to(const Graph& graph) const;

 private:
  struct Layer {
    std::string name;
    std::string type;
  };
  std::map<NodeId, Layer> layers_;
};

}  // namespace headrace
