// SPDX-License-Identifier: Apache-2.0
// Builds nodes and small constants for passes.
#pragma once

#include <string>
#include <vector>

#include "passes/rewriter.hpp"

namespace headrace {

// Adds an operator node with resolved outputs; attributes are parsed from `raw` as from a file.
// Throws kUnsupported where the operator is not in the table.
PortRef add_op(Rewriter& rewriter, std::string_view type, const std::string& name, std::vector<PortRef> inputs,
               const RawAttributes& raw = {}, std::int32_t opset = 1);

// f32 tensor of the values.
Tensor make_f32(const Shape& shape, const std::vector<double>& values);

// Whether the node is a binary operator that broadcasts by the numpy rule.
bool is_numpy_binary(const Node& node, std::string_view type);

// The value where the tensor is an f32 constant, else null.
const Tensor* const_f32(const Graph& graph, PortRef ref);

// The value where the tensor is a floating constant of one element, or nothing.
std::optional<double> const_scalar(const Graph& graph, PortRef ref);

// A binary node's constant operand and the other one.
struct ConstOperand {
  PortRef data;
  PortRef constant;
};
// Finds them where exactly one input is an f32 constant and the result has the shape of the other input.
// For Subtract and Divide only the second input counts.
std::optional<ConstOperand> const_operand(const Graph& graph, const Node& node);

}  // namespace headrace
