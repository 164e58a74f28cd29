// SPDX-License-Identifier: Apache-2.0
// Steps whose items several queues share: every item once, every step after the one before it, in any number of
// sessions. On devices where steps are ordinary NDRanges the same plans run as those.
#include <thread>

#include "device/device_fixture.hpp"
#include "support/op_case.hpp"

namespace headrace::test {
namespace {

// x * 1 + 1 in `steps` steps of affine_wide.cl between two places of the arena, rows of 64 elements; an item is
// `row_block` rows.
std::shared_ptr<const DevicePlan> make_chain(std::int32_t rows, std::int32_t row_block, int steps) {
  constexpr std::int32_t kRow = 64;
  auto plan = std::make_shared<DevicePlan>();
  const std::size_t bytes = static_cast<std::size_t>(rows) * kRow * sizeof(float);
  plan->buffers.push_back({2 * bytes, {}, "arena"});
  plan->buffers.push_back({bytes, {}, "tensor 'x'"});
  plan->buffers.push_back({bytes, {}, "tensor 'y'"});
  Tensor one(ElementType::f32, {64});
  for (float& value : one.mutable_values<float>()) value = 1.0F;
  plan->buffers.push_back({one.size_bytes(), one, "ones"});
  for (int step = 0; step < steps; ++step) {
    const auto place = [&](int index) { return BufferRef{0, static_cast<std::int64_t>(bytes) * (index % 2)}; };
    Launch launch;
    launch.instance = {"affine_wide.cl", "VEC=4", "affine_wide_f32"};
    launch.args = {step + 1 == steps ? BufferRef{2, 0} : place(step), step == 0 ? BufferRef{1, 0} : place(step - 1),
                   BufferRef{3, 0}, BufferRef{3, 0}};
    // n, n_block, rows, row_block, size1..3; then offset and strides of dst, src, factor, term; act, alpha, beta.
    for (const std::int32_t value : {kRow, kRow, rows, row_block, 1, 1, rows}) launch.args.emplace_back(value);
    for (const std::int32_t row : {kRow, kRow, 0, 0}) {
      for (const std::int32_t value : {0, 0, 0, 0, row, 1}) launch.args.emplace_back(value);
    }
    launch.args.emplace_back(0);
    launch.args.emplace_back(0.0F);
    launch.args.emplace_back(0.0F);
    launch.global = {static_cast<std::size_t>((rows + row_block - 1) / row_block), 1, 1};
    plan->steps.push_back({"step" + std::to_string(step), "Add", "affine_wide_f32", launch, 0, 0});
  }
  plan->inputs.push_back({"x", {1, 0}, ElementType::f32, {rows, kRow}});
  plan->outputs.push_back({"y", {2, 0}, ElementType::f32, {rows, kRow}});
  return plan;
}

class StepWorkersTest : public testing::Test {
 protected:
  StepWorkersTest() {
    opencl_test_devices();  // fails where a required device is missing
    for (const std::string& name : usable_device_names()) devices_.push_back(make_opencl_device(name, {}));
  }
  std::vector<std::unique_ptr<Device>> devices_;
};

TEST_F(StepWorkersTest, DoesEveryItemOnceInOrder) {
  // One item; fewer and more than units; more than are taken at once, with a rest.
  struct Case {
    std::int32_t rows, row_block;
  };
  for (const auto& device : devices_) {
    SCOPED_TRACE(device->info().description);
    for (const Case& c : {Case{4, 4}, Case{6, 2}, Case{33, 2}, Case{1003, 1}}) {
      SCOPED_TRACE(std::to_string(c.rows) + " rows in items of " + std::to_string(c.row_block));
      const auto plan = make_chain(c.rows, c.row_block, 40);
      expect_scaled(run_once(*device, plan, counting_tensor({c.rows, 64})), 1.0F, 40.0F);
    }
  }
}

TEST_F(StepWorkersTest, RunsAgainAndBesideOtherSessions) {
  // More runs than the trial, so that devices which do not run two queues at once change to one in between.
  constexpr int kRuns = 25;
  const auto plan = make_chain(64, 1, 30);
  for (const auto& device : devices_) {
    SCOPED_TRACE(device->info().description);
    const auto executable = device->load(plan, {});
    std::vector<int> wrong(3, 0);
    std::vector<std::jthread> threads;
    for (std::size_t k = 0; k < wrong.size(); ++k) {
      threads.emplace_back([&, k] {
        const auto session = executable->make_session();
        Tensor input(ElementType::f32, {64, 64});
        Tensor output(ElementType::f32, {64, 64});
        session->set_input(0, input);
        session->set_output(0, output);
        for (int run = 0; run < kRuns; ++run) {
          const auto base = static_cast<float>(100 * run) + static_cast<float>(k);
          for (float& value : input.mutable_values<float>()) value = base;
          session->start();
          session->finish();
          for (const float value : output.values<float>()) wrong[k] += value != base + 30.0F;
        }
      });
    }
    threads.clear();
    EXPECT_EQ(wrong, std::vector<int>(wrong.size(), 0));
  }
}

}  // namespace
}  // namespace headrace::test
