// SPDX-License-Identifier: Apache-2.0
#include "partition/partition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <set>

#include "ops/descriptor.hpp"
#include "partition/dot.hpp"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Graphs of placed nodes; the operators do not matter to cutting.
struct Placed {
  Graph graph;
  std::map<NodeId, std::size_t> device_of;

  PortRef boundary(const std::string& type, const std::string& name, const std::vector<PortRef>& inputs = {}) {
    Node node;
    node.name = name;
    node.type = type;
    node.inputs = inputs;
    if (type != "Result") node.outputs.push_back({ElementType::f32, {3}, true, {}});
    return {graph.add(std::move(node)), 0};
  }
  PortRef parameter(const std::string& name) { return boundary("Parameter", name); }
  PortRef constant(const std::string& name) { return {graph.add_const(name, Tensor(ElementType::f32, {3})), 0}; }
  PortRef result(PortRef source) { return boundary("Result", "result", {source}); }
  PortRef node(const std::string& name, std::size_t device, const std::vector<PortRef>& inputs) {
    const PortRef ref = boundary("Fake", name, inputs);
    device_of[ref.node] = device;
    return ref;
  }

  std::vector<Subgraph> cut() const { return cut_subgraphs(graph, device_of); }
};

std::vector<std::size_t> devices(const std::vector<Subgraph>& subgraphs) {
  std::vector<std::size_t> list;
  for (const Subgraph& subgraph : subgraphs) list.push_back(subgraph.device);
  return list;
}

// Every node in one subgraph of its device; every input comes from a Parameter or an earlier subgraph's outputs; every
// Result's tensor is offered; no constant crosses.
void expect_runnable(const Placed& placed, const std::vector<Subgraph>& subgraphs) {
  std::set<PortRef> ready;
  std::set<NodeId> done;
  for (const NodeId id : placed.graph.parameters()) ready.insert({id, 0});
  for (const Subgraph& subgraph : subgraphs) {
    std::set<PortRef> inside(subgraph.inputs.begin(), subgraph.inputs.end());
    EXPECT_EQ(inside.size(), subgraph.inputs.size()) << "an input is listed twice";
    for (const PortRef& input : subgraph.inputs) {
      EXPECT_TRUE(ready.count(input) != 0) << placed.graph.at(input).name << " is not ready";
      EXPECT_FALSE(is_const(placed.graph, input));
    }
    for (const NodeId id : subgraph.nodes) {
      EXPECT_EQ(placed.device_of.at(id), subgraph.device);
      EXPECT_TRUE(done.insert(id).second) << "a node is in two subgraphs";
      for (const PortRef& input : placed.graph.at(id).inputs) {
        EXPECT_TRUE(is_const(placed.graph, input) || inside.count(input) != 0) << placed.graph.at(id).name;
      }
      inside.insert({id, 0});
    }
    const std::set<PortRef> outputs(subgraph.outputs.begin(), subgraph.outputs.end());
    EXPECT_EQ(outputs.size(), subgraph.outputs.size()) << "an output is listed twice";
    ready.insert(outputs.begin(), outputs.end());
  }
  EXPECT_EQ(done.size(), placed.device_of.size());
  for (const NodeId id : placed.graph.results()) {
    const PortRef source = placed.graph.at(id).inputs[0];
    EXPECT_TRUE(is_const(placed.graph, source) || ready.count(source) != 0);
  }
}

// public-reports.md, case 11.
TEST(CutSubgraphsTest, PathThatLeavesAndComesBackIsCutInThree) {
  for (const bool has_shared_constant : {false, true}) {
    Placed placed;
    const PortRef x = placed.parameter("x");
    const PortRef c = placed.constant("c");
    const PortRef m = placed.node("m", 0, has_shared_constant ? std::vector{x, c} : std::vector{x, x});
    const PortRef r = placed.node("r", 1, {m});
    const PortRef y = placed.node("y", 0, has_shared_constant ? std::vector{m, r, c} : std::vector{m, r});
    placed.result(y);
    const auto subgraphs = placed.cut();
    EXPECT_THAT(devices(subgraphs), ElementsAre(0, 1, 0));
    EXPECT_THAT(subgraphs.at(0).outputs, ElementsAre(m));
    EXPECT_THAT(subgraphs.at(2).inputs, ElementsAre(m, r));
    EXPECT_THAT(subgraphs.at(2).outputs, ElementsAre(y));
    expect_runnable(placed, subgraphs);
  }
}

