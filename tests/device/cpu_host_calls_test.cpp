// SPDX-License-Identifier: Apache-2.0
// What oneDNN computes for the CPU device against the operators' references, epilogues included.
#include "device/cpu/host_calls.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include "ops/strided.hpp"

namespace headrace {
namespace {

struct HostCase {
  std::string name;
  std::string type;
  std::string label;  // what must compute it
  RawAttributes raw;
  std::vector<Shape> shapes;
  Epilogue epilogue;               // extra inputs are appended: bias first
  std::vector<std::int64_t> axes;  // not empty: the second input
  double tolerance = 1e-5;         // relative to the largest expected value
  bool is_weight_constant = true;
};

void PrintTo(const HostCase& host_case, std::ostream* out) { *out << host_case.name; }

Tensor random_tensor(const Shape& shape, std::mt19937& random) {
  Tensor tensor(ElementType::f32, shape);
  std::uniform_real_distribution<float> value(-1.0F, 1.0F);
  for (float& v : tensor.mutable_values<float>()) v = value(random);
  return tensor;
}

// A node with everything that make_host_function and its result need.
struct Prepared {
  explicit Prepared(const HostCase& host_case) {
    const OpDescriptor* op = find_op(host_case.type);
    EXPECT_NE(op, nullptr) << host_case.type;
    node.name = host_case.name;
    node.type = host_case.type;
    node.source_type = host_case.type;
    node.attributes = op->parse(host_case.type, 1, host_case.raw);
    std::mt19937 random(7);
    for (const Shape& shape : host_case.shapes) inputs.push_back(random_tensor(shape, random));
    if (!host_case.axes.empty()) {
      inputs.push_back(make_i64_tensor({static_cast<std::int64_t>(host_case.axes.size())}, host_case.axes));
    }
    std::vector<InferInput> infer;
    for (const Tensor& t : inputs) infer.push_back({t.type(), t.shape(), &t});
    node.inputs.resize(inputs.size());
    for (const InferOutput& output : op->infer(node, infer)) {
      output_descs.push_back({output.type, output.shape, row_major_strides(output.shape)});
    }
    add_epilogue(host_case, random);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Tensor& t = inputs[i];
      const bool is_constant = i > 0 && host_case.is_weight_constant;
      lower_inputs.push_back({{t.type(), t.shape(), row_major_strides(t.shape())}, is_constant ? &t : nullptr});
    }
  }

  void add_epilogue(const HostCase& host_case, std::mt19937& random) {
    node.epilogue = host_case.epilogue;
    const Shape& shape = output_descs[0].shape;
    if (node.epilogue.bias_input >= 0) {
      const bool is_channel = host_case.type.find("Convolution") != std::string::npos;
      node.epilogue.bias_input = static_cast<std::int32_t>(inputs.size());
      inputs.push_back(random_tensor({is_channel ? shape[1] : shape.back()}, random));
    }
    if (node.epilogue.residual_input >= 0) {
      node.epilogue.residual_input = static_cast<std::int32_t>(inputs.size());
      inputs.push_back(random_tensor(shape, random));
    }
    node.inputs.resize(inputs.size());
  }

  Tensor run(const HostFunction& host) const {
    std::vector<Tensor> outputs;
    for (const TensorDesc& desc : output_descs) outputs.emplace_back(desc.type, desc.shape);
    host.function(inputs, outputs);
    return outputs[0];
  }

