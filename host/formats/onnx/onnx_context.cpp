// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_context.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>

#include "core/error.hpp"
#include "core/file.hpp"
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

OnnxBuilder& OnnxContext::builder() const { return reader_.builder(); }

void OnnxContext::refuse(const std::string& reason, const char* file, int line) const {
  fail(ErrorCode::kUnsupported, reason, file, line);
}

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

ElementType OnnxContext::element_type(PortRef ref) const {
  const KnownTensor& known = builder().known(ref);
  if (!known.type) refuse("the element type of an input is not known");
  return *known.type;
}

std::optional<std::size_t> OnnxContext::maybe_rank(PortRef ref) const {
  const KnownTensor& known = builder().known(ref);
  for (const KnownTensor::Trial& trial : known.trials) {
    if (trial.shape) return trial.shape->size();
  }
  return std::nullopt;
}

std::size_t OnnxContext::rank(PortRef ref) const {
  if (const auto known = maybe_rank(ref)) return *known;
  refuse("the rank of an input is not known before the run");
}

std::optional<std::int64_t> OnnxContext::static_dim(PortRef ref, std::size_t axis) const {
  const KnownTensor& known = builder().known(ref);
  const auto& [first, second] = known.trials;
  if (!first.shape || !second.shape || axis >= first.shape->size() || axis >= second.shape->size()) return std::nullopt;
  if ((*first.shape)[axis] != (*second.shape)[axis]) return std::nullopt;
  return (*first.shape)[axis];
}

std::int64_t OnnxContext::dim(PortRef ref, std::size_t axis) const {
  if (const auto known = static_dim(ref, axis)) return *known;
  refuse("dimension " + std::to_string(axis) + " of an input is not known before the run");
}

std::optional<Shape> OnnxContext::static_shape(PortRef ref) const {
  const auto count = maybe_rank(ref);
  if (!count) return std::nullopt;
  Shape result;
  for (std::size_t i = 0; i < *count; ++i) {
    const auto size = static_dim(ref, i);
    if (!size) return std::nullopt;
    result.push_back(*size);
  }
  return result;
}

Shape OnnxContext::shape(PortRef ref) const {
  if (const auto known = static_shape(ref)) return *known;
  refuse("the shape of an input is not known before the run");
}

PartialShape OnnxContext::partial_shape(PortRef ref) const {
  PartialShape shape;
  const auto count = maybe_rank(ref);
  shape.is_rank_known = count.has_value();
  for (std::size_t i = 0; i < count.value_or(0); ++i) {
    const auto size = static_dim(ref, i);
    shape.dims.push_back(size ? Dimension{*size, *size} : Dimension{});
  }
  return shape;
}

std::optional<Tensor> OnnxContext::value(PortRef ref) const {
  const KnownTensor& known = builder().known(ref);
  const auto& [first, second] = known.trials;
  if (known.is_accidental || !first.value || !second.value) return std::nullopt;
  const Tensor& a = *first.value;
  const Tensor& b = *second.value;
  if (a.type() != b.type() || a.shape() != b.shape()) return std::nullopt;
  if (a.data() != b.data() && std::memcmp(a.data(), b.data(), a.size_bytes()) != 0) return std::nullopt;
  return a.aligned_copy();
}

std::optional<Ints> OnnxContext::ints(PortRef ref) const {
  const auto known = value(ref);
  if (!known) return std::nullopt;
  return to_int64s(*known);
}

Ints OnnxContext::need_ints(PortRef ref, std::string_view what) const {
  if (const auto known = ints(ref)) return *known;
  refuse("its " + std::string(what) + " is computed in the run, expected a constant");
}

std::optional<double> OnnxContext::scalar(PortRef ref) const {
  const auto known = value(ref);
  if (!known || known->count() != 1) return std::nullopt;
  return to_doubles(*known)[0];
}

std::int64_t OnnxContext::axis(std::int64_t axis, std::size_t rank) const {
  try {
    return normalize_axis(axis, rank, "axis");
  } catch (const Error& error) {
    fail(ErrorCode::kBadModel, error.what());
  }
}

PortRef OnnxContext::add(std::string_view type, std::int32_t opset, const std::vector<PortRef>& inputs,
                         const RawAttributes& attributes, std::size_t outputs) {
  return builder().add(type, opset, inputs, attributes, outputs);
}

PortRef OnnxContext::constant(const Tensor& value) { return builder().add_constant(value); }

PortRef OnnxContext::constant_ints(const Ints& values) {
  return constant(make_i64_tensor({static_cast<std::int64_t>(values.size())}, values));
}

