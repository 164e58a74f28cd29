// SPDX-License-Identifier: Apache-2.0
// The CPU device with plans written by hand: places, the caller's memory, errors, cancelling.
#include "device/cpu/cpu_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#ifdef HEADRACE_WITH_ONEDNN
extern "C" int omp_get_max_threads();
#endif

namespace headrace {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

using Function = std::function<void(std::span<const Tensor>, std::span<Tensor>)>;

HostOperand operand(std::int32_t buffer, std::int64_t count) { return {{buffer, 0}, ElementType::f32, {count}}; }

PlanPort port(const std::string& name, std::int32_t buffer, std::int64_t count) {
  return {name, {buffer, 0}, ElementType::f32, {count}};
}

PlanStep step(const std::string& layer, Function function, std::vector<HostOperand> inputs,
              std::vector<HostOperand> outputs) {
  return {layer, "Test", "reference", HostCall{std::move(function), std::move(inputs), std::move(outputs)}, 0, 0};
}

HostCall& call_of(DevicePlan& plan, std::size_t s) { return std::get<HostCall>(plan.steps[s].action); }

Function adding(float value) {
  return [value](std::span<const Tensor> inputs, std::span<Tensor> outputs) {
    const auto src = inputs[0].values<float>();
    const auto dst = outputs[0].mutable_values<float>();
    for (std::size_t i = 0; i < src.size(); ++i) dst[i] = src[i] + value;
  };
}

std::vector<PlanBuffer> buffers(std::initializer_list<std::size_t> sizes) {
  std::vector<PlanBuffer> result;
  for (const std::size_t size : sizes) result.push_back({size, {}, "b" + std::to_string(result.size())});
  return result;
}

// x -> +1 -> arena -> +10 -> y, with x and y in buffers of their own.
DevicePlan chain_plan() {
  DevicePlan plan;
  plan.buffers = buffers({16, 16, 16});
  plan.steps = {step("one", adding(1), {operand(1, 4)}, {operand(0, 4)}),
                step("ten", adding(10), {operand(0, 4)}, {operand(2, 4)})};
  plan.inputs = {port("x", 1, 4)};
  plan.outputs = {port("y", 2, 4)};
  return plan;
}

std::unique_ptr<Executable> load(DevicePlan plan, bool is_profiling = false) {
  return CpuDevice().load(std::make_shared<const DevicePlan>(std::move(plan)), {.is_profiling = is_profiling});
}

void run(Session& session) {
  session.start();
  session.finish();
}

std::vector<float> floats(const Tensor& tensor) {
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

Tensor one_to_four() { return make_f32_tensor({4}, std::vector<float>{1, 2, 3, 4}); }

// A session of the plan with x and y set.
struct Ready {
  explicit Ready(DevicePlan plan, bool is_profiling = false)
      : session(load(std::move(plan), is_profiling)->make_session()) {
    session->set_input(0, x);
    session->set_output(0, y);
  }
  Tensor x = one_to_four();
  Tensor y{ElementType::f32, {4}};
  std::unique_ptr<Session> session;
};

TEST(CpuDeviceTest, RunsStepsInOrder) {
  Ready ready(chain_plan());
  run(*ready.session);
  EXPECT_THAT(floats(ready.y), ElementsAre(12, 13, 14, 15));
  EXPECT_THAT(floats(ready.x), ElementsAre(1, 2, 3, 4));
  EXPECT_TRUE(ready.session->profile().steps.empty());
  EXPECT_THAT(load(chain_plan())->step_origins(), ElementsAre("host", "host"));
}

TEST(CpuDeviceTest, UsesTheCallersMemoryInPlace) {
  DevicePlan plan = chain_plan();
  const void* seen_input = nullptr;
  const void* seen_output = nullptr;
  call_of(plan, 0).function = [&](std::span<const Tensor> in, std::span<Tensor>) { seen_input = in[0].data(); };
  call_of(plan, 1).function = [&](std::span<const Tensor>, std::span<Tensor> out) { seen_output = out[0].data(); };
  Ready ready(std::move(plan));
  run(*ready.session);
  EXPECT_EQ(seen_input, ready.x.data());
  EXPECT_EQ(seen_output, ready.y.data());
}

TEST(CpuDeviceTest, CopiesMemoryThatIsUnalignedForItsType) {
  Ready ready(chain_plan());
  std::vector<std::byte> in(20);
  std::vector<std::byte> out(20);
  const std::vector<float> values{5, 6, 7, 8};
  std::memcpy(in.data() + 1, values.data(), 16);
  ready.session->set_input(0, Tensor(ElementType::f32, {4}, in.data() + 1));
  ready.session->set_output(0, Tensor(ElementType::f32, {4}, out.data() + 1));
  run(*ready.session);
  std::vector<float> result(4);
  std::memcpy(result.data(), out.data() + 1, 16);
  EXPECT_THAT(result, ElementsAre(16, 17, 18, 19));
  // And back to memory that is used in place.
  ready.session->set_input(0, ready.x);
  ready.session->set_output(0, ready.y);
  run(*ready.session);
  EXPECT_THAT(floats(ready.y), ElementsAre(12, 13, 14, 15));
}

TEST(CpuDeviceTest, CopiesPortsThatStandInTheArena) {
  DevicePlan plan = chain_plan();
  plan.buffers[0].size_bytes = 48;
  for (std::size_t s = 0; s < 2; ++s) {
    for (HostOperand* o : {&call_of(plan, s).inputs[0], &call_of(plan, s).outputs[0]}) {
      o->ref = {0, o->ref.buffer * 16};
    }
  }
  plan.inputs[0].ref = {0, 16};
  plan.outputs[0].ref = {0, 32};
  Ready ready(std::move(plan));
  run(*ready.session);
  EXPECT_THAT(floats(ready.y), ElementsAre(12, 13, 14, 15));
}

TEST(CpuDeviceTest, NeverWritesToAnInput) {
  DevicePlan plan = chain_plan();
  call_of(plan, 0).outputs[0].ref.buffer = 1;  // in place, in the input's buffer
  call_of(plan, 1).inputs[0].ref.buffer = 1;
  Ready ready(std::move(plan));
  run(*ready.session);
  run(*ready.session);
  EXPECT_THAT(floats(ready.x), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(floats(ready.y), ElementsAre(12, 13, 14, 15));
}

TEST(CpuDeviceTest, TwoOutputsMayShareOnePlace) {
  DevicePlan plan = chain_plan();
  plan.outputs.push_back(port("z", 2, 4));
  Ready ready(std::move(plan));
  const Tensor z(ElementType::f32, {4});
  ready.session->set_output(1, z);
  run(*ready.session);
  EXPECT_THAT(floats(ready.y), ElementsAre(12, 13, 14, 15));
  EXPECT_THAT(floats(z), ElementsAre(12, 13, 14, 15));
}

TEST(CpuDeviceTest, SharesConstantsAndZeroFillsTheRest) {
  DevicePlan plan;
  plan.buffers = buffers({16, 16, 16});
  plan.buffers[1].constant = one_to_four();
  const void* const constant = plan.buffers[1].constant.data();
  const void* seen = nullptr;
  const auto sum = [&seen](std::span<const Tensor> in, std::span<Tensor> out) {
    seen = in[0].data();
    const auto dst = out[0].mutable_values<float>();
    for (std::size_t i = 0; i < 4; ++i) dst[i] = in[0].values<float>()[i] + in[1].values<float>()[i];
  };
  plan.steps = {step("sum", sum, {operand(1, 4), operand(0, 4)}, {operand(2, 4)})};
  plan.outputs = {port("y", 2, 4)};
  const auto session = load(std::move(plan))->make_session();
  const Tensor y(ElementType::f32, {4});
  session->set_output(0, y);
  run(*session);
  EXPECT_THAT(floats(y), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(seen, constant);
}

TEST(CpuDeviceTest, RunsPlansWithEmptyTensors) {
  DevicePlan plan;
  plan.buffers = buffers({0, 0, 0});
  plan.steps = {step("none", adding(1), {operand(1, 0)}, {operand(2, 0)})};
  plan.inputs = {port("x", 1, 0)};
  plan.outputs = {port("y", 2, 0)};
  const auto session = load(std::move(plan))->make_session();
  session->set_input(0, Tensor(ElementType::f32, {0}));
  session->set_output(0, Tensor(ElementType::f32, {0}));
  EXPECT_NO_THROW(run(*session));
}

TEST(CpuDeviceTest, SessionsInThreadsDoNotDisturbEachOther) {
  const std::shared_ptr<Executable> executable = load(chain_plan());
  std::vector<Tensor> results;
  for (int t = 0; t < 4; ++t) results.emplace_back(ElementType::f32, Shape{4});
  std::vector<std::jthread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const auto session = executable->make_session();
      const Tensor x = make_f32_tensor({4}, std::vector<float>(4, static_cast<float>(t)));
      session->set_input(0, x);
      session->set_output(0, results[t]);
      for (int i = 0; i < 100; ++i) run(*session);
    });
  }
  threads.clear();
  for (std::size_t t = 0; t < 4; ++t) EXPECT_THAT(floats(results[t]), Each(11.0F + static_cast<float>(t)));
}

// The error that a call throws.
template <typename Call>
Error error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::kInternal, "no error was thrown");
}

