// SPDX-License-Identifier: Apache-2.0
// How many streams a device gets, as a table: no device is needed.
#include "runtime/streams.hpp"

#include <gtest/gtest.h>

namespace headrace::test {
namespace {

constexpr StreamTraits kPocl{DeviceType::kCpu, 2, 2, true};
constexpr StreamTraits kIntelCpu{DeviceType::kCpu, 2, 2, false};
constexpr StreamTraits kEmulator{DeviceType::kAccelerator, 2, 2, true};
constexpr StreamTraits kBoard{DeviceType::kAccelerator, 1, 1, true};
constexpr StreamTraits kGpu{DeviceType::kGpu, 40, 1, false};
constexpr StreamTraits kFallback{DeviceType::kCpuFallback, 8, 1, false};
constexpr StreamTraits kHalf{DeviceType::kCpu, 1, 1, true};

StreamTraits pocl_with(int units) { return {DeviceType::kCpu, units, units, true}; }

TEST(StreamsTest, LatencyIsOneStreamOnTheWholeDevice) {
  for (const StreamTraits& device : {kPocl, kIntelCpu, kEmulator, kBoard, kGpu, kFallback, kHalf}) {
    EXPECT_EQ(choose_streams(device, {}), (Streams{1, 1}));
  }
}

TEST(StreamsTest, ThroughputGivesEveryStreamUnitsOfItsOwnWherePartsRunApart) {
  const StreamWish wish{.hint = PerformanceHint::kThroughput};
  EXPECT_EQ(choose_streams(kPocl, wish), (Streams{2, 2}));
  EXPECT_EQ(choose_streams(kEmulator, wish), (Streams{2, 2}));
  EXPECT_EQ(choose_streams(kIntelCpu, wish), (Streams{2, 1}));
  EXPECT_EQ(choose_streams(kBoard, wish), (Streams{2, 1}));
  EXPECT_EQ(choose_streams(kGpu, wish), (Streams{2, 1}));
  EXPECT_EQ(choose_streams(kFallback, wish), (Streams{8, 1}));
  EXPECT_EQ(choose_streams(kHalf, wish), (Streams{1, 1}));
}

TEST(StreamsTest, StreamsOfManyCoresAreBoundedAndDivideThem) {
  const StreamWish wish{.hint = PerformanceHint::kThroughput};
  EXPECT_EQ(choose_streams(pocl_with(1), wish), (Streams{1, 1}));
  EXPECT_EQ(choose_streams(pocl_with(16), wish), (Streams{16, 16}));
  EXPECT_EQ(choose_streams(pocl_with(24), wish), (Streams{12, 12}));
  EXPECT_EQ(choose_streams(pocl_with(64), wish), (Streams{16, 16}));
  EXPECT_EQ(choose_streams(pocl_with(19), wish), (Streams{1, 1}));
}

TEST(StreamsTest, TheUsersNumberWins) {
  EXPECT_EQ(choose_streams(kPocl, {.count = 2}), (Streams{2, 2}));
  EXPECT_EQ(choose_streams(kPocl, {.hint = PerformanceHint::kThroughput, .count = 1}), (Streams{1, 1}));
  EXPECT_EQ(choose_streams(kPocl, {.count = 3}), (Streams{3, 1}));  // more than it has parts
  EXPECT_EQ(choose_streams(pocl_with(5), {.count = 2}), (Streams{2, 2}));
}

TEST(StreamsTest, ThreadsOfTheCpuAreSharedOut) {
  EXPECT_EQ(threads_per_stream(0, 1, 8), 0);
  EXPECT_EQ(threads_per_stream(3, 1, 8), 3);
  EXPECT_EQ(threads_per_stream(0, 2, 8), 4);
  EXPECT_EQ(threads_per_stream(6, 2, 8), 3);
  EXPECT_EQ(threads_per_stream(1, 4, 8), 1);
  EXPECT_EQ(threads_per_stream(0, 16, 8), 1);
}

}  // namespace
}  // namespace headrace::test
