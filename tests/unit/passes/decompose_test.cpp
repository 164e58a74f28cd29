// SPDX-License-Identifier: Apache-2.0
// Operators that passes write as several simpler ones.
#include <gtest/gtest.h>

#include "passes/decompose_batch_norm.hpp"
#include "passes/decompose_sdpa.hpp"
#include "passes/pipeline.hpp"
#include "test_graph.hpp"

namespace headrace::testing {
namespace {

TEST(DecomposeBatchNormTest, BothOpsetsFoldIntoTheConvolution) {
  for (const std::int32_t opset : {1, 5}) {
    GraphBuilder builder;
    const PortRef x = builder.parameter("x", "2,3,4,4");
    const PortRef c = builder.op("Convolution", "conv", {x, builder.random("w", {4, 3, 1, 1}, 1)});
    const PortRef gamma = builder.random("gamma", {4}, 2);
    const PortRef beta = builder.random("beta", {4}, 3);
    const PortRef mean = builder.random("mean", {4}, 4);
    const PortRef variance = builder.floats("var", {4}, {.5F, 1, 2, .01F});
    const std::vector<PortRef> inputs =
        opset == 1 ? std::vector{gamma, beta, c, mean, variance} : std::vector{c, gamma, beta, mean, variance};
    const PortRef bn = builder.op("BatchNormInference", "bn", inputs, {{"epsilon", "0.001"}}, opset);
    builder.result(builder.op("ReLU", "relu", {bn}), "out");
    const Graph decomposed = expect_same_meaning(builder.graph, decompose_batch_norm, 1e-4);
    EXPECT_EQ(count_type(decomposed, "BatchNormInference"), 0U);
    const Graph graph = expect_same_meaning(
        builder.graph, [](Graph& g) { run_passes(g); }, 1e-4);
    EXPECT_EQ(graph.nodes().size(), 5U) << dump(graph);
  }
}

TEST(DecomposeSdpaTest, EveryMaskGivesTheSameNumbers) {
  for (int form = 0; form < 5; ++form) {
    GraphBuilder builder;
    std::vector<PortRef> inputs = {builder.parameter("q", "2,2,3,4"), builder.parameter("k", "2,2,5,4"),
                                   builder.parameter("v", "2,2,5,6")};
    if (form == 2) inputs.push_back(builder.random("mask", {3, 5}, 9));
    if (form == 3) {
      Tensor mask(ElementType::boolean, {2, 1, 3, 5});
      for (std::size_t i = 0; i < 30; ++i) mask.mutable_values<bool>()[i] = i % 3 != 0;
      inputs.push_back(builder.constant("mask", mask));
    }
    if (form == 4) {
      inputs.push_back(builder.random("mask", {3, 5}, 9));
      inputs.push_back(builder.floats("scale", {}, {0.3F}));
    }
    const PortRef out =
        builder.op("ScaledDotProductAttention", "sdpa", inputs, {{"causal", form == 1 ? "true" : "false"}}, 13);
    builder.result(out, "out");
    SCOPED_TRACE(form);
    const Graph graph = expect_same_meaning(builder.graph, decompose_sdpa);
    EXPECT_EQ(count_type(graph, "ScaledDotProductAttention"), 0U);
    EXPECT_EQ(count_type(graph, "MatMul"), 2U);
  }
}

}  // namespace
}  // namespace headrace::testing
