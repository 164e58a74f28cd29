// SPDX-License-Identifier: Apache-2.0
#include "common/preprocess_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace headrace::samples {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxPreprocessBytes = 1 << 16;

std::array<double, 3> to_triple(const std::vector<double>& values, bool is_scale, const std::string& where) {
  if (values.size() != 3) fail(ErrorCode::kInvalidArgument, where + ": three numbers wanted, in the order R,G,B");
  for (const double value : values) {
    if (!std::isfinite(value) || (is_scale && value == 0.0)) {
      fail(ErrorCode::kInvalidArgument,
           where + (is_scale ? ": finite numbers other than 0 wanted" : ": finite numbers wanted"));
    }
  }
  return {values[0], values[1], values[2]};
}

bool to_is_bgr(const std::string& channels, const std::string& where) {
  if (channels != "RGB" && channels != "BGR") fail(ErrorCode::kInvalidArgument, where + ": RGB or BGR wanted");
  return channels == "BGR";
}

void read_preprocess(const std::string& path, Preprocess& preprocess) {
  if (fs::file_size(path) > kMaxPreprocessBytes) fail(ErrorCode::kBadModel, "'" + path + "': larger than 64 KiB");
  std::ifstream file(path);
  const nlohmann::json document = nlohmann::json::parse(file, nullptr, false);
  if (!document.is_object()) fail(ErrorCode::kBadModel, "'" + path + "': not a JSON object");
  try {
    if (document.contains("mean")) preprocess.mean = to_triple(document["mean"], false, "'" + path + "': \"mean\"");
    if (document.contains("scale")) preprocess.scale = to_triple(document["scale"], true, "'" + path + "': \"scale\"");
    if (document.contains("channels"))
      preprocess.is_bgr = to_is_bgr(document["channels"], "'" + path + "': \"channels\"");
    if (document.contains("size")) {
      const auto size = document["size"].get<std::array<int, 2>>();
      preprocess.height = size[0];
      preprocess.width = size[1];
    }
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorCode::kBadModel, "'" + path + "': " + error.what());
  }
}

}  // namespace

void add_preprocess_options(CLI::App& app, PreprocessTexts& texts) {
  app.add_option("--preprocess", texts.file, "JSON with mean, scale, channels, size (default: MODEL's .json)");
  app.add_option("--mean", texts.mean, "R,G,B to subtract, whatever the network's channel order")->delimiter(',');
  app.add_option("--scale", texts.scale, "R,G,B to divide by after that")->delimiter(',');
  app.add_option("--channels", texts.channels, "Channel order that the network wants: RGB (default) or BGR");
}

Preprocess resolve_preprocess(const PreprocessTexts& texts, const std::string& model) {
  Preprocess preprocess;
  const std::string beside = fs::path(model).replace_extension(".json").string();
  if (!texts.file.empty()) {
    if (!fs::exists(texts.file)) fail(ErrorCode::kIo, "--preprocess '" + texts.file + "': no such file");
    read_preprocess(texts.file, preprocess);
  } else if (fs::exists(beside)) {
    read_preprocess(beside, preprocess);
  }
  if (!texts.mean.empty()) preprocess.mean = to_triple(texts.mean, false, "--mean");
  if (!texts.scale.empty()) preprocess.scale = to_triple(texts.scale, true, "--scale");
  if (!texts.channels.empty()) preprocess.is_bgr = to_is_bgr(texts.channels, "--channels");
  return preprocess;
}

std::vector<std::string> with_two_dashes(int argc, const char* const* argv, const std::vector<std::string>& names) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  for (std::string& argument : arguments) {
    const std::string head = argument.substr(0, argument.find('='));
    if (std::find(names.begin(), names.end(), head) != names.end()) argument.insert(0, "-");
  }
  std::reverse(arguments.begin(), arguments.end());  // as CLI11's parse of a vector wants it
  return arguments;
}

}  // namespace headrace::samples
