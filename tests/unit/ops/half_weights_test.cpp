// SPDX-License-Identifier: Apache-2.0
#include "ops/half_weights.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace headrace {
namespace {

KernelCaps caps_of(DeviceType type) {
  KernelCaps caps;
  caps.type = type;
  caps.vector_width = 16;
  caps.compute_units = 2;
  caps.max_work_group = 4096;
  caps.local_bytes = 1 << 20;
  return caps;
}

ConvTile best_tile(std::int64_t pixels, const KernelCaps& caps) {
  return cheapest(conv_tile_candidates(pixels, 400, caps)).value();
}

// Every finite f16, twice and a half.
Tensor halves() {
  Tensor values(ElementType::f32, {160'000});
  std::uint16_t bits = 0;
  for (float& value : values.mutable_values<float>()) {
    if ((bits & 0x7c00) == 0x7c00) bits = static_cast<std::uint16_t>(bits + 0x400);
    value = half_to_float(bits++);
  }
  return values;
}

TEST(HalfWeightsTest, EveryFiniteHalfIsExact) { EXPECT_TRUE(is_exact_in_half(halves())); }

TEST(HalfWeightsTest, OneOtherValueIsNot) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float other : {0.1F, 65505.0F, 65536.0F, 0x1p-25F, 0x1.8p-24F, 0x1p-149F, 0x1.001p-14F, 0x1.001p0F, inf,
                            -inf, nan, std::nextafter(1.0F, 2.0F), std::nextafter(0x1p-14F, 0.0F)}) {
    Tensor values = halves();
    values.mutable_values<float>()[159'999] = other;
    EXPECT_FALSE(is_exact_in_half(values)) << other;
  }
}

TEST(HalfWeightsTest, TileOfOnePixelOnCpusTakesThem) {
  const KernelCaps cpu = caps_of(DeviceType::kCpu);
  const ConvTile one = best_tile(1, cpu);
  const auto half = with_half_weights(one, halves(), cpu);
  ASSERT_TRUE(half);
  EXPECT_TRUE(half->has_half_weights);
  EXPECT_NE(half->instance(), one.instance());
  EXPECT_NE(half->packing_key("x"), one.packing_key("x"));
  EXPECT_FALSE(with_half_weights(best_tile(196, cpu), halves(), cpu));
  EXPECT_FALSE(with_half_weights(one, make_f32_tensor({1}, std::vector<float>{1}), cpu)) << "too few to matter";
  const KernelCaps gpu = caps_of(DeviceType::kGpu);
  EXPECT_FALSE(with_half_weights(best_tile(1, gpu), halves(), gpu));
  KernelCaps programmed = cpu;
  programmed.has_compiler = false;
  EXPECT_FALSE(with_half_weights(one, halves(), programmed)) << "the bitstream lacks the instance";
  programmed.programmed.insert(half->instance().key());
  EXPECT_TRUE(with_half_weights(one, halves(), programmed));
}

TEST(HalfWeightsTest, PackingKeepsOrderAndValues) {
  const Tensor wei = halves().reshaped({400, 400});
  ConvTile tile{16, 1, 8};
  const WeightStrides strides{0, 400, 0, 1};
  const Tensor packed = pack_conv_weights(wei, strides, {1, 400, 1, 400}, tile);
  tile.has_half_weights = true;
  const Tensor half = pack_conv_weights(wei, strides, {1, 400, 1, 400}, tile);
  ASSERT_EQ(half.type(), ElementType::f16);
  ASSERT_EQ(half.count(), packed.count());
  const Tensor widened = convert(half, ElementType::f32);
  EXPECT_TRUE(std::equal(packed.data(), packed.data() + packed.size_bytes(), widened.data()));
}

}  // namespace
}  // namespace headrace