TEST(CutSubgraphsTest, SharedConstantIsNoBridge) {
  Placed placed;
  const PortRef x = placed.parameter("x");
  const PortRef c = placed.constant("c");
  placed.result(placed.node("a", 0, {x, c}));
  placed.result(placed.node("b", 1, {x, c}));
  const auto subgraphs = placed.cut();
  EXPECT_THAT(devices(subgraphs), ElementsAre(0, 1));
  for (const Subgraph& subgraph : subgraphs) EXPECT_THAT(subgraph.inputs, ElementsAre(x));
  expect_runnable(placed, subgraphs);
}

TEST(CutSubgraphsTest, DiamondOfThreeDevices) {
  Placed placed;
  const PortRef x = placed.parameter("x");
  const PortRef top = placed.node("top", 0, {x});
  const PortRef left = placed.node("left", 1, {top});
  const PortRef right = placed.node("right", 2, {top});
  placed.result(placed.node("bottom", 0, {left, right}));
  const auto subgraphs = placed.cut();
  EXPECT_THAT(devices(subgraphs), ElementsAre(0, 1, 2, 0));
  EXPECT_THAT(subgraphs[0].outputs, ElementsAre(top));
  expect_runnable(placed, subgraphs);
}

TEST(CutSubgraphsTest, AlternatingNodesStayInOrder) {
  constexpr std::size_t kNodes = 200;
  Placed placed;
  PortRef last = placed.parameter("x");
  for (std::size_t i = 0; i < kNodes; ++i) last = placed.node("n" + std::to_string(i), i % 2, {last});
  placed.result(last);
  const auto subgraphs = placed.cut();
  EXPECT_EQ(subgraphs.size(), kNodes);
  expect_runnable(placed, subgraphs);
}

// A side branch on another device that joins at the end must not split the main branch.
TEST(CutSubgraphsTest, BranchThatWaitsAtItsEndIsOneSubgraph) {
  Placed placed;
  const PortRef x = placed.parameter("x");
  const PortRef main1 = placed.node("main1", 0, {x});
  const PortRef main2 = placed.node("main2", 0, {main1});
  const PortRef side = placed.node("side", 1, {x});
  placed.result(placed.node("join", 0, {main2, side}));
  const auto subgraphs = placed.cut();
  EXPECT_THAT(devices(subgraphs), ElementsAre(1, 0));
  EXPECT_EQ(subgraphs[1].nodes.size(), 3U);
  expect_runnable(placed, subgraphs);
}

// public-reports.md, case 12: boundary to boundary needs no subgraph, a tensor is offered once to many readers.
TEST(CutSubgraphsTest, BoundaryOnlyGraphHasNoSubgraphs) {
  Placed placed;
  placed.result(placed.parameter("x"));
  placed.result(placed.constant("seven"));
  EXPECT_TRUE(placed.cut().empty());
}

TEST(CutSubgraphsTest, TensorReadManyTimesIsOneOutput) {
  Placed placed;
  const PortRef x = placed.parameter("x");
  const PortRef r = placed.node("r", 0, {x});
  const PortRef mul = placed.node("mul", 1, {r});
  const PortRef neg = placed.node("neg", 1, {r});
  for (const PortRef& output : {r, r, mul, neg, x, placed.constant("seven")}) placed.result(output);
  const auto subgraphs = placed.cut();
  ASSERT_EQ(subgraphs.size(), 2U);
  EXPECT_THAT(subgraphs[0].outputs, ElementsAre(r));
  EXPECT_THAT(subgraphs[1].inputs, ElementsAre(r));
  EXPECT_THAT(subgraphs[1].outputs, ElementsAre(mul, neg));
  expect_runnable(placed, subgraphs);
}

TEST(CutSubgraphsTest, RandomGraphsAreRunnableAndDeterministic) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    std::mt19937 engine(seed);
    Placed placed;
    std::vector<PortRef> tensors = {placed.parameter("x"), placed.constant("c"), placed.parameter("y")};
    for (std::size_t i = 0; i < 60; ++i) {
      std::vector<PortRef> inputs;
      for (std::size_t k = 0; k < 1 + engine() % 3; ++k) inputs.push_back(tensors[engine() % tensors.size()]);
      tensors.push_back(placed.node("n" + std::to_string(i), engine() % 3, inputs));
    }
    for (std::size_t i = 0; i < 5; ++i) placed.result(tensors[engine() % tensors.size()]);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto subgraphs = placed.cut();
    expect_runnable(placed, subgraphs);
    const auto again = placed.cut();
    ASSERT_EQ(again.size(), subgraphs.size());
    for (std::size_t i = 0; i < again.size(); ++i) EXPECT_EQ(again[i].nodes, subgraphs[i].nodes);
  }
}

