// SPDX-License-Identifier: Apache-2.0
#include "runtime/calibration_state.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/log.hpp"
#include "plan/digest.hpp"

namespace headrace {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kHead = "headrace calibration 1\n";
constexpr std::size_t kDigestChars = 32;
constexpr std::size_t kMaxBytes = std::size_t{1} << 30U;

Json to_json(const ValueStatistics& statistics) {
  const auto stored = statistics.store();
  return {stored.min, stored.max, stored.limit, stored.zeros, stored.counts};
}

ValueStatistics parse_statistics(const Json& json) {
  ValueStatistics::Stored stored;
  stored.min = json.at(0);
  stored.max = json.at(1);
  stored.limit = json.at(2);
  stored.zeros = json.at(3);
  stored.counts = json.at(4).get<decltype(stored.counts)>();
  ValueStatistics statistics;
  check(statistics.restore(stored), ErrorCode::kBadModel, "statistics that no values can have");
  return statistics;
}

CalibrationState parse_state(const Json& json) {
  CalibrationState state;
  state.chunk = json.at("chunk");
  state.samples = json.at("samples");
  state.compared = json.at("compared");
  state.ranges = json.at("ranges");
  state.is_finite = json.at("finite").get<std::vector<bool>>();
  for (const Json& tensor : json.at("tensors")) state.tensors.push_back(parse_statistics(tensor));
  for (const Json& layer : json.at("layers")) {
    state.layers.push_back({layer.at(0).get<std::vector<double>>(), layer.at(1)});
  }
  return state;
}

Json to_json(const CalibrationState& state, const std::string& key) {
  Json tensors = Json::array();
  for (const ValueStatistics& tensor : state.tensors) tensors.push_back(to_json(tensor));
  Json layers = Json::array();
  for (const LayerMeans& layer : state.layers) layers.push_back({layer.shifts, layer.noise});
  return {{"key", key},
          {"chunk", state.chunk},
          {"samples", state.samples},
          {"compared", state.compared},
          {"ranges", state.ranges},
          {"finite", state.is_finite},
          {"tensors", std::move(tensors)},
          {"layers", std::move(layers)}};
}

}  // namespace

void store_state(const CalibrationState& state, const std::string& key, const std::string& path) {
  const std::vector<std::uint8_t> body = Json::to_cbor(to_json(state, key));
  const auto bytes = std::as_bytes(std::span(body));
  const std::string digest = to_hex(digest_of(bytes));
  write_file(path, {as_bytes(kHead), as_bytes(digest), bytes});
}

std::optional<CalibrationState> load_state(const std::string& key, const std::string& path) {
  std::error_code failed;
  if (path.empty() || !std::filesystem::exists(path, failed)) return std::nullopt;
  try {
    const std::string text = read_file(path, kMaxBytes, "calibration");
    const std::size_t begin = kHead.size() + kDigestChars;
    const std::string_view body = std::string_view(text).substr(std::min(begin, text.size()));
    const bool is_whole = text.starts_with(kHead) && text.size() > begin &&
                          text.compare(kHead.size(), kDigestChars, to_hex(digest_of(as_bytes(body)))) == 0;
    check(is_whole, ErrorCode::kBadModel, "it is cut short or changed");
    const Json json = Json::from_cbor(body.begin(), body.end());
    if (json.at("key") != key) return std::nullopt;
    return parse_state(json);
  } catch (const std::exception& error) {
    log(LogLevel::kWarn, "quantize",
        "the statistics in " + quote(path) + " cannot be gone on with: " + std::string(error.what()));
    return std::nullopt;
  }
}

}  // namespace headrace
