// SPDX-License-Identifier: Apache-2.0
#include "cli/quantize_data.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>

#include "cli/text.hpp"
#include "core/file.hpp"
#include "formats/npy/npy.hpp"

namespace headrace {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxLine = 1 << 16;

// One sample of one input: a file, or a row of a .npy file.
struct Item {
  std::string path;
  std::optional<std::size_t> row{};
  std::optional<std::int64_t> label{};
};

bool ends_as_npy(const std::string& path) { return path.ends_with(".npy") || path.ends_with(".NPY"); }

bool ends_as_picture(const std::string& path) {
  std::string ending = fs::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::vector<std::string> endings = {".png",  ".jpg",  ".jpeg", ".bmp", ".tif",
                                            ".tiff", ".webp", ".ppm",  ".pgm", ".pnm"};
  return std::find(endings.begin(), endings.end(), ending) != endings.end();
}

// How many samples for the input the tensor holds: 1 where it fits as it is, else along its first dimension; 0 where
// it does not fit.
std::size_t count_rows(const Shape& shape, const PartialShape& wanted) {
  if (!wanted.is_rank_known || wanted.accepts(shape)) return 1;
  if (shape.empty() || shape[0] <= 0) return 0;
  const Shape rest(shape.begin() + 1, shape.end());
  if (wanted.accepts(rest)) return static_cast<std::size_t>(shape[0]);
  if (wanted.dims.size() != shape.size() || !wanted.dims[0].is_static()) return 0;
  Shape part = shape;
  part[0] = wanted.dims[0].min;
  const bool is_multiple = part[0] > 0 && shape[0] % part[0] == 0;
  return is_multiple && wanted.accepts(part) ? static_cast<std::size_t>(shape[0] / part[0]) : 0;
}

Tensor take_row(const Tensor& tensor, std::size_t row, std::size_t rows, const PartialShape& wanted) {
  Shape shape = tensor.shape();
  if (wanted.dims.size() < shape.size()) {
    shape.erase(shape.begin());
  } else {
    shape[0] /= static_cast<std::int64_t>(rows);
  }
  Tensor part(tensor.type(), shape);
  std::copy_n(tensor.data() + row * part.size_bytes(), part.size_bytes(), part.mutable_data());
  return part;
}

// Files of one input, and what reads them.
class InputSamples {
 public:
  InputSamples(const PortInfo& input, const PictureOptions& pictures) : input_(input), pictures_(pictures) {}

  void add_path(const std::string& path) {
    std::error_code failed;
    if (fs::is_directory(path, failed)) {
      add_folder(path);
    } else if (!fs::exists(path, failed)) {
      fail(ErrorCode::kIo, fmt::format("--data '{}': no such file or folder", path));
    } else if (ends_as_npy(path) || ends_as_picture(path)) {
      add_file(path, std::nullopt);
    } else {
      add_list(path);
    }
  }

  const std::vector<Item>& items() const { return items_; }

  std::string name(std::size_t index) const {
    const Item& item = items_.at(index);
    return item.row ? fmt::format("{}[{}]", item.path, *item.row) : item.path;
  }

  Tensor read(std::size_t index) {
    const Item& item = items_.at(index);
    if (!ends_as_npy(item.path)) {
      if (!process_) process_ = std::make_unique<PictureProcess>(input_, pictures_);
      return as_input(process_->read(item.path));
    }
    if (loaded_path_ != item.path) {
      loaded_ = read_npy(item.path);
      loaded_path_ = item.path;
    }
    return as_input(item.row ? take_row(loaded_, *item.row, rows_.at(item.path), input_.shape) : loaded_);
  }

