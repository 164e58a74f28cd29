// SPDX-License-Identifier: Apache-2.0
// What convolutions are lowered to: the choice of tiles, the order of packed weights, the refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "ops/conv_depthwise.hpp"
#include "ops/conv_problem.hpp"
#include "ops/conv_winograd.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

KernelCaps cpu_caps(int vector_width) {
  KernelCaps caps;
  caps.type = DeviceType::kCpu;
  caps.vector_width = vector_width;
  caps.compute_units = 2;
  caps.max_work_group = 4096;
  caps.local_bytes = 1 << 20;
  return caps;
}

std::optional<ConvTile> best_tile(std::int64_t pixels, const KernelCaps& caps) {
  return cheapest(conv_tile_candidates(pixels, 64, caps));
}

TEST(ConvTileTest, FollowsThePixelCount) {
  const KernelCaps caps = cpu_caps(16);
  EXPECT_EQ(best_tile(3136, caps)->tile_m, 14);
  EXPECT_EQ(best_tile(784, caps)->tile_m, 14);
  EXPECT_EQ(best_tile(169, caps)->tile_m, 7);
  EXPECT_EQ(best_tile(49, caps)->tile_m, 7);
  EXPECT_EQ(best_tile(1, caps)->tile_m, 1);
  EXPECT_EQ(best_tile(49, cpu_caps(8))->vec, 8);
  EXPECT_EQ(best_tile(49, cpu_caps(1))->vec, 4);
}

TEST(ConvTileTest, TakesWhatTheBitstreamHolds) {
  KernelCaps caps = cpu_caps(16);
  caps.has_compiler = false;
  EXPECT_FALSE(best_tile(49, caps).has_value());
  EXPECT_TRUE(depthwise_candidates(64, caps).empty());
  const ConvTile only{16, 14, 2};
  caps.programmed.insert(only.instance().key());
  EXPECT_EQ(best_tile(1, caps)->instance(), only.instance());
}

TEST(ConvTileTest, GpuTileFitsTheWorkGroup) {
  KernelCaps caps = cpu_caps(1);
  caps.type = DeviceType::kGpu;
  const auto macros = [&](std::int64_t pixels) { return best_tile(pixels, caps)->instance().macros; };
  for (const auto& [limit, expected] :
       {std::pair{1024, "ITEM=8,SIDE=16"}, {255, "ITEM=8,SIDE=8"}, {63, "ITEM=4,SIDE=4"}, {15, "ITEM=4,SIDE=1"}}) {
    caps.max_work_group = static_cast<std::size_t>(limit);
    EXPECT_EQ(macros(100), expected);
  }
  caps.max_work_group = 1024;
  for (const auto& [sizes, expected] :
       {std::pair{std::array<std::size_t, 3>{1024, 1, 1}, "ITEM=4,SIDE=1"}, {{16, 8, 1}, "ITEM=8,SIDE=8"}}) {
    caps.max_work_item_sizes = sizes;
    EXPECT_EQ(macros(100), expected);
  }
  caps.local_bytes = 0;
  EXPECT_FALSE(best_tile(100, caps).has_value());
}

TEST(ConvTileTest, GpuTileLeavesNoComputeUnitIdle) {
  KernelCaps caps = cpu_caps(1);
  caps.type = DeviceType::kGpu;
  caps.compute_units = 64;
  EXPECT_EQ(best_tile(56 * 56, caps)->tile_m, 128);
  EXPECT_EQ(best_tile(28 * 28, caps)->tile_m, 32);
  EXPECT_EQ(best_tile(32 * 32, caps)->tile_m, 64);
  EXPECT_EQ(best_tile(1, caps)->tile_m, 32);
}

TEST(ConvTileTest, LastBlockOfPackedWeightsIsNarrower) {
  // 10 channels in vectors of 4, blocks of 2 vectors: one block of 8, one of 4 with two channels of zeros.
  Tensor wei(ElementType::f32, {10, 3});
  std::iota(wei.mutable_values<float>().begin(), wei.mutable_values<float>().end(), 1.0F);
  const Tensor packed = pack_conv_weights(wei, {30, 3, 0, 1}, {1, 10, 1, 3}, ConvTile{4, 6, 2});
  const auto values = packed.values<float>();
  ASSERT_EQ(values.size(), 36U);
  const std::vector<float> first(values.begin(), values.begin() + 9);
  EXPECT_EQ(first, (std::vector<float>{1, 4, 7, 10, 13, 16, 19, 22, 2}));
  const std::vector<float> last(values.begin() + 24, values.end());
  EXPECT_EQ(last, (std::vector<float>{25, 28, 0, 0, 26, 29, 0, 0, 27, 30, 0, 0}));
}

TEST(ConvTileTest, WorkItemsCoverEverything) {
  for (const std::int64_t pixels : {1, 13, 14, 15, 49, 3136, 100000}) {
    for (const std::int64_t channels : {1, 16, 48, 1000}) {
      ConvProblem problem;
      problem.in = problem.out = {1, 1, pixels};
      problem.IC = 64;
      problem.OC = channels;
      const KernelCaps caps = cpu_caps(16);
      const ConvTile tile = *best_tile(pixels, caps);
      const KernelLaunch launch = make_conv_launch(problem, tile, caps);
      const std::size_t end = launch.args.size();
      const auto tiles = static_cast<std::int64_t>(launch.global[0]) * std::get<std::int32_t>(launch.args[end - 5]);
      const std::int64_t vectors_per_item = std::get<std::int32_t>(launch.args[end - 4]);
      EXPECT_GE(tiles * tile.tile_m, pixels);
      EXPECT_GE(static_cast<std::int64_t>(launch.global[1]) * vectors_per_item * tile.vec, channels);
      // Packed blocks start at multiples of tile_n.
      EXPECT_EQ(vectors_per_item % tile.tile_n, 0);
    }
  }
}

