// SPDX-License-Identifier: Apache-2.0
#include "passes/portable_pipeline.hpp"

#include <array>

#include "passes/decompose_batch_norm.hpp"
#include "passes/eliminate_common_subexpressions.hpp"
#include "passes/eliminate_dead.hpp"
#include "passes/fold_pad.hpp"
#include "passes/fold_portable.hpp"
#include "passes/fold_scale.hpp"
#include "passes/fuse_scale.hpp"
#include "passes/infer_shapes.hpp"
#include "passes/name_outputs.hpp"
#include "passes/recognize_layer_norm.hpp"
#include "passes/recognize_patterns.hpp"
#include "passes/remove_identities.hpp"
#include "passes/sink_transposes.hpp"

namespace headrace {
namespace {

// Scaled dot-product attention stays one layer, and chains of Reshape and Transpose stay themselves: readers have
// patterns of their own for these.
constexpr auto kPasses = std::to_array<PortablePass>({
    {"name_outputs", name_outputs, false},
    {"eliminate_dead", eliminate_dead, false},
    {"fold_constants", fold_portable, false},
    {"remove_identities", remove_identities},
    {"recognize_patterns", recognize_patterns},
    {"recognize_layer_norm", recognize_layer_norm},
    {"sink_transposes", sink_transposes, false},
    {"decompose_batch_norm", decompose_batch_norm, true, true},
    {"fuse_scale", fuse_scale, true, true},
    {"fold_scale", fold_scale, true, true},
    {"fold_pad", fold_pad, true, true},
    {"eliminate_common_subexpressions", eliminate_common_subexpressions},
});

std::string_view reason_to_skip(const PortablePass& pass, bool has_shapes, bool has_bytes) {
  if (pass.needs_shapes && !has_shapes) return "the shape of an input is open";
  if (pass.is_for_floats && has_bytes) return "the network is quantized";
  return "";
}

}  // namespace

std::span<const PortablePass> portable_passes() { return kPasses; }

void run_portable_passes(Graph& graph, const PortableOptions& options) {
  const bool has_shapes = infer_known_shapes(graph);
  const bool has_bytes = is_quantized(graph);
  for (const PortablePass& pass : kPasses) {
    const std::string_view skipped = reason_to_skip(pass, has_shapes, has_bytes);
    if (options.before) options.before(pass, graph);
    if (skipped.empty()) pass.run(graph);
#ifndef NDEBUG
    verify(graph, pass.name);
#endif
    if (options.after) options.after(pass, graph, skipped);
  }
}

}  // namespace headrace
