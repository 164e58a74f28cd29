// SPDX-License-Identifier: Apache-2.0
// Listing and naming devices; odd platforms and small devices in child processes.
#include <chrono>

#include "device/child_process.hpp"
#include "device/device_fixture.hpp"

namespace headrace::test {
namespace {

OpenClDeviceEntry make_entry(const std::string& name, std::vector<std::string> aliases) {
  OpenClDeviceEntry entry;
  entry.info.name = name;
  entry.info.aliases = std::move(aliases);
  return entry;
}

TEST(DevicesTest, FindsNamesAliasesAndParts) {
  const std::vector<OpenClDeviceEntry> entries = {make_entry("CL.0", {"GPU"}), make_entry("", {}),
                                                  make_entry("CL.1", {"FPGA", "POCL"})};
  EXPECT_EQ(find_opencl_device(entries, "CL.1")->entry, 2U);
  EXPECT_EQ(find_opencl_device(entries, "GPU")->canonical, "CL.0");
  const auto part = find_opencl_device(entries, "POCL#1/2");
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->canonical, "CL.1#1/2");
  EXPECT_EQ(part->part, 1);
  EXPECT_EQ(part->part_count, 2);
  for (const char* bad : {"", "CL.2", "cl.0", "POCL#", "POCL#1", "POCL#2/2", "POCL#-1/2", "POCL#1/2/3", "POCL#a/b",
                          "#0/2", "POCL#0/0", "POCL#99999999999999999999/2"}) {
    EXPECT_FALSE(find_opencl_device(entries, bad).has_value()) << bad;
  }
  EXPECT_EQ(opencl_device_names(entries), "CL.0 (GPU), CL.1 (FPGA) (POCL)");
  EXPECT_EQ(error_message([&] { get_opencl_device(entries, "GPU.1"); }, ErrorCode::kInvalidArgument),
            "device 'GPU.1' does not exist; OpenCL devices: CL.0 (GPU), CL.1 (FPGA) (POCL)");
}

TEST(DevicesTest, ListsTheSameDevicesQuickly) {
  const auto names = usable_device_names();  // loads the runtimes
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(usable_device_names(), names);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(200));
}

TEST(DevicesTest, DISABLED_ChildWithoutPlatform) {
  const auto entries = list_opencl_devices();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].info.name, "");
  EXPECT_EQ(entries[0].problem, "no OpenCL platform; install one, e.g. apt-get install pocl-opencl-icd");
  EXPECT_EQ(error_message([] { make_opencl_device("CL.0", {}); }, ErrorCode::kInvalidArgument),
            "device 'CL.0' does not exist; OpenCL devices: none");
}

TEST(DevicesTest, SurvivesWithoutAnyPlatform) {
  expect_passed(run_child("DevicesTest.DISABLED_ChildWithoutPlatform", {{"OCL_ICD_VENDORS", "/nonexistent"}}));
}

TEST(DevicesTest, DISABLED_ChildWithPlatformWithoutDevices) {
  bool is_reported = false;
  for (const OpenClDeviceEntry& entry : list_opencl_devices()) {
    if (entry.info.platform == "Portable Computing Language") {
      EXPECT_EQ(entry.info.name, "");
      EXPECT_NE(entry.problem, "");
      is_reported = true;
    }
  }
  EXPECT_TRUE(is_reported);
}

bool has_pocl() { return find_opencl_device(list_opencl_devices(), "POCL").has_value(); }

TEST(DevicesTest, SurvivesAPlatformWithoutDevices) {
  if (!has_pocl()) GTEST_SKIP() << "PoCL is not installed";
  expect_passed(run_child("DevicesTest.DISABLED_ChildWithPlatformWithoutDevices", {{"POCL_CACHE_DIR", "/proc/nope"}}));
}

TEST(DevicesTest, DISABLED_ChildWithTwins) {
  const TempFolder folder;
  write_test_kernels(folder.path());
  const auto entries = list_opencl_devices();
  std::vector<int> ordinals;
  int pocl_aliases = 0;
  for (const OpenClDeviceEntry& entry : entries) {
    if (entry.info.platform != "Portable Computing Language") continue;
    ordinals.push_back(entry.ordinal);
    pocl_aliases += static_cast<int>(entry.info.aliases.size());
    const auto device =
        make_opencl_device(entry.info.name, {.cache_dir = "", .state_dir = "", .kernel_dir = folder.path()});
    expect_scaled(run_once(*device, make_scale_plan({64}, 2.0F, 1.0F), counting_tensor({64})), 2.0F, 1.0F);
  }
  EXPECT_EQ(ordinals, (std::vector<int>{0, 1}));
  EXPECT_EQ(pocl_aliases, 1);
}