// What `supports` says of a Convolution of these shapes, channels last and dense.
Support ask_supports(const RawAttributes& raw, const Shape& src, const Shape& wei) {
  const OpDescriptor& op = *find_op("Convolution");
  Node node;
  node.type = node.source_type = "Convolution";
  node.attributes = op.parse("Convolution", 1, raw);
  node.inputs.resize(2);
  const std::vector<InferInput> infer_inputs{{ElementType::f32, src}, {ElementType::f32, wei}};
  const Shape dst = op.infer(node, infer_inputs)[0].shape;
  const auto desc = [](const Shape& shape) {
    return TensorDesc{ElementType::f32, shape, channels_last_strides(shape), 0};
  };
  const Tensor constant(ElementType::f32, {1});
  const std::vector<LowerInput> inputs{{desc(src), nullptr}, {desc(wei), &constant}};
  return op.supports(node, inputs, std::vector<TensorDesc>{desc(dst)}, cpu_caps(16));
}

TEST(ConvSupportsTest, RefusesWhatAnIntCannotCount) {
  EXPECT_TRUE(ask_supports({}, {1, 64, 224, 224}, {64, 64, 3, 3}).ok);
  EXPECT_THAT(ask_supports({}, {1, 64, 6000, 6000}, {64, 64, 3, 3}).reason, HasSubstr("more than 2^31 elements"));
  EXPECT_THAT(ask_supports({}, {1, 3, 8000, 8000}, {64, 3, 1, 1}).reason, HasSubstr("output of shape"));
  const RawAttributes far{{"pads_begin", "0,800000000"}, {"strides", "1,1000000000"}};
  EXPECT_THAT(ask_supports(far, {1, 8, 4, 300000000}, {4, 8, 1, 1}).reason, HasSubstr("2^31"));
  const RawAttributes wide{{"pads_begin", "0,1000000000"}, {"dilations", "1,1000000000"}};
  EXPECT_THAT(ask_supports(wide, {1, 8, 4, 4}, {4, 8, 1, 2}).reason, HasSubstr("reaches more than 2^31"));
  // A single channel becomes a vector of 16.
  EXPECT_THAT(ask_supports({}, {1, 200'000'000, 1, 1}, {1, 200'000'000, 1, 1}).reason, HasSubstr("packed weights"));
}

// The largest scratch memory of Winograd's forms, however large the picture is.
TEST(WinogradScratchTest, IsBounded) {
  for (const DeviceType type : {DeviceType::kCpu, DeviceType::kGpu}) {
    KernelCaps caps = cpu_caps(16);
    caps.type = type;
    caps.compute_units = 64;
    caps.max_alloc_bytes = std::size_t{1} << 32;
    ConvShape shape;
    shape.IC = shape.OC = 256;
    shape.kernel = {1, 3, 3};
    shape.in = shape.out = {1, 1280, 1280};
    const auto form = cheapest(winograd_candidates(shape, caps));
    ASSERT_TRUE(form.has_value());
    ConvProblem problem;
    problem.IC = problem.OC = 256;
    problem.in = problem.out = shape.out;
    const Lowered lowered = lower_winograd(problem, Tensor(ElementType::f32, {256, 256, 3, 3}), *form, caps);
    const std::size_t bytes =
        std::accumulate(lowered.scratch_bytes.begin(), lowered.scratch_bytes.end(), std::size_t{0});
    EXPECT_LE(bytes, std::size_t{128} << 20) << to_string(type);
    EXPECT_GE(bytes, std::size_t{16} << 20) << to_string(type);
  }
}

// The kernels that lowering prefers for a 3x3 convolution of `channels` channels.
std::string default_form(std::int64_t channels, std::int64_t size, const KernelCaps& caps) {
  const OpDescriptor& op = *find_op("Convolution");
  Node node;
  node.type = node.source_type = "Convolution";
  node.attributes = op.parse("Convolution", 1, {{"pads_begin", "1,1"}, {"pads_end", "1,1"}});
  node.inputs.resize(2);
  const Tensor constant(ElementType::f32, {1});
  const TensorDesc image{ElementType::f32, {1, channels, size, size}, {}, 0};
  const TensorDesc weights{ElementType::f32, {channels, channels, 3, 3}, {}, 0};
  const std::vector<LowerInput> inputs{{image, nullptr}, {weights, &constant}};
  return op.forms(node, inputs, std::vector<TensorDesc>{image}, caps).forms.front().key;
}

TEST(WinogradChoiceTest, OnGpus) {
  KernelCaps caps = cpu_caps(1);
  caps.type = DeviceType::kGpu;
  caps.max_alloc_bytes = std::size_t{1} << 30;
  EXPECT_THAT(default_form(256, 56, caps), StartsWith("winograd_tile.cl|OUT=4|"));
  caps.compute_units = 1000;
  EXPECT_THAT(default_form(256, 56, caps), AllOf(StartsWith("winograd_tile.cl|"), HasSubstr("ITEM=4,SIDE=8")));
  EXPECT_THAT(default_form(32, 56, caps), StartsWith("conv_tile.cl|"))
      << "moving the transforms costs more than the products save";
  caps.exact_nan = true;
  EXPECT_THAT(default_form(256, 56, caps), StartsWith("conv_tile.cl|"));
}

}  // namespace
}  // namespace headrace
