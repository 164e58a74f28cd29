// SPDX-License-Identifier: Apache-2.0
// The four convolution operators: attributes, shapes and reference against hand values.
#include <gtest/gtest.h>

#include <numeric>

#include "core/error.hpp"
#include "ops/descriptor.hpp"

namespace headrace {
namespace {

struct Case {
  std::string type = "Convolution";
  RawAttributes raw;
  Shape src, wei;
  std::vector<float> src_values, wei_values;
  std::optional<std::vector<std::int64_t>> output_shape;
};

Node make_node(const Case& c) {
  Node node;
  node.type = node.source_type = c.type;
  node.attributes = find_op(c.type)->parse(c.type, 1, c.raw);
  node.inputs.resize(c.output_shape ? 3 : 2);
  return node;
}

Shape infer_shape(const Case& c) {
  const Node node = make_node(c);
  std::vector<InferInput> inputs{{ElementType::f32, c.src}, {ElementType::f32, c.wei}};
  Tensor wanted;
  if (c.output_shape) {
    wanted = make_i64_tensor({static_cast<std::int64_t>(c.output_shape->size())}, *c.output_shape);
    inputs.push_back({ElementType::i64, wanted.shape(), &wanted});
  }
  return find_op(c.type)->infer(node, inputs).at(0).shape;
}

std::vector<float> run(const Case& c) {
  std::vector<Tensor> inputs{make_f32_tensor(c.src, c.src_values), make_f32_tensor(c.wei, c.wei_values)};
  if (c.output_shape) {
    inputs.push_back(make_i64_tensor({static_cast<std::int64_t>(c.output_shape->size())}, *c.output_shape));
  }
  std::vector<Tensor> outputs{Tensor(ElementType::f32, infer_shape(c))};
  find_op(c.type)->reference(make_node(c), inputs, outputs);
  const auto values = outputs[0].values<float>();
  return {values.begin(), values.end()};
}

std::vector<float> count_up(std::size_t count, float first = 1) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

RawAttributes pads(const std::string& begin, const std::string& end) {
  return {{"strides", "1,1"}, {"pads_begin", begin}, {"pads_end", end}, {"dilations", "1,1"}};
}

TEST(ConvolutionTest, AsymmetricPads) {
  Case c{"Convolution", {}, {1, 1, 3, 3}, {1, 1, 2, 2}, count_up(9), {1, 1, 1, 1}, {}};
  c.raw = pads("0,0", "1,1");
  EXPECT_EQ(run(c), (std::vector<float>{12, 16, 9, 24, 28, 15, 15, 17, 9}));
  c.raw = pads("1,1", "0,0");
  EXPECT_EQ(run(c), (std::vector<float>{1, 3, 5, 5, 12, 16, 11, 24, 28}));
  c.raw = pads("1,0", "0,2");
  EXPECT_EQ(run(c), (std::vector<float>{3, 5, 3, 0, 12, 16, 9, 0, 24, 28, 15, 0}));
}

TEST(ConvolutionTest, AutoPadOfAnEvenSizeIsUneven) {
  Case c{"Convolution",
         {{"strides", "2,2"}, {"auto_pad", "same_upper"}, {"pads_begin", "7,7"}},
         {1, 1, 4, 4},
         {1, 1, 3, 3},
         count_up(16, 0),
         std::vector<float>(9, 1),
         {}};
  EXPECT_EQ(run(c), (std::vector<float>{45, 39, 66, 50}));
  c.raw["auto_pad"] = "SAME_LOWER";
  EXPECT_EQ(run(c), (std::vector<float>{10, 24, 51, 90}));
  c.raw["auto_pad"] = "valid";
  EXPECT_EQ(run(c), (std::vector<float>{45}));
}

TEST(ConvolutionTest, AutoPadOfAnInputSmallerThanTheKernel) {
  for (const auto& [side, expected] : {std::pair{1, 4.0F}, {2, 8.0F}}) {
    const Case c{"Convolution",
                 {{"strides", "2,2"}, {"auto_pad", "same_upper"}},
                 {1, 1, side, side},
                 {1, 1, 3, 3},
                 std::vector<float>(static_cast<std::size_t>(side * side), 1),
                 count_up(9, 0),
                 {}};
    EXPECT_EQ(run(c), (std::vector<float>{expected}));
  }
}

TEST(ConvolutionTest, OutputPaddingOfATransposedConvolution) {
  const Case c{"ConvolutionBackpropData",
               {{"strides", "2,2"}, {"pads_begin", "1,1"}, {"pads_end", "1,1"}, {"output_padding", "1,1"}},
               {1, 1, 2, 2},
               {1, 1, 3, 3},
               count_up(4),
               std::vector<float>(9, 1),
               {}};
  EXPECT_EQ(infer_shape(c), (Shape{1, 1, 4, 4}));
  EXPECT_EQ(run(c), (std::vector<float>{1, 3, 2, 2, 4, 10, 6, 6, 3, 7, 4, 4, 3, 7, 4, 4}));
}

TEST(ConvolutionTest, StrideWithDilationOfATransposedConvolution) {
  const Case c{"ConvolutionBackpropData",
               {{"strides", "2,2"}, {"dilations", "2,2"}},
               {1, 1, 2, 2},
               {1, 1, 2, 2},
               count_up(4),
               count_up(4),
               {}};
  EXPECT_EQ(infer_shape(c), (Shape{1, 1, 5, 5}));
  EXPECT_EQ(run(c),
            (std::vector<float>{1, 0, 4, 0, 4, 0, 0, 0, 0, 0, 6, 0, 20, 0, 16, 0, 0, 0, 0, 0, 9, 0, 24, 0, 16}));
  const Case wide{"ConvolutionBackpropData",
                  {{"strides", "2"}, {"dilations", "3"}, {"pads_begin", "4"}, {"pads_end", "4"}},
                  {1, 1, 50},
                  {1, 1, 3},
                  {},
                  {},
                  {}};
  EXPECT_EQ(infer_shape(wide), (Shape{1, 1, 97}));
}

TEST(ConvolutionTest, GroupsOfATransposedConvolution) {
  const Case c{"GroupConvolutionBackpropData", {}, {1, 2, 1, 1}, {2, 1, 2, 1, 1}, {1, 10}, count_up(4), {}};
  EXPECT_EQ(run(c), (std::vector<float>{1, 2, 30, 40}));
}

// Values of OpenVINO 2026.4.1 (CPU) for x = 1, 10, 100, 1000 and weights 1, 2, 3, stride 2.
TEST(ConvolutionTest, WantedOutputShapeOfATransposedConvolution) {
  Case c{"ConvolutionBackpropData",
         {{"strides", "2"}, {"auto_pad", "same_upper"}, {"pads_begin", "1"}},
         {1, 1, 4},
         {1, 1, 3},
         {1, 10, 100, 1000},
         {1, 2, 3},
         {{8}}};
  EXPECT_EQ(run(c), (std::vector<float>{2, 13, 20, 130, 200, 1300, 2000, 3000}));
  c.raw["auto_pad"] = "same_lower";
  EXPECT_EQ(run(c), (std::vector<float>{1, 2, 13, 20, 130, 200, 1300, 2000}));
  c.output_shape = {{10}};
  EXPECT_EQ(run(c), (std::vector<float>{1, 2, 13, 20, 130, 200, 1300, 2000, 3000, 0}));
  c.raw["auto_pad"] = "explicit";
  c.output_shape = {{8}};
  EXPECT_EQ(run(c), (std::vector<float>{2, 13, 20, 130, 200, 1300, 2000, 3000}));
  c.raw["auto_pad"] = "valid";
  EXPECT_EQ(run(c), (std::vector<float>{1, 2, 13, 20, 130, 200, 1300, 2000}));
}

TEST(ConvolutionTest, SumsOfManyChannelsAreExact) {
  const Case c{"Convolution",
               {},
               {1, 4096, 1, 1},
               {1, 4096, 1, 1},
               std::vector<float>(4096, 1),
               std::vector<float>(4096, 1),
               {}};
  EXPECT_EQ(run(c), (std::vector<float>{4096}));
}

TEST(ConvolutionTest, RejectsWhatDoesNotFit) {
  const Case good{"GroupConvolution", {{"strides", "1,1"}}, {1, 4, 5, 5}, {2, 3, 2, 3, 3}, {}, {}, {}};
  EXPECT_EQ(infer_shape(good), (Shape{1, 6, 3, 3}));
  const auto expect_rejected = [](const Case& c) {
    try {
      infer_shape(c);
      ADD_FAILURE() << "accepted " << to_string(c.src) << " with " << to_string(c.wei);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadModel) << error.what();
    }
  };
  Case bad = good;
  bad.src = {1, 5, 5, 5};
  expect_rejected(bad);
  bad = good;
  bad.src = {1, 4, 2, 5};
  expect_rejected(bad);
  bad = good;
  bad.wei = {2, 3, 2, 3};
  expect_rejected(bad);
  for (const auto& [name, value] : {std::pair{"strides", "0,1"},
                                    {"strides", "1"},
                                    {"dilations", "1,-1"},
                                    {"pads_begin", "4611686018427387904,0"},
                                    {"strides", "9223372036854775807,1"}}) {
    bad = good;
    bad.raw[name] = value;
    expect_rejected(bad);
  }
  EXPECT_THROW(make_node({"Convolution", {{"auto_pad", "same"}}, {}, {}, {}, {}, {}}), Error);
}

}  // namespace
}  // namespace headrace
