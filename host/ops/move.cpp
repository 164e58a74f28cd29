// SPDX-License-Identifier: Apache-2.0
#include "ops/move.hpp"

#include <algorithm>
#include <cstring>

#include "ops/strided.hpp"
#include "ops/unknown_value.hpp"

namespace headrace {
namespace {

template <typename Input>
InputValues collect(std::span<const Input> inputs, const Tensor* Input::*member) {
  InputValues values;
  for (const Input& input : inputs) values.push_back(input.*member);
  return values;
}

}  // namespace

InputValues values_of(std::span<const InferInput> inputs) { return collect(inputs, &InferInput::value); }
InputValues values_of(std::span<const LowerInput> inputs) { return collect(inputs, &LowerInput::constant); }

InputValues values_of(std::span<const Tensor> inputs) {
  InputValues values;
  for (const Tensor& input : inputs) values.push_back(&input);
  return values;
}

std::vector<std::int64_t> ints_at(const InputValues& values, std::size_t index) {
  HEADRACE_ASSERT(index < values.size(), "input index past the checked number of inputs");
  if (values[index] == nullptr) {
    throw UnknownValue(index, "output shape depends on the value of input " + std::to_string(index) +
                                  ", which is not known before the run");
  }
  return to_int64s(*values[index]);
}

std::int64_t int_at(const InputValues& values, std::size_t index) {
  const std::vector<std::int64_t> ints = ints_at(values, index);
  if (ints.size() != 1) {
    fail(ErrorCode::kBadModel,
         "input " + std::to_string(index) + " must hold one value, holds " + std::to_string(ints.size()));
  }
  return ints[0];
}

bool has_input(const InputValues& values, std::size_t index) { return index < values.size(); }

void fail_node(const Node& node, const std::string& what) {
  fail(ErrorCode::kBadModel, (node.source_type.empty() ? node.type : node.source_type) + " " + what);
}

std::size_t normalize_one_axis(const Node& node, std::int64_t axis, std::size_t rank) {
  const auto signed_rank = static_cast<std::int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank) {
    fail_node(node, "has axis " + std::to_string(axis) + ", outside a tensor of rank " + std::to_string(rank));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + signed_rank : axis);
}

std::vector<std::size_t> normalize_axes(const Node& node, std::span<const std::int64_t> axes, std::size_t rank) {
  std::vector<std::size_t> normalized;
  for (const std::int64_t axis : axes) {
    const std::size_t place = normalize_one_axis(node, axis, rank);
    if (std::find(normalized.begin(), normalized.end(), place) != normalized.end()) {
      fail_node(node, "has axis " + std::to_string(axis) + " twice");
    }
    normalized.push_back(place);
  }
  return normalized;
}

TensorDesc dense_desc(ElementType type, const Shape& shape) { return {type, shape, row_major_strides(shape), 0}; }

void move_elements(const Tensor& source, Tensor& destination, const Move& move) {
  const std::int64_t count = count_elems(move.shape);
  if (count == 0) return;
  const std::size_t bytes = size_bytes(source.type());
  const std::byte* src = source.data();
  std::byte* dst = destination.mutable_data();
  std::vector<std::int64_t> index(move.shape.size(), 0);
  std::int64_t from = move.from.offset_elems;
  std::int64_t to = move.to.offset_elems;
  for (std::int64_t done = 0; done < count; ++done) {
    HEADRACE_ASSERT(from >= 0 && from < source.count() && to >= 0 && to < destination.count(), "move out of bounds");
    std::memcpy(dst + static_cast<std::size_t>(to) * bytes, src + static_cast<std::size_t>(from) * bytes, bytes);
    for (std::size_t i = index.size(); i-- > 0;) {
      from += move.from.strides[i];
      to += move.to.strides[i];
      if (++index[i] < move.shape[i]) break;
      from -= move.from.strides[i] * move.shape[i];
      to -= move.to.strides[i] * move.shape[i];
      index[i] = 0;
    }
  }
}

namespace detail {

void move_reference(MoveFunction function, const Node& node, std::span<const Tensor> inputs,
                    std::span<Tensor> outputs) {
  const InputValues values = values_of(inputs);
  const TensorDesc from = dense_desc(inputs[0].type(), inputs[0].shape());
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const TensorDesc to = dense_desc(outputs[k].type(), outputs[k].shape());
    move_elements(inputs[0], outputs[k], function(node, from, values, k, to));
  }
}

Support move_supports(MoveFunction function, const Node& node, std::span<const LowerInput> inputs,
                      std::span<const TensorDesc> outputs, const KernelCaps& caps) {
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    if (inputs[i].constant == nullptr) {
      return Support::no("input " + std::to_string(i) + " is computed in the run, the kernel needs a constant");
    }
  }
  if (const Support support = supports_int_index(inputs, outputs); !support.ok) return support;
  const InputValues values = values_of(inputs);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const Support support = supports_move(outputs[k].type, function(node, inputs[0].desc, values, k, outputs[k]), caps);
    if (!support.ok) return support;
  }
  return Support::yes();
}

Lowered move_lower(MoveFunction function, const Node& node, std::span<const LowerInput> inputs,
                   std::span<const TensorDesc> outputs, const KernelCaps& caps) {
  Lowered lowered;
  const InputValues values = values_of(inputs);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    append_copy(lowered, outputs[k].type, function(node, inputs[0].desc, values, k, outputs[k]), Operand::input(0),
                Operand::output(k), caps);
  }
  return lowered;
}

std::optional<View> move_view(MoveFunction function, const Node& node, std::span<const LowerInput> inputs,
                              std::size_t output, const Shape& output_shape) {
  const InputValues values = values_of(inputs);
  if (std::find(values.begin() + 1, values.end(), nullptr) != values.end()) return std::nullopt;
  const TensorDesc to = dense_desc(inputs[0].desc.type, output_shape);
  const Move move = function(node, inputs[0].desc, values, output, to);
  if (move.shape != output_shape || move.to != View{to.strides, 0}) return std::nullopt;
  return move.from;
}

}  // namespace detail
}  // namespace headrace