  Node node;
  std::vector<Tensor> inputs;
  std::vector<LowerInput> lower_inputs;
  std::vector<TensorDesc> output_descs;
};

// NaN and infinities must be the same; the rest within the tolerance of the largest value.
void expect_near(const Tensor& result, const Tensor& expected, double tolerance) {
  ASSERT_EQ(result.shape(), expected.shape());
  const auto r = result.values<float>();
  const auto e = expected.values<float>();
  double scale = 1.0;
  for (const float v : e) scale = std::isfinite(v) ? std::max(scale, std::abs(static_cast<double>(v))) : scale;
  for (std::size_t i = 0; i < r.size(); ++i) {
    const bool is_same = std::isnan(e[i]) ? std::isnan(r[i]) : r[i] == e[i];
    const bool is_near = std::abs(static_cast<double>(r[i]) - e[i]) <= tolerance * scale;
    ASSERT_TRUE(is_same || is_near) << "element " << i << ": " << r[i] << ", expected " << e[i];
  }
}

Epilogue epilogue(Activation activation, bool has_bias = true, bool has_residual = false, float alpha = 0.0F,
                  float beta = 0.0F) {
  return {has_bias ? 0 : -1, has_residual ? 0 : -1, activation, alpha, beta};
}

class HostCallsTest : public testing::TestWithParam<HostCase> {};

TEST_P(HostCallsTest, AgreesWithTheReference) {
  const Prepared prepared(GetParam());
  const HostFunction host = make_host_function(prepared.node, prepared.lower_inputs, prepared.output_descs);
  EXPECT_EQ(host.label, GetParam().label);
  const Tensor expected = prepared.run(make_reference_function(prepared.node));
  expect_near(prepared.run(host), expected, GetParam().tolerance);
  expect_near(prepared.run(host), expected, GetParam().tolerance);  // scratch memory is used again
}

RawAttributes conv2d(const std::string& strides, const std::string& begin, const std::string& end,
                     const std::string& dilations, const std::string& auto_pad = "explicit") {
  return {
      {"strides", strides}, {"pads_begin", begin}, {"pads_end", end}, {"dilations", dilations}, {"auto_pad", auto_pad}};
}

std::vector<HostCase> convolution_cases() {
  const RawAttributes same = conv2d("1,1", "1,1", "1,1", "1,1");
  const std::string label = "onednn_convolution";
  std::vector<HostCase> cases{
      {"k3", "Convolution", label, same, {{1, 5, 9, 8}, {7, 5, 3, 3}}, {}, {}},
      {"batch3_k3", "Convolution", label, same, {{3, 16, 7, 7}, {32, 16, 3, 3}}, {}, {}},
      {"k1", "Convolution", label, conv2d("1,1", "0,0", "0,0", "1,1"), {{2, 17, 5, 3}, {6, 17, 1, 1}}, {}, {}},
      {"k1s2", "Convolution", label, conv2d("2,2", "0,0", "0,0", "1,1"), {{1, 16, 9, 9}, {16, 16, 1, 1}}, {}, {}},
      {"uneven_pads", "Convolution", label, conv2d("1,1", "1,0", "0,2", "1,1"), {{1, 3, 3, 3}, {2, 3, 2, 2}}, {}, {}},
      {"window_ends_early",
       "Convolution",
       label,
       conv2d("3,3", "0,0", "0,0", "1,1"),
       {{1, 2, 10, 9}, {2, 2, 2, 2}},
       {},
       {}},
      {"dilation2", "Convolution", label, conv2d("1,1", "2,2", "2,2", "2,2"), {{1, 4, 9, 9}, {4, 4, 3, 3}}, {}, {}},
      {"same_upper",
       "Convolution",
       label,
       conv2d("2,2", "0,0", "0,0", "1,1", "same_upper"),
       {{1, 3, 8, 7}, {4, 3, 3, 3}},
       {},
       {}},
      {"same_lower",
       "Convolution",
       label,
       conv2d("2,2", "0,0", "0,0", "1,1", "same_lower"),
       {{1, 3, 8, 7}, {4, 3, 3, 3}},
       {},
       {}},
      {"valid",
       "Convolution",
       label,
       conv2d("1,1", "1,1", "1,1", "1,1", "valid"),
       {{1, 3, 8, 7}, {4, 3, 3, 3}},
       {},
       {}},
      {"rank3", "Convolution", label, conv2d("2", "1", "1", "1"), {{1, 3, 11}, {4, 3, 3}}, {}, {}},
      {"rank5",
       "Convolution",
       label,
       conv2d("1,1,1", "1,1,1", "1,1,1", "1,1,1"),
       {{1, 3, 4, 5, 6}, {4, 3, 3, 3, 3}},
       {},
       {}},
      {"depthwise", "GroupConvolution", label, same, {{1, 33, 7, 7}, {33, 1, 1, 3, 3}}, {}, {}},
      {"groups", "GroupConvolution", label, same, {{1, 6, 7, 7}, {3, 4, 2, 3, 3}}, {}, {}},
      {"variable_weights", "Convolution", label, same, {{1, 16, 7, 7}, {16, 16, 3, 3}}, {}, {}, 1e-5, false},
  };
  for (const Activation a : {Activation::kNone, Activation::kRelu, Activation::kClamp, Activation::kLeakyRelu,
                             Activation::kSigmoid, Activation::kSwish, Activation::kHSwish, Activation::kHSigmoid,
                             Activation::kTanh, Activation::kElu, Activation::kGeluErf, Activation::kGeluTanh,
                             Activation::kMish, Activation::kSoftPlus, Activation::kHardSigmoid}) {
    for (const bool has_residual : {false, true}) {
      const std::string name = "bias_" + std::string(to_string(a)) + (has_residual ? "_residual" : "");
      cases.push_back({name,
                       "Convolution",
                       label,
                       same,
                       {{1, 8, 6, 6}, {16, 8, 3, 3}},
                       epilogue(a, true, has_residual, 0.3F, 0.6F),
                       {},
                       1e-4});
    }
  }
  return cases;
}

std::vector<HostCase> other_cases() {
  const std::string deconv = "onednn_deconvolution";
  const std::string matmul = "onednn_matmul";
  const std::string binary = "onednn_binary";
  const RawAttributes up = conv2d("2,2", "1,1", "1,1", "1,1");
  RawAttributes up_padded = up;
  up_padded["output_padding"] = "1,1";
  const RawAttributes ta{{"transpose_a", "true"}};
  const RawAttributes tb{{"transpose_b", "true"}};
  const RawAttributes pool{
      {"kernel", "3,3"}, {"strides", "2,2"}, {"pads_begin", "1,1"}, {"pads_end", "1,1"}, {"exclude-pad", "true"}};
  RawAttributes pool_ceil = pool;
  pool_ceil["rounding_type"] = "ceil";
  RawAttributes pool_include = pool;
  pool_include["exclude-pad"] = "false";
  return {
      {"up", "ConvolutionBackpropData", deconv, up, {{1, 3, 5, 4}, {3, 6, 3, 3}}, {}, {}},
      {"up_output_padding", "ConvolutionBackpropData", deconv, up_padded, {{1, 3, 5, 4}, {3, 6, 3, 3}}, {}, {}},
      {"up_dilated",
       "ConvolutionBackpropData",
       deconv,
       conv2d("2,1", "0,1", "1,0", "2,2"),
       {{2, 4, 4, 4}, {4, 2, 2, 2}},
       {},
       {}},
      {"up_groups", "GroupConvolutionBackpropData", deconv, up, {{1, 4, 5, 5}, {2, 2, 3, 3, 3}}, {}, {}},
      {"up_bias_relu",
       "ConvolutionBackpropData",
       deconv,
       up,
       {{1, 3, 5, 4}, {3, 6, 3, 3}},
       epilogue(Activation::kRelu),
       {}},
      {"up_same_upper",
       "ConvolutionBackpropData",
       "reference",
       conv2d("2,2", "0,0", "0,0", "1,1", "same_upper"),
       {{1, 3, 5, 4}, {3, 6, 3, 3}},
       {},
       {}},
      {"plain", "MatMul", matmul, {}, {{3, 5}, {5, 7}}, {}, {}},
      {"ta", "MatMul", matmul, ta, {{5, 3}, {5, 7}}, {}, {}},
      {"tb", "MatMul", matmul, tb, {{3, 5}, {7, 5}}, {}, {}},
      {"tb_variable", "MatMul", matmul, tb, {{3, 5}, {7, 5}}, {}, {}, 1e-5, false},
      {"batches", "MatMul", matmul, {}, {{2, 3, 4, 5}, {2, 3, 5, 6}}, {}, {}},
      {"broadcast_first", "MatMul", matmul, {}, {{1, 1, 4, 5}, {3, 5, 6}}, {}, {}},
      {"broadcast_second", "MatMul", matmul, tb, {{2, 3, 4, 5}, {6, 5}}, {}, {}},
      {"vector_first", "MatMul", "reference", {}, {{5}, {5, 6}}, {}, {}},
      {"vectors", "MatMul", "reference", {}, {{5}, {5}}, {}, {}},
      {"bias_gelu", "MatMul", matmul, {}, {{2, 9, 16}, {16, 24}}, epilogue(Activation::kGeluErf), {}, 1e-4},
      {"bias_residual_relu", "MatMul", matmul, {}, {{2, 9, 16}, {16, 24}}, epilogue(Activation::kRelu, true, true), {}},
      {"exclude", "AvgPool", "onednn_avg_pool", pool, {{1, 5, 9, 7}}, {}, {}},
      {"include", "AvgPool", "onednn_avg_pool", pool_include, {{1, 5, 9, 7}}, {}, {}},
      {"past_the_pads", "AvgPool", "reference", pool_ceil, {{1, 5, 8, 8}}, {}, {}},
      {"add", "Add", binary, {}, {{2, 3, 4, 5}, {2, 3, 4, 5}}, {}, {}},
      {"add_channel", "Add", binary, {}, {{2, 3, 4, 5}, {1, 3, 1, 1}}, {}, {}},
      {"add_lower_rank", "Add", binary, {}, {{2, 3, 4, 5}, {4, 1}}, {}, {}},
      {"add_scalar", "Add", binary, {}, {{2, 3, 4, 5}, {}}, {}, {}},
      {"add_first_stretched", "Add", "reference", {}, {{3, 1}, {3, 4}}, {}, {}},
      {"add_residual_clamp",
       "Add",
       binary,
       {},
       {{2, 3, 4}, {2, 3, 4}},
       epilogue(Activation::kClamp, false, false, -0.5F, 0.5F),
       {}},
      {"subtract", "Subtract", binary, {}, {{2, 3, 4}, {3, 1}}, {}, {}},
      {"multiply", "Multiply", binary, {}, {{2, 3, 4}, {3, 1}}, {}, {}},
      {"divide", "Divide", binary, {}, {{2, 3, 4}, {3, 1}}, {}, {}},
  };
}

std::string case_name(const testing::TestParamInfo<HostCase>& info) { return info.param.type + "_" + info.param.name; }

INSTANTIATE_TEST_SUITE_P(Convolution, HostCallsTest, testing::ValuesIn(convolution_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Other, HostCallsTest, testing::ValuesIn(other_cases()), case_name);

// NaN and infinities go through the epilogue as through the reference.
TEST(HostCallsTest, KeepsNanAndInfinity) {
  for (const Activation a :
       {Activation::kNone, Activation::kRelu, Activation::kClamp, Activation::kLeakyRelu, Activation::kSigmoid,
        Activation::kTanh, Activation::kElu, Activation::kSoftPlus, Activation::kSwish, Activation::kHSwish,
        Activation::kHSigmoid, Activation::kGeluErf, Activation::kGeluTanh, Activation::kMish, Activation::kHardSigmoid,
        Activation::kFakeQuantize}) {
    Prepared prepared({"nan",
                       "Convolution",
                       "",
                       conv2d("1,1", "0,0", "0,0", "1,1"),
                       {{1, 1, 2, 2}, {1, 1, 1, 1}},
                       epilogue(a, false, false, 0.3F, 0.6F),
                       {}});
    const float infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> values{std::numeric_limits<float>::quiet_NaN(), infinity, -infinity, -1.0F};
    std::copy(values.begin(), values.end(), prepared.inputs[0].mutable_values<float>().begin());
    const HostFunction host = make_host_function(prepared.node, prepared.lower_inputs, prepared.output_descs);
    SCOPED_TRACE(to_string(a));
    expect_near(prepared.run(host), prepared.run(make_reference_function(prepared.node)), 1e-5);
  }
}

TEST(HostCallsTest, LeavesOtherTypesAndEmptyTensorsToTheReference) {
  const auto label = [](ElementType type, const Shape& shape) {
    Node node;
    node.type = "Add";
    node.inputs.resize(2);
    const TensorDesc desc{type, shape, row_major_strides(shape)};
    const std::vector<LowerInput> inputs{{desc, nullptr}, {desc, nullptr}};
    return make_host_function(node, inputs, std::vector<TensorDesc>{desc}).label;
  };
  EXPECT_EQ(label(ElementType::i32, {4}), "reference");
  EXPECT_EQ(label(ElementType::f32, {0, 4}), "reference");
  EXPECT_EQ(label(ElementType::f32, {4}), "onednn_binary");
}

TEST(HostCallsTest, OneFunctionRunsInSeveralThreads) {
  const Prepared prepared({"k3",
                           "Convolution",
                           "",
                           conv2d("1,1", "1,1", "1,1", "1,1"),
                           {{1, 8, 9, 9}, {8, 8, 3, 3}},
                           epilogue(Activation::kSwish, true, false, 1.0F),
                           {}});
  const HostFunction host = make_host_function(prepared.node, prepared.lower_inputs, prepared.output_descs);
  const Tensor expected = prepared.run(make_reference_function(prepared.node));
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) expect_near(prepared.run(host), expected, 1e-4);
    });
  }
}

}  // namespace
}  // namespace headrace
