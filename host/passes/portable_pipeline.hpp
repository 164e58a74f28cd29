// SPDX-License-Identifier: Apache-2.0
// The passes for a network that is written to a file which others read, as one readable list.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "graph/graph.hpp"

namespace headrace {

struct PortablePass {
  std::string_view name;
  void (*run)(Graph& graph);
  bool needs_shapes = true;    // left out where an input's shape is open
  bool is_for_floats = false;  // left out where layers are quantized: it would move what readers look for
};

std::span<const PortablePass> portable_passes();

struct PortableOptions {
  // Called before and after every pass of the list; `skipped` is empty for a pass that runs, else why it does not.
  std::function<void(const PortablePass& pass, const Graph& graph)> before;
  std::function<void(const PortablePass& pass, const Graph& graph, std::string_view skipped)> after;
};

// Infers what is known of shapes, then runs the passes that fit the network. What comes out is ordinary IR: no fused
// epilogues, no operators of our own; the element types of the file. Values and the names and order of inputs and
// outputs are kept as run_passes keeps them. Throws what infer_shapes throws.
void run_portable_passes(Graph& graph, const PortableOptions& options = {});

}  // namespace headrace
