// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.hpp"

#include <gtest/gtest.h>

#include "ops/descriptor.hpp"

namespace headrace {
namespace {

KernelCaps cpu_like_caps() {
  KernelCaps caps;
  caps.type = DeviceType::kCpu;
  caps.vector_width = 16;
  caps.compute_units = 2;
  caps.max_work_group = 4096;
  caps.max_alloc_bytes = std::size_t{1} << 31;
  caps.global_bytes = std::size_t{1} << 33;
  return caps;
}

// Builds small graphs with resolved shapes.
class Builder {
 public:
  PortRef parameter(const Shape& shape) {
    Node node;
    node.name = "in";
    node.type = "Parameter";
    node.declared_shape = PartialShape(shape);
    node.outputs.push_back({ElementType::f32, shape, true, {}});
    inputs.push_back({graph.add(std::move(node)), 0});
    return inputs.back();
  }

  PortRef op(const std::string& type, const std::string& name, std::vector<PortRef> sources, const RawAttributes& raw) {
    const OpDescriptor* descriptor = find_op(type);
    Node node;
    node.name = name;
    node.type = type;
    node.source_type = type;
    node.attributes = descriptor->parse(type, 1, raw);
    node.inputs = std::move(sources);
    std::vector<InferInput> infer_inputs;
    for (const PortRef& source : node.inputs) {
      const OutputInfo& info = graph.info(source);
      infer_inputs.push_back({info.type, info.shape, is_const(graph, source) ? &graph.at(source).value : nullptr});
    }
    for (const InferOutput& output : descriptor->infer(node, infer_inputs)) {
      node.outputs.push_back({output.type, output.shape, true, {}});
    }
    nodes.push_back(graph.add(std::move(node)));
    return {nodes.back(), 0};
  }

  PortRef conv(const std::string& name, PortRef source, std::int64_t channels) {
    const std::int64_t in_channels = graph.info(source).shape[1];
    const PortRef weights{graph.add_const(name + "_w", Tensor(ElementType::f32, {channels, in_channels, 3, 3})), 0};
    return op("Convolution", name, {source, weights},
              {{"strides", "1,1"}, {"dilations", "1,1"}, {"pads_begin", "1,1"}, {"pads_end", "1,1"}});
  }

  std::shared_ptr<const DevicePlan> plan(PlanStats* stats) {
    WeightsCache cache;
    const KernelCaps caps = cpu_like_caps();
    return make_device_plan({graph, nodes, inputs, outputs, caps}, cache, stats);
  }

  Graph graph;
  std::vector<NodeId> nodes;
  std::vector<PortRef> inputs;
  std::vector<PortRef> outputs;
};

std::size_t count_kernel(const DevicePlan& plan, const std::string& part) {
  std::size_t count = 0;
  for (const PlanStep& step : plan.steps) count += step.kernel.find(part) != std::string::npos ? 1 : 0;
  return count;
}

TEST(MakeDevicePlanTest, ChainOfConvolutionsConvertsOnlyAtItsEnds) {
  Builder builder;
  const PortRef a = builder.conv("a", builder.parameter({1, 16, 8, 8}), 16);
  const PortRef b = builder.conv("b", a, 16);
  builder.outputs = {builder.conv("c", b, 16)};
  PlanStats stats;
  const auto plan = builder.plan(&stats);
  EXPECT_EQ(stats.copies, 2U) << dump(*plan);
  EXPECT_EQ(count_kernel(*plan, "conv"), 3U);
  EXPECT_LE(static_cast<double>(stats.arena_bytes), 1.05 * static_cast<double>(stats.lower_bound_bytes));
}

TEST(MakeDevicePlanTest, ConcatTakesItsPartsInPlace) {
  Builder builder;
  const PortRef a = builder.conv("a", builder.parameter({1, 16, 8, 8}), 24);
  const PortRef b = builder.conv("b", a, 5);
  const PortRef c = builder.op("Concat", "cat", {a, b}, {{"axis", "1"}});
  builder.outputs = {builder.conv("d", c, 16)};
  PlanStats stats;
  const auto plan = builder.plan(&stats);
  EXPECT_EQ(plan->steps.size(), 5U) << dump(*plan);  // input layout, a, b, d, output layout
}

TEST(MakeDevicePlanTest, NestedConcatsShareOneBuffer) {
  Builder builder;
  PortRef all = builder.conv("stem", builder.parameter({1, 3, 8, 8}), 32);
  for (int i = 0; i < 4; ++i) {
    const std::string name = std::to_string(i);
    const PortRef grown = builder.conv("grow" + name, all, 32);
    all = builder.op("Concat", "cat" + name, {all, grown}, {{"axis", "1"}});
  }
  builder.outputs = {builder.conv("last", all, 16)};
  PlanStats stats;
  const auto plan = builder.plan(&stats);
  EXPECT_EQ(count_kernel(*plan, "copy"), 2U) << dump(*plan);
}

TEST(MakeDevicePlanTest, TensorTwiceInOneConcatIsCopied) {
  Builder builder;
  const PortRef a = builder.conv("a", builder.parameter({1, 16, 4, 4}), 16);
  const PortRef c = builder.op("Concat", "cat", {a, a}, {{"axis", "1"}});
  builder.outputs = {builder.conv("d", c, 16)};
  PlanStats stats;
  const auto plan = builder.plan(&stats);
  EXPECT_EQ(count_kernel(*plan, "copy"), 4U) << dump(*plan);
}

TEST(MakeDevicePlanTest, PortsHaveBuffersOfTheirOwn) {
  Builder builder;
  builder.outputs = {builder.conv("a", builder.parameter({1, 16, 4, 4}), 16)};
  const auto plan = builder.plan(nullptr);
  ASSERT_EQ(plan->inputs.size(), 1U);
  ASSERT_EQ(plan->outputs.size(), 1U);
  EXPECT_NE(plan->inputs[0].ref.buffer, 0);
  EXPECT_NE(plan->outputs[0].ref.buffer, 0);
  EXPECT_NE(plan->inputs[0].ref.buffer, plan->outputs[0].ref.buffer);
}

TEST(MakeDevicePlanTest, KernelPointersAreAligned) {
  Builder builder;
  PortRef x = builder.conv("stem", builder.parameter({1, 3, 17, 17}), 33);
  for (int i = 0; i < 5; ++i) x = builder.conv("conv" + std::to_string(i), x, 31 + 7 * i);
  builder.outputs = {x};
  const auto plan = builder.plan(nullptr);
  for (const PlanStep& step : plan->steps) {
    for (const LaunchArg& arg : std::get<Launch>(step.action).args) {
      const auto* ref = std::get_if<BufferRef>(&arg);
      EXPECT_EQ(ref == nullptr ? 0 : ref->offset_bytes % 128, 0) << step.layer;
    }
  }
}

}  // namespace
}  // namespace headrace
