// SPDX-License-Identifier: Apache-2.0
// AvgPool and LRN by oneDNN.
#ifdef HEADRACE_WITH_ONEDNN
#include <algorithm>

#include "device/cpu/onednn_support.hpp"

namespace headrace::detail {

using dnnl::memory;

std::optional<HostFunction> make_onednn_avg_pool(const HostNode& host) {
  const Attributes& attributes = host.node.attributes;
  const std::size_t rank = host.shape(0).size() - 2;
  if (rank < 1 || rank > 3 || attributes.get_string("auto_pad") != "explicit") return std::nullopt;
  const memory::dims kernel = attributes.get_ints("kernel");
  const memory::dims strides = attributes.get_ints("strides");
  const memory::dims begin = attributes.get_ints("pads_begin");
  memory::dims end = attributes.get_ints("pads_end");
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t needed =
        (host.output_shape()[i + 2] - 1) * strides[i] + kernel[i] - host.shape(0)[i + 2] - begin[i];
    // A window past the pads (rounding up) counts other elements than oneDNN would.
    if (needed > end[i] || begin[i] >= kernel[i] || needed >= kernel[i]) return std::nullopt;
    end[i] = needed;
  }
  const auto algorithm = attributes.get_bool("exclude-pad") ? dnnl::algorithm::pooling_avg_exclude_padding
                                                            : dnnl::algorithm::pooling_avg_include_padding;
  return if_implemented([&]() -> std::optional<HostFunction> {
    const memory::desc src = plain_desc(host.shape(0));
    const memory::desc dst = plain_desc(host.output_shape());
    const dnnl::pooling_forward::desc desc(dnnl::prop_kind::forward_inference, algorithm, src, dst, strides, kernel,
                                           begin, end);
    const dnnl::pooling_forward::primitive_desc chosen(desc, caller_scratch_attr(), onednn_engine());
    PrimitivePlan plan;
    plan.primitive = dnnl::pooling_forward(chosen);
    plan.scratch = chosen.scratchpad_desc();
    plan.operands = {{DNNL_ARG_SRC, 0, src, src}};
    plan.output = {DNNL_ARG_DST, 0, dst, dst};
    plan.label = "onednn_avg_pool";
    return make_primitive_function(host, std::move(plan));
  });
}

std::optional<HostFunction> make_onednn_lrn(const HostNode& host) {
  const Attributes& attributes = host.node.attributes;
  const std::int64_t size = attributes.get_int("size");
  const Tensor* axes = host.inputs[1].constant;
  if (host.inputs[0].desc.type != ElementType::f32 || host.inputs[0].desc.count() == 0) return std::nullopt;
  if (axes == nullptr || host.shape(0).size() < 2 || host.shape(0).size() > 5 || size % 2 == 0) return std::nullopt;
  if (to_int64s(*axes) != std::vector<std::int64_t>{1}) return std::nullopt;
  return if_implemented([&]() -> std::optional<HostFunction> {
    const memory::desc src = plain_desc(host.shape(0));
    const dnnl::lrn_forward::desc desc(dnnl::prop_kind::forward_inference, dnnl::algorithm::lrn_across_channels, src,
                                       size, static_cast<float>(attributes.get_double("alpha")),
                                       static_cast<float>(attributes.get_double("beta")),
                                       static_cast<float>(attributes.get_double("bias")));
    const dnnl::lrn_forward::primitive_desc chosen(desc, caller_scratch_attr(), onednn_engine());
    PrimitivePlan plan;
    plan.primitive = dnnl::lrn_forward(chosen);
    plan.scratch = chosen.scratchpad_desc();
    plan.operands = {{DNNL_ARG_SRC, 0, src, src}};
    plan.output = {DNNL_ARG_DST, 0, src, src};
    plan.label = "onednn_lrn";
    return make_primitive_function(host, std::move(plan));
  });
}

}  // namespace headrace::detail
#endif
