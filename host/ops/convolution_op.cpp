// SPDX-License-Identifier: Apache-2.0
// Convolution, GroupConvolution and their transposed forms in one to three dimensions.
#include <algorithm>

#include "ops/conv_depthwise.hpp"
#include "ops/conv_problem.hpp"
#include "ops/conv_shape.hpp"
#include "ops/conv_winograd.hpp"
#include "ops/conv_winograd_tile.hpp"
#include "ops/descriptor.hpp"
#include "ops/strided.hpp"
#include "ops/unknown_value.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"Convolution", "GroupConvolution", "ConvolutionBackpropData",
                                       "GroupConvolutionBackpropData"};

Attributes parse(std::string_view type, std::int32_t /*opset*/, const RawAttributes& raw) {
  Attributes attributes;
  // An empty list stands for the default of every spatial dimension: the rank is not known here.
  for (const std::string_view name : {"strides", "pads_begin", "pads_end", "dilations"}) {
    attributes.set(name, parse_ints(raw, name, {}));
  }
  attributes.set("auto_pad",
                 parse_enum(raw, "auto_pad", "explicit", {"explicit", "same_upper", "same_lower", "valid"}));
  if (type.find("Backprop") != std::string_view::npos) {
    attributes.set("output_padding", parse_ints(raw, "output_padding", {}));
  }
  return attributes;
}

void check_types(const Node& node, ElementType src, ElementType wei) {
  if (src == ElementType::f32 && wei == ElementType::f32) return;
  fail(ErrorCode::kUnsupported, node.source_type + " of types " + std::string(to_string(src)) + " and " +
                                    std::string(to_string(wei)) + " is not supported, only f32");
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  const std::size_t most = is_transposed_convolution(node) ? 3 : 2;
  check_input_count(node, inputs.size(), 2, most);
  std::optional<Shape> out_spatial;
  if (inputs.size() == 3) {
    if (inputs[2].value == nullptr) {
      throw UnknownValue(2, node.source_type + " with an output shape that is computed at run time");
    }
    out_spatial = to_int64s(*inputs[2].value);
  }
  return {{inputs[0].type, make_conv_shape(node, inputs[0].shape, inputs[1].shape, out_spatial).output_shape()}};
}

// The shape where the output's is known: a transposed convolution with a third input gets it from there.
ConvShape resolved_shape(const Node& node, const Shape& src, const Shape& wei, const Shape& dst) {
  std::optional<Shape> out_spatial;
  if (is_transposed_convolution(node) && count_op_inputs(node) == 3) out_spatial = Shape(dst.begin() + 2, dst.end());
  return make_conv_shape(node, src, wei, out_spatial);
}

Cost cost(const Node& node, std::span<const InferInput> inputs, std::span<const InferOutput> outputs) {
  const ConvShape shape = resolved_shape(node, inputs[0].shape, inputs[1].shape, outputs[0].shape);
  // Every input pixel of a transposed convolution meets every tap once, every output pixel of a plain one.
  const Triple& pixels = shape.is_transposed ? shape.in : shape.out;
  Cost result;
  result.flops = 2 * shape.N * shape.G * shape.IC * shape.OC * shape.taps() * pixels[0] * pixels[1] * pixels[2];
  result.bytes = 4 * (count_elems(inputs[0].shape) + count_elems(inputs[1].shape) + count_elems(outputs[0].shape));
  return result;
}

// Strides of the weights tensor [G,] OC, IC, taps (or IC, OC where transposed).
WeightStrides weight_strides(const ConvShape& shape) {
  const std::int64_t taps = shape.taps();
  WeightStrides strides;
  strides.g = shape.OC * shape.IC * taps;
  strides.oc = shape.is_transposed ? taps : shape.IC * taps;
  strides.ic = shape.is_transposed ? shape.OC * taps : taps;
  strides.tap = 1;
  return strides;
}

// Index of the input element that tap k of output o reads along one dimension, or -1 where it reads padding.
std::int64_t source_index(const ConvShape& shape, std::size_t axis, std::int64_t o, std::int64_t k) {
  std::int64_t i = 0;
  if (shape.is_transposed) {
    const std::int64_t stretched = o + shape.pad_begin[axis] - k * shape.dilation[axis];
    if (stretched < 0 || stretched % shape.stride[axis] != 0) return -1;
    i = stretched / shape.stride[axis];
  } else {
    i = o * shape.stride[axis] - shape.pad_begin[axis] + k * shape.dilation[axis];
  }
  return i >= 0 && i < shape.in[axis] ? i : -1;
}

