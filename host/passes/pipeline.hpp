// SPDX-License-Identifier: Apache-2.0
// The passes that prepare a graph for partition and planning, as one readable list.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "graph/graph.hpp"

namespace headrace {

struct Pass {
  std::string_view name;  // as --dump=after:NAME takes it
  void (*run)(Graph& graph);
  bool needs_int8 = false;  // left out unless PassOptions::has_int8
};

struct PassOptions {
  // Whether the devices multiply bytes faster than floats.
  bool has_int8 = false;
  // Called after every pass, with its name.
  std::function<void(std::string_view pass, const Graph& graph)> dump;
};

// All passes in the order in which they run.
std::span<const Pass> all_passes();

// Runs every pass that the options ask for and, in Debug builds, verify() after each. The graph's shapes must be
// resolved (infer_shapes); the result is for these shapes only. Values, and the names and order of the network's inputs
// and outputs, are kept. Throws what an operator's reference throws on constants, with the layer's name.
void run_passes(Graph& graph, const PassOptions& options = {});

}  // namespace headrace
