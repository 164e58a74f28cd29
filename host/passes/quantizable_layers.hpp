// SPDX-License-Identifier: Apache-2.0
// Which layers of a float network can be computed in bytes.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace headrace {

// A Convolution, GroupConvolution or MatMul whose first input gets a FakeQuantize and whose second one gets bytes.
struct QuantizableLayer {
  NodeId node;
  PortRef data;
};

struct KeptFloatLayer {
  NodeId node;
  std::string reason;
};

struct QuantizableLayers {
  std::vector<QuantizableLayer> layers;  // in topological order
  std::vector<KeptFloatLayer> kept;      // those of the three types that stay in floats
};

// What the user wants left in floats.
struct IgnoredLayers {
  std::set<std::string> names;  // of layers
  std::set<std::string> types;
};

// Finds them in a network in floats. Left out are layers whose weights are no finite f32 constant of rank 2 or more,
// and those whose data follow from shapes and constants alone: they are computed before the run.
// Throws kInvalidArgument for an ignored name or type that is not in the network.
QuantizableLayers find_quantizable(const Graph& graph, const IgnoredLayers& ignored = {});

}  // namespace headrace