// One output element: src points at channel 0 of its group, wei at its output channel.
double dot(const ConvShape& shape, const float* src, const float* wei, const Triple& at) {
  const std::int64_t image = shape.in[0] * shape.in[1] * shape.in[2];
  const std::int64_t ic_stride = weight_strides(shape).ic;
  double sum = 0;
  for (std::int64_t kd = 0; kd < shape.kernel[0]; ++kd) {
    const std::int64_t id = source_index(shape, 0, at[0], kd);
    for (std::int64_t kh = 0; kh < shape.kernel[1]; ++kh) {
      const std::int64_t ih = source_index(shape, 1, at[1], kh);
      for (std::int64_t kw = 0; kw < shape.kernel[2]; ++kw) {
        const std::int64_t iw = source_index(shape, 2, at[2], kw);
        if (id < 0 || ih < 0 || iw < 0) continue;
        const float* pixel = src + (id * shape.in[1] + ih) * shape.in[2] + iw;
        const float* tap = wei + (kd * shape.kernel[1] + kh) * shape.kernel[2] + kw;
        for (std::int64_t ic = 0; ic < shape.IC; ++ic) {
          sum += static_cast<double>(pixel[ic * image]) * static_cast<double>(tap[ic * ic_stride]);
        }
      }
    }
  }
  return sum;
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  check_types(node, inputs[0].type(), inputs[1].type());
  const ConvShape shape = resolved_shape(node, inputs[0].shape(), inputs[1].shape(), outputs[0].shape());
  const WeightStrides strides = weight_strides(shape);
  const std::int64_t image = shape.in[0] * shape.in[1] * shape.in[2];
  const float* src = inputs[0].values<float>().data();
  const float* wei = inputs[1].values<float>().data();
  float* dst = outputs[0].mutable_values<float>().data();
  for (std::int64_t n = 0; n < shape.N; ++n) {
    for (std::int64_t c = 0; c < shape.G * shape.OC; ++c) {
      const std::int64_t g = c / shape.OC;
      const float* group_src = src + (n * shape.G + g) * shape.IC * image;
      const float* channel_wei = wei + g * strides.g + c % shape.OC * strides.oc;
      for (std::int64_t od = 0; od < shape.out[0]; ++od) {
        for (std::int64_t oh = 0; oh < shape.out[1]; ++oh) {
          for (std::int64_t ow = 0; ow < shape.out[2]; ++ow) {
            *dst++ = static_cast<float>(dot(shape, group_src, channel_wei, {od, oh, ow}));
          }
        }
      }
    }
  }
}

struct ConvForm {
  std::variant<ConvTile, WinogradForm, DepthwiseForm> kind;
  std::vector<KernelInstance> instances() const {
    return std::visit([](const auto& form) { return instances_of(form); }, kind);
  }
};

// Adds what one of the kernels offers, with the costs in one unit.
template <typename Form>
void append(const std::vector<Candidate<Form>>& from, double factor, double term,
            std::vector<Candidate<ConvForm>>& to) {
  for (const auto& [form, cost] : from) to.push_back({{form}, cost * factor + term});
}

// Costs are multiply-adds, of a vector where the device is wide. Where there is a depthwise kernel no other comes near
// it.
std::vector<Candidate<ConvForm>> candidates(const ConvShape& shape, const KernelCaps& caps) {
  std::vector<Candidate<ConvForm>> result;
  if (fits_depthwise(shape)) append(depthwise_candidates(shape.G, caps), 1.0, 0.0, result);
  if (!result.empty()) return result;
  const std::int64_t pixels = shape.N * shape.out[0] * shape.out[1] * shape.out[2];
  const auto products = static_cast<double>(shape.G * shape.taps() * shape.IC);
  const double moves = caps.is_wide() ? 0.0 : direct_tile_moves(shape);
  append(conv_tile_candidates(pixels, shape.OC, caps), products, moves, result);
  append(winograd_candidates(shape, caps), 1.0, 0.0, result);
  return result;
}

std::string shape_class(const ConvShape& shape) { return shape.shape_class(shape.is_transposed ? "deconv" : "conv"); }

std::optional<ConvForm> choose(const ConvShape& shape, const KernelCaps& caps) {
  return choose_form(candidates(shape, caps), shape_class(shape), caps);
}

FormChoice forms(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                 const KernelCaps& caps) {
  const ConvShape shape = resolved_shape(node, inputs[0].desc.shape, inputs[1].desc.shape, outputs[0].shape);
  return make_form_choice(shape_class(shape), candidates(shape, caps));
}

Support supports(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                 const KernelCaps& caps) {
  if (inputs[0].desc.type != ElementType::f32 || inputs[1].desc.type != ElementType::f32) {
    return Support::no("only f32 has a kernel");
  }
  if (inputs[1].constant == nullptr) return Support::no("weights are not constant");
  const ConvShape shape = resolved_shape(node, inputs[0].desc.shape, inputs[1].desc.shape, outputs[0].shape);
  if (shape.IC == 0) return Support::no("the sum is empty");
  const auto form = choose(shape, caps);
  if (!form) return Support::no("the bitstream holds no convolution kernel");
  const auto* tile = std::get_if<ConvTile>(&form->kind);
  const std::int64_t packed = tile == nullptr ? 0 : shape.G * tile->packed_elems(shape.taps() * shape.IC, shape.OC);
  const Support support = supports_conv_index(shape, inputs[0].desc, packed);
  return support.ok ? supports_int_index(inputs, outputs) : support;
}

