// SPDX-License-Identifier: Apache-2.0
// ENABLE_STARTUP_FALLBACK: the CPU answers while PoCL compiles, then PoCL does; faults reach the user.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "unit/runtime/request_fixture.hpp"

namespace headrace::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

const Properties kFallback{{"ENABLE_STARTUP_FALLBACK", "YES"}, {"PERF_COUNT", "YES"}};

// A core without a cache: its devices compile everything once.
class StartupFallbackTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_device("POCL")) GTEST_SKIP() << "no POCL";
    std::string name = (fs::temp_directory_path() / "headrace_startup_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string kernel_folder_with(const std::string& file, const std::string& text) const {
    std::ofstream(folder_ / file) << text;
    return folder_.string();
  }

  static std::string device_of(const InferRequest& request) { return request.profiling_info().front().device; }

  static void wait_for_device(const CompiledModel& net) {
    while (net.get_property("EXECUTION_DEVICES") == "(CPU)") std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  fs::path folder_;
};

TEST_F(StartupFallbackTest, ChangesFromTheCpuToTheDeviceBetweenRuns) {
  const Core fresh(CoreOptions{});
  const CompiledModel net = fresh.compile_model(affine_model(), "POCL", kFallback);
  ASSERT_EQ(net.get_property("EXECUTION_DEVICES"), "(CPU)") << "compiling takes longer than this";
  EXPECT_EQ(net.placements().front().device, "CPU (startup)");
  EXPECT_THAT(net.origins().front(), HasSubstr("CPU (startup): host"));
  InferRequest request = net.create_infer_request();
  request.set_input_tensor(filled({1, 1, 64, 64}, 3));
  request.infer();
  EXPECT_EQ(device_of(request), "CPU (startup)");
  EXPECT_THAT(floats(request.get_output_tensor()), Each(7.0F));
  wait_for_device(net);
  EXPECT_EQ(net.get_property("EXECUTION_DEVICES"), "POCL");
  EXPECT_EQ(net.placements().front().device, "POCL");
  request.infer();
  EXPECT_EQ(device_of(request), "POCL");
  EXPECT_THAT(floats(request.get_output_tensor()), Each(7.0F));
}

TEST_F(StartupFallbackTest, RequestsRunThroughTheChange) {
  const Core fresh(CoreOptions{});
  Properties properties = kFallback;
  properties["PERFORMANCE_HINT"] = "THROUGHPUT";
  const CompiledModel net = fresh.compile_model(affine_model(), "HETERO:POCL,CPU", properties);
  std::vector<InferRequest> requests;
  for (int i = 0; i < 3; ++i) requests.push_back(net.create_infer_request());
  bool has_changed = false;
  for (int round = 0; !has_changed || round < 3; ++round) {
    has_changed = net.get_property("EXECUTION_DEVICES") != "(CPU)";
    for (InferRequest& request : requests) {
      request.set_input_tensor(filled({1, 1, 64, 64}, static_cast<float>(round)));
      request.start_async();
    }
    for (InferRequest& request : requests) {
      request.wait();
      ASSERT_THAT(floats(request.get_output_tensor()), Each(2.0F * static_cast<float>(round) + 1.0F));
    }
  }
  for (const InferRequest& request : requests) EXPECT_EQ(device_of(request), "POCL");
}

TEST_F(StartupFallbackTest, WhatIsCompiledAlreadyRunsOnTheDeviceAtOnce) {
  const CompiledModel first = core().compile_model(affine_model(), "POCL");
  const CompiledModel net = core().compile_model(affine_model(), "POCL", kFallback);
  EXPECT_EQ(net.get_property("EXECUTION_DEVICES"), "POCL");
  EXPECT_EQ(net.placements().front().device, "POCL");
}

TEST_F(StartupFallbackTest, IsOffUnlessAskedFor) {
  const Core fresh(CoreOptions{});
  const CompiledModel net = fresh.compile_model(affine_model(), "POCL");
  EXPECT_EQ(net.get_property("EXECUTION_DEVICES"), "POCL");
}

TEST_F(StartupFallbackTest, AFailedCompilationIsTheNextRunsError) {
  const std::string kernels = kernel_folder_with("unary_wide.cl", "__kernel void unary_wide_f32() { no_such_name; }\n");
  const Core fresh(CoreOptions{"", "", kernels});
  const CompiledModel net = fresh.compile_model(slow_model(1, 64), "POCL", kFallback);
  InferRequest request = net.create_infer_request();
  request.set_input_tensor(filled({64}, 0));
  wait_for_device(net);
  for (int run = 0; run < 2; ++run) {
    const Error error = error_of([&] { request.infer(); });
    EXPECT_EQ(error.code(), ErrorCode::kBuild);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("POCL: preparing it in the background failed: layer 'tanh0': "),
                                    HasSubstr("no_such_name"), Not(HasSubstr("\n"))));
  }
}

TEST_F(StartupFallbackTest, ALayerThatTheDeviceRefusesIsToldWhileCompiling) {
  NetBuilder net;
  const PortRef x = net.parameter("x", "1,1,4,4");
  net.result(net.layer("Convolution", "conv", {x, net.parameter("w", "1,1,1,1")}));
  const Model model = net.finish();
  const Error error = error_of([&] { core().compile_model(model, "POCL", kFallback); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.what(), HasSubstr("'conv'"));
}

TEST_F(StartupFallbackTest, TheModelMayGoWhileItCompiles) {
  const Core fresh(CoreOptions{});
  InferRequest request = fresh.compile_model(affine_model(), "POCL", kFallback).create_infer_request();
  request.set_input_tensor(filled({1, 1, 64, 64}, 1));
  request.infer();
  EXPECT_THAT(floats(request.get_output_tensor()), Each(3.0F));
}

}  // namespace
}  // namespace headrace::test
