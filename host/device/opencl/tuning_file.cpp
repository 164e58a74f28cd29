// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/tuning_file.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/log.hpp"
#include "device/opencl/files.hpp"
#include "device/opencl/sha256.hpp"

namespace headrace {
namespace {

using Json = nlohmann::ordered_json;
// Ordered objects look for a key among all others: too slow for a table that is read.
using ParsedJson = nlohmann::json;

constexpr int kFormat = 1;
constexpr std::size_t kMaxTableBytes = std::size_t{16} << 20;

// "conv_wide.cl" of "conv_wide.cl|TILE_M=14|conv_wide_f32"; of several kernels joined by "+" each one's.
std::vector<std::string> files_of(const std::string& form) {
  std::vector<std::string> files;
  for (std::size_t begin = 0; begin < form.size();) {
    const std::size_t end = std::min(form.find('+', begin), form.size());
    const std::string key = form.substr(begin, end - begin);
    files.push_back(key.substr(0, key.find('|')));
    begin = end + 1;
  }
  return files;
}

// Tenths of a microsecond: more is noise.
double rounded(double time_us) { return std::round(time_us * 10.0) / 10.0; }

Json to_json(const TunedShape& shape) {
  Json json{{"form", shape.form}, {"us", rounded(shape.time_us)}};
  if (shape.default_form != shape.form) {
    json["default"] = shape.default_form;
    json["default_us"] = rounded(shape.default_us);
  }
  return json;
}

double to_time(const ParsedJson& value) {
  const auto time = value.get<double>();
  check(std::isfinite(time) && time >= 0.0, ErrorCode::kBadModel, "time " + value.dump() + " is none");
  return time;
}

TunedShape to_shape(const ParsedJson& json) {
  TunedShape shape;
  shape.form = json.at("form").get<std::string>();
  shape.time_us = to_time(json.at("us"));
  shape.default_form = json.value("default", shape.form);
  shape.default_us = json.contains("default_us") ? to_time(json.at("default_us")) : shape.time_us;
  return shape;
}

TuningFile to_file(const ParsedJson& json) {
  if (json.at("format") != kFormat) {
    fail(ErrorCode::kBadModel,
         "has format " + json.at("format").dump() + ", this program reads " + std::to_string(kFormat));
  }
  TuningFile file;
  TuningTarget& target = file.target;
  target.platform = json.at("platform").get<std::string>();
  target.device = json.at("device").get<std::string>();
  target.driver = json.at("driver").get<std::string>();
  target.type = json.at("type").get<std::string>();
  target.vector_width = json.at("vector_width").get<int>();
  target.compute_units = json.at("compute_units").get<int>();
  target.has_vnni = json.at("has_vnni").get<bool>();
  file.kernels = json.at("kernels").get<std::map<std::string, std::string>>();
  for (const auto& [shape_class, shape] : json.at("shapes").items()) file.shapes.emplace(shape_class, to_shape(shape));
  return file;
}

// Why a user's table is of no use here, or nothing.
std::optional<std::string> find_mismatch(const TuningFile& file, const TuningTarget& target,
                                         const KernelSources& sources) {
  if (file.target.platform != target.platform || file.target.device != target.device) {
    return "was measured on " + file.target.device + " (" + file.target.platform + "), this is " + target.device +
           " (" + target.platform + ")";
  }
  if (file.target.driver != target.driver) {
    return "was measured with driver " + file.target.driver + ", this is " + target.driver;
  }
  if (file.target.compute_units != target.compute_units || file.target.vector_width != target.vector_width) {
    return "was measured on " + std::to_string(file.target.compute_units) + " units of " +
           std::to_string(file.target.vector_width) + " lanes, there are " + std::to_string(target.compute_units) +
           " of " + std::to_string(target.vector_width);
  }
  for (const auto& [name, hash] : file.kernels) {
    if (!sources.contains(name) || sources.at(name).sha256 != hash) return "was measured with another " + name;
  }
  return std::nullopt;
}

// A table that Headrace brings serves every device of its kind, whatever its name and number of units.
bool is_of_kind(const TuningTarget& table, const TuningTarget& device) {
  return table.platform == device.platform && table.type == device.type && table.vector_width == device.vector_width &&
         table.has_vnni == device.has_vnni;
}

void add(const TuningFile& file, TuningTable& table) {
  for (const auto& [shape_class, shape] : file.shapes) table.set(shape_class, shape.form);
}

void add_embedded(const TuningTarget& target, TuningTable& table) {
  for (const detail::EmbeddedText& embedded : detail::embedded_tuning()) {
    std::string text;
    for (const std::string& piece : embedded.pieces) text += piece;
    const TuningFile file = parse_tuning(text, embedded.name);
    if (is_of_kind(file.target, target)) add(file, table);
  }
}

}  // namespace

void TuningFile::set(const std::string& shape_class, const TunedShape& shape, const KernelSources& sources) {
  for (const std::string* form : {&shape.form, &shape.default_form}) {
    for (const std::string& file : files_of(*form)) kernels.insert_or_assign(file, sources.at(file).sha256);
  }
  shapes.insert_or_assign(shape_class, shape);
}

TuningTarget tuning_target(const DeviceInfo& info, const KernelCaps& caps) {
  TuningTarget target;
  target.platform = info.platform;
  target.device = info.description;
  target.driver = info.driver;
  target.type = to_string(info.type);
  target.vector_width = caps.vector_width;
  target.compute_units = caps.compute_units;
  target.has_vnni = caps.has_vnni;
  return target;
}

std::string serialize_tuning(const TuningFile& file) {
  const TuningTarget& target = file.target;
  const Json head{{"format", kFormat},
                  {"tool", HEADRACE_VERSION},
                  {"platform", target.platform},
                  {"device", target.device},
                  {"driver", target.driver},
                  {"type", target.type},
                  {"vector_width", target.vector_width},
                  {"compute_units", target.compute_units},
                  {"has_vnni", target.has_vnni},
                  {"kernels", file.kernels},
                  {"shapes", Json::object()}};
  const auto dump = [](const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); };
  std::string text = "{\n";
  for (const auto& [key, value] : head.items()) {
    if (key != "shapes") text += dump(key) + ": " + dump(value) + ",\n";
  }
  text += "\"shapes\": {";
  const char* separator = "\n";
  for (const auto& [shape_class, shape] : file.shapes) {
    text += separator + dump(shape_class) + ": " + dump(to_json(shape));
    separator = ",\n";
  }
  return text + "\n}}\n";
}

