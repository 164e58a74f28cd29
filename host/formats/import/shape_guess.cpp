// SPDX-License-Identifier: Apache-2.0
#include "formats/import/shape_guess.hpp"

#include <algorithm>
#include <string_view>

#include "ops/strided.hpp"

namespace headrace::detail {
namespace {

using Trials = std::span<const KnownTensor::Trial>;

bool is_one_of(std::string_view type, std::initializer_list<std::string_view> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

const std::optional<Shape>& shape_at(Trials inputs, std::size_t index) {
  static const std::optional<Shape> kNothing;
  return index < inputs.size() ? inputs[index].shape : kNothing;
}

// How many numbers a tensor of rank 1 or 0 holds.
std::optional<std::size_t> count_at(Trials inputs, std::size_t index) {
  const auto& shape = shape_at(inputs, index);
  if (!shape || shape->size() > 1) return std::nullopt;
  return static_cast<std::size_t>(shape->empty() ? 1 : (*shape)[0]);
}

std::optional<Shape> of_rank(std::optional<std::size_t> rank, std::int64_t unknown) {
  if (!rank || *rank > kMaxFileRank) return std::nullopt;
  return Shape(*rank, unknown);
}

std::optional<Shape> like_data(Trials inputs, std::int64_t unknown) {
  const auto& data = shape_at(inputs, 0);
  return data ? of_rank(data->size(), unknown) : std::nullopt;
}

std::optional<Shape> reshaped(const Node& node, Trials inputs, std::int64_t unknown) {
  const auto& value = inputs[1].value;
  if (!value) return of_rank(count_at(inputs, 1), unknown);
  Shape target = to_int64s(*value);
  const auto& data = shape_at(inputs, 0);
  for (std::size_t i = 0; i < target.size(); ++i) {
    const bool is_copied = target[i] == 0 && node.attributes.get_bool("special_zero") && data && i < data->size();
    if (target[i] <= 0) target[i] = is_copied ? (*data)[i] : unknown;
  }
  return target;
}

// What is left without these axes, whatever their sizes.
std::optional<Shape> squeezed(Trials inputs) {
  const auto& data = shape_at(inputs, 0);
  if (!data || !inputs[1].value) return std::nullopt;
  const Shape axes = to_int64s(*inputs[1].value);
  const auto rank = static_cast<std::int64_t>(data->size());
  Shape left;
  for (std::int64_t i = 0; i < rank; ++i) {
    const bool is_dropped =
        std::any_of(axes.begin(), axes.end(), [&](std::int64_t axis) { return axis == i || axis + rank == i; });
    if (!is_dropped) left.push_back((*data)[static_cast<std::size_t>(i)]);
  }
  return left;
}

std::optional<Shape> joined(const Node& node, Trials inputs) {
  const auto& first = shape_at(inputs, 0);
  if (!first) return std::nullopt;
  Shape whole = *first;
  const std::int64_t axis = node.attributes.get_int("axis");
  const auto place = static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(whole.size()) : axis);
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const auto& part = inputs[i].shape;
    if (!part || part->size() != whole.size() || place >= whole.size()) return std::nullopt;
    if (__builtin_add_overflow(whole[place], (*part)[place], &whole[place])) return std::nullopt;
  }
  return whole;
}

std::optional<Shape> listed(const Node& node, std::size_t output, Trials inputs, std::int64_t unknown) {
  if (node.type == "NonMaxSuppression") return output == 2 ? Shape{1} : Shape{unknown, 3};
  if (node.type == "Unique" && output == 0 && inputs.size() > 1) return like_data(inputs, unknown);
  if (is_one_of(node.type, {"Unique", "Range"})) return Shape{unknown};
  const auto& data = shape_at(inputs, 0);  // NonZero
  return data ? std::optional<Shape>({static_cast<std::int64_t>(data->size()), unknown}) : std::nullopt;
}

}  // namespace

std::optional<ElementType> guess_type(const Node& node, std::size_t output,
                                      std::span<const std::optional<ElementType>> inputs) {
  const auto named = [&](std::string_view name) { return find_element_type(node.attributes.get_string(name)); };
  if (node.attributes.has("destination_type")) return named("destination_type");
  if (node.type == "NonMaxSuppression") {
    if (output == 1) return inputs.empty() ? std::nullopt : inputs[0];
    return node.attributes.has("output_type") ? named("output_type") : ElementType::i64;
  }
  if (node.attributes.has("output_type")) return named("output_type");
  if (node.attributes.has("count_element_type") && output == 3) return named("count_element_type");
  if (node.attributes.has("index_element_type") && output > 0) return named("index_element_type");
  if (is_one_of(node.type, {"Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual", "LogicalAnd",
                            "LogicalOr", "LogicalXor", "LogicalNot"})) {
    return ElementType::boolean;
  }
  const std::size_t data = node.type == "Select" ? 1 : 0;
  return data < inputs.size() && node.bodies.empty() ? inputs[data] : std::nullopt;
}

std::optional<Shape> guess_shape(const Node& node, std::size_t output, std::span<const KnownTensor::Trial> inputs,
                                 std::int64_t unknown) {
  if (is_one_of(node.type, {"NonZero", "Unique", "NonMaxSuppression", "Range"})) {
    return listed(node, output, inputs, unknown);
  }
  if (inputs.size() < 2) return std::nullopt;
  if (node.type == "Reshape") return reshaped(node, inputs, unknown);
  if (node.type == "Squeeze") return squeezed(inputs);
  if (node.type == "Concat") return joined(node, inputs);
  if (is_one_of(node.type, {"Slice", "Pad", "TopK", "Interpolate", "Split", "VariadicSplit"})) {
    return like_data(inputs, unknown);
  }
  if (node.type == "Broadcast") return of_rank(count_at(inputs, 1), unknown);
  if (node.type == "Tile") {
    const auto data = like_data(inputs, unknown);
    const auto repeats = count_at(inputs, 1);
    return data && repeats ? of_rank(std::max(data->size(), *repeats), unknown) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace headrace::detail
