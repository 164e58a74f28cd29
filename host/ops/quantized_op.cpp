// SPDX-License-Identifier: Apache-2.0
// QuantizedConvolution and QuantizedMatMul: what the pass quantize_to_int8 makes of a Convolution or MatMul whose data
// and constant weights lie on grids of bytes.
//
// inputs  0 levels u8, 1 weights i8 (constant, shape as the original operator's), 2 scale f32 [OC] (constant)
// result  f32, scale[oc] * op(levels - zero_point, weights)
// IR has no such types. Attributes are those of the original operator and zero_point.
#include <algorithm>

#include "ops/conv_args.hpp"
#include "ops/conv_int8.hpp"
#include "ops/conv_shape.hpp"
#include "ops/descriptor.hpp"
#include "ops/matmul_shape.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"QuantizedConvolution", "QuantizedMatMul"};
constexpr std::size_t kInputs = 3;
constexpr std::int64_t kMaxLevel = 255;

bool is_matmul(const Node& node) { return node.type == "QuantizedMatMul"; }

Attributes parse(std::string_view type, std::int32_t opset, const RawAttributes& raw) {
  const std::string_view original = type == "QuantizedMatMul" ? "MatMul" : "Convolution";
  Attributes attributes = find_op(original)->parse(original, opset, raw);
  const std::int64_t zero_point = parse_int(raw, "zero_point");
  if (zero_point < 0 || zero_point > kMaxLevel) {
    fail(ErrorCode::kBadModel, "attribute 'zero_point' is " + std::to_string(zero_point) + ", expected 0 to 255");
  }
  attributes.set("zero_point", zero_point);
  return attributes;
}

// Both operators as a convolution of one group: a matrix product C = A * B has a row of M pixels.
struct Shapes {
  ConvShape conv;
  Shape output;
  WeightStrides strides;

  std::int64_t depth() const { return conv.taps() * conv.IC; }
  WeightSizes sizes() const { return {1, conv.OC, conv.taps(), conv.IC}; }
};

Shapes matmul_shapes(const Node& node, const Shape& a, const Shape& b) {
  const MatMulShape shape = make_matmul_shape(node, a, b);
  const bool is_transposed = node.attributes.get_bool("transpose_b");
  if (a.empty() || b.size() != 2 || node.attributes.get_bool("transpose_a")) {
    fail_node(node, "takes untransposed data and weights of rank 2");
  }
  Shapes result;
  result.conv.IC = shape.K;
  result.conv.OC = shape.N;
  result.conv.out[2] = result.conv.in[2] = shape.M * count_elems(shape.batch);
  result.output = shape.output_shape();
  result.strides.oc = is_transposed ? shape.K : 1;
  result.strides.ic = is_transposed ? 1 : shape.N;
  return result;
}

Shapes shapes_of(const Node& node, const Shape& src, const Shape& wei) {
  if (is_matmul(node)) return matmul_shapes(node, src, wei);
  Shapes result;
  result.conv = make_conv_shape(node, src, wei, std::nullopt);
  if (result.conv.spatial_rank > 2) fail_node(node, "has three spatial dimensions, expected one or two");
  result.output = result.conv.output_shape();
  result.strides.oc = result.depth();
  result.strides.ic = result.conv.taps();
  result.strides.tap = 1;
  return result;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), kInputs, kInputs);
  constexpr ElementType kInputTypes[] = {ElementType::u8, ElementType::i8, ElementType::f32};
  for (std::size_t i = 0; i < kInputs; ++i) {
    if (inputs[i].type == kInputTypes[i]) continue;
    fail_node(node, "has input " + std::to_string(i) + " of type " + std::string(to_string(inputs[i].type)) +
                        ", expected " + std::string(to_string(kInputTypes[i])));
  }
  const Shapes shapes = shapes_of(node, inputs[0].shape, inputs[1].shape);
  if (inputs[2].shape != Shape{shapes.conv.OC}) {
    fail_node(node, "has scales of shape " + to_string(inputs[2].shape) + " for " + std::to_string(shapes.conv.OC) +
                        " channels");
  }
  if (shapes.depth() > kMaxInt8Depth) {
    fail_node(node, "sums " + std::to_string(shapes.depth()) + " products, more than 32768");
  }
  return {{ElementType::f32, shapes.output}};
}

