// SPDX-License-Identifier: Apache-2.0
// The report of convert_model as JSON.
#include <nlohmann/json.hpp>

#include "headrace/convert.hpp"

namespace headrace {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const ConversionReport::Counts& counts) {
  return {{"layers", counts.layers},
          {"constants", counts.constants},
          {"parameters", counts.parameters},
          {"constant_bytes", counts.constant_bytes},
          {"flops", or_null(counts.flops)},
          {"moved_bytes", or_null(counts.moved_bytes)},
          {"layers_by_type", counts.layers_by_type}};
}

Json to_json(const std::vector<ConversionReport::Port>& ports) {
  Json list = Json::array();
  for (const auto& port : ports) {
    list.push_back({{"name", port.name}, {"type", port.type}, {"shape", port.shape}, {"layout", port.layout}});
  }
  return list;
}

Json to_json(const ConversionReport::Pass& pass) {
  Json changes = Json::array();
  for (const auto& change : pass.changes) {
    changes.push_back({{"kind", change.kind},
                       {"layer", change.layer},
                       {"type", change.type},
                       {"into", change.into},
                       {"into_type", change.into_type}});
  }
  return {{"name", pass.name},
          {"time_ms", pass.time_ms},
          {"layers_before", pass.layers_before},
          {"layers_after", pass.layers_after},
          {"skipped", pass.skipped},
          {"changes", std::move(changes)}};
}

}  // namespace

std::string conversion_json(const ConversionReport& report) {
  Json passes = Json::array();
  for (const auto& pass : report.passes) passes.push_back(to_json(pass));
  Json kept = Json::array();
  for (const auto& layer : report.kept) {
    kept.push_back({{"layer", layer.layer}, {"type", layer.type}, {"reason", layer.reason}});
  }
  const Json document{{"name", report.name},
                      {"xml", report.xml_path},
                      {"bin", report.bin_path},
                      {"file_bytes", report.file_bytes},
                      {"inputs", to_json(report.inputs)},
                      {"outputs", to_json(report.outputs)},
                      {"preprocessing", report.preprocessing},
                      {"before", to_json(report.before)},
                      {"after", to_json(report.after)},
                      {"passes", std::move(passes)},
                      {"kept", std::move(kept)},
                      {"optimize_ms", report.optimize_ms},
                      {"write_ms", report.write_ms}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace headrace
