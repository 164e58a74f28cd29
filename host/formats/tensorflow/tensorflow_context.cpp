// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/tensorflow_context.hpp"

#include <algorithm>
#include <span>

#include "core/file.hpp"
#include "formats/import/converter_index.hpp"
#include "formats/tensorflow/tensorflow_reader_impl.hpp"
#include "formats/tensorflow/tensorflow_tensor.hpp"

namespace headrace::detail {

TensorflowContext::TensorflowContext(TensorflowReader& reader, const TensorflowNode& node, TensorflowValues inputs)
    : reader_(reader), node_(node), inputs_(std::move(inputs)) {}

ImportBuilder& TensorflowContext::builder() const { return reader_.builder(); }

const TensorflowAttribute* TensorflowContext::find_attribute(std::string_view name) const {
  for (const TensorflowAttribute& attribute : node_.attributes) {
    if (attribute.name != name) continue;
    if (!attribute.placeholder.empty()) refuse("attribute '" + std::string(name) + "' that its function's call gives");
    return &attribute;
  }
  return nullptr;
}

std::int64_t TensorflowContext::attr_int(std::string_view name, std::int64_t fallback) const {
  const TensorflowAttribute* attribute = find_attribute(name);
  return attribute == nullptr ? fallback : attribute->i;
}

double TensorflowContext::attr_float(std::string_view name, double fallback) const {
  const TensorflowAttribute* attribute = find_attribute(name);
  return attribute == nullptr ? fallback : static_cast<double>(attribute->f);
}

bool TensorflowContext::attr_bool(std::string_view name, bool fallback) const {
  const TensorflowAttribute* attribute = find_attribute(name);
  return attribute == nullptr ? fallback : attribute->b;
}

std::string TensorflowContext::attr_string(std::string_view name, std::string_view fallback) const {
  constexpr std::size_t kMaxLetters = 1000;
  const TensorflowAttribute* attribute = find_attribute(name);
  if (attribute == nullptr) return std::string(fallback);
  const bool is_plain = std::all_of(attribute->s.begin(), attribute->s.end(),
                                    [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
  if (is_plain && attribute->s.size() <= kMaxLetters) return std::string(attribute->s);
  fail(ErrorCode::kBadModel, "attribute " + quote(name) + " is " + quote(attribute->s));
}

Ints TensorflowContext::attr_ints(std::string_view name) const {
  const TensorflowAttribute* attribute = find_attribute(name);
  return attribute == nullptr ? Ints{} : tensorflow_list_ints(attribute->list);
}

ElementType TensorflowContext::attr_element_type(std::string_view name) const {
  const TensorflowAttribute* attribute = find_attribute(name);
  if (attribute == nullptr) fail(ErrorCode::kBadModel, "attribute '" + std::string(name) + "' is missing");
  return tensorflow_element_type(attribute->type);
}

ElementType TensorflowContext::attr_element_type(std::string_view name, ElementType fallback) const {
  return has_attribute(name) ? attr_element_type(name) : fallback;
}

PartialShape TensorflowContext::attr_partial_shape(std::string_view name) const {
  PartialShape result;
  const TensorflowAttribute* attribute = find_attribute(name);
  result.is_rank_known = attribute != nullptr && attribute->has_shape;
  if (!result.is_rank_known) return result;
  const TensorflowShape shape = parse_tensorflow_shape(attribute->shape);
  result.is_rank_known = !shape.is_rank_unknown;
  if (shape.is_rank_unknown) return result;
  Shape smallest;
  for (const std::int64_t size : shape.dims) {
    result.dims.push_back(size >= 0 ? Dimension{size, size} : Dimension{});
    smallest.push_back(std::max<std::int64_t>(size, 0));
  }
  if (shape.dims.size() > kMaxFileRank || !is_countable(smallest)) {
    fail(ErrorCode::kBadModel, "attribute '" + std::string(name) + "' is an impossible shape");
  }
  return result;
}

std::string_view TensorflowContext::attr_function(std::string_view name) const {
  const TensorflowAttribute* attribute = find_attribute(name);
  if (attribute == nullptr || attribute->function.empty()) {
    fail(ErrorCode::kBadModel, "attribute '" + std::string(name) + "' is missing, expected a function");
  }
  return attribute->function;
}

PortRef TensorflowContext::input(std::size_t index) const {
  if (index >= inputs_.size()) {
    fail(ErrorCode::kBadModel,
         "input " + std::to_string(index) + " is missing, it has " + std::to_string(inputs_.size()) + " inputs");
  }
  if (inputs_[index].kind != TensorflowValue::Kind::kTensor) refuse("a list of tensors as an input");
  return inputs_[index].ref;
}

std::vector<PortRef> TensorflowContext::all_inputs() const {
  std::vector<PortRef> all;
  for (std::size_t i = 0; i < inputs_.size(); ++i) all.push_back(input(i));
  return all;
}

const std::vector<PortRef>& TensorflowContext::list(std::size_t index) const {
  if (index >= inputs_.size() || inputs_[index].kind != TensorflowValue::Kind::kList) {
    refuse("input " + std::to_string(index) + " that is no list of tensors known one by one");
  }
  return *inputs_[index].list;
}

std::vector<std::span<const TensorflowConverter>> tensorflow_converter_table();  // written by cmake/tables.cmake

const TensorflowConverter* find_tensorflow_converter(std::string_view type) {
  static const auto kByType = index_converters(tensorflow_converter_table(), &TensorflowConverter::type);
  return find_converter(kByType, type);
}

}  // namespace headrace::detail
