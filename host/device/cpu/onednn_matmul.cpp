// SPDX-License-Identifier: Apache-2.0
// MatMul and the arithmetic of two tensors by oneDNN.
#ifdef HEADRACE_WITH_ONEDNN
#include <algorithm>

#include "device/cpu/onednn_support.hpp"
#include "ops/strided.hpp"

namespace headrace::detail {
namespace {

using dnnl::memory;

// Puts ones in front until the rank is reached.
Shape padded(const Shape& shape, std::size_t rank) {
  Shape result(rank - shape.size(), 1);
  result.insert(result.end(), shape.begin(), shape.end());
  return result;
}

// A matrix operand as [batch..., rows, columns]; a transposed one by its strides.
memory::desc matrix_desc(const Shape& shape, bool is_transposed, std::size_t rank) {
  memory::dims dims = padded(shape, rank);
  memory::dims strides = row_major_strides(dims);
  if (is_transposed) {
    std::swap(dims[rank - 2], dims[rank - 1]);
    std::swap(strides[rank - 2], strides[rank - 1]);
  }
  return {dims, memory::data_type::f32, strides};
}

}  // namespace

std::optional<HostFunction> make_onednn_matmul(const HostNode& host) {
  // A vector operand gets a 1 that the output lacks; it is rare and small.
  if (host.shape(0).size() < 2 || host.shape(1).size() < 2) return std::nullopt;
  const std::size_t rank = std::max(host.shape(0).size(), host.shape(1).size());
  const Attributes& attributes = host.node.attributes;
  return if_implemented([&]() -> std::optional<HostFunction> {
    const memory::desc src = matrix_desc(host.shape(0), attributes.get_bool("transpose_a"), rank);
    const memory::desc wei = matrix_desc(host.shape(1), attributes.get_bool("transpose_b"), rank);
    const memory::desc dst = plain_desc(host.output_shape());
    const int bias_input = host.node.epilogue.bias_input;
    const memory::desc bias = bias_input < 0 ? memory::desc() : plain_desc(padded({dst.dims().back()}, rank));
    const bool is_constant = host.inputs[1].constant != nullptr;
    dnnl::primitive_attr attr = caller_scratch_attr();
    PrimitivePlan plan;
    plan.is_activation_fused = append_activation(host.node.epilogue, attr);
    const dnnl::matmul::desc desc(src, is_constant ? any_desc(wei.dims()) : wei, bias, dst);
    const dnnl::matmul::primitive_desc chosen(desc, attr, onednn_engine());
    plan.primitive = dnnl::matmul(chosen);
    plan.scratch = chosen.scratchpad_desc();
    plan.operands = {{DNNL_ARG_SRC, 0, src, src}, {DNNL_ARG_WEIGHTS, 1, wei, chosen.weights_desc()}};
    if (bias_input >= 0) plan.operands.push_back({DNNL_ARG_BIAS, static_cast<std::size_t>(bias_input), bias, bias});
    plan.output = {DNNL_ARG_DST, 0, dst, dst};
    plan.label = "onednn_matmul";
    return make_primitive_function(host, std::move(plan));
  });
}

std::optional<HostFunction> make_onednn_binary(const HostNode& host) {
  const std::string& type = host.node.type;
  const auto algorithm = type == "Add"        ? dnnl::algorithm::binary_add
                         : type == "Subtract" ? dnnl::algorithm::binary_sub
                         : type == "Multiply" ? dnnl::algorithm::binary_mul
                                              : dnnl::algorithm::binary_div;
  // oneDNN stretches the second operand only, and aligns shapes at the end like numpy.
  if (host.shape(0) != host.output_shape() || count_op_inputs(host.node) != 2) return std::nullopt;
  if (host.output_shape().empty() || host.node.epilogue.bias_input >= 0) return std::nullopt;
  if (host.shape(1).size() > host.shape(0).size()) return std::nullopt;
  if (broadcast_shapes(host.shape(0), host.shape(1)) != host.output_shape()) return std::nullopt;
  return if_implemented([&]() -> std::optional<HostFunction> {
    const memory::desc src = plain_desc(host.shape(0));
    const memory::desc other = plain_desc(padded(host.shape(1), host.shape(0).size()));
    dnnl::primitive_attr attr = caller_scratch_attr();
    PrimitivePlan plan;
    plan.is_activation_fused = append_activation(host.node.epilogue, attr);
    const dnnl::binary::desc desc(algorithm, src, other, src);
    const dnnl::binary::primitive_desc chosen(desc, attr, onednn_engine());
    plan.primitive = dnnl::binary(chosen);
    plan.scratch = chosen.scratchpad_desc();
    plan.operands = {{DNNL_ARG_SRC_0, 0, src, src}, {DNNL_ARG_SRC_1, 1, other, other}};
    plan.output = {DNNL_ARG_DST, 0, src, src};
    plan.label = "onednn_binary";
    return make_primitive_function(host, std::move(plan));
  });
}

}  // namespace headrace::detail
#endif
