// SPDX-License-Identifier: Apache-2.0
// The common form of operators that only move elements of input 0: each names its Move, the rest follows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/copy.hpp"
#include "ops/descriptor.hpp"

namespace headrace {

// The known values of a node's inputs; null where a value is not known before the run.
using InputValues = std::vector<const Tensor*>;

InputValues values_of(std::span<const InferInput> inputs);
InputValues values_of(std::span<const LowerInput> inputs);
InputValues values_of(std::span<const Tensor> inputs);

// Returns input `index` as integers. Throws kUnsupported where it is not known: "output shape depends on the value of
// input N, which is not known before the run".
std::vector<std::int64_t> ints_at(const InputValues& values, std::size_t index);
std::int64_t int_at(const InputValues& values, std::size_t index);
bool has_input(const InputValues& values, std::size_t index);

// Axes mapped to [0, rank), in the given order. Throws kBadModel naming the operator on a bad or repeated axis.
std::vector<std::size_t> normalize_axes(const Node& node, std::span<const std::int64_t> axes, std::size_t rank);
std::size_t normalize_one_axis(const Node& node, std::int64_t axis, std::size_t rank);

// The type's name and the text, as kBadModel.
[[noreturn]] void fail_node(const Node& node, const std::string& what);

// How output `output`, lying as `to`, is filled from input 0, lying as `from`.
using MoveFunction = Move (*)(const Node& node, const TensorDesc& from, const InputValues& values, std::size_t output,
                              const TensorDesc& to);

namespace detail {
void move_reference(MoveFunction function, const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs);
Support move_supports(MoveFunction function, const Node& node, std::span<const LowerInput> inputs,
                      std::span<const TensorDesc> outputs, const KernelCaps& caps);
Lowered move_lower(MoveFunction function, const Node& node, std::span<const LowerInput> inputs,
                   std::span<const TensorDesc> outputs, const KernelCaps& caps);
std::optional<View> move_view(MoveFunction function, const Node& node, std::span<const LowerInput> inputs,
                              std::size_t output, const Shape& output_shape);
}  // namespace detail

// Ready-made members of an OpDescriptor for one MoveFunction.
template <MoveFunction kFunction>
void move_reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  detail::move_reference(kFunction, node, inputs, outputs);
}

template <MoveFunction kFunction>
Support move_supports(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                      const KernelCaps& caps) {
  return detail::move_supports(kFunction, node, inputs, outputs, caps);
}

template <MoveFunction kFunction>
Lowered move_lower(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                   const KernelCaps& caps) {
  return detail::move_lower(kFunction, node, inputs, outputs, caps);
}

template <MoveFunction kFunction>
std::optional<View> move_view(const Node& node, std::span<const LowerInput> inputs, std::size_t output,
                              const Shape& output_shape) {
  return detail::move_view(kFunction, node, inputs, output, output_shape);
}

// A dense row-major tensor.
TensorDesc dense_desc(ElementType type, const Shape& shape);

// Plain loops: moves elements on the host, by their bits.
void move_elements(const Tensor& source, Tensor& destination, const Move& move);

}  // namespace headrace
