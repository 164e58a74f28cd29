// SPDX-License-Identifier: Apache-2.0
#include "passes/pipeline.hpp"

#include <array>

#include "passes/convert_precision.hpp"
#include "passes/decompose_batch_norm.hpp"
#include "passes/decompose_sdpa.hpp"
#include "passes/eliminate_common_subexpressions.hpp"
#include "passes/eliminate_dead.hpp"
#include "passes/fold_constants.hpp"
#include "passes/fold_pad.hpp"
#include "passes/fold_scale.hpp"
#include "passes/fuse_activation.hpp"
#include "passes/fuse_bias.hpp"
#include "passes/fuse_fake_quantize.hpp"
#include "passes/fuse_residual.hpp"
#include "passes/fuse_scale.hpp"
#include "passes/inline_bodies.hpp"
#include "passes/name_outputs.hpp"
#include "passes/prepare_bodies.hpp"
#include "passes/quantize_to_int8.hpp"
#include "passes/recognize_layer_norm.hpp"
#include "passes/recognize_patterns.hpp"
#include "passes/recognize_shuffle.hpp"
#include "passes/recompose_batch_norm.hpp"
#include "passes/remove_identities.hpp"
#include "passes/sink_transposes.hpp"

namespace headrace {
namespace {

constexpr auto kPasses = std::to_array<Pass>({
    {"name_outputs", name_outputs},
    {"eliminate_dead", eliminate_dead},
    {"inline_bodies", inline_bodies},
    {"convert_precision", convert_precision},
    {"prepare_bodies", prepare_bodies},
    {"fold_constants", fold_constants},
    {"remove_identities", remove_identities},
    {"recognize_patterns", recognize_patterns},
    {"recognize_shuffle", recognize_shuffle},
    {"recognize_layer_norm", recognize_layer_norm},
    {"sink_transposes", sink_transposes},
    {"decompose_sdpa", decompose_sdpa},
    {"decompose_batch_norm", decompose_batch_norm},
    {"fuse_scale", fuse_scale},
    {"fold_scale", fold_scale},
    {"fold_pad", fold_pad},
    {"fuse_bias", fuse_bias},
    {"recompose_batch_norm", recompose_batch_norm},
    {"fuse_residual", fuse_residual},
    {"fuse_activation", fuse_activation},
    {"eliminate_common_subexpressions", eliminate_common_subexpressions},
    {"quantize_to_int8", quantize_to_int8, true},
    {"fuse_fake_quantize", fuse_fake_quantize},
});

}  // namespace

std::span<const Pass> all_passes() { return kPasses; }

void run_passes(Graph& graph, const PassOptions& options) {
  for (const Pass& pass : kPasses) {
    if (options.has_int8 || !pass.needs_int8) pass.run(graph);
#ifndef NDEBUG
    verify(graph, pass.name);
#endif
    if (options.dump) options.dump(pass.name, graph);
  }
}

}  // namespace headrace
