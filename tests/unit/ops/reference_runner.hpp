// SPDX-License-Identifier: Apache-2.0
// Runs one operator by hand: parse, infer with every input known, reference.
#pragma once

#include <string>
#include <vector>

#include "ops/descriptor.hpp"

namespace headrace::test {

// A node of the type with parsed attributes; `inputs` sets how many inputs it has.
Node make_node(const std::string& type, const RawAttributes& raw, std::size_t inputs, std::int32_t opset = 1);

std::vector<InferOutput> infer_known(const Node& node, const std::vector<Tensor>& inputs);

std::vector<Tensor> run_op(const std::string& type, const RawAttributes& raw, const std::vector<Tensor>& inputs,
                           std::int32_t opset = 1);

// The message of the Error that running the operator throws, or "no error".
std::string error_of(const std::string& type, const RawAttributes& raw, const std::vector<Tensor>& inputs,
                     std::int32_t opset = 1);

// f32 tensors: given values, or first, first + 1, ...
Tensor floats(const Shape& shape, const std::vector<float>& values);
Tensor counting(const Shape& shape, float first = 0);
// i64 tensors of rank 1 and 0.
Tensor ints(const std::vector<std::int64_t>& values);
Tensor int_scalar(std::int64_t value);

}  // namespace headrace::test
