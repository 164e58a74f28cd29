// SPDX-License-Identifier: Apache-2.0
#include "support/conv_case.hpp"

#include <sstream>

namespace headrace::test {
namespace {

std::string join(const Ints& values, char separator) {
  std::ostringstream text;
  for (std::size_t i = 0; i < values.size(); ++i) text << (i > 0 ? std::string(1, separator) : "") << values[i];
  return text.str();
}

RawAttributes make_attributes(const ConvCase& c) {
  RawAttributes attributes;
  const std::pair<const char*, const Ints*> lists[] = {{"strides", &c.stride},
                                                       {"dilations", &c.dilation},
                                                       {"pads_begin", &c.pads_begin},
                                                       {"pads_end", &c.pads_end},
                                                       {"output_padding", &c.output_padding}};
  for (const auto& [name, values] : lists) {
    if (!values->empty()) attributes[name] = join(*values, ',');
  }
  if (!c.auto_pad.empty()) attributes["auto_pad"] = c.auto_pad;
  return attributes;
}

Shape source_shape(const ConvCase& c) {
  Shape src{c.N, c.G * c.IC};
  src.insert(src.end(), c.size.begin(), c.size.end());
  return src;
}

// Behind the operator's own inputs: its output's shape is known then.
void add_epilogue(const ConvCase& c, std::uint32_t seed, OpCase& result) {
  result.epilogue.activation = c.activation;
  result.epilogue.alpha = c.alpha;
  result.epilogue.beta = c.beta;
  const Shape dst = make_node(result).outputs[0].shape;
  if (c.has_bias) {
    result.epilogue.bias_input = static_cast<std::int32_t>(result.inputs.size());
    result.constants.push_back(result.inputs.size());
    result.inputs.push_back(random_tensor({c.G * c.OC}, seed));
  }
  if (c.has_residual) {
    result.epilogue.residual_input = static_cast<std::int32_t>(result.inputs.size());
    result.inputs.push_back(random_tensor(dst, seed + 1));
  }
}

// Of a channels-last tensor [N, C, H, W].
ConvTensor image_tensor(const Operand& operand, const TensorDesc& desc) {
  ConvTensor tensor{operand, desc.offset, {}};
  tensor.strides.n = desc.strides[0];
  tensor.strides.h = desc.strides[2];
  tensor.strides.w = desc.strides[3];
  return tensor;
}

ConvProblem make_problem(const Node& node, std::span<const LowerInput> inputs, const TensorDesc& output) {
  const ConvShape shape = make_conv_shape(node, inputs[0].desc.shape, inputs[1].desc.shape, std::nullopt);
  ConvProblem problem;
  problem.N = shape.N;
  problem.IC = shape.IC;
  problem.OC = shape.OC;
  problem.in = shape.in;
  problem.out = shape.out;
  problem.kernel = shape.kernel;
  problem.pad = shape.pad_begin;
  problem.src = image_tensor(Operand::input(0), inputs[0].desc);
  problem.dst = image_tensor(Operand::output(0), output);
  set_epilogue(problem, node.epilogue);
  if (node.epilogue.residual_input >= 0) {
    const auto at = static_cast<std::size_t>(node.epilogue.residual_input);
    problem.residual = image_tensor(Operand::input(at), inputs[at].desc);
  }
  return problem;
}

}  // namespace

void PrintTo(const ConvCase& c, std::ostream* out) {
  *out << c.type << " n" << c.N << "g" << c.G << "c" << c.IC << "o" << c.OC << " in" << join(c.size, 'x') << " k"
       << join(c.kernel, 'x') << " s" << join(c.stride, 'x') << " d" << join(c.dilation, 'x') << " p"
       << join(c.pads_begin, 'x') << "/" << join(c.pads_end, 'x') << " op" << join(c.output_padding, 'x') << " "
       << c.auto_pad << (c.has_bias ? " bias" : "") << (c.has_residual ? " residual" : "") << " act"
       << static_cast<int>(c.activation);
}

bool is_transposed(const ConvCase& c) { return c.type.find("Backprop") != std::string::npos; }

Shape weights_shape(const ConvCase& c) {
  Shape shape;
  const bool is_group = c.type.rfind("Group", 0) == 0;
  if (is_group) shape.push_back(c.G);
  shape.push_back(is_transposed(c) ? c.IC : c.OC);
  shape.push_back(is_transposed(c) ? c.OC : c.IC);
  shape.insert(shape.end(), c.kernel.begin(), c.kernel.end());
  return shape;
}

OpCase make_case(const ConvCase& c, std::uint32_t seed) {
  OpCase result;
  result.type = c.type;
  result.attributes = make_attributes(c);
  result.inputs = {random_tensor(source_shape(c), seed), random_tensor(weights_shape(c), seed + 1)};
  result.constants = {1};
  add_epilogue(c, seed + 2, result);
  return result;
}

OpCase make_int8_case(const ConvCase& c, std::int64_t zero_point, std::uint32_t seed) {
  ConvCase dense = c;
  dense.type = "Convolution";
  dense.G = 1;
  OpCase result;
  result.type = "QuantizedConvolution";
  result.attributes = make_attributes(dense);
  result.attributes["zero_point"] = std::to_string(zero_point);
  result.inputs = {random_ints(ElementType::u8, source_shape(dense), seed, 0, 256),
                   random_ints(ElementType::i8, weights_shape(dense), seed + 1, -128, 128),
                   random_tensor({dense.OC}, seed + 2, 1e-5F, 1e-3F)};
  result.constants = {1, 2};
  // Integer sums are exact: what is left is the rounding of the scale, the bias and the residual, and exponentials
  // within 1e-6 of the exact value.
  result.tolerance = c.activation <= Activation::kLeakyRelu ? 1e-6 : 1e-5;
  add_epilogue(dense, seed + 3, result);
  return result;
}

LowerFunction lower_as(const WinogradForm& form) {
  return [form](const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                const KernelCaps& caps) {
    return lower_winograd(make_problem(node, inputs, outputs[0]), *inputs[1].constant, form, caps);
  };
}

}  // namespace headrace::test
