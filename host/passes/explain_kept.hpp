// SPDX-License-Identifier: Apache-2.0
// Why passes left layers that they take away elsewhere.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace headrace {

struct KeptLayer {
  std::string layer;
  std::string type;
  std::string reason;
  friend bool operator==(const KeptLayer&, const KeptLayer&) = default;
};

// For a graph after run_portable_passes: layers of constants that were not folded, scales and shifts by constants that
// were not folded into the convolution or MatMul before them, BatchNormInference that was not taken apart, and layers
// that only pass a tensor on; each with the reason, in topological order.
std::vector<KeptLayer> explain_kept(const Graph& graph);

}  // namespace headrace
