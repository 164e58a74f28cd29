// SPDX-License-Identifier: Apache-2.0
// Equal parts of a device: named ones, and all of them as one device. Runs on each device found that can be divided.
#include <thread>

#include "device/child_process.hpp"
#include "device/device_fixture.hpp"
#include "device/opencl/sub_devices.hpp"
#include "support/op_case.hpp"

namespace headrace::test {
namespace {

class PartsTest : public testing::Test {
 protected:
  PartsTest() {
    opencl_test_devices();  // fails where a required device is missing
    write_test_kernels(folder_.path("kernels"));
    for (const OpenClDeviceEntry& entry : list_opencl_devices()) {
      if (entry.max_parts > 1 && is_usable(entry.info.name)) divisible_.push_back(entry);
    }
  }

  static bool is_usable(const std::string& name) {
    const std::vector<std::string> names = usable_device_names();
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  OpenClOptions options() const {
    return {.cache_dir = folder_.path("cache"), .state_dir = "", .kernel_dir = folder_.path("kernels")};
  }

  TempFolder folder_;
  std::vector<OpenClDeviceEntry> divisible_;
};

TEST_F(PartsTest, NamesOnePart) {
  for (const OpenClDeviceEntry& entry : divisible_) {
    SCOPED_TRACE(entry.info.description);
    for (const char* part : {"#0/2", "#1/2"}) {
      const auto half = make_opencl_device(entry.info.name + part, options());
      EXPECT_EQ(half->caps().compute_units, entry.compute_units / 2);
      EXPECT_EQ(half->info().name, entry.info.name + part);
      EXPECT_EQ(half->part_count(), 1U);
      expect_scaled(run_once(*half, make_scale_plan({64}, 2.0F, 1.0F), counting_tensor({64})), 2.0F, 1.0F);
    }
  }
}

TEST_F(PartsTest, PartsOfOneDivisionShareTheirContext) {
  for (const OpenClDeviceEntry& entry : divisible_) {
    SCOPED_TRACE(entry.info.description);
    const DividedDevice divided = divide_opencl_device(entry.info.name, 2, options());
    ASSERT_EQ(divided.parts.size(), 2U);
    EXPECT_EQ(divided.all->part_count(), 2U);
    EXPECT_EQ(divided.all->info().name, entry.info.name);
    EXPECT_EQ(divided.all->caps().compute_units, entry.compute_units / 2);
    for (std::size_t part = 0; part < 2; ++part) {
      EXPECT_EQ(divided.parts[part]->info().name, entry.info.name + "#" + std::to_string(part) + "/2");
      EXPECT_EQ(divided.parts[part]->native_context(), divided.all->native_context());
      const auto plan = make_scale_plan({64}, 3.0F, static_cast<float>(part));
      expect_scaled(run_once(*divided.parts[part], plan, counting_tensor({64})), 3.0F, static_cast<float>(part));
    }
  }
}

// A sub-device that goes with its context is freed while PoCL still gives its queue back (sub_devices.hpp).
TEST_F(PartsTest, DividesADeviceOnce) {
  for (const OpenClDeviceEntry& entry : divisible_) {
    SCOPED_TRACE(entry.info.description);
    const std::vector<cl_device_id> first = sub_devices(entry, 2);
    EXPECT_EQ(first.size(), 2U);
    EXPECT_NE(first.front(), first.back());
    EXPECT_EQ(sub_devices(entry, 2), first);
  }
}

TEST_F(PartsTest, OpensAndClosesOnePartManyTimes) {
  const auto plan = make_scale_plan({64}, 2.0F, 1.0F);
  const Tensor input = counting_tensor({64});
  for (const OpenClDeviceEntry& entry : divisible_) {
    SCOPED_TRACE(entry.info.description);
    for (int round = 0; round < 50; ++round) {
      const auto half = make_opencl_device(entry.info.name + "#1/2", options());
      expect_scaled(run_once(*half, plan, input), 2.0F, 1.0F);
    }
  }
}

TEST_F(PartsTest, SessionsOfOnePlanRunOnAllPartsAtOnce) {
  const Shape shape{1, 3, 50, 50};
  const Tensor input = counting_tensor(shape);
  for (const OpenClDeviceEntry& entry : divisible_) {
    SCOPED_TRACE(entry.info.description);
    const DividedDevice divided = divide_opencl_device(entry.info.name, 2, options());
    const auto executable = divided.all->load(make_scale_plan(shape, 1.0F, 1.0F, 6), {});
    std::vector<Tensor> outputs(2, Tensor());
    std::vector<std::thread> threads;
    for (std::size_t part = 0; part < 2; ++part) {
      outputs[part] = Tensor(ElementType::f32, shape);
      threads.emplace_back([&, part] {
        const auto session = executable->make_session(part);
        session->set_input(0, input);
        session->set_output(0, outputs[part]);
        for (int run = 0; run < 20; ++run) {
          session->start();
          session->finish();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const Tensor& output : outputs) expect_scaled(output, 1.0F, 6.0F);
    EXPECT_THROW(executable->make_session(2), Error);
  }
}

// What the whole device compiled is enough for its parts, and the other way round.
TEST_F(PartsTest, PartsAndTheWholeShareTheCache) {
  const auto plan = make_scale_plan({64}, 2.0F, 1.0F);
  for (const OpenClDeviceEntry& entry : divisible_) {
    SCOPED_TRACE(entry.info.description);
    for (const bool is_whole_first : {true, false}) {
      const TempFolder cache;
      OpenClOptions own = options();
      own.cache_dir = cache.path();
      const std::string whole = entry.info.name;
      const std::string part = entry.info.name + "#1/2";
      const auto first = make_opencl_device(is_whole_first ? whole : part, own);
      EXPECT_EQ(first->count_unbuilt(*plan), 1U);
      EXPECT_EQ(first->load(plan, {})->step_origins().front(), "source");
      EXPECT_EQ(first->count_unbuilt(*plan), 0U);
      const auto second = make_opencl_device(is_whole_first ? part : whole, own);
      EXPECT_EQ(second->count_unbuilt(*plan), 0U);
      EXPECT_EQ(second->load(plan, {})->step_origins().front(), "cache");
      expect_scaled(run_once(*second, plan, counting_tensor({64})), 2.0F, 1.0F);
    }
  }
}

TEST_F(PartsTest, RefusesMorePartsThanUnits) {
  for (const OpenClDeviceEntry& entry : divisible_) {
    const std::string& name = entry.info.name;
    const std::string expected = "device " + name + " cannot be divided into 1000000 parts: the most is " +
                                 std::to_string(entry.max_parts) + "; name the whole device, " + name;
    EXPECT_EQ(error_message([&] { make_opencl_device(name + "#0/1000000", {}); }, ErrorCode::kInvalidArgument),
              expected);
    EXPECT_EQ(error_message([&] { divide_opencl_device(name, 1000000, {}); }, ErrorCode::kInvalidArgument), expected);
    EXPECT_NE(error_message([&] { divide_opencl_device(name + "#0/2", 2, {}); }, ErrorCode::kInvalidArgument)
                  .find("is a part already"),
              std::string::npos);
  }
}

TEST_F(PartsTest, DISABLED_ChildWithOneUnit) {
  EXPECT_EQ(
      error_message([] { make_opencl_device("POCL#0/2", {}); }, ErrorCode::kInvalidArgument),
      "device " + find_opencl_device(list_opencl_devices(), "POCL")->canonical +
          " cannot be divided into 2 parts: its driver cannot divide it, or it has one compute unit; name the whole "
          "device, " +
          find_opencl_device(list_opencl_devices(), "POCL")->canonical);
}

TEST_F(PartsTest, ADeviceOfOneUnitIsNotDivided) {
  if (!find_opencl_device(list_opencl_devices(), "POCL")) GTEST_SKIP() << "PoCL is not installed";
  expect_passed(run_child("PartsTest.DISABLED_ChildWithOneUnit", {{"POCL_MAX_PTHREAD_COUNT", "1"}}));
}

}  // namespace
}  // namespace headrace::test
