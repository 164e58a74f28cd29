// SPDX-License-Identifier: Apache-2.0
#include "validation_app/data_set.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "validation_app/idx_file.hpp"

namespace headrace::samples {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSpace = " \t\r";

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = error == std::errc() && end == text.data() + text.size() && value >= 0;
  return is_whole ? std::optional(value) : std::nullopt;
}

LabelledPicture picture_file(const std::string& path, std::int64_t label) {
  return {path, label, [path](int channels) { return read_picture(path, channels); }};
}

DataSet read_list(const std::string& path, const std::vector<std::string>& labels) {
  std::ifstream file(path);
  if (!file) fail(ErrorCode::kIo, "list '" + path + "': " + std::strerror(errno));
  DataSet data;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    line.erase(line.find_last_not_of(kSpace) + 1);
    line.erase(0, line.find_first_not_of(kSpace));
    if (line.empty() || line.front() == '#') continue;
    const std::string where = path + ":" + std::to_string(number);
    const std::size_t space = line.find_last_of(" \t");  // paths may hold spaces
    if (space == std::string::npos) {
      data.problems.push_back(where + ": no label; write PICTURE LABEL");
      continue;
    }
    const std::int64_t label = find_label(line.substr(space + 1), labels);
    if (label < 0) {
      data.problems.push_back(where + ": '" + line.substr(space + 1) + "' is no class number and no label");
      continue;
    }
    const std::string picture = line.substr(0, line.find_last_not_of(kSpace, space) + 1);
    data.pictures.push_back(picture_file((fs::path(path).parent_path() / picture).string(), label));
  }
  return data;
}

std::vector<std::string> sorted_folders(const std::string& path) {
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(path, failed)) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  if (failed) fail(ErrorCode::kIo, "folder '" + path + "': " + failed.message());
  std::sort(names.begin(), names.end());
  return names;
}

DataSet read_folders(const std::string& path, const std::vector<std::string>& labels) {
  const std::vector<std::string> names = sorted_folders(path);
  if (names.empty()) {
    fail(ErrorCode::kInvalidArgument,
         "folder '" + path + "' holds no folders; classes are told by folders of their names");
  }
  const bool are_numbers =
      std::all_of(names.begin(), names.end(), [](const std::string& name) { return parse_number(name).has_value(); });
  DataSet data;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string folder = (fs::path(path) / names[i]).string();
    const bool counts = labels.empty() && !are_numbers;
    const std::int64_t label = counts ? static_cast<std::int64_t>(i) : find_label(names[i], labels);
    if (label < 0) {
      data.problems.push_back("folder '" + folder + "': its name is no class number and no label");
      continue;
    }
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.is_regular_file()) files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) data.pictures.push_back(picture_file(file, label));
  }
  return data;
}

DataSet read_idx(const std::string& path, const std::string& labels_path) {
  const auto images = std::make_shared<const IdxFile>(read_idx_file(path, 3));
  const std::string beside = labels_path.empty() ? idx_labels_beside(path) : labels_path;
  const IdxFile labels = read_idx_file(beside, 1);
  if (labels.dims[0] != images->dims[0]) {
    fail(ErrorCode::kBadModel, "'" + path + "' holds " + std::to_string(images->dims[0]) + " pictures, '" + beside +
                                   "' " + std::to_string(labels.dims[0]) + " labels");
  }
  DataSet data;
  for (std::size_t i = 0; i < images->dims[0]; ++i) {
    data.pictures.push_back({path + "[" + std::to_string(i) + "]", labels.bytes[labels.offset + i],
                             [images, i](int channels) { return idx_picture(*images, i, channels); }});
  }
  return data;
}

}  // namespace

std::int64_t find_label(const std::string& text, const std::vector<std::string>& labels) {
  const auto found = std::find(labels.begin(), labels.end(), text);
  if (found != labels.end()) return found - labels.begin();
  return parse_number(text).value_or(-1);
}

DataSet read_data_set(const std::string& path, const std::string& idx_labels, const std::vector<std::string>& labels) {
  std::error_code failed;
  if (fs::is_directory(path, failed)) return read_folders(path, labels);
  if (is_idx_file(path)) return read_idx(path, idx_labels);
  return read_list(path, labels);
}

}  // namespace headrace::samples