 private:
  void add_folder(const std::string& path) {
    std::vector<std::string> files;
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(path, failed)) {
      const std::string file = entry.path().string();
      if (entry.is_regular_file() && (ends_as_npy(file) || ends_as_picture(file))) files.push_back(file);
    }
    check(!failed, ErrorCode::kIo, fmt::format("--data '{}': {}", path, failed.message()));
    check(!files.empty(), ErrorCode::kInvalidArgument,
          fmt::format("--data '{}': the folder holds no .npy files and no pictures", path));
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) add_file(file, std::nullopt);
  }

  void add_file(const std::string& path, std::optional<std::int64_t> label) {
    if (!ends_as_npy(path)) {
      items_.push_back({path, std::nullopt, label});
      return;
    }
    const Tensor tensor = read_npy(path);
    const std::size_t rows = count_rows(tensor.shape(), input_.shape);
    if (rows == 0) {
      fail(ErrorCode::kInvalidArgument, fmt::format("'{}' holds {}, input '{}' takes {}", path,
                                                    to_string(tensor.shape()), input_.name, to_string(input_.shape)));
    }
    rows_[path] = rows;
    if (rows == 1 && input_.shape.accepts(tensor.shape())) {
      items_.push_back({path, std::nullopt, label});
      return;
    }
    for (std::size_t row = 0; row < rows; ++row) items_.push_back({path, row, label});
  }

  void add_list(const std::string& path) {
    std::ifstream file(path);
    check(static_cast<bool>(file), ErrorCode::kIo, fmt::format("--data '{}': cannot be read", path));
    std::size_t number = 0;
    for (std::string line; std::getline(file, line);) {
      ++number;
      check(line.size() <= kMaxLine && line.find('\0') == std::string::npos, ErrorCode::kBadModel,
            fmt::format("--data '{}': neither a picture, nor .npy, nor a list of them", path));
      line.erase(line.find_last_not_of(" \t\r") + 1);
      line.erase(0, line.find_first_not_of(" \t"));
      if (line.empty() || line.front() == '#') continue;
      add_line(fs::path(path).parent_path(), line, fmt::format("{}:{}", path, number));
    }
  }

  // PATH LABEL where the last word is a number and the line as it stands names no file.
  void add_line(const fs::path& folder, const std::string& line, const std::string& where) {
    std::string file = (folder / line).string();
    std::optional<std::int64_t> label;
    std::error_code failed;
    if (!fs::exists(file, failed)) {
      const std::size_t space = line.find_last_of(" \t");
      std::int64_t value = -1;
      const char* end = line.data() + line.size();
      const bool is_number =
          space != std::string::npos && std::from_chars(line.data() + space + 1, end, value).ptr == end && value >= 0;
      if (is_number) {
        label = value;
        file = (folder / line.substr(0, line.find_last_not_of(" \t", space) + 1)).string();
      }
      check(fs::exists(file, failed), ErrorCode::kIo, fmt::format("{}: no file '{}'", where, file));
    }
    add_file(file, label);
  }

  Tensor as_input(Tensor tensor) const {
    const bool differs = tensor.type() != input_.type && is_floating(tensor.type()) && is_floating(input_.type);
    return differs ? convert(tensor, input_.type) : std::move(tensor);
  }

  PortInfo input_;
  PictureOptions pictures_;
  std::vector<Item> items_;
  std::map<std::string, std::size_t> rows_;
  std::string loaded_path_;
  Tensor loaded_;
  std::unique_ptr<PictureProcess> process_;
};

std::pair<std::size_t, std::string> split_name(const std::string& text, const std::vector<PortInfo>& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (const std::string& name : inputs[i].names) {
      if (text.starts_with(name + "=")) return {i, text.substr(name.size() + 1)};
    }
  }
  check(inputs.size() == 1, ErrorCode::kInvalidArgument,
        fmt::format("--data '{}': the model has {} inputs, so write NAME=PATH for each", text, inputs.size()));
  return {0, text};
}

// Names, sizes and times of change: enough to tell other data.
std::string identity_of(const std::vector<std::shared_ptr<InputSamples>>& inputs, const PictureOptions& pictures) {
  std::string text;
  const auto add = [&text](const std::string& path) {
    std::error_code failed;
    const auto size = fs::file_size(path, failed);
    const auto time = fs::last_write_time(path, failed).time_since_epoch().count();
    text += fmt::format("{} {} {}\n", path, size, time);
  };
  if (!pictures.preprocess.empty()) add(pictures.preprocess);
  for (const auto& input : inputs) {
    for (const Item& item : input->items()) {
      if (item.row.value_or(0) == 0) add(item.path);
    }
  }
  return text;
}

}  // namespace

QuantizeData find_quantize_data(const std::vector<std::string>& texts, const std::vector<PortInfo>& inputs,
                                const PictureOptions& pictures) {
  std::vector<std::shared_ptr<InputSamples>> samples;
  for (const PortInfo& input : inputs) samples.push_back(std::make_shared<InputSamples>(input, pictures));
  for (const std::string& text : texts) {
    const auto [input, path] = split_name(text, inputs);
    samples[input]->add_path(path);
  }
  const std::size_t count = samples.empty() ? 0 : samples.front()->items().size();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::size_t own = samples[i]->items().size();
    check(own > 0, ErrorCode::kInvalidArgument, fmt::format("--data: no samples for input '{}'", inputs[i].name));
    check(own == count, ErrorCode::kInvalidArgument,
          fmt::format("--data: {} samples for input '{}', {} for '{}'", count, inputs[0].name, own, inputs[i].name));
  }
  QuantizeData result;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& label = samples.front()->items()[i].label;
    if (label) result.labels.push_back(*label);
  }
  if (result.labels.size() != count) result.labels.clear();
  result.data.count = count;
  result.data.identity = identity_of(samples, pictures);
  result.data.name = [samples](std::size_t index) { return samples.front()->name(index); };
  result.data.read = [samples](std::size_t index) {
    std::vector<Tensor> tensors;
    for (const auto& input : samples) tensors.push_back(input->read(index));
    return tensors;
  };
  return result;
}

}  // namespace headrace
