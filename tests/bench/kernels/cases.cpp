// SPDX-License-Identifier: Apache-2.0
#include "bench/kernels/cases.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "ops/strided.hpp"

namespace headrace::bench {
namespace {

using test::OpCase;
using test::Order;
using test::random_tensor;

OpCase convolution(const ConvSize& s) {
  OpCase result;
  const bool is_group = s.G > 1;
  result.type = is_group ? "GroupConvolution" : "Convolution";
  const std::string pads = fmt::format("{},{}", s.KH / 2, s.KW / 2);
  result.attributes = {
      {"strides", fmt::format("{0},{0}", s.stride)}, {"dilations", "1,1"}, {"pads_begin", pads}, {"pads_end", pads}};
  const Shape wei = is_group ? Shape{s.G, s.OC, s.IC, s.KH, s.KW} : Shape{s.OC, s.IC, s.KH, s.KW};
  result.inputs = {random_tensor({1, s.G * s.IC, s.H, s.W}, 1), random_tensor(wei, 2), random_tensor({s.G * s.OC}, 3)};
  result.constants = {1, 2};
  result.epilogue.bias_input = 2;
  result.epilogue.activation = Activation::kRelu;
  return result;
}

BenchCase conv(const char* network, const ConvSize& s) {
  const char* kind = s.G > 1 ? "depthwise" : s.KH * s.KW == 1 ? "pointwise" : "convolution";
  const std::string sizes =
      fmt::format("c{}_{}x{}_o{}_k{}x{}_s{}", s.G * s.IC, s.H, s.W, s.G * s.OC, s.KH, s.KW, s.stride);
  return {fmt::format("{}/{}/{}", kind, network, sizes), [s] { return convolution(s); }, Order::kChannelsLast, s};
}

BenchCase depthwise(const char* network, std::int64_t channels, std::int64_t size, std::int64_t kernel,
                    std::int64_t stride) {
  return conv(network,
              {.G = channels, .IC = 1, .H = size, .W = size, .OC = 1, .KH = kernel, .KW = kernel, .stride = stride});
}

BenchCase matmul(const char* network, const MatmulSize& s) {
  const auto make = [s] {
    OpCase result;
    result.type = "MatMul";
    const bool is_flat = s.batch == 1;
    result.inputs = {random_tensor(is_flat ? Shape{s.M, s.K} : Shape{s.batch, s.M, s.K}, 1),
                     random_tensor(is_flat ? Shape{s.K, s.N} : Shape{s.batch, s.K, s.N}, 2)};
    if (s.has_weights) result.constants = {1};
    return result;
  };
  const std::string sizes = fmt::format("b{}_m{}_n{}_k{}", s.batch, s.M, s.N, s.K);
  return {fmt::format("matmul/{}/{}", network, sizes), make, Order::kRowMajor, s};
}

// Any other operator: one tensor of random data, then constants.
struct PlainOp {
  const char* kind;
  const char* network;
  const char* type;
  Shape shape;
  RawAttributes attributes{};
  std::vector<std::vector<std::int64_t>> constants{};  // i64 vectors: axes, orders, sizes
  std::int32_t opset = 1;
};

BenchCase plain(const PlainOp& op) {
  const auto make = [op] {
    OpCase result;
    result.type = op.type;
    result.attributes = op.attributes;
    result.opset = op.opset;
    result.inputs = {random_tensor(op.shape, 1)};
    for (const std::vector<std::int64_t>& values : op.constants) {
      result.constants.push_back(result.inputs.size());
      result.inputs.push_back(test::ints({static_cast<std::int64_t>(values.size())}, values));
    }
    return result;
  };
  const Order order = op.shape.size() == 4 && op.shape[0] == 1 ? Order::kChannelsLast : Order::kRowMajor;
  return {fmt::format("{}/{}/{}_{}", op.kind, op.network, op.type, fmt::join(op.shape, "x")), make, order};
}

// An operator on two tensors of random data.
BenchCase binary(const char* network, const char* type, const Shape& a, const Shape& b) {
  const auto make = [=] { return OpCase{.type = type, .inputs = {random_tensor(a, 1), random_tensor(b, 2)}}; };
  return {fmt::format("elementwise/{}/{}_{}", network, type, fmt::join(a, "x")), make, Order::kChannelsLast};
}

BenchCase pool(const char* network, const char* type, const Shape& shape, int kernel, int stride, int pad) {
  const auto pair = [](int value) { return fmt::format("{0},{0}", value); };
  RawAttributes attributes = {{"kernel", pair(kernel)},
                              {"strides", pair(stride)},
                              {"pads_begin", pair(pad)},
                              {"pads_end", pair(pad)},
                              {"rounding_type", "floor"}};
  if (std::string_view(type) == "AvgPool") attributes["exclude-pad"] = "true";
  BenchCase result =
      plain({.kind = "pool", .network = network, .type = type, .shape = shape, .attributes = attributes});
  result.name += fmt::format("_k{}_s{}", kernel, stride);
  return result;
}

void add_convolutions(std::vector<BenchCase>& cases) {
  const std::pair<const char*, ConvSize> sizes[] = {
      {"ResNet-50", {.IC = 3, .H = 224, .W = 224, .OC = 64, .KH = 7, .KW = 7, .stride = 2}},
      {"ResNet-50", {.IC = 64, .H = 56, .W = 56, .OC = 64, .KH = 3, .KW = 3}},
      {"ResNet-50", {.IC = 128, .H = 28, .W = 28, .OC = 128, .KH = 3, .KW = 3}},
      {"ResNet-50", {.IC = 256, .H = 14, .W = 14, .OC = 256, .KH = 3, .KW = 3}},
      {"ResNet-50", {.IC = 512, .H = 7, .W = 7, .OC = 512, .KH = 3, .KW = 3}},
      {"ResNet-50", {.IC = 64, .H = 56, .W = 56, .OC = 256}},
      {"ResNet-50", {.IC = 256, .H = 56, .W = 56, .OC = 64}},
      {"ResNet-50", {.IC = 256, .H = 56, .W = 56, .OC = 512, .stride = 2}},
      {"ResNet-50", {.IC = 512, .H = 28, .W = 28, .OC = 128}},
      {"ResNet-50", {.IC = 1024, .H = 14, .W = 14, .OC = 256}},
      {"ResNet-50", {.IC = 2048, .H = 7, .W = 7, .OC = 512}},
      {"VGG-19", {.IC = 64, .H = 224, .W = 224, .OC = 64, .KH = 3, .KW = 3}},
      {"VGG-19", {.IC = 128, .H = 112, .W = 112, .OC = 128, .KH = 3, .KW = 3}},
      {"VGG-19", {.IC = 256, .H = 56, .W = 56, .OC = 256, .KH = 3, .KW = 3}},
      {"VGG-19", {.IC = 512, .H = 28, .W = 28, .OC = 512, .KH = 3, .KW = 3}},
      {"VGG-19", {.IC = 512, .H = 14, .W = 14, .OC = 512, .KH = 3, .KW = 3}},
      {"Inception-v1", {.IC = 192, .H = 28, .W = 28, .OC = 64}},
      {"Inception-v1", {.IC = 96, .H = 28, .W = 28, .OC = 128, .KH = 3, .KW = 3}},
      {"Inception-v1", {.IC = 16, .H = 28, .W = 28, .OC = 32, .KH = 5, .KW = 5}},
      {"Inception-v1", {.IC = 32, .H = 14, .W = 14, .OC = 128, .KH = 5, .KW = 5}},
      {"Inception-v3", {.IC = 192, .H = 17, .W = 17, .OC = 192, .KH = 1, .KW = 7}},
      {"Inception-v3", {.IC = 192, .H = 17, .W = 17, .OC = 192, .KH = 7, .KW = 1}},
      {"MobileNet-v1", {.IC = 512, .H = 14, .W = 14, .OC = 512}},
      {"EfficientNet-Lite0", {.IC = 3, .H = 224, .W = 224, .OC = 32, .KH = 3, .KW = 3, .stride = 2}},
      {"EfficientNet-Lite0", {.IC = 16, .H = 112, .W = 112, .OC = 96}},
      {"EfficientNet-Lite0", {.IC = 96, .H = 56, .W = 56, .OC = 24}},
      {"EfficientNet-Lite0", {.IC = 320, .H = 7, .W = 7, .OC = 1280}},
  };
  for (const auto& [network, size] : sizes) cases.push_back(conv(network, size));
  cases.push_back(depthwise("MobileNet-v1", 64, 112, 3, 2));
  cases.push_back(depthwise("MobileNet-v1", 512, 14, 3, 1));
  cases.push_back(depthwise("EfficientNet-Lite0", 32, 112, 3, 1));
  cases.push_back(depthwise("EfficientNet-Lite0", 144, 56, 5, 2));
  cases.push_back(depthwise("EfficientNet-Lite0", 672, 14, 5, 1));
}

void add_matmuls(std::vector<BenchCase>& cases) {
  cases.push_back(matmul("square", {.M = 1024, .N = 1024, .K = 1024}));
  cases.push_back(matmul("tall", {.M = 12544, .N = 64, .K = 64}));
  cases.push_back(matmul("wide", {.M = 64, .N = 12544, .K = 64}));
  cases.push_back(matmul("ResNet-50", {.M = 1, .N = 1000, .K = 2048}));
  cases.push_back(matmul("VGG-19", {.M = 1, .N = 4096, .K = 4096}));
  cases.push_back(matmul("BERT-base", {.M = 128, .N = 768, .K = 768}));
  cases.push_back(matmul("BERT-base", {.M = 128, .N = 3072, .K = 768}));
  cases.push_back(matmul("BERT-base", {.batch = 12, .M = 128, .N = 128, .K = 64, .has_weights = false}));
  cases.push_back(matmul("ViT-B16", {.M = 197, .N = 768, .K = 3072}));
}

void add_other_sums(std::vector<BenchCase>& cases) {
  cases.push_back(pool("ResNet-50", "MaxPool", {1, 64, 112, 112}, 3, 2, 1));
  cases.push_back(pool("VGG-19", "MaxPool", {1, 64, 224, 224}, 2, 2, 0));
  cases.push_back(pool("Inception-v1", "MaxPool", {1, 480, 14, 14}, 3, 1, 1));
  cases.push_back(pool("ResNet-50", "AvgPool", {1, 2048, 7, 7}, 7, 1, 0));
  cases.push_back(plain({"softmax", "ResNet-50", "SoftMax", {1, 1000}, {{"axis", "1"}}}));
  cases.push_back(plain({"softmax", "BERT-base", "SoftMax", {12, 128, 128}, {{"axis", "2"}}}));
  const RawAttributes layer_norm = {{"eps", "1e-12"}, {"normalize_variance", "true"}, {"eps_mode", "inside_sqrt"}};
  cases.push_back(plain({"layernorm", "BERT-base", "MVN", {128, 768}, layer_norm, {{-1}}, 6}));
  cases.push_back(plain({"layernorm", "ViT-B16", "MVN", {197, 768}, layer_norm, {{-1}}, 6}));
  const RawAttributes keep = {{"keep_dims", "true"}};
  cases.push_back(plain({"reduce", "EfficientNet-Lite0", "ReduceMean", {1, 1280, 7, 7}, keep, {{2, 3}}}));
  cases.push_back(plain({"reduce", "BERT-base", "ReduceMax", {12, 128, 128}, keep, {{2}}}));
}

void add_moves_and_elementwise(std::vector<BenchCase>& cases) {
  cases.push_back(plain({"transpose", "BERT-base", "Transpose", {12, 128, 64}, {}, {{1, 0, 2}}}));
  cases.push_back(plain({"transpose", "ViT-B16", "Transpose", {768, 196}, {}, {{1, 0}}}));
  const auto resample = [](const char* mode) {
    return RawAttributes{{"mode", mode}, {"shape_calculation_mode", "sizes"}};
  };
  cases.push_back(
      plain({"interpolate", "FPN", "Interpolate", {1, 256, 28, 28}, resample("nearest"), {{56, 56}, {2, 3}}, 11}));
  cases.push_back(plain({"interpolate",
                         "DeepLab-v3",
                         "Interpolate",
                         {1, 21, 65, 65},
                         resample("linear_onnx"),
                         {{513, 513}, {2, 3}},
                         11}));
  cases.push_back(binary("ResNet-50", "Add", {1, 256, 56, 56}, {1, 256, 56, 56}));
  cases.push_back(binary("SE-ResNet-50", "Multiply", {1, 256, 56, 56}, {1, 256, 1, 1}));
  cases.push_back(plain({"elementwise", "VGG-19", "ReLU", {1, 64, 224, 224}}));
  cases.push_back(plain({"elementwise", "EfficientNet-B0", "Sigmoid", {1, 96, 112, 112}}));
}

}  // namespace

std::vector<BenchCase> bench_cases() {
  std::vector<BenchCase> cases;
  add_convolutions(cases);
  add_matmuls(cases);
  add_other_sums(cases);
  add_moves_and_elementwise(cases);
  return cases;
}

Cost cost_of(const OpCase& op_case) {
  const Node node = make_node(op_case);
  std::vector<InferInput> inputs;
  std::vector<InferOutput> outputs;
  Cost cost;
  const auto add_bytes = [&cost](ElementType type, const Shape& shape) {
    cost.bytes += count_elems(shape) * static_cast<std::int64_t>(size_bytes(type));
  };
  for (std::size_t i = 0; i < count_op_inputs(node); ++i) {
    inputs.push_back({op_case.inputs[i].type(), op_case.inputs[i].shape(), &op_case.inputs[i]});
    add_bytes(op_case.inputs[i].type(), op_case.inputs[i].shape());
  }
  for (const OutputInfo& output : node.outputs) {
    outputs.push_back({output.type, output.shape});
    add_bytes(output.type, output.shape);
  }
  const OpDescriptor& op = *find_op(node.type);
  return op.cost != nullptr ? op.cost(node, inputs, outputs) : cost;
}

}  // namespace headrace::bench
