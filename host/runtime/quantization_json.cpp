// SPDX-License-Identifier: Apache-2.0
// The report of quantize_model as JSON.
#include <nlohmann/json.hpp>

#include "headrace/quantize.hpp"

namespace headrace {

std::string quantization_json(const QuantizationReport& report) {
  using Json = nlohmann::ordered_json;
  Json layers = Json::array();
  for (const auto& layer : report.layers) {
    layers.push_back(
        {{"name", layer.name}, {"type", layer.type}, {"low", layer.low}, {"high", layer.high}, {"noise", layer.noise}});
  }
  Json kept = Json::array();
  for (const auto& layer : report.kept) {
    kept.push_back({{"name", layer.name}, {"type", layer.type}, {"reason", layer.reason}});
  }
  Json document = {{"network", report.name},      {"xml", report.xml_path},    {"bin", report.bin_path},
                   {"bytes", report.file_bytes},  {"samples", report.samples}, {"resumed", report.resumed},
                   {"layers", std::move(layers)}, {"kept", std::move(kept)}};
  if (!report.measure.empty()) {
    Json trials = Json::array();
    for (const auto& trial : report.trials) trials.push_back({{"put_back", trial.put_back}, {"drop", trial.drop}});
    document["accuracy"] = {{"measure", report.measure},           {"float", report.float_value},
                            {"quantized", report.quantized_value}, {"drop", report.drop},
                            {"trials", std::move(trials)},         {"put_back", report.put_back}};
  }
  return document.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace headrace
