// SPDX-License-Identifier: Apache-2.0
#include "core/tensor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace headrace {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(TensorTest, OwnsZeroedAlignedMemory) {
  const Tensor tensor(ElementType::f32, {3, 5});
  EXPECT_EQ(tensor.count(), 15);
  EXPECT_EQ(tensor.size_bytes(), 60U);
  EXPECT_TRUE(tensor.is_aligned());
  EXPECT_THAT(tensor.values<float>(), Each(0.0F));
}

TEST(TensorTest, EmptyTensorAndScalar) {
  EXPECT_EQ(Tensor().count(), 0);
  EXPECT_EQ(Tensor(ElementType::i64, {}).count(), 1);
  EXPECT_EQ(Tensor(ElementType::f32, {0, 3}).clone().count(), 0);
}

TEST(TensorTest, CopiesShareCloneDoesNot) {
  Tensor tensor(ElementType::f32, {2});
  Tensor shared = tensor;
  Tensor cloned = tensor.clone();
  tensor.mutable_values<float>()[0] = 5;
  EXPECT_EQ(shared.values<float>()[0], 5);
  EXPECT_EQ(cloned.values<float>()[0], 0);
}

TEST(TensorTest, BorrowsTheCallersMemory) {
  std::array<float, 2> memory = {1, 2};
  Tensor tensor(ElementType::f32, {2}, memory.data());
  tensor.mutable_values<float>()[1] = 7;
  EXPECT_EQ(memory[1], 7);
}

TEST(TensorTest, SharedMemoryIsReadOnly) {
  const auto owner = std::make_shared<std::array<float, 2>>();
  Tensor tensor(ElementType::f32, {2}, owner, owner->data());
  EXPECT_TRUE(tensor.is_read_only());
  EXPECT_THROW(tensor.mutable_data(), Error);
  EXPECT_FALSE(tensor.clone().is_read_only());
}

TEST(TensorTest, WrongTypeIsOurBug) {
  const Tensor tensor(ElementType::f32, {2});
  EXPECT_THROW(tensor.values<std::int32_t>(), Error);
}

TEST(TensorTest, ReshapedSharesAndChecksTheCount) {
  Tensor tensor(ElementType::f32, {2, 3});
  const Tensor reshaped = tensor.reshaped({3, 2});
  EXPECT_EQ(reshaped.data(), tensor.data());
  EXPECT_THROW(tensor.reshaped({4}), Error);
}

TEST(TensorTest, SizeThatOverflowsIsAnError) {
  EXPECT_THROW(Tensor(ElementType::i64, {std::int64_t{1} << 61}), Error);
  EXPECT_THROW(Tensor(ElementType::f32, {std::int64_t{1} << 40, std::int64_t{1} << 40}), Error);
}

TEST(TensorTest, UnalignedDataIsReadByConvertAndFixedByAlignedCopy) {
  const auto bytes = std::make_shared<std::array<char, 16>>();
  const std::array<float, 2> values = {1.5F, -2};
  std::memcpy(bytes->data() + 1, values.data(), 8);
  const Tensor tensor(ElementType::f32, {2}, bytes, bytes->data() + 1);
  EXPECT_FALSE(tensor.is_aligned());
  EXPECT_THAT(to_doubles(tensor), ElementsAre(1.5, -2));
  EXPECT_THAT(tensor.aligned_copy().values<float>(), ElementsAre(1.5F, -2.0F));
}

TEST(ConvertTest, FloatToIntegerTruncatesAndSaturates) {
  const std::vector<float> values = {1.9F, -1.9F, 300, -300, kNan, kInfinity, -kInfinity};
  const Tensor source = make_f32_tensor({7}, values);
  EXPECT_THAT(to_int64s(convert(source, ElementType::i8)), ElementsAre(1, -1, 127, -128, 0, 127, -128));
  EXPECT_THAT(to_int64s(convert(source, ElementType::u8)), ElementsAre(1, 0, 255, 0, 0, 255, 0));
  const Tensor wide = convert(source, ElementType::i64);
  EXPECT_EQ(wide.values<std::int64_t>()[5], std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(wide.values<std::int64_t>()[6], std::numeric_limits<std::int64_t>::min());
}

TEST(ConvertTest, AnythingNonZeroIsTrue) {
  const std::vector<float> values = {0, -0.0F, 0.25F, kNan};
  EXPECT_THAT(to_int64s(convert(make_f32_tensor({4}, values), ElementType::boolean)), ElementsAre(0, 0, 1, 1));
}

TEST(ConvertTest, EveryPairOfTypesKeepsSmallNumbers) {
  constexpr ElementType kTypes[] = {ElementType::f32, ElementType::f16, ElementType::i8,
                                    ElementType::u8,  ElementType::i32, ElementType::i64};
  const std::vector<std::int64_t> values = {0, 1, 100};
  for (const ElementType from : kTypes) {
    for (const ElementType to : kTypes) {
      const Tensor source = convert(make_i64_tensor({3}, values), from);
      EXPECT_EQ(to_int64s(convert(source, to)), values) << to_string(from) << " to " << to_string(to);
    }
  }
}

// public-reports.md, R18: denormals stay, the largest values round to infinity.
TEST(HalfTest, KnownValues) {
  EXPECT_EQ(float_to_half(1.0F), 0x3c00);
  EXPECT_EQ(float_to_half(-2.0F), 0xc000);
  EXPECT_EQ(float_to_half(65504.0F), 0x7bff);
  EXPECT_EQ(float_to_half(65519.0F), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0F), 0x7c00);
  EXPECT_EQ(float_to_half(5.96e-8F), 0x0001);
  EXPECT_EQ(float_to_half(-1e-10F), 0x8000);
  EXPECT_EQ(float_to_half(kInfinity), 0x7c00);
  EXPECT_EQ(float_to_half(1.0F + 0x1p-11F), 0x3c00);      // a tie goes to even
  EXPECT_EQ(float_to_half(1.0F + 3 * 0x1p-11F), 0x3c02);  // a tie goes to even
  EXPECT_TRUE(std::isnan(half_to_float(float_to_half(kNan))));
}

