// SPDX-License-Identifier: Apache-2.0
// MatMul and ScaledDotProductAttention: shapes and reference against hand values.
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.hpp"
#include "ops/descriptor.hpp"

namespace headrace {
namespace {

struct Result {
  Shape shape;
  std::vector<float> values;
  friend bool operator==(const Result&, const Result&) = default;
};

Result run(const std::string& type, const RawAttributes& raw, std::vector<Tensor> inputs) {
  const OpDescriptor* op = find_op(type);
  Node node;
  node.type = node.source_type = type;
  node.attributes = op->parse(type, 1, raw);
  node.inputs.resize(inputs.size());
  std::vector<InferInput> known;
  for (const Tensor& input : inputs) known.push_back({input.type(), input.shape()});
  const Shape shape = op->infer(node, known).at(0).shape;
  std::vector<Tensor> outputs{Tensor(ElementType::f32, shape)};
  op->reference(node, inputs, outputs);
  const auto values = outputs[0].values<float>();
  return {shape, {values.begin(), values.end()}};
}

Tensor tensor(const Shape& shape, const std::vector<float>& values) { return make_f32_tensor(shape, values); }

TEST(MatMulTest, TransposesAreIndependent) {
  const Tensor a = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor b = tensor({3, 2}, {1, 2, 3, 4, 5, 6});
  const Result product{{2, 2}, {22, 28, 49, 64}};
  EXPECT_EQ(run("MatMul", {}, {a, b}), product);
  EXPECT_EQ(run("MatMul", {{"transpose_a", "true"}}, {tensor({3, 2}, {1, 4, 2, 5, 3, 6}), b}), product);
  EXPECT_EQ(run("MatMul", {{"transpose_b", "true"}}, {a, tensor({2, 3}, {1, 3, 5, 2, 4, 6})}), product);
}

TEST(MatMulTest, VectorsLoseTheirDimension) {
  const Tensor v = tensor({3}, {1, 2, 3});
  EXPECT_EQ(run("MatMul", {}, {v, tensor({3, 1}, {1, 2, 3})}), (Result{{1}, {14}}));
  EXPECT_EQ(run("MatMul", {}, {v, v}), (Result{{}, {14}}));
  EXPECT_EQ(run("MatMul", {}, {tensor({2, 3}, {1, 2, 3, 4, 5, 6}), v}), (Result{{2}, {14, 32}}));
  EXPECT_EQ(run("MatMul", {{"transpose_a", "true"}, {"transpose_b", "true"}}, {v, v}), (Result{{}, {14}}));
}

TEST(MatMulTest, BatchesBroadcast) {
  const Tensor a = tensor({1, 2, 1, 2}, {1, 2, 3, 4});
  const Tensor b = tensor({3, 1, 2, 1}, {1, 0, 0, 1, 1, 1});
  EXPECT_EQ(run("MatMul", {}, {a, b}), (Result{{3, 2, 1, 1}, {1, 3, 2, 4, 3, 7}}));
  EXPECT_THROW(run("MatMul", {}, {a, tensor({3, 2, 2, 1}, std::vector<float>(11))}), Error);
}

TEST(MatMulTest, RejectsWhatDoesNotFit) {
  EXPECT_THROW(run("MatMul", {}, {tensor({2, 3}, std::vector<float>(6)), tensor({2, 3}, std::vector<float>(6))}),
               Error);
  EXPECT_THROW(run("MatMul", {}, {tensor({}, {1}), tensor({1, 1}, {1})}), Error);
  EXPECT_THROW(run("MatMul", {}, {tensor({2, 1, 1}, {1, 1}), tensor({3, 1, 1}, {1, 1, 1})}), Error);
}

TEST(SdpaTest, EqualScoresGiveTheMean) {
  const Tensor zero = tensor({1, 2, 2}, {0, 0, 0, 0});
  const Tensor value = tensor({1, 2, 1}, {1, 3});
  EXPECT_EQ(run("ScaledDotProductAttention", {}, {zero, zero, value}), (Result{{1, 2, 1}, {2, 2}}));
  EXPECT_EQ(run("ScaledDotProductAttention", {{"causal", "true"}}, {zero, zero, value}), (Result{{1, 2, 1}, {1, 2}}));
}

TEST(SdpaTest, MaskAndScale) {
  const Tensor query = tensor({1, 1, 1}, {1});
  const Tensor key = tensor({1, 2, 1}, {0, std::log(3.0F)});
  const Tensor value = tensor({1, 2, 1}, {0, 4});
  EXPECT_FLOAT_EQ(run("ScaledDotProductAttention", {}, {query, key, value}).values[0], 3.0F);
  const Tensor added = tensor({1, 2}, {std::log(3.0F), 0});
  EXPECT_FLOAT_EQ(run("ScaledDotProductAttention", {}, {query, key, value, added}).values[0], 2.0F);
  const Tensor scalar = tensor({}, {0});
  EXPECT_FLOAT_EQ(run("ScaledDotProductAttention", {}, {query, key, value, scalar, tensor({}, {2})}).values[0], 3.6F);
  Tensor keep(ElementType::boolean, {1, 2});
  keep.mutable_values<bool>()[0] = true;
  EXPECT_FLOAT_EQ(run("ScaledDotProductAttention", {}, {query, key, value, keep}).values[0], 0.0F);
}

}  // namespace
}  // namespace headrace