TEST(DevicesTest, TellsTwoDevicesOfOneNameApart) {
  if (!has_pocl()) GTEST_SKIP() << "PoCL is not installed";
  expect_passed(run_child("DevicesTest.DISABLED_ChildWithTwins", {{"POCL_DEVICES", "pthread pthread"}}));
}

TEST(DevicesTest, DISABLED_ChildWithSmallWorkGroups) {
  const TempFolder folder;
  write_test_kernels(folder.path());
  const auto device = make_opencl_device("POCL", {.cache_dir = "", .state_dir = "", .kernel_dir = folder.path()});
  const std::size_t limit = device->caps().max_work_group;
  ASSERT_LE(limit, 64U);
  expect_scaled(run_once(*device, make_scale_plan({64}, 2.0F, 1.0F), counting_tensor({64})), 2.0F, 1.0F);
  auto plan = std::make_shared<DevicePlan>(*make_scale_plan({128}, 1.0F, 0.0F));
  Launch launch;
  launch.instance = {"group.cl", "", "group_f32"};
  launch.args = {BufferRef{1, 0}, BufferRef{2, 0}, std::int32_t{128}, LocalBytes{512}};
  launch.global[0] = launch.local[0] = 128;
  plan->steps[0].action = launch;
  const std::string message = error_message([&] { device->load(plan, {}); }, ErrorCode::kUnsupported);
  EXPECT_NE(message.find("wants a work-group of 128x1x1, the device allows " + std::to_string(limit)),
            std::string::npos)
      << message;
}

TEST(DevicesTest, WorksWithSmallWorkGroups) {
  if (!has_pocl()) GTEST_SKIP() << "PoCL is not installed";
  for (const char* size : {"1", "16", "64"}) {
    SCOPED_TRACE(size);
    expect_passed(run_child("DevicesTest.DISABLED_ChildWithSmallWorkGroups", {{"POCL_MAX_WORK_GROUP_SIZE", size}}));
  }
}

TEST(DevicesTest, DISABLED_ChildWithLittleMemory) {
  const TempFolder folder;
  write_test_kernels(folder.path());
  const auto device = make_opencl_device("POCL", {.cache_dir = "", .state_dir = "", .kernel_dir = folder.path()});
  ASSERT_EQ(device->caps().max_alloc_bytes, 268435456U);
  const Shape too_large{1, 1, 8192, 8193};
  const auto executable = device->load(make_scale_plan(too_large, 1.0F, 1.0F), {});
  const std::string message = error_message([&] { executable->make_session(); }, ErrorCode::kOutOfMemory);
  EXPECT_NE(message.find("tensor 'x' needs one buffer of 268468224 bytes, the device allows 268435456"),
            std::string::npos)
      << message;
  const Shape just_fits{1, 1, 8192, 8192};
  const Tensor input(ElementType::f32, just_fits);
  const Tensor output = run_once(*device, make_scale_plan(just_fits, 1.0F, 1.0F), input);
  EXPECT_EQ(output.values<float>().front(), 1.0F);
  EXPECT_EQ(output.values<float>().back(), 1.0F);
  expect_scaled(run_once(*device, make_scale_plan({64}, 2.0F, 1.0F), counting_tensor({64})), 2.0F, 1.0F);
}

TEST(DevicesTest, RefusesOnlyBuffersOverTheLimit) {
  if (!has_pocl()) GTEST_SKIP() << "PoCL is not installed";
  expect_passed(run_child("DevicesTest.DISABLED_ChildWithLittleMemory", {{"POCL_MEMORY_LIMIT", "1"}}));
}

TEST(DevicesTest, DISABLED_ChildWithArenaOverTheLimit) {
  // 30 layers of 100 MiB: the arena's two places lie in one block of 200 MiB; with 140 MiB each it is over the limit of
  // one buffer, but no tensor is.
  const TempFolder folder;
  write_test_kernels(folder.path());
  const auto device = make_opencl_device("POCL", {.cache_dir = "", .state_dir = "", .kernel_dir = folder.path()});
  for (const std::int64_t mebibytes : {100, 140}) {
    const Shape shape{mebibytes, 262144};
    const int layers = mebibytes == 100 ? 30 : 3;
    const Tensor output =
        run_once(*device, make_scale_plan(shape, 1.0F, 1.0F, layers), Tensor(ElementType::f32, shape));
    EXPECT_EQ(output.values<float>().front(), static_cast<float>(layers));
    EXPECT_EQ(output.values<float>().back(), static_cast<float>(layers));
  }
}

TEST(DevicesTest, RunsAnArenaOverTheLimitOfOneBuffer) {
  if (!has_pocl()) GTEST_SKIP() << "PoCL is not installed";
  expect_passed(run_child("DevicesTest.DISABLED_ChildWithArenaOverTheLimit", {{"POCL_MEMORY_LIMIT", "1"}}));
}

}  // namespace
}  // namespace headrace::test
