// SPDX-License-Identifier: Apache-2.0
// What answers while a network loads: order, errors, threads. The loading is a function of the test's.
#include "runtime/network_slot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <vector>

#include "core/error.hpp"

namespace headrace::test {
namespace {

using testing::HasSubstr;

const std::shared_ptr<const Network> kFallback = std::make_shared<const Network>();
const std::shared_ptr<const Network> kLoaded = std::make_shared<const Network>();

// A loading that ends when the test says so.
class Gate {
 public:
  NetworkSlot::Load load(std::exception_ptr error = nullptr) {
    return [opened = opened_.get_future().share(), error] {
      opened.wait();
      if (error != nullptr) std::rethrow_exception(error);
      return kLoaded;
    };
  }
  void open() { opened_.set_value(); }

 private:
  std::promise<void> opened_;
};

std::string message_of(const NetworkSlot& slot) {
  try {
    slot.get();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(NetworkSlotTest, HoldsWhatIsThere) {
  const NetworkSlot slot(kLoaded);
  EXPECT_EQ(slot.get(), kLoaded);
  EXPECT_EQ(slot.wait(), kLoaded);
  EXPECT_FALSE(slot.is_loading());
}

TEST(NetworkSlotTest, AnswersWithTheFallbackUntilTheNetworkIsThere) {
  Gate gate;
  const NetworkSlot slot(kFallback, gate.load(), "POCL");
  EXPECT_TRUE(slot.is_loading());
  EXPECT_EQ(slot.get(), kFallback);
  gate.open();
  EXPECT_EQ(slot.wait(), kLoaded);
  EXPECT_EQ(slot.get(), kLoaded);
  EXPECT_FALSE(slot.is_loading());
}

TEST(NetworkSlotTest, LetsTheFallbackGoAfterwards) {
  Gate gate;
  auto fallback = std::make_shared<const Network>();
  const std::weak_ptr<const Network> watched = fallback;
  {
    const NetworkSlot slot(std::move(fallback), gate.load(), "POCL");
    gate.open();
    slot.wait();
  }
  EXPECT_TRUE(watched.expired());
}

TEST(NetworkSlotTest, TellsTheErrorAtEveryRunAfterIt) {
  Gate gate;
  const Error cause(ErrorCode::kBuild, "layer 'conv1': program conv_wide.cl does not build");
  const NetworkSlot slot(kFallback, gate.load(std::make_exception_ptr(cause)), "POCL");
  EXPECT_EQ(slot.get(), kFallback);
  gate.open();
  EXPECT_THROW(slot.wait(), Error);
  EXPECT_FALSE(slot.is_loading());
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(message_of(slot),
              "POCL: preparing it in the background failed: layer 'conv1': program conv_wide.cl does not build");
  }
}

TEST(NetworkSlotTest, PassesOnWhatIsNoErrorOfOurs) {
  Gate gate;
  const NetworkSlot slot(kFallback, gate.load(std::make_exception_ptr(std::bad_alloc())), "POCL");
  gate.open();
  EXPECT_THROW(slot.wait(), std::bad_alloc);
}

TEST(NetworkSlotTest, WaitsForTheLoadingWhenItGoes) {
  std::atomic<bool> has_ended = false;
  {
    const NetworkSlot slot(
        kFallback,
        [&has_ended] {
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          has_ended = true;
          return kLoaded;
        },
        "POCL");
  }
  EXPECT_TRUE(has_ended);
}

TEST(NetworkSlotTest, ServesManyThreadsWhileItChanges) {
  Gate gate;
  const NetworkSlot slot(kFallback, gate.load(), "POCL");
  std::atomic<int> fallback_answers = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      bool has_changed = false;
      while (!has_changed) {
        const auto network = slot.get();
        has_changed = network == kLoaded;
        if (!has_changed) ++fallback_answers;
      }
      EXPECT_EQ(slot.get(), kLoaded) << "it never changes back";
    });
  }
  while (fallback_answers < 100) std::this_thread::yield();
  gate.open();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace headrace::test
