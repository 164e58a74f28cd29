// SPDX-License-Identifier: Apache-2.0
// Which nodes oneDNN computes for the CPU device. Each function returns nothing where oneDNN 2.6 cannot, is slower
// than plain loops, or gives other values than the operator's reference. SoftMax and MaxPool are absent for that:
// oneDNN's give 0.25 for a row of -inf (right: NaN) and drop NaN.
#pragma once

#include <optional>
#include <span>

#include "device/cpu/host_calls.hpp"

namespace headrace::detail {

// A node with the shapes of its tensors: the arguments of make_host_function in one piece.
struct HostNode {
  const Node& node;
  std::span<const LowerInput> inputs;
  std::span<const TensorDesc> outputs;

  const Shape& shape(std::size_t input) const { return inputs[input].desc.shape; }
  const Shape& output_shape() const { return outputs[0].shape; }
  // Every input and output is f32 and none is empty.
  bool is_plain_f32() const;
};

// Convolution and GroupConvolution, 1-D to 3-D.
std::optional<HostFunction> make_onednn_convolution(const HostNode& host);
// ConvolutionBackpropData and GroupConvolutionBackpropData without an output_shape input.
std::optional<HostFunction> make_onednn_deconvolution(const HostNode& host);
// Any ranks and batch broadcasting.
std::optional<HostFunction> make_onednn_matmul(const HostNode& host);
// Where no window reaches past the pads.
std::optional<HostFunction> make_onednn_avg_pool(const HostNode& host);
// Across channels.
std::optional<HostFunction> make_onednn_lrn(const HostNode& host);
// Add, Subtract, Multiply and Divide with broadcasting.
std::optional<HostFunction> make_onednn_binary(const HostNode& host);

}  // namespace headrace::detail