Cost cost(const Node& node, std::span<const InferInput> inputs, std::span<const InferOutput> outputs) {
  const Shapes shapes = shapes_of(node, inputs[0].shape, inputs[1].shape);
  Cost result;
  result.flops = 2 * count_elems(outputs[0].shape) * shapes.depth();
  result.bytes = count_elems(inputs[0].shape) + count_elems(inputs[1].shape) + 4 * count_elems(outputs[0].shape);
  return result;
}

// By the original operator's reference, whose sums of integers in double are exact.
void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const std::string original = is_matmul(node) ? "MatMul" : "Convolution";
  Node plain = node;
  plain.type = original;
  std::vector<Tensor> widened = {convert(inputs[0], ElementType::f32), convert(inputs[1], ElementType::f32)};
  const auto zero_point = static_cast<float>(node.attributes.get_int("zero_point"));
  for (float& value : widened[0].mutable_values<float>()) value -= zero_point;
  plain.inputs.resize(widened.size());
  find_op(original)->reference(plain, widened, outputs);
  const Shapes shapes = shapes_of(node, inputs[0].shape(), inputs[1].shape());
  const auto scale = inputs[2].values<float>();
  const std::int64_t inner = is_matmul(node) ? 1 : shapes.conv.out[0] * shapes.conv.out[1] * shapes.conv.out[2];
  const auto values = outputs[0].mutable_values<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] *= scale[static_cast<std::size_t>(static_cast<std::int64_t>(i) / inner % shapes.conv.OC)];
  }
}

std::vector<Candidate<Int8Tile>> candidates(const Shapes& shapes, const KernelCaps& caps) {
  const std::int64_t pixels = shapes.conv.N * shapes.conv.out[1] * shapes.conv.out[2];
  return int8_tile_candidates(pixels, shapes.conv.OC, shapes.depth(), caps);
}

std::string shape_class(const Shapes& shapes) { return shapes.conv.shape_class("int8"); }

std::optional<Int8Tile> choose_tile(const Shapes& shapes, const KernelCaps& caps) {
  return choose_form(candidates(shapes, caps), shape_class(shapes), caps);
}

FormChoice forms(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> /*outputs*/,
                 const KernelCaps& caps) {
  const Shapes shapes = shapes_of(node, inputs[0].desc.shape, inputs[1].desc.shape);
  return make_form_choice(shape_class(shapes), candidates(shapes, caps));
}

Support supports(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                 const KernelCaps& caps) {
  if (inputs[1].constant == nullptr || inputs[2].constant == nullptr) return Support::no("weights are not constant");
  const Shapes shapes = shapes_of(node, inputs[0].desc.shape, inputs[1].desc.shape);
  if (shapes.depth() == 0) return Support::no("the sum is empty");
  const auto tile = choose_tile(shapes, caps);
  if (!tile) return Support::no("the bitstream holds no kernel for convolutions of bytes");
  if (!is_matmul(node)) {
    const std::int64_t packed = tile->vectors(shapes.conv.OC) * tile->vec * (shapes.depth() + 3);
    const Support support = supports_conv_index(shapes.conv, inputs[0].desc, packed);
    if (!support.ok) return support;
  }
  return supports_int_index(inputs, outputs);
}

LayoutRules layouts(const Node& node, const KernelCaps& /*caps*/) {
  const LayoutRule data = is_matmul(node) ? LayoutRule::kRowMajor : LayoutRule::kChannelsLast;
  LayoutRules rules;
  rules.inputs.assign(std::max<std::size_t>(node.inputs.size(), kInputs), LayoutRule::kRowMajor);
  rules.inputs[0] = data;
  if (node.epilogue.residual_input >= 0) rules.inputs[static_cast<std::size_t>(node.epilogue.residual_input)] = data;
  rules.output = data;
  return rules;
}

