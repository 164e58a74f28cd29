// SPDX-License-Identifier: Apache-2.0
#include "runtime/model_file.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/caffe/caffe_reader.hpp"
#include "formats/ir/ir_reader.hpp"
#include "formats/old_ir/old_ir_reader.hpp"
#include "formats/onnx/onnx_reader.hpp"
#include "formats/tensorflow/tensorflow_reader.hpp"

namespace headrace {
namespace {

enum class Format { kIr, kOnnx, kCaffe, kTensorflow };

// Whether text holds a message "layer" or "layers", as a .prototxt under another name does.
bool has_caffe_layer(std::string_view text) {
  constexpr std::size_t kLooksAt = std::size_t{64} << 10;
  text = text.substr(0, kLooksAt);
  for (std::size_t at = text.find("layer"); at != std::string_view::npos; at = text.find("layer", at + 1)) {
    const bool begins_word = at == 0 || std::isspace(static_cast<unsigned char>(text[at - 1])) != 0;
    std::string_view rest = text.substr(at + 5);
    if (rest.starts_with('s')) rest.remove_prefix(1);
    const std::size_t next = rest.find_first_not_of(" \t\r\n:");
    if (begins_word && next != std::string_view::npos && rest[next] == '{') return true;
  }
  return false;
}

// A frozen graph begins with its field 1, a node, whose field 1 is its name. The length between them may be the letter
// '<'.
bool begins_as_graph(std::string_view text) {
  std::size_t place = 1;
  while (place < text.size() && place < 6 && static_cast<unsigned char>(text[place]) >= 0x80) ++place;
  return text.starts_with('\x0A') && place + 1 < text.size() && text[place + 1] == '\x0A';
}

Format format_of_content(const std::string& path) {
  const MappedFile file = map_file(path);
  const std::string_view text(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
  if (begins_as_graph(text)) return Format::kTensorflow;
  // A SavedModel begins with its field 1, schema version 1, then a MetaGraphDef.
  if (text.starts_with("\x08\x01\x12")) {
    fail(ErrorCode::kUnsupported, quote(path) +
                                      " is a TensorFlow SavedModel, whose variables lie in other files: freeze it "
                                      "into a graph with samples/tensorflow/freeze.py");
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first != std::string_view::npos && text[first] == '<') return Format::kIr;
  if (has_caffe_layer(text)) return Format::kCaffe;
  // An ONNX file begins with its field 1, ir_version, a varint.
  if (text.starts_with('\x08')) return Format::kOnnx;
  if (first != std::string_view::npos && text.substr(first).starts_with("node {")) {
    fail(ErrorCode::kUnsupported, quote(path) + " is a TensorFlow graph as text: write it in the binary form (.pb)");
  }
  if (path.ends_with(".pb")) return Format::kTensorflow;  // whose reader says what is damaged
  fail(ErrorCode::kBadModel, quote(path) +
                                 " is no model that is known: expected an IR .xml, an .onnx or .prototxt file or a "
                                 "frozen TensorFlow graph .pb");
}

std::string ending_of(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending;
}

Format format_of(const std::string& path) {
  const std::string ending = ending_of(path);
  if (ending == ".xml") return Format::kIr;
  if (ending == ".onnx") return Format::kOnnx;
  if (ending == ".prototxt" || ending == ".caffemodel") return Format::kCaffe;
  return format_of_content(path);
}

bool is_old(const std::string& path) {
  const MappedFile file = map_file(path);
  return is_old_ir({reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()});
}

// Takes either of the two files of a Caffe model; the other lies beside it unless it is named.
Graph read_either_caffe(const std::string& path, const std::string& weights_path) {
  const std::filesystem::path given(path);
  if (ending_of(path) != ".caffemodel") return read_caffe(path, weights_path);
  if (!weights_path.empty()) {
    fail(ErrorCode::kInvalidArgument, quote(path) + " holds a Caffe model's weights: name its .prototxt as the model");
  }
  return read_caffe(std::filesystem::path(given).replace_extension(".prototxt").string(), path);
}

std::string_view described(Format format) {
  return format == Format::kOnnx ? "an ONNX model, which holds its weights or names their files"
                                 : "a TensorFlow graph, which holds its weights";
}

}  // namespace

Graph read_model_file(const std::string& path, const std::string& weights_path) {
  const Format format = format_of(path);
  if (format == Format::kIr) return is_old(path) ? read_old_ir(path, weights_path) : read_ir(path, weights_path);
  if (format == Format::kCaffe) return read_either_caffe(path, weights_path);
  if (!weights_path.empty()) {
    fail(ErrorCode::kInvalidArgument,
         quote(path) + " is " + std::string(described(format)) + ": leave out " + quote(weights_path));
  }
  return format == Format::kOnnx ? read_onnx(path) : read_tensorflow(path);
}

}  // namespace headrace
