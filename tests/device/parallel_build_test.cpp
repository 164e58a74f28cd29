// SPDX-License-Identifier: Apache-2.0
// Programs compiled by processes of their own: the same results and messages as without, and nothing lost where a
// builder fails.
#include "device/opencl/parallel_build.hpp"

#include <cstdlib>
#include <filesystem>

#include "device/device_fixture.hpp"

namespace headrace::test {
namespace {

const char* device_name() {
  const char* only = std::getenv("HEADRACE_TEST_DEVICE");
  return only == nullptr ? "POCL" : only;
}

// One layer for each of two programs.
std::shared_ptr<const DevicePlan> make_two_program_plan() {
  auto plan = std::make_shared<DevicePlan>(*make_scale_plan({64}, 2.0F, 1.0F, 2));
  std::get<Launch>(plan->steps[1].action).instance.macros = "VEC=8";
  return plan;
}

std::size_t count_entries(const std::string& folder) {
  std::error_code error;
  const std::filesystem::directory_iterator files(folder, error);
  return error ? 0 : static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

std::vector<std::string> run_with_builder(const OpenClOptions& options) {
  const auto device = make_opencl_device(device_name(), options);
  const auto plan = make_two_program_plan();
  expect_scaled(run_once(*device, plan, counting_tensor({64})), 2.0F, 1.0F + 2.0F);
  return device->load(plan, {})->step_origins();
}

TEST(ParallelBuildTest, FindsTheBuilderBesideTheProgram) {
  EXPECT_EQ(find_builder(),
            (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "headrace-builder").string());
}

TEST(ParallelBuildTest, FillsTheCache) {
  const TempFolder folder;
  write_test_kernels(folder.path("kernels"));
  const OpenClOptions options{folder.path("cache"), "", folder.path("kernels"), find_builder()};
  build_in_processes(device_name(), options, {{"scale.cl|VEC=16"}, {"scale.cl|VEC=8"}}, [] {});
  EXPECT_EQ(count_entries(options.cache_dir), 2U);
}

TEST(ParallelBuildTest, RunsWhatTheBuildersMade) {
  const TempFolder folder;
  write_test_kernels(folder.path("kernels"));
  OpenClOptions options{folder.path("cache"), "", folder.path("kernels"), find_builder()};
  EXPECT_EQ(run_with_builder(options), (std::vector<std::string>{"source", "source"}));
  EXPECT_EQ(count_entries(options.cache_dir), 2U);
  EXPECT_EQ(run_with_builder(options), (std::vector<std::string>{"cache", "cache"}));
}

TEST(ParallelBuildTest, DoesWithoutBuildersThatFail) {
  for (const std::string& builder :
       {std::string("/bin/false"), std::string("/no/such/file"), std::string("/bin/true")}) {
    SCOPED_TRACE(builder);
    const TempFolder folder;
    write_test_kernels(folder.path("kernels"));
    const LogCollector log;
    EXPECT_EQ(run_with_builder({folder.path("cache"), "", folder.path("kernels"), builder}),
              (std::vector<std::string>{"source", "source"}));
    EXPECT_TRUE(log.warnings().empty());
  }
  const TempFolder folder;
  write_test_kernels(folder.path("kernels"));
  EXPECT_EQ(run_with_builder({"/proc/nope", "", folder.path("kernels"), find_builder()}),
            (std::vector<std::string>{"source", "source"}));
}

TEST(ParallelBuildTest, TellsOfKernelsThatDoNotBuild) {
  const TempFolder folder;
  write_test_kernels(folder.path("kernels"));
  write_bytes(folder.path("kernels/scale.cl"), "__kernel void scale_f32(__global float* a) { a[0] = no_such_name; }\n");
  const auto device =
      make_opencl_device(device_name(), {folder.path("cache"), "", folder.path("kernels"), find_builder()});
  const std::string message = error_message([&] { device->load(make_two_program_plan(), {}); }, ErrorCode::kBuild);
  EXPECT_NE(message.find("no_such_name"), std::string::npos) << message;
}

}  // namespace
}  // namespace headrace::test
