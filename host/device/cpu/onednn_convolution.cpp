// SPDX-License-Identifier: Apache-2.0
// Convolution and its transpose by oneDNN.
#ifdef HEADRACE_WITH_ONEDNN
#include <algorithm>

#include "device/cpu/onednn_support.hpp"
#include "ops/strided.hpp"

namespace headrace::detail {
namespace {

using dnnl::memory;

// Strides, dilations (oneDNN counts from 0) and pads per spatial dimension.
struct Windows {
  memory::dims strides;
  memory::dims dilations;
  memory::dims pads_begin;
  memory::dims pads_end;
};

std::int64_t begin_pad(const std::string& auto_pad, std::int64_t total, std::int64_t given) {
  if (auto_pad == "valid") return 0;
  if (auto_pad == "same_upper") return std::max<std::int64_t>(total, 0) / 2;
  if (auto_pad == "same_lower") return (std::max<std::int64_t>(total, 0) + 1) / 2;
  return given;
}

// The end pad follows from the sizes: it may be smaller than the file's, even negative, where the last window ends
// before the border. `wide` is the side that the windows run over, `narrow` the one that counts them.
Windows windows_of(const Node& node, const Shape& kernel, const Shape& wide, const Shape& narrow) {
  const std::size_t rank = wide.size() - 2;
  const auto or_ones = [&](std::string_view name) {
    std::vector<std::int64_t> values = node.attributes.get_ints(name);
    if (values.empty()) values.assign(rank, 1);
    return values;
  };
  const auto dilations = or_ones("dilations");
  const auto& pads = node.attributes.get_ints("pads_begin");
  const auto& auto_pad = node.attributes.get_string("auto_pad");
  Windows windows;
  windows.strides = or_ones("strides");
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t extent = (kernel[kernel.size() - rank + i] - 1) * dilations[i] + 1;
    const std::int64_t total = (narrow[i + 2] - 1) * windows.strides[i] + extent - wide[i + 2];
    windows.dilations.push_back(dilations[i] - 1);
    windows.pads_begin.push_back(begin_pad(auto_pad, total, i < pads.size() ? pads[i] : 0));
    windows.pads_end.push_back(total - windows.pads_begin.back());
  }
  return windows;
}

// A 1x1 convolution is a plain GEMM in NCHW; anything else is faster in the order that oneDNN wants, reorders included
// (512x512x7x7 k3: 1.8 ms against 3.6 ms, one thread, AVX-512; bench: tests/device/cpu_host_calls_test).
bool is_pointwise(const Shape& kernel, std::size_t rank, const memory::dims& strides) {
  const auto is_one = [](std::int64_t value) { return value == 1; };
  return std::all_of(kernel.end() - static_cast<std::ptrdiff_t>(rank), kernel.end(), is_one) &&
         std::all_of(strides.begin(), strides.end(), is_one);
}

// IR stores the weights of the transpose input channels first: [G,] IC, OC, ...; oneDNN's logical order is OC, IC.
memory::desc transposed_weights(const Shape& shape, bool is_grouped) {
  const std::size_t first = is_grouped ? 1 : 0;
  memory::dims dims = shape;
  memory::dims strides = row_major_strides(shape);
  std::swap(dims[first], dims[first + 1]);
  std::swap(strides[first], strides[first + 1]);
  return {dims, memory::data_type::f32, strides};
}

template <typename Primitive>
PrimitivePlan plan_windowed(const HostNode& host, const Windows& w, dnnl::algorithm algorithm,
                            const memory::desc& weights, bool is_plain) {
  const memory::desc src = plain_desc(host.shape(0));
  const memory::desc dst = plain_desc(host.output_shape());
  const auto chosen = [&](const memory::desc& desc) { return is_plain ? desc : any_desc(desc.dims()); };
  const int bias_input = host.node.epilogue.bias_input;
  const memory::desc bias = bias_input < 0 ? memory::desc() : plain_desc({host.output_shape()[1]});
  dnnl::primitive_attr attr = caller_scratch_attr();
  PrimitivePlan plan;
  plan.is_activation_fused = append_activation(host.node.epilogue, attr);
  const typename Primitive::desc desc(dnnl::prop_kind::forward_inference, algorithm, chosen(src),
                                      any_desc(weights.dims()), bias, chosen(dst), w.strides, w.dilations, w.pads_begin,
                                      w.pads_end);
  const typename Primitive::primitive_desc chosen_desc(desc, attr, onednn_engine());
  plan.primitive = Primitive(chosen_desc);
  plan.scratch = chosen_desc.scratchpad_desc();
  plan.operands.push_back({DNNL_ARG_SRC, 0, src, chosen_desc.src_desc()});
  plan.operands.push_back({DNNL_ARG_WEIGHTS, 1, weights, chosen_desc.weights_desc()});
  if (bias_input >= 0) plan.operands.push_back({DNNL_ARG_BIAS, static_cast<std::size_t>(bias_input), bias, bias});
  plan.output = {DNNL_ARG_DST, 0, dst, chosen_desc.dst_desc()};
  return plan;
}

}  // namespace

std::optional<HostFunction> make_onednn_convolution(const HostNode& host) {
  const std::size_t rank = host.shape(0).size() - 2;
  if (rank < 1 || rank > 3) return std::nullopt;
  return if_implemented([&]() -> std::optional<HostFunction> {
    const Windows w = windows_of(host.node, host.shape(1), host.shape(0), host.output_shape());
    const bool is_plain = host.node.type == "Convolution" && is_pointwise(host.shape(1), rank, w.strides);
    PrimitivePlan plan = plan_windowed<dnnl::convolution_forward>(host, w, dnnl::algorithm::convolution_direct,
                                                                  plain_desc(host.shape(1)), is_plain);
    plan.label = "onednn_convolution";
    return make_primitive_function(host, std::move(plan));
  });
}

std::optional<HostFunction> make_onednn_deconvolution(const HostNode& host) {
  const std::size_t rank = host.shape(0).size() - 2;
  const bool is_explicit = host.node.attributes.get_string("auto_pad") == "explicit";
  if (rank < 1 || rank > 3 || !is_explicit || count_op_inputs(host.node) != 2) return std::nullopt;
  const bool is_grouped = host.node.type == "GroupConvolutionBackpropData";
  return if_implemented([&]() -> std::optional<HostFunction> {
    const Windows w = windows_of(host.node, host.shape(1), host.output_shape(), host.shape(0));
    PrimitivePlan plan = plan_windowed<dnnl::deconvolution_forward>(
        host, w, dnnl::algorithm::deconvolution_direct, transposed_weights(host.shape(1), is_grouped), false);
    plan.label = "onednn_deconvolution";
    return make_primitive_function(host, std::move(plan));
  });
}

}  // namespace headrace::detail
#endif