LayoutRules layouts(const Node& node, const KernelCaps& /*caps*/) {
  LayoutRules rules;
  rules.inputs.assign(std::max<std::size_t>(node.inputs.size(), 1), LayoutRule::kRowMajor);
  rules.inputs[0] = LayoutRule::kChannelsLast;
  if (node.epilogue.residual_input >= 0) {
    rules.inputs[static_cast<std::size_t>(node.epilogue.residual_input)] = LayoutRule::kChannelsLast;
  }
  rules.output = LayoutRule::kChannelsLast;
  return rules;
}

// A tensor [N, groups * C, spatial...] with `channels` channels per group.
ConvTensor channels_last_tensor(const Operand& operand, const TensorDesc& desc, std::int64_t channels) {
  HEADRACE_ASSERT(is_channels_last(desc), "convolution operand is not channels-last");
  ConvTensor tensor{operand, desc.offset, {}};
  const std::size_t rank = desc.strides.size();
  tensor.strides.n = desc.strides[0];
  tensor.strides.w = desc.strides[rank - 1];
  if (rank > 3) tensor.strides.h = desc.strides[rank - 2];
  if (rank > 4) tensor.strides.d = desc.strides[rank - 3];
  tensor.strides.g = channels;
  return tensor;
}

ConvProblem make_problem(const Node& node, const ConvShape& shape, std::span<const LowerInput> inputs,
                         const TensorDesc& output) {
  ConvProblem problem;
  problem.N = shape.N;
  problem.G = shape.G;
  problem.IC = shape.IC;
  problem.OC = shape.OC;
  problem.in = shape.in;
  problem.out = shape.out;
  problem.kernel = shape.kernel;
  for (std::size_t i = 0; i < 3; ++i) {
    // A transposed convolution walks the source stretched by its stride, backwards: see conv_wide.cl.
    const std::int64_t sign = shape.is_transposed ? -1 : 1;
    problem.stride[i] = shape.is_transposed ? 1 : shape.stride[i];
    problem.up[i] = shape.is_transposed ? shape.stride[i] : 1;
    problem.dilation[i] = sign * shape.dilation[i];
    problem.pad[i] = sign * shape.pad_begin[i];
  }
  problem.src = channels_last_tensor(Operand::input(0), inputs[0].desc, shape.IC);
  problem.dst = channels_last_tensor(Operand::output(0), output, shape.OC);
  const Epilogue& epilogue = node.epilogue;
  set_epilogue(problem, epilogue);
  problem.bias_g = shape.OC;
  if (epilogue.residual_input >= 0) {
    const auto at = static_cast<std::size_t>(epilogue.residual_input);
    problem.residual = channels_last_tensor(Operand::input(at), inputs[at].desc, shape.OC);
  }
  return problem;
}

// The direct kernel's launch.
Lowered lower_direct(ConvProblem problem, const ConvShape& shape, const Tensor& wei, const ConvTile& tile,
                     const KernelCaps& caps) {
  Lowered lowered;
  problem.wei = Operand::constant(0);
  problem.wei_g = tile.packed_elems(problem.k(), problem.OC);
  const WeightSizes sizes{shape.G, shape.OC, shape.taps(), shape.IC};
  lowered.constants.push_back({tile.packing_key("conv"), [wei, strides = weight_strides(shape), sizes, tile] {
                                 return pack_conv_weights(wei, strides, sizes, tile);
                               }});
  lowered.launches.push_back(make_conv_launch(merge_rows(problem), tile, caps));
  return lowered;
}

Lowered lower(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
              const KernelCaps& caps) {
  if (outputs[0].count() == 0) return {};
  const ConvShape shape = resolved_shape(node, inputs[0].desc.shape, inputs[1].desc.shape, outputs[0].shape);
  const ConvProblem problem = make_problem(node, shape, inputs, outputs[0]);
  const Tensor& wei = *inputs[1].constant;
  const auto form = choose(shape, caps);
  HEADRACE_ASSERT(form.has_value(), "lower called although supports said no");
  if (const auto* depthwise = std::get_if<DepthwiseForm>(&form->kind)) {
    return lower_depthwise(problem, wei, *depthwise, caps);
  }
  if (const auto* winograd = std::get_if<WinogradForm>(&form->kind)) {
    return lower_winograd(problem, wei, *winograd, caps);
  }
  return lower_direct(problem, shape, wei, std::get<ConvTile>(form->kind), caps);
}

bool fuses(const Node& /*node*/, const Epilogue& /*epilogue*/) { return true; }

std::vector<KernelInstance> instances() {
  std::vector<KernelInstance> result;
  for (const ConvTile& tile : all_conv_tiles()) result.push_back(tile.instance());
  for (const KernelInstance& instance : all_depthwise_instances()) result.push_back(instance);
  for (const WinogradForm& form : all_winograd_forms()) {
    for (const KernelInstance& instance : form.instances()) result.push_back(instance);
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

}  // namespace

const OpDescriptor& convolution_op() {
  static constexpr OpDescriptor kOp = {.types = kTypes,
                                       .parse = parse,
                                       .infer = infer,
                                       .cost = cost,
                                       .reference = reference,
                                       .supports = supports,
                                       .layouts = layouts,
                                       .lower = lower,
                                       .forms = forms,
                                       .fuses = fuses,
                                       .instances = instances};
  return kOp;
}

}  // namespace headrace
