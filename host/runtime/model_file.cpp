// SPDX-License-Identifier: Apache-2.0
#include "runtime/model_file.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/ir/ir_reader.hpp"
#include "formats/onnx/onnx_reader.hpp"

namespace headrace {
namespace {

enum class Format { kIr, kOnnx };

Format format_of_content(const std::string& path) {
  const MappedFile file = map_file(path);
  const std::string_view text(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first != std::string_view::npos && text[first] == '<') return Format::kIr;
  // An ONNX file begins with its field 1, ir_version, a varint.
  if (!text.empty() && text[0] == '\x08') return Format::kOnnx;
  fail(ErrorCode::kBadModel, quote(path) + " is no model that is known: expected an IR .xml or an .onnx file");
}

Format format_of(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  if (ending == ".xml") return Format::kIr;
  if (ending == ".onnx") return Format::kOnnx;
  return format_of_content(path);
}

}  // namespace

Graph read_model_file(const std::string& path, const std::string& weights_path) {
  if (format_of(path) == Format::kIr) return read_ir(path, weights_path);
  if (!weights_path.empty()) {
    fail(ErrorCode::kInvalidArgument,
         quote(path) + " is an ONNX model, which holds its weights or names their files: leave out " +
             quote(weights_path));
  }
  return read_onnx(path);
}

}  // namespace headrace