TEST(CutSubgraphsTest, HundredThousandNodesTakeSeconds) {
  constexpr std::size_t kNodes = 100000;
  Placed placed;
  PortRef last = placed.parameter("x");
  for (std::size_t i = 0; i < kNodes; ++i) last = placed.node("n" + std::to_string(i), (i / 3) % 2, {last});
  placed.result(last);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(placed.cut().size(), (kNodes + 2) / 3);
  // A square algorithm needs minutes; this bound leaves room for sanitizers and a busy machine.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

// --- placing -------------------------------------------------------------------------------------------------------

PartitionDevice fake_device(const std::string& name, bool is_fallback = false) {
  PartitionDevice device;
  device.name = name;
  device.is_cpu_fallback = is_fallback;
  device.caps.type = is_fallback ? DeviceType::kCpuFallback : DeviceType::kCpu;
  device.caps.vector_width = 16;
  device.caps.max_work_group = 4096;
  device.caps.local_bytes = 1 << 20;
  return device;
}

Node convolution(const std::string& name, PortRef src, PortRef wei, const Shape& dst) {
  Node node;
  node.name = name;
  node.type = "Convolution";
  node.attributes = find_op("Convolution")->parse("Convolution", 1, {});
  node.inputs = {src, wei};
  node.outputs.push_back({ElementType::f32, dst, true, {}});
  return node;
}

// x -> conv (constant weights) -> conv2 (weights from an input: no OpenCL form) -> two results.
struct ConvNet {
  Graph graph;
  NodeId conv;
  NodeId conv2;

  ConvNet() {
    Node parameter;
    parameter.name = "x";
    parameter.type = "Parameter";
    parameter.outputs.push_back({ElementType::f32, {1, 3, 8, 8}, true, {}});
    const PortRef x{graph.add(parameter), 0};
    parameter.name = "w2";
    parameter.outputs[0].shape = {4, 4, 1, 1};
    const PortRef w2{graph.add(parameter), 0};
    const PortRef w{graph.add_const("w", Tensor(ElementType::f32, {4, 3, 3, 3})), 0};
    conv = graph.add(convolution("conv", x, w, {1, 4, 6, 6}));
    conv2 = graph.add(convolution("conv \"2\"", {conv, 0}, w2, {1, 4, 6, 6}));
    Node result;
    result.type = "Result";
    result.name = "out";
    result.inputs = {{conv2, 0}};
    graph.add(result);
  }
};

TEST(PartitionTest, EarlierDeviceWinsAndRefusalsAreKept) {
  const ConvNet net;
  const std::vector<PartitionDevice> list = {fake_device("CL.0"), fake_device("CL.1"), fake_device("CPU", true)};
  const Partition result = partition(net.graph, list);
  EXPECT_EQ(result.placements.at(net.conv).device, 0U);
  EXPECT_TRUE(result.placements.at(net.conv).refusals.empty());
  const Placement& second = result.placements.at(net.conv2);
  EXPECT_EQ(second.device, 2U);
  ASSERT_EQ(second.refusals.size(), 2U);
  EXPECT_EQ(second.refusals[0].device, 0U);
  EXPECT_EQ(second.refusals[1].device, 1U);
  EXPECT_THAT(second.refusals[0].reason, HasSubstr("not constant"));
  EXPECT_EQ(result.placements.at(net.conv).subgraph, 0U);
  EXPECT_EQ(second.subgraph, 1U);
  ASSERT_EQ(result.subgraphs.size(), 2U);
  EXPECT_EQ(result.subgraphs[1].inputs.size(), 2U);
}

TEST(PartitionTest, WithoutCpuTheFirstRefusedLayerIsNamed) {
  const ConvNet net;
  for (const bool is_strict : {false, true}) {
    std::vector<PartitionDevice> list = {fake_device("CL.0")};
    if (is_strict) list.push_back(fake_device("CPU", true));
    try {
      partition(net.graph, list, {.strict = is_strict});
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
      EXPECT_THAT(error.what(),
                  HasSubstr("layer 'conv \"2\"' (Convolution) cannot run on CL.0: weights are not constant"));
    }
  }
}

TEST(PartitionTest, AllRefusedLayersAreCounted) {
  const ConvNet net;
  PartitionDevice device = fake_device("FPGA");
  device.caps.has_compiler = false;  // and nothing is programmed
  const std::vector<PartitionDevice> list = {device};
  try {
    partition(net.graph, list);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("layer 'conv' "));
    EXPECT_THAT(error.what(), HasSubstr("2 layers are refused in all"));
    EXPECT_THAT(error.what(), HasSubstr("HETERO"));
  }
}