TEST(CpuDeviceTest, NamesTheLayerThatFailsAndRunsAgain) {
  DevicePlan plan = chain_plan();
  bool is_failing = true;
  call_of(plan, 1).function = [&](std::span<const Tensor> in, std::span<Tensor> out) {
    if (is_failing) throw std::runtime_error("no luck");
    adding(10)(in, out);
  };
  Ready ready(std::move(plan));
  EXPECT_STREQ(error_of([&] { run(*ready.session); }).what(), "layer 'ten' (Test): no luck");
  is_failing = false;
  run(*ready.session);
  EXPECT_THAT(floats(ready.y), ElementsAre(12, 13, 14, 15));
}

TEST(CpuDeviceTest, StopsBetweenStepsWhenCancelled) {
  DevicePlan plan = chain_plan();
  std::stop_source stop;
  call_of(plan, 0).function = [&](std::span<const Tensor>, std::span<Tensor>) { stop.request_stop(); };
  Ready ready(std::move(plan));
  ready.session->set_stop(stop.get_token());
  const Error error = error_of([&] { run(*ready.session); });
  EXPECT_EQ(error.code(), ErrorCode::kCancelled);
  EXPECT_THAT(error.what(), HasSubstr("'ten'"));
}

TEST(CpuDeviceTest, RefusesTensorsThatDoNotFitThePort) {
  Ready ready(chain_plan());
  const Error error = error_of([&] { ready.session->set_input(0, Tensor(ElementType::f32, {5})); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_STREQ(error.what(), "'x' takes f32[4], given f32[5]");
}

TEST(CpuDeviceTest, RefusesKernelsAndOperandsOutsideTheirBuffer) {
  DevicePlan with_kernel = chain_plan();
  with_kernel.steps[0].action = Launch{};
  EXPECT_EQ(error_of([&] { load(with_kernel); }).code(), ErrorCode::kUnsupported);
  DevicePlan too_long = chain_plan();
  call_of(too_long, 0).inputs[0].shape = {5};
  EXPECT_STREQ(error_of([&] { load(too_long); }).what(), "layer 'one' (Test): operand leaves buffer 'b1'");
}

#ifdef HEADRACE_WITH_ONEDNN
TEST(CpuDeviceTest, BoundsTheThreadsOfARun) {
  for (const int threads : {0, 1, 3}) {
    int seen = 0;
    DevicePlan plan = chain_plan();
    call_of(plan, 0).function = [&seen](std::span<const Tensor>, std::span<Tensor>) { seen = omp_get_max_threads(); };
    const int before = omp_get_max_threads();
    const auto executable = CpuDevice().load(std::make_shared<const DevicePlan>(std::move(plan)), {.threads = threads});
    const auto session = executable->make_session();
    const Tensor x(ElementType::f32, {4});
    const Tensor y(ElementType::f32, {4});
    session->set_input(0, x);
    session->set_output(0, y);
    session->start();
    session->finish();
    EXPECT_EQ(seen, threads == 0 ? before : threads);
    EXPECT_EQ(omp_get_max_threads(), before);
  }
}
#endif

TEST(CpuDeviceTest, MeasuresStepsWhenProfiling) {
  DevicePlan plan = chain_plan();
  call_of(plan, 0).function = [](std::span<const Tensor>, std::span<Tensor>) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  Ready ready(std::move(plan), true);
  run(*ready.session);
  const SessionProfile profile = ready.session->profile();
  ASSERT_EQ(profile.steps.size(), 2U);
  EXPECT_GE(profile.steps[0].device_us, 5000.0);
}

}  // namespace
}  // namespace headrace