PortRef OnnxContext::constant_int(std::int64_t value) { return constant(make_i64_tensor({}, std::span(&value, 1))); }

PortRef OnnxContext::constant_floats(const std::vector<float>& values) {
  return constant(make_f32_tensor({static_cast<std::int64_t>(values.size())}, values));
}

PortRef OnnxContext::constant_scalar(double value, ElementType type) {
  if (!is_floating(type)) {
    const auto integer = static_cast<std::int64_t>(value);
    return constant(headrace::convert(make_i64_tensor({}, std::span(&integer, 1)), type));
  }
  const auto number = static_cast<float>(value);
  return constant(headrace::convert(make_f32_tensor({}, std::span(&number, 1)), type));
}

PortRef OnnxContext::constant_like(double value, PortRef ref) { return constant_scalar(value, element_type(ref)); }

PortRef OnnxContext::filled(double value, ElementType type, const Shape& shape) {
  return broadcast(constant_scalar(value, type), constant_ints(shape));
}

PortRef OnnxContext::reshape(PortRef x, const Ints& shape, bool zero_copies) {
  return add("Reshape", 1, {x, constant_ints(shape)}, {{"special_zero", text(zero_copies)}});
}

PortRef OnnxContext::reshape_to(PortRef x, PortRef shape) {
  return add("Reshape", 1, {x, shape}, {{"special_zero", "false"}});
}

PortRef OnnxContext::transpose(PortRef x, const Ints& order) { return add("Transpose", 1, {x, constant_ints(order)}); }

PortRef OnnxContext::squeeze(PortRef x, const Ints& axes) {
  return axes.empty() ? x : add("Squeeze", 1, {x, constant_ints(axes)});
}

PortRef OnnxContext::unsqueeze(PortRef x, const Ints& axes) {
  return axes.empty() ? x : add("Unsqueeze", 1, {x, constant_ints(axes)});
}

PortRef OnnxContext::convert(PortRef x, ElementType type) {
  if (builder().known(x).type == type) return x;
  return add("Convert", 1, {x}, {{"destination_type", std::string(to_string(type))}});
}

PortRef OnnxContext::concat(const std::vector<PortRef>& parts, std::int64_t axis) {
  return parts.size() == 1 ? parts[0] : add("Concat", 1, parts, {{"axis", text(axis)}});
}

PortRef OnnxContext::gather(PortRef x, PortRef indices, std::int64_t axis) {
  return add("Gather", 8, {x, indices, constant_int(axis)}, {{"batch_dims", "0"}});
}

PortRef OnnxContext::shape_of(PortRef x) { return add("ShapeOf", 3, {x}, {{"output_type", "i64"}}); }

PortRef OnnxContext::slice(PortRef x, std::int64_t start, std::int64_t stop, std::int64_t axis) {
  return add("Slice", 8, {x, constant_ints({start}), constant_ints({stop}), constant_ints({1}), constant_ints({axis})});
}

PortRef OnnxContext::reduce(std::string_view type, PortRef x, const Ints& axes, bool keeps_dims) {
  return add(type, type == "ReduceL1" || type == "ReduceL2" ? 4 : 1, {x, constant_ints(axes)},
             {{"keep_dims", text(keeps_dims)}});
}

PortRef OnnxContext::broadcast(PortRef x, PortRef shape) {
  return add("Broadcast", 3, {x, shape}, {{"mode", "numpy"}});
}

std::string text(std::int64_t value) { return std::to_string(value); }
std::string text(double value) { return to_string(AttributeValue(value)); }
std::string text(const Ints& values) { return to_string(AttributeValue(values)); }
std::string text(bool value) { return value ? "true" : "false"; }

Ints iota(std::int64_t first, std::int64_t last) {
  Ints values(static_cast<std::size_t>(std::max<std::int64_t>(last - first, 0)));
  std::iota(values.begin(), values.end(), first);
  return values;
}

std::vector<std::span<const OnnxConverter>> onnx_converter_table();  // written by cmake/tables.cmake

const OnnxConverter* find_onnx_converter(std::string_view domain, std::string_view type) {
  static const auto kByType = [] {
    std::map<std::pair<std::string_view, std::string_view>, const OnnxConverter*> map;
    for (const std::span<const OnnxConverter> group : onnx_converter_table()) {
      for (const OnnxConverter& converter : group) map.emplace(std::pair{converter.domain, converter.type}, &converter);
    }
    return map;
  }();
  const auto found = kByType.find({domain, type});
  return found == kByType.end() ? nullptr : found->second;
}

}  // namespace headrace::detail