// Long enough for several threads, at an odd address as in a mapped file.
TEST(HalfTest, LongTensorsWidenLikeSingleValues) {
  constexpr std::int64_t kCount = 600'001;
  std::vector<std::byte> memory(2 * kCount + 1);
  for (std::int64_t i = 0; i < kCount; ++i) {
    const auto half = static_cast<std::uint16_t>(i * 7);
    std::memcpy(memory.data() + 1 + 2 * i, &half, 2);
  }
  const Tensor wide = convert(Tensor(ElementType::f16, {kCount}, memory.data() + 1), ElementType::f32);
  for (std::int64_t i = 0; i < kCount; ++i) {
    const auto half = static_cast<std::uint16_t>(i * 7);
    const int exponent = (half >> 10) & 31;
    if (exponent == 31) continue;
    const int mantissa = (half & 1023) + (exponent == 0 ? 0 : 1024);
    const float expected =
        std::ldexp(static_cast<float>(half & 0x8000 ? -mantissa : mantissa), std::max(exponent, 1) - 25);
    ASSERT_EQ(wide.values<float>()[static_cast<std::size_t>(i)], expected) << half;
  }
}

TEST(HalfTest, EveryHalfSurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = half_to_float(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(half_to_float(float_to_half(value))));
    } else {
      ASSERT_EQ(float_to_half(value), half);
    }
  }
}

TEST(ElementTypeTest, NamesInBothSpellings) {
  EXPECT_EQ(find_element_type("FP16"), ElementType::f16);
  EXPECT_EQ(find_element_type("f16"), ElementType::f16);
  EXPECT_EQ(find_element_type("Boolean"), ElementType::boolean);
  EXPECT_EQ(find_element_type("BOOL"), ElementType::boolean);
  EXPECT_EQ(find_element_type("FP64"), ElementType::f64);
  EXPECT_EQ(find_element_type("u16"), ElementType::u16);
  for (const std::string name : {"u4", "string", "f8e5m2", ""}) {
    EXPECT_EQ(find_element_type(name), std::nullopt) << name;
  }
  EXPECT_EQ(to_string(ElementType::i64), "i64");
  EXPECT_EQ(precision_name(ElementType::f32), "FP32");
  EXPECT_EQ(size_bytes(ElementType::boolean), 1U);
  EXPECT_TRUE(is_floating(ElementType::f16));
  EXPECT_FALSE(is_floating(ElementType::i32));
  EXPECT_EQ(computed_type(ElementType::bf16), ElementType::f32);
  EXPECT_EQ(computed_type(ElementType::u16), ElementType::i32);
  EXPECT_EQ(computed_type(ElementType::i8), ElementType::i8);
}

TEST(ConvertTest, WideAndUnsignedTypes) {
  const Tensor numbers = make_f32_tensor({4}, std::vector<float>{-1.5F, 300.0F, 70000.0F, 0.1F});
  EXPECT_THAT(to_doubles(convert(numbers, ElementType::f64)), ElementsAre(-1.5, 300, 70000, 0.1F));
  EXPECT_THAT(to_doubles(convert(numbers, ElementType::u16)), ElementsAre(0, 300, 65535, 0));
  EXPECT_THAT(to_doubles(convert(numbers, ElementType::i16)), ElementsAre(-1, 300, 32767, 0));
  EXPECT_THAT(to_doubles(convert(numbers, ElementType::u64)), ElementsAre(0, 300, 70000, 0));
  const Tensor ints = make_i64_tensor({2}, std::vector<std::int64_t>{-1, 5});
  EXPECT_THAT(to_doubles(convert(ints, ElementType::u32)), ElementsAre(4294967295.0, 5));
  EXPECT_THAT(to_int64s(convert(convert(ints, ElementType::u64), ElementType::i64)), ElementsAre(-1, 5));
}

// Every bfloat16 is read and written back; between two of them the nearest is taken, ties to even.
TEST(ConvertTest, BFloat16) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = bfloat16_to_float(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(bfloat16_to_float(float_to_bfloat16(value))));
    } else {
      ASSERT_EQ(float_to_bfloat16(value), bits);
    }
  }
  EXPECT_EQ(float_to_bfloat16(1.0F + 0x1p-8F), 0x3f80);  // a tie: even below
  EXPECT_EQ(float_to_bfloat16(1.0F + 0x3p-8F), 0x3f82);  // a tie: even above
  EXPECT_EQ(float_to_bfloat16(1.0F + 0x1.02p-8F), 0x3f81);
  EXPECT_EQ(float_to_bfloat16(3.4e38F), 0x7f80);  // rounds to infinity
}

}  // namespace
}  // namespace headrace
