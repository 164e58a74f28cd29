// SPDX-License-Identifier: Apache-2.0
// What every device must do with a plan: values, ports, buffers, limits, profile. Runs on each device found.
#include <cstring>
#include <thread>

#include "device/device_fixture.hpp"
#include "support/op_case.hpp"

namespace headrace::test {
namespace {

class ConformanceTest : public testing::Test {
 protected:
  ConformanceTest() {
    opencl_test_devices();  // fails where a required device is missing
    write_test_kernels(folder_.path("kernels"));
    for (const std::string& name : usable_device_names()) {
      devices_.push_back(
          make_opencl_device(name, {.cache_dir = "", .state_dir = "", .kernel_dir = folder_.path("kernels")}));
    }
  }

  TempFolder folder_;
  std::vector<std::unique_ptr<Device>> devices_;
};

TEST_F(ConformanceTest, RunsOneLayerAndLayersThroughTheArena) {
  for (const auto& device : devices_) {
    SCOPED_TRACE(device->info().description);
    const Shape shape{1, 3, 7, 11};
    expect_scaled(run_once(*device, make_scale_plan(shape, 2.0F, 1.0F), counting_tensor(shape)), 2.0F, 1.0F);
    expect_scaled(run_once(*device, make_scale_plan(shape, 1.0F, 1.0F, 5), counting_tensor(shape)), 1.0F, 5.0F);
  }
}

TEST_F(ConformanceTest, RunsAgainWithOtherMemoryAndUnalignedMemory) {
  const Shape shape{300};
  const auto plan = make_scale_plan(shape, 3.0F, -1.0F, 2);
  std::vector<float> memory(400, 0.0F);
  for (const auto& device : devices_) {
    SCOPED_TRACE(device->info().description);
    const auto executable = device->load(plan, {});
    const auto session = executable->make_session();
    for (std::size_t shift : {0U, 1U, 5U, 32U}) {
      for (std::size_t i = 0; i < 300; ++i) memory[i + shift] = static_cast<float>(i + shift);
      const Tensor input(ElementType::f32, shape, memory.data() + shift);
      std::vector<float> result(302, -7.0F);
      const Tensor output(ElementType::f32, shape, result.data() + 1);
      session->set_input(0, input);
      session->set_output(0, output);
      session->start();
      session->finish();
      for (std::size_t i = 0; i < 300; ++i) {
        ASSERT_EQ(result[i + 1], 3.0F * (static_cast<float>(i + shift) + 1.0F) - 1.0F) << i << " shift " << shift;
      }
      EXPECT_EQ(result.front(), -7.0F) << "written before the output";
      EXPECT_EQ(result.back(), -7.0F) << "written behind the output";
    }
  }
}

TEST_F(ConformanceTest, SeesNewValuesInTheSameMemory) {
  const Shape shape{1024};
  const auto plan = make_scale_plan(shape, 1.0F, 0.0F);
  Tensor input(ElementType::f32, shape);
  const Tensor output(ElementType::f32, shape);
  for (const auto& device : devices_) {
    SCOPED_TRACE(device->info().description);
    const auto executable = device->load(plan, {});
    const auto session = executable->make_session();
    session->set_input(0, input);
    session->set_output(0, output);
    for (float value : {1.0F, 2.0F, 3.0F}) {
      for (float& element : input.mutable_values<float>()) element = value;
      session->start();
      session->finish();
      for (float element : output.values<float>()) ASSERT_EQ(element, value);
    }
  }
}

TEST_F(ConformanceTest, LeavesGuardBandsUntouched) {
  // Tensors inside a block whose other bytes are a pattern: nothing but the output may change.
  constexpr std::int64_t kCount = 757;
  const auto plan = make_scale_plan({kCount}, 2.0F, 0.5F);
  for (const auto& device : devices_) {
    SCOPED_TRACE(device->info().description);
    Tensor block(ElementType::f32, {4096});
    std::memset(block.mutable_data(), 0x5a, block.size_bytes());
    constexpr std::int64_t kStart = 1024;  // aligned, with room on both sides
    const Tensor output(ElementType::f32, {kCount}, block.mutable_data() + kStart * 4);
    const auto executable = device->load(plan, {});
    const auto session = executable->make_session();
    session->set_input(0, counting_tensor({kCount}));
    session->set_output(0, output);
    session->start();
    session->finish();
    expect_scaled(output, 2.0F, 0.5F);
    for (std::size_t i = 0; i < block.size_bytes(); ++i) {
      const bool is_output = i >= kStart * 4 && i < (kStart + kCount) * 4;
      ASSERT_TRUE(is_output || block.data()[i] == std::byte{0x5a}) << "byte " << i;
    }
  }
}

TEST_F(ConformanceTest, ReadsConstantsWhereverTheyLie) {
  // Aligned and unaligned constants; the device must not need the caller's alignment.
  std::vector<float> values(128 + 64, 0.0F);
  for (const auto& device : devices_) {
    SCOPED_TRACE(device->info().description);
    for (std::size_t shift : {0U, 1U}) {
      for (std::size_t i = 0; i < 128; ++i) values[i + shift] = static_cast<float>(i);
      auto plan = std::make_shared<DevicePlan>(*make_scale_plan({128}, 1.0F, 0.0F));
      plan->buffers.push_back({512, Tensor(ElementType::f32, {128}, values.data() + shift), "weights of 'layer0'"});
      Launch launch;
      launch.instance = sum_instance();
      launch.args = {BufferRef{1, 0}, BufferRef{3, 0}, BufferRef{2, 0}, std::int32_t{128}};
      plan->steps[0].action = launch;
      expect_scaled(run_once(*device, plan, counting_tensor({128})), 2.0F, 0.0F);
    }
  }
}

TEST_F(ConformanceTest, RunsNothingForATensorWithoutElements) {
  for (const auto& device : devices_) {
    SCOPED_TRACE(device->info().description);
    const Tensor output = run_once(*device, make_scale_plan({0, 3}, 2.0F, 0.0F), Tensor(ElementType::f32, {0, 3}));
    EXPECT_EQ(output.count(), 0);
  }
}

TEST_F(ConformanceTest, KeepsSessionsApart) {
  // Four requests in four threads, each with its own input (clSetKernelArg on a shared kernel would mix them).
  const Shape shape{1, 1, 64, 64};
  const auto plan = make_scale_plan(shape, 2.0F, 1.0F);
  for (const auto& device : devices_) {
    SCOPED_TRACE(device->info().description);
    const auto executable = device->load(plan, {});
    std::vector<int> wrong(4, 0);
    std::vector<std::jthread> threads;
    for (int k = 0; k < 4; ++k) {
      threads.emplace_back([&, k] {
        const auto session = executable->make_session();
        Tensor input(ElementType::f32, shape);
        for (float& value : input.mutable_values<float>()) value = static_cast<float>(k);
        const Tensor output(ElementType::f32, shape);
        session->set_input(0, input);
        session->set_output(0, output);
        for (int run = 0; run < 50; ++run) {
          session->start();
          session->finish();
          for (float value : output.values<float>())
            wrong[static_cast<std::size_t>(k)] += value != 2.0F * static_cast<float>(k) + 1.0F;
        }
      });
    }
    threads.clear();
    EXPECT_EQ(wrong, std::vector<int>(4, 0));
  }
}

TEST_F(ConformanceTest, ProfilesEveryStep) {
  const Shape shape{1, 8, 64, 64};
  const auto plan = make_scale_plan(shape, 1.0F, 1.0F, 3);
  for (const auto& device : devices_) {
    SCOPED_TRACE(device->info().description);
    const auto executable = device->load(plan, {.is_profiling = true});
    const auto session = executable->make_session();
    const Tensor output(ElementType::f32, shape);
    session->set_input(0, counting_tensor(shape));
    session->set_output(0, output);
    session->start();
    session->finish();
    const SessionProfile profile = session->profile();
    ASSERT_EQ(profile.steps.size(), 3U);
    for (const StepProfile& step : profile.steps) {
      EXPECT_GT(step.device_us, 0.0);
      EXPECT_GE(step.queue_us, 0.0);
    }
    EXPECT_EQ(executable->step_origins(), std::vector<std::string>(3, "source"));
  }
}

TEST_F(ConformanceTest, RefusesTensorsThatDoNotFitThePort) {
  for (const auto& device : devices_) {
    SCOPED_TRACE(device->info().description);
    const auto session = device->load(make_scale_plan({2, 3}, 1.0F, 0.0F), {})->make_session();
    EXPECT_EQ(error_message(
                  [&] {
                    session->set_input(0, Tensor(ElementType::f32, {3, 2}));
                  },
                  ErrorCode::kInvalidArgument),
              "'x' takes f32 [2,3], got f32 [3,2]");
    EXPECT_EQ(error_message(
                  [&] {
                    session->set_output(0, Tensor(ElementType::i32, {2, 3}));
                  },
                  ErrorCode::kInvalidArgument),
              "'y' takes f32 [2,3], got i32 [2,3]");
    EXPECT_EQ(error_message([&] { session->start(); }, ErrorCode::kInvalidArgument), "input 'x' was not given");
  }
}

TEST_F(ConformanceTest, NamesKernelWantedAndAllowedWorkGroup) {
  for (const auto& device : devices_) {
    SCOPED_TRACE(device->info().description);
    const std::size_t limit = device->caps().max_work_group;
    auto plan = std::make_shared<DevicePlan>(*make_scale_plan({64}, 1.0F, 0.0F));
    Launch launch = std::get<Launch>(plan->steps[0].action);
    launch.global[0] = launch.local[0] = 2 * limit;
    plan->steps[0].action = launch;
    const std::string message = error_message([&] { device->load(plan, {}); }, ErrorCode::kUnsupported);
    EXPECT_NE(message.find("layer 'layer0' (scale_f32): wants a work-group of " + std::to_string(2 * limit) + "x1x1"),
              std::string::npos)
        << message;
  }
}

TEST_F(ConformanceTest, PassesLocalMemoryToAGroupKernel) {
  for (const auto& device : devices_) {
    SCOPED_TRACE(device->info().description);
    if (device->caps().max_work_group < 16) continue;  // under POCL_MAX_WORK_GROUP_SIZE the test above covers it
    auto plan = std::make_shared<DevicePlan>(*make_scale_plan({60}, 1.0F, 0.0F));
    Launch launch;
    launch.instance = {"group.cl", "", "group_f32"};
    launch.args = {BufferRef{1, 0}, BufferRef{2, 0}, std::int32_t{60}, LocalBytes{64}};
    launch.global[0] = 64;
    launch.local[0] = 16;
    plan->steps[0].action = launch;
    expect_scaled(run_once(*device, plan, counting_tensor({60})), 1.0F, 1.0F);
  }
}

TEST_F(ConformanceTest, ReportsBuildErrorsWithTheCompilersWords) {
  write_bytes(folder_.path("kernels/broken.cl"),
              "__kernel void broken_f32(__global float* a) { a[0] = no_such_name; }\n");
  for (const std::string& name : usable_device_names()) {
    SCOPED_TRACE(name);
    const auto device =
        make_opencl_device(name, {.cache_dir = "", .state_dir = "", .kernel_dir = folder_.path("kernels")});
    auto plan = std::make_shared<DevicePlan>(*make_scale_plan({64}, 1.0F, 0.0F));
    std::get<Launch>(plan->steps[0].action).instance = {"broken.cl", "", "broken_f32"};
    const std::string message = error_message([&] { device->load(plan, {}); }, ErrorCode::kBuild);
    EXPECT_NE(message.find("layer 'layer0'"), std::string::npos) << message;
    EXPECT_NE(message.find("no_such_name"), std::string::npos) << message;
    EXPECT_NE(message.find("kernels/broken.cl:1"), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    // The device is usable after it.
    expect_scaled(run_once(*device, make_scale_plan({64}, 2.0F, 0.0F), counting_tensor({64})), 2.0F, 0.0F);
  }
}

TEST_F(ConformanceTest, RefusesUnalignedOffsetsNamingTheKernel) {
  for (const auto& device : devices_) {
    SCOPED_TRACE(device->info().description);
    auto plan = std::make_shared<DevicePlan>(*make_scale_plan({64}, 1.0F, 0.0F));
    std::get<Launch>(plan->steps[0].action).args[0] = BufferRef{1, 4};
    const auto executable = device->load(plan, {});
    const std::string message = error_message([&] { executable->make_session(); }, ErrorCode::kInternal);
    EXPECT_NE(message.find("(scale_f32): buffer offset 4"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace headrace::test
