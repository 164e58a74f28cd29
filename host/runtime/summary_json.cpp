// SPDX-License-Identifier: Apache-2.0
// A model's summary as JSON.
#include <nlohmann/json.hpp>

#include "headrace/summary.hpp"

namespace headrace {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<std::int64_t>& value) { return value ? Json(*value) : Json(nullptr); }

Json to_json(const ModelSummary::Layer& layer) {
  Json inputs = Json::array();
  for (const auto& input : layer.inputs) inputs.push_back({{"layer", input.layer}, {"output", input.output}});
  Json outputs = Json::array();
  for (const auto& output : layer.outputs) outputs.push_back({{"type", output.type}, {"shape", output.shape}});
  return {{"name", layer.name},
          {"type", layer.type},
          {"inputs", std::move(inputs)},
          {"outputs", std::move(outputs)},
          {"parameters", layer.parameters},
          {"weight_bytes", layer.weight_bytes},
          {"flops", or_null(layer.flops)},
          {"moved_bytes", or_null(layer.moved_bytes)},
          {"live_bytes", or_null(layer.live_bytes)},
          {"fused", layer.fused},
          {"device", layer.device},
          {"subgraph", layer.subgraph}};
}

}  // namespace

std::string summary_json(const ModelSummary& summary) {
  Json layers = Json::array();
  for (const auto& layer : summary.layers) layers.push_back(to_json(layer));
  const bool has_peak = summary.peak_bytes.has_value() && !summary.layers.empty();
  const Json document{{"name", summary.name},
                      {"parameters", summary.parameters},
                      {"weight_bytes", summary.weight_bytes},
                      {"flops", or_null(summary.flops)},
                      {"moved_bytes", or_null(summary.moved_bytes)},
                      {"peak_bytes", or_null(summary.peak_bytes)},
                      {"peak_layer", has_peak ? Json(summary.layers[summary.peak_layer].name) : Json(nullptr)},
                      {"devices", summary.devices},
                      {"layers", std::move(layers)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace headrace