TuningFile parse_tuning(std::string_view text, const std::string& what) {
  try {
    return to_file(ParsedJson::parse(text));
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorCode::kBadModel, what + ": is no tuning table: " + error.what());
  } catch (const Error& error) {
    rethrow_with_prefix(error, what);
  }
}

std::string tuning_path(const OpenClDeviceEntry& entry, int part_count, const std::string& state_dir) {
  if (state_dir.empty()) return "";
  const std::string identity = entry.info.platform + "\n" + entry.info.description;
  std::string path = state_dir + "/tuning-" + sha256_hex(identity).substr(0, 16);
  if (entry.ordinal > 0) path += "-" + std::to_string(entry.ordinal);
  if (part_count > 1) path += "-of" + std::to_string(part_count);
  return path + ".json";
}

std::optional<TuningFile> read_tuning(const std::string& path, const TuningTarget& target,
                                      const KernelSources& sources) {
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error)) return std::nullopt;
  TuningFile file = parse_tuning(read_file(path, kMaxTableBytes), path);
  if (const auto mismatch = find_mismatch(file, target, sources)) {
    fail(ErrorCode::kBadModel, path + ": " + *mismatch);
  }
  return file;
}

std::optional<TuningFile> find_tuning(const std::string& path, const TuningTarget& target,
                                      const KernelSources& sources) {
  try {
    return read_tuning(path, target, sources);
  } catch (const Error& problem) {
    log(LogLevel::kWarn, "tuning",
        "tuning table " + std::string(problem.what()) + "; it is not used, headrace tune makes a new one");
    return std::nullopt;
  }
}

void write_tuning(const TuningFile& file, const std::string& path) {
  write_file_atomically(path, serialize_tuning(file));
}

std::shared_ptr<const TuningTable> load_tuning(const std::string& path, const TuningTarget& target,
                                               const KernelSources& sources) {
  auto table = std::make_shared<TuningTable>();
  add_embedded(target, *table);
  if (const auto file = find_tuning(path, target, sources)) add(*file, *table);
  return table->size() == 0 ? nullptr : table;
}

}  // namespace headrace
