// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_context.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/import/converter_index.hpp"
#include "formats/onnx/onnx_reader_impl.hpp"

namespace headrace::detail {
namespace {

// None of ONNX's words has control characters, which would spoil messages of one line.
std::string word(const OnnxAttribute& attribute, std::string_view text) {
  constexpr std::size_t kMaxLetters = 1000;
  const bool is_plain =
      std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
  if (is_plain && text.size() <= kMaxLetters) return std::string(text);
  fail(ErrorCode::kBadModel, "attribute " + quote(attribute.name) + " is " + quote(text));
}

}  // namespace

OnnxContext::OnnxContext(OnnxReader& reader, const OnnxNode& node, std::int64_t opset,
                         std::vector<std::optional<PortRef>> inputs)
    : reader_(reader), node_(node), opset_(opset), inputs_(std::move(inputs)) {}

ImportBuilder& OnnxContext::builder() const { return reader_.builder(); }

const OnnxAttribute* OnnxContext::find_attribute(std::string_view name) const {
  for (const OnnxAttribute& attribute : node_.attributes) {
    if (attribute.name == name) return &attribute;
  }
  return nullptr;
}

std::int64_t OnnxContext::attr_int(std::string_view name, std::int64_t fallback) const {
  const OnnxAttribute* attribute = find_attribute(name);
  return attribute == nullptr ? fallback : attribute->i;
}

double OnnxContext::attr_float(std::string_view name, double fallback) const {
  const OnnxAttribute* attribute = find_attribute(name);
  return attribute == nullptr ? fallback : static_cast<double>(attribute->f);
}

std::string OnnxContext::attr_string(std::string_view name, std::string_view fallback) const {
  const OnnxAttribute* attribute = find_attribute(name);
  return attribute == nullptr ? std::string(fallback) : word(*attribute, attribute->s);
}

std::optional<Ints> OnnxContext::attr_ints(std::string_view name) const {
  const OnnxAttribute* attribute = find_attribute(name);
  if (attribute == nullptr) return std::nullopt;
  return attribute->ints;
}

std::vector<float> OnnxContext::attr_floats(std::string_view name) const {
  const OnnxAttribute* attribute = find_attribute(name);
  return attribute == nullptr ? std::vector<float>{} : attribute->floats;
}

std::vector<std::string> OnnxContext::attr_strings(std::string_view name) const {
  const OnnxAttribute* attribute = find_attribute(name);
  if (attribute == nullptr) return {};
  std::vector<std::string> strings;
  for (const std::string_view text : attribute->strings) strings.push_back(word(*attribute, text));
  return strings;
}

std::optional<Tensor> OnnxContext::attr_tensor(std::string_view name) {
  const OnnxAttribute* attribute = find_attribute(name);
  if (attribute == nullptr || attribute->t == nullptr) return std::nullopt;
  return reader_.tensors().read(*attribute->t);
}

const OnnxGraph& OnnxContext::attr_graph(std::string_view name) const {
  const OnnxAttribute* attribute = find_attribute(name);
  if (attribute == nullptr || attribute->g == nullptr) {
    fail(ErrorCode::kBadModel, "attribute '" + std::string(name) + "' is missing, expected a graph");
  }
  return *attribute->g;
}

PortRef OnnxContext::input(std::size_t index) const {
  if (!has_input(index)) {
    fail(ErrorCode::kBadModel,
         "input " + std::to_string(index) + " is missing, it has " + std::to_string(inputs_.size()) + " inputs");
  }
  return *inputs_[index];
}

std::optional<PortRef> OnnxContext::maybe_input(std::size_t index) const {
  return index < inputs_.size() ? inputs_[index] : std::nullopt;
}

std::vector<PortRef> OnnxContext::all_inputs() const {
  std::vector<PortRef> all;
  for (std::size_t i = 0; i < inputs_.size(); ++i) all.push_back(input(i));
  return all;
}

std::vector<std::span<const OnnxConverter>> onnx_converter_table();  // written by cmake/tables.cmake

const OnnxConverter* find_onnx_converter(std::string_view domain, std::string_view type) {
  static const auto kByType = index_converters(onnx_converter_table(), [](const OnnxConverter& converter) {
    return std::pair(converter.domain, converter.type);
  });
  return find_converter(kByType, {domain, type});
}

}  // namespace headrace::detail
