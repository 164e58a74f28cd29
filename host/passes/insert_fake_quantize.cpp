// SPDX-License-Identifier: Apache-2.0
#include "passes/insert_fake_quantize.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "ops/descriptor.hpp"
#include "passes/quantize_weights.hpp"

namespace headrace {
namespace {

constexpr double kSteps = 255;
constexpr double kSignedZero = 128;  // the level of zero where levels are symmetric: i8 is -128 to 127
// What stands for a tensor that was zero throughout: any range would do, but its scale must not vanish.
constexpr double kSmallestRange = 1e-6;

PortRef add_scalar(Rewriter& rewriter, const std::string& name, float value) {
  return rewriter.add_const(name, make_f32_tensor({}, std::span(&value, 1)));
}

}  // namespace

ByteRange byte_range_for(double low, double high, bool is_symmetric) {
  low = std::min(low, 0.0);
  high = std::max({high, 0.0, low + kSmallestRange});
  if (low == 0.0) return {0.0F, static_cast<float>(high)};
  if (is_symmetric) {
    const double scale = std::max(-low / kSignedZero, high / (kSteps - kSignedZero));
    return {static_cast<float>(-kSignedZero * scale), static_cast<float>((kSteps - kSignedZero) * scale)};
  }
  const double scale = (high - low) / kSteps;
  const double zero = std::nearbyint(-low / scale);
  return {static_cast<float>(-zero * scale), static_cast<float>((kSteps - zero) * scale)};
}

PortRef add_fake_quantize(Rewriter& rewriter, PortRef data, const ByteRange& range) {
  const OpDescriptor* op = find_op("FakeQuantize");
  HEADRACE_ASSERT(op != nullptr, "FakeQuantize is not built in");
  const Graph& graph = rewriter.graph();
  const OutputInfo info = graph.info(data);
  Node node;
  node.name = graph.at(data).name + "/fq_output_" + std::to_string(data.port);
  node.type = "FakeQuantize";
  node.attributes = op->parse(node.type, node.opset, {{"levels", "256"}});
  const PortRef low = add_scalar(rewriter, node.name + "/low", range.low);
  const PortRef high = add_scalar(rewriter, node.name + "/high", range.high);
  node.inputs = {data, low, high, low, high};
  node.outputs.push_back({info.type, info.shape, info.is_resolved, {}});
  return rewriter.add(std::move(node));
}

void insert_fake_quantize(Graph& graph, const std::vector<QuantizableLayer>& layers, const ByteRanges& ranges) {
  Rewriter rewriter(graph);
  WeightsQuantizer weights(rewriter);
  std::map<PortRef, PortRef> quantized;
  for (const QuantizableLayer& layer : layers) {
    const auto range = ranges.find(layer.data);
    HEADRACE_ASSERT(range != ranges.end(), "a layer's data have no range");
    const auto [entry, is_new] = quantized.try_emplace(layer.data);
    if (is_new) entry->second = add_fake_quantize(rewriter, layer.data, range->second);
    rewriter.set_input(layer.node, 0, entry->second);
    rewriter.set_input(layer.node, 1, weights.quantize(layer.node));
  }
  graph.remove_dead();
}

}  // namespace headrace