// Strides over pixels: rows of a dense matrix are `channels` apart.
ConvTensor pixel_tensor(const Node& node, const Operand& operand, const TensorDesc& desc, std::int64_t channels) {
  ConvTensor tensor{operand, desc.offset, {}};
  if (is_matmul(node)) {
    tensor.strides.w = channels;
    return tensor;
  }
  HEADRACE_ASSERT(is_channels_last(desc), "convolution operand is not channels-last");
  tensor.strides.n = desc.strides[0];
  tensor.strides.w = desc.strides.back();
  if (desc.strides.size() > 3) tensor.strides.h = desc.strides[2];
  return tensor;
}

Int8Problem make_problem(const Node& node, const ConvShape& shape, std::span<const LowerInput> inputs,
                         const TensorDesc& output) {
  Int8Problem problem;
  ConvProblem& conv = problem.conv;
  conv.N = shape.N;
  conv.IC = shape.IC;
  conv.OC = shape.OC;
  conv.in = shape.in;
  conv.out = shape.out;
  conv.kernel = shape.kernel;
  conv.stride = shape.stride;
  conv.dilation = shape.dilation;
  conv.pad = shape.pad_begin;
  conv.src = pixel_tensor(node, Operand::input(0), inputs[0].desc, shape.IC);
  conv.dst = pixel_tensor(node, Operand::output(0), output, shape.OC);
  const Epilogue& epilogue = node.epilogue;
  set_epilogue(conv, epilogue);
  if (epilogue.residual_input >= 0) {
    const auto at = static_cast<std::size_t>(epilogue.residual_input);
    conv.residual = pixel_tensor(node, Operand::input(at), inputs[at].desc, shape.OC);
  }
  conv.wei = Operand::constant(0);
  problem.scale = Operand::constant(1);
  problem.init = Operand::constant(2);
  problem.zero_point = node.attributes.get_int("zero_point");
  return problem;
}

Lowered lower(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
              const KernelCaps& caps) {
  if (outputs[0].count() == 0) return {};
  const Shapes shapes = shapes_of(node, inputs[0].desc.shape, inputs[1].desc.shape);
  const Int8Problem problem = make_problem(node, shapes.conv, inputs, outputs[0]);
  const auto tile = choose_tile(shapes, caps);
  HEADRACE_ASSERT(tile.has_value(), "lower called although supports said no");
  Lowered lowered;
  const Tensor wei = *inputs[1].constant;
  const std::int64_t zero_point = problem.zero_point;
  lowered.constants.push_back(
      {tile->packing_key("int8"), [wei, strides = shapes.strides, sizes = shapes.sizes(), tile = *tile] {
         return pack_int8_weights(wei, strides, sizes, tile);
       }});
  lowered.constants.push_back({tile->packing_key("int8 scale"),
                               [scale = *inputs[2].constant, tile = *tile] { return pad_to_vectors(scale, tile); }});
  lowered.constants.push_back({tile->packing_key("int8 init " + std::to_string(zero_point)),
                               [wei, strides = shapes.strides, sizes = shapes.sizes(), tile = *tile, zero_point] {
                                 return make_int8_init(wei, strides, sizes, tile, zero_point);
                               }});
  lowered.launches.push_back(make_int8_launch(problem, *tile, caps));
  return lowered;
}

bool fuses(const Node& /*node*/, const Epilogue& /*epilogue*/) { return true; }

std::vector<KernelInstance> instances() {
  std::vector<KernelInstance> result;
  for (const Int8Tile& tile : all_int8_tiles()) result.push_back(tile.instance());
  return result;
}

}  // namespace

const OpDescriptor& quantized_op() {
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
