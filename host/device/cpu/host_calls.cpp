// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/host_calls.hpp"

#include "device/cpu/onednn.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

#ifdef HEADRACE_WITH_ONEDNN
std::optional<HostFunction> make_onednn_function(const detail::HostNode& host) {
  const std::string& type = host.node.type;
  if (type == "LRN") return detail::make_onednn_lrn(host);  // its axes are integers
  if (!host.is_plain_f32()) return std::nullopt;
  if (type == "Convolution" || type == "GroupConvolution") return detail::make_onednn_convolution(host);
  if (type == "ConvolutionBackpropData" || type == "GroupConvolutionBackpropData") {
    return detail::make_onednn_deconvolution(host);
  }
  if (type == "MatMul") return detail::make_onednn_matmul(host);
  if (type == "AvgPool") return detail::make_onednn_avg_pool(host);
  if (type == "Add" || type == "Subtract" || type == "Multiply" || type == "Divide") {
    return detail::make_onednn_binary(host);
  }
  return std::nullopt;
}
#else
std::optional<HostFunction> make_onednn_function(const detail::HostNode&) { return std::nullopt; }
#endif

}  // namespace

bool detail::HostNode::is_plain_f32() const {
  const auto is_plain = [](const TensorDesc& desc) { return desc.type == ElementType::f32 && desc.count() > 0; };
  for (const LowerInput& input : inputs) {
    if (!is_plain(input.desc)) return false;
  }
  for (const TensorDesc& output : outputs) {
    if (!is_plain(output)) return false;
  }
  return true;
}

HostFunction make_reference_function(const Node& node) {
  const OpDescriptor* op = find_op(node.type);
  HEADRACE_ASSERT(op != nullptr && op->reference != nullptr, "operator without a reference");
  return {[node](std::span<const Tensor> inputs, std::span<Tensor> outputs) { run_reference(node, inputs, outputs); },
          "reference"};
}

HostFunction make_host_function(const Node& node, std::span<const LowerInput> inputs,
                                std::span<const TensorDesc> outputs) {
  auto function = make_onednn_function({node, inputs, outputs});
  return function ? std::move(*function) : make_reference_function(node);
}

}  // namespace headrace
