// SPDX-License-Identifier: Apache-2.0
// `headrace query`.
#include <fmt/core.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/text.hpp"

namespace headrace {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const LayerPlacement& placement) {
  Json refusals = Json::array();
  for (const auto& refusal : placement.refusals) {
    refusals.push_back({{"device", refusal.device}, {"reason", refusal.reason}});
  }
  return {{"layer", placement.layer},       {"type", placement.type},   {"device", placement.device},
          {"subgraph", placement.subgraph}, {"fused", placement.fused}, {"refusals", std::move(refusals)}};
}

void print_table(const std::vector<LayerPlacement>& placements) {
  TextTable table({"LAYER", "TYPE", "DEVICE", "SUBGRAPH", "FUSED", "WHY NOT ON THE EARLIER DEVICES"});
  for (const LayerPlacement& placement : placements) {
    std::vector<std::string> reasons;
    for (const auto& refusal : placement.refusals) reasons.push_back(refusal.device + ": " + refusal.reason);
    table.add({placement.layer, placement.type, placement.device.empty() ? "none" : placement.device,
               placement.subgraph < 0 ? "-" : fmt::format("{}", placement.subgraph),
               placement.fused.empty() ? "-" : join(placement.fused, ","), join(reasons, "; ")});
  }
  fmt::print("{}", table.to_string());
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  check(!file.fail(), ErrorCode::kIo, fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
}

}  // namespace

int run_command(const QueryOptions& options) {
  const Core core;
  const Model model = open_model(core, options.model);
  if (dump_if_asked(core, model, options.model)) return 0;
  const std::vector<LayerPlacement> placements = core.query_model(model, options.model.devices);
  if (!options.dot_file.empty()) write_text(options.dot_file, core.query_dot(model, options.model.devices));
  warn_if_only_cpu(placements, options.model.devices);
  if (options.is_json) {
    Json layers = Json::array();
    for (const LayerPlacement& placement : placements) layers.push_back(to_json(placement));
    const Json document{{"model", options.model.model}, {"devices", options.model.devices}, {"layers", layers}};
    fmt::print("{}\n", document.dump(2, ' ', false, Json::error_handler_t::replace));
  } else {
    print_table(placements);
  }
  return 0;
}

}  // namespace headrace
