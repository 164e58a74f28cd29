// SPDX-License-Identifier: Apache-2.0
#include "cli/compare_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/text.hpp"

namespace headrace {
namespace {

using Json = nlohmann::ordered_json;

std::string nan_text(const TensorDifference& difference) {
  if (difference.mismatched != 0) return fmt::format("{} differ", difference.mismatched);
  return difference.nan_expected == 0 ? "-" : fmt::format("{} both", difference.nan_expected);
}

std::vector<std::string> row_of(const ComparedTensor& compared, double tolerance) {
  const auto& [tensor, difference] = compared;
  std::vector<std::string> row = {tensor.layer, tensor.type, to_string(tensor.shape), tensor.device};
  if (difference.problem.empty()) {
    row.insert(row.end(), {fmt::format("{:.3g}", difference.max_abs), fmt::format("{:.3g}", difference.relative),
                           fmt::format("{:.7f}", difference.cosine), nan_text(difference)});
  } else {
    row.insert(row.end(), {difference.problem, "", "", ""});
  }
  row.push_back(difference.is_close(tolerance) ? "ok" : "DIFFERS");
  row.push_back(tensor.fused.empty() ? "-" : join(tensor.fused, ","));
  return row;
}

Json to_json(const ComparedTensor& compared, double tolerance) {
  const auto& [tensor, difference] = compared;
  return {{"layer", tensor.layer},
          {"type", tensor.type},
          {"tensor", tensor.name},
          {"fused", tensor.fused},
          {"device", tensor.device},
          {"element_type", std::string(to_string(tensor.element_type))},
          {"shape", tensor.shape},
          {"max_abs", difference.max_abs},
          {"relative", difference.relative},
          {"cosine", difference.cosine},
          {"worst", difference.worst},
          {"nan", difference.nan_actual},
          {"nan_reference", difference.nan_expected},
          {"mismatched", difference.mismatched},
          {"problem", difference.problem},
          {"is_close", difference.is_close(tolerance)}};
}

}  // namespace

const ComparedTensor* first_divergence(const CompareReport& report) {
  const auto found = std::find_if(report.tensors.begin(), report.tensors.end(), [&](const ComparedTensor& compared) {
    return !compared.difference.is_close(report.tolerance);
  });
  return found == report.tensors.end() ? nullptr : &*found;
}

std::string layer_text(const InnerTensor& tensor) {
  std::vector<std::string> fused;
  for (const std::string& name : tensor.fused) fused.push_back("'" + name + "'");
  const std::string with = fused.empty() ? "" : ", with " + join(fused, ", ");
  return fmt::format("layer '{}' ({}{})", tensor.layer, tensor.type, with);
}

void print_report(const CompareReport& report) {
  TextTable table({"LAYER", "TYPE", "SHAPE", "DEVICE", "MAX ABS", "RELATIVE", "COSINE", "NAN", "", "COMPUTED INSIDE"});
  for (const ComparedTensor& compared : report.tensors) table.add(row_of(compared, report.tolerance));
  fmt::print("{}", table.to_string());
  if (!report.missing.empty()) {
    fmt::print("\n{} tensors are not in the stored run: {}\n", report.missing.size(), join(report.missing, ", "));
  }
  if (!report.refused.empty()) {
    fmt::print("\nfused otherwise than in an ordinary run: {}\n", join(report.refused, ", "));
  }
  if (first_divergence(report) == nullptr) {
    fmt::print("\n{} tensors of {} agree with {} within {:g}\n", report.tensors.size(), report.devices,
               report.reference, report.tolerance);
  }
}

std::string report_json(const CompareReport& report) {
  Json tensors = Json::array();
  for (const ComparedTensor& compared : report.tensors) tensors.push_back(to_json(compared, report.tolerance));
  const ComparedTensor* first = first_divergence(report);
  const Json document{{"devices", report.devices},
                      {"reference", report.reference},
                      {"tolerance", report.tolerance},
                      {"first_divergence", first == nullptr ? Json(nullptr) : Json(first->tensor.layer)},
                      {"tensors", std::move(tensors)},
                      {"missing", report.missing},
                      {"fused_otherwise", report.refused}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace headrace
