// SPDX-License-Identifier: Apache-2.0
// Reports #5 and #13: busy, errors, callbacks, cancelling and destroying at every moment.
#include "runtime/run_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <optional>
#include <thread>

#include "core/error.hpp"

namespace headrace {
namespace {

using namespace std::chrono_literals;

// Work that goes on until it is released or told to stop.
struct Gate {
  RunLoop::Work work() {
    return [this](std::stop_token stop) {
      ++entered;
      while (!is_open && !stop.stop_requested()) std::this_thread::sleep_for(1ms);
    };
  }
  void wait_until_entered(int count = 1) const {
    while (entered < count) std::this_thread::sleep_for(1ms);
  }
  std::atomic<int> entered{0};
  std::atomic<bool> is_open{false};
};

template <typename Call>
std::optional<ErrorCode> code_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return std::nullopt;
}

TEST(RunLoopTest, RunsOnTheCallersThreadWithoutACallback) {
  std::thread::id seen;
  RunLoop loop([&](std::stop_token) { seen = std::this_thread::get_id(); });
  loop.run();
  EXPECT_EQ(seen, std::this_thread::get_id());
}

TEST(RunLoopTest, StartsInAThreadOfItsOwnThatItKeeps) {
  std::vector<std::thread::id> seen;
  RunLoop loop([&](std::stop_token) { seen.push_back(std::this_thread::get_id()); });
  for (int i = 0; i < 2; ++i) {
    loop.start();
    loop.wait();
  }
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_NE(seen[0], std::this_thread::get_id());
  EXPECT_EQ(seen[0], seen[1]);
}

TEST(RunLoopTest, RefusesAStartWhileRunningAndDoesNotDisturbTheRun) {
  Gate gate;
  RunLoop loop(gate.work());
  loop.start();
  EXPECT_EQ(code_of([&] { loop.start(); }), ErrorCode::kBusy);
  EXPECT_EQ(code_of([&] { loop.run(); }), ErrorCode::kBusy);
  EXPECT_EQ(code_of([&] { loop.check_not_running("set_tensor"); }), ErrorCode::kBusy);
  gate.is_open = true;
  EXPECT_NO_THROW(loop.wait());
  EXPECT_EQ(gate.entered, 1);
}

TEST(RunLoopTest, TwoThreadsOnOneLoopGiveCleanBusyErrors) {
  std::atomic<int> inside{0};
  std::atomic<int> done{0};
  std::atomic<int> busy{0};
  RunLoop loop([&](std::stop_token) {
    EXPECT_EQ(++inside, 1);
    std::this_thread::sleep_for(100us);
    --inside;
  });
  std::vector<std::jthread> threads;
  for (int t = 0; t < 7; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        const auto code = code_of([&] { loop.run(); });
        EXPECT_TRUE(!code || *code == ErrorCode::kBusy);
        ++(code ? busy : done);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(done + busy, 140);
  EXPECT_GT(done, 0);
}

TEST(RunLoopTest, WaitRethrowsTheErrorOnceAndTheLoopIsUsableAgain) {
  bool is_failing = true;
  RunLoop loop([&](std::stop_token) {
    if (is_failing) fail(ErrorCode::kDevice, "layer 'conv1': lost");
  });
  loop.start();
  EXPECT_EQ(code_of([&] { loop.wait(); }), ErrorCode::kDevice);
  EXPECT_NO_THROW(loop.wait());
  EXPECT_EQ(code_of([&] { loop.run(); }), ErrorCode::kDevice);
  is_failing = false;
  loop.start();
  EXPECT_NO_THROW(loop.wait());
  EXPECT_NO_THROW(loop.run());
}

TEST(RunLoopTest, KeepsTheFirstErrorWhenTheCallbackThrowsToo) {
  RunLoop loop([](std::stop_token) { fail(ErrorCode::kDevice, "first"); });
  loop.set_callback([](std::exception_ptr) { throw Error(ErrorCode::kIo, "second"); });
  loop.start();
  EXPECT_EQ(code_of([&] { loop.wait(); }), ErrorCode::kDevice);
}

TEST(RunLoopTest, WaitReportsWhatTheCallbackThrows) {
  RunLoop loop([](std::stop_token) {});
  loop.set_callback([](std::exception_ptr) { throw Error(ErrorCode::kIo, "disk full"); });
  loop.start();
  EXPECT_EQ(code_of([&] { loop.wait(); }), ErrorCode::kIo);
  EXPECT_EQ(code_of([&] { loop.run(); }), ErrorCode::kIo);
}

TEST(RunLoopTest, CallsBackOncePerRunWithTheError) {
  bool is_failing = false;
  int calls = 0;
  int errors = 0;
  RunLoop loop([&](std::stop_token) {
    if (is_failing) throw std::runtime_error("no");
  });
  loop.set_callback([&](std::exception_ptr error) {
    ++calls;
    if (error != nullptr) ++errors;
  });
  for (int i = 0; i < 4; ++i) {
    is_failing = i == 2;
    loop.start();
    try {
      loop.wait();
      EXPECT_FALSE(is_failing);
    } catch (const std::runtime_error&) {
      EXPECT_TRUE(is_failing);
    }
  }
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(errors, 1);
}

TEST(RunLoopTest, ACallbackMayStartTheNextRunAndWaitWaitsForAll) {
  int runs = 0;
  std::atomic<int> inside{0};
  RunLoop loop([&](std::stop_token) { ++runs; });
  loop.set_callback([&](std::exception_ptr) {
    EXPECT_EQ(++inside, 1);  // never two callbacks at a time
    if (runs < 5) loop.start();
    --inside;
  });
  loop.start();
  loop.wait();
  EXPECT_EQ(runs, 5);
}

TEST(RunLoopTest, AnotherThreadMayStartWhileTheCallbackIsReturning) {
  std::promise<void> in_callback;
  std::promise<void> leave;
  std::atomic<int> calls{0};
  RunLoop loop([](std::stop_token) {});
  loop.set_callback([&](std::exception_ptr) {
    if (++calls > 1) return;
    in_callback.set_value();
    leave.get_future().wait();
  });
  loop.start();
  in_callback.get_future().wait();
  EXPECT_NO_THROW(loop.start());
  leave.set_value();
  loop.wait();
  EXPECT_EQ(calls, 2);
}

TEST(RunLoopTest, WaitInsideTheCallbackDoesNotBlock) {
  std::optional<ErrorCode> idle;
  std::optional<ErrorCode> started;
  bool is_first = true;
  RunLoop loop([](std::stop_token) {});
  loop.set_callback([&](std::exception_ptr) {
    if (!std::exchange(is_first, false)) return;
    idle = code_of([&] { loop.wait(); });
    EXPECT_TRUE(loop.wait_for(0ms));
    loop.start();
    started = code_of([&] { loop.wait(); });
    EXPECT_FALSE(loop.wait_for(0ms));
  });
  loop.start();
  loop.wait();
  EXPECT_FALSE(idle);
  EXPECT_EQ(started, ErrorCode::kBusy);
}

TEST(RunLoopTest, InferInsideTheCallbackRunsThere) {
  int runs = 0;
  RunLoop loop([&](std::stop_token) { ++runs; });
  loop.set_callback([&](std::exception_ptr) {
    if (runs == 1) loop.run();
  });
  loop.start();
  loop.wait();
  EXPECT_EQ(runs, 2);
}

TEST(RunLoopTest, WaitForReturnsInTimeAndRethrows) {
  Gate gate;
  RunLoop loop(gate.work());
  EXPECT_TRUE(loop.wait_for(0ms));
  loop.start();
  EXPECT_FALSE(loop.wait_for(0ms));
  EXPECT_FALSE(loop.wait_for(5ms));
  gate.is_open = true;
  EXPECT_TRUE(loop.wait_for(60s));
  RunLoop failing([](std::stop_token) { fail(ErrorCode::kDevice, "lost"); });
  failing.start();
  EXPECT_EQ(code_of([&] { failing.wait_for(60s); }), ErrorCode::kDevice);
}

TEST(RunLoopTest, CancelEndsTheRunAtOnceOrLater) {
  Gate gate;
  RunLoop loop(gate.work());
  loop.start();
  loop.cancel();  // perhaps before the work was entered
  EXPECT_EQ(code_of([&] { loop.wait(); }), ErrorCode::kCancelled);
  const int before = gate.entered;
  loop.start();
  gate.wait_until_entered(before + 1);
  loop.cancel();
  EXPECT_EQ(code_of([&] { loop.wait(); }), ErrorCode::kCancelled);
  gate.is_open = true;
  loop.start();
  EXPECT_NO_THROW(loop.wait());
  loop.cancel();  // nothing is running
  loop.start();
  EXPECT_NO_THROW(loop.wait());
}

TEST(RunLoopTest, CancelEndsASynchronousRunFromAnotherThread) {
  Gate gate;
  RunLoop loop(gate.work());
  std::jthread canceller([&] {
    gate.wait_until_entered();
    loop.cancel();
  });
  EXPECT_EQ(code_of([&] { loop.run(); }), ErrorCode::kCancelled);
}

TEST(RunLoopTest, DestroyingARunningLoopCancelsItAndCallsBackOnce) {
  Gate gate;
  std::atomic<int> calls{0};
  {
    RunLoop loop(gate.work());
    loop.set_callback([&](std::exception_ptr error) {
      ++calls;
      EXPECT_NE(error, nullptr);
    });
    loop.start();
  }
  EXPECT_EQ(calls, 1);
  {
    RunLoop loop(gate.work());
    loop.start();
    gate.wait_until_entered();
  }
}

TEST(RunLoopTest, MayBeDestroyedInsideItsOwnCallback) {
  std::promise<void> done;
  auto loop = std::make_unique<RunLoop>([](std::stop_token) {});
  loop->set_callback([&](std::exception_ptr) {
    loop.reset();
    done.set_value();
  });
  loop->start();
  EXPECT_EQ(done.get_future().wait_for(60s), std::future_status::ready);
}

}  // namespace
}  // namespace headrace