TEST(PartitionTest, UnknownOperatorIsRefusedByEveryDevice) {
  ConvNet net;
  net.graph.at(net.conv).type = "NoSuchOperator";
  const std::vector<PartitionDevice> list = {fake_device("CPU", true)};
  EXPECT_THROW(partition(net.graph, list), Error);
}

TEST(PartitionTest, NoDeviceIsAnError) {
  const ConvNet net;
  EXPECT_THROW(partition(net.graph, {}), Error);
}

// public-reports.md, case 40: a tensor past the largest allocation falls back, the exact fit stays.
TEST(PartitionTest, TensorLargerThanTheLargestAllocationIsRefused) {
  const ConvNet net;
  std::vector<PartitionDevice> list = {fake_device("CL.0"), fake_device("CPU", true)};
  const std::size_t largest = 3 * 8 * 8 * sizeof(float);  // the input of conv
  list[0].caps.max_alloc_bytes = largest;
  EXPECT_EQ(partition(net.graph, list).placements.at(net.conv).device, 0U);
  list[0].caps.max_alloc_bytes = largest - 1;
  const Partition result = partition(net.graph, list);
  EXPECT_EQ(result.placements.at(net.conv).device, 1U);
  EXPECT_THAT(result.placements.at(net.conv).refusals.at(0).reason, HasSubstr(std::to_string(largest)));
}

// conv2 -> conv3 (CL.0) -> conv4: a cheap island between CPU layers moves only when asked to.
TEST(PartitionTest, CheapIslandMovesToTheCpuOnlyWhenAsked) {
  ConvNet net;
  const PortRef w2 = net.graph.at(net.conv2).inputs[1];
  const PortRef w3{net.graph.add_const("w3", Tensor(ElementType::f32, {4, 4, 1, 1})), 0};
  const NodeId conv3 = net.graph.add(convolution("conv3", {net.conv2, 0}, w3, {1, 4, 6, 6}));
  const NodeId conv4 = net.graph.add(convolution("conv4", {conv3, 0}, w2, {1, 4, 6, 6}));
  net.graph.set_input(net.graph.results()[0], 0, {conv4, 0});
  const std::vector<PartitionDevice> list = {fake_device("CL.0"), fake_device("CPU", true)};
  EXPECT_EQ(partition(net.graph, list).placements.at(conv3).device, 0U);
  EXPECT_EQ(partition(net.graph, list, {.island_max_flops = 10}).placements.at(conv3).device, 0U);
  const Partition moved = partition(net.graph, list, {.island_max_flops = 1000000});
  EXPECT_EQ(moved.placements.at(conv3).device, 1U);
  EXPECT_THAT(moved.placements.at(conv3).refusals.at(0).reason, HasSubstr("island"));
  EXPECT_EQ(moved.placements.at(net.conv).device, 0U);  // feeds the CPU but is fed by the input: no island
  EXPECT_EQ(moved.subgraphs.size(), 2U);
}

TEST(WriteDotTest, ShowsLayersDevicesAndEscapesNames) {
  const ConvNet net;
  const std::vector<PartitionDevice> list = {fake_device("CL.0"), fake_device("CPU", true)};
  const std::string text = write_dot(net.graph, partition(net.graph, list));
  EXPECT_THAT(text, HasSubstr("digraph"));
  EXPECT_THAT(text, HasSubstr("conv \\\"2\\\"\\nConvolution\\nCPU, subgraph 1"));
  EXPECT_THAT(text, HasSubstr("fillcolor=palegreen"));
  EXPECT_THAT(text, HasSubstr("fillcolor=lightblue"));
  EXPECT_THAT(text, HasSubstr("f32[1,4,6,6]"));
}

}  // namespace
}  // namespace headrace
