// SPDX-License-Identifier: Apache-2.0
// Whole runs through the public API, on the CPU and on PoCL where it is: reports #5, #12, #13 and #44.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "unit/runtime/request_fixture.hpp"

namespace headrace::test {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

INSTANTIATE_TEST_SUITE_P(Devices, InferRequestTest, testing::Values("CPU", "POCL", "HETERO:POCL,CPU"), test_name);

TEST_P(InferRequestTest, ComputesAndGivesTheResult) {
  InferRequest request = compile(affine_model()).create_infer_request();
  request.set_input_tensor(filled({1, 1, 64, 64}, 3));
  request.infer();
  EXPECT_THAT(floats(request.get_output_tensor()), Each(7.0F));
  request.set_tensor("x", filled({1, 1, 64, 64}, 4));
  request.start_async();
  request.wait();
  EXPECT_THAT(floats(request.get_tensor("y")), Each(9.0F));
}

// Report #5: several requests, each in its own thread, never see each other's input.
TEST_P(InferRequestTest, RequestsInThreadsKeepTheirOwnData) {
  const CompiledModel net = compile(affine_model());
  std::atomic<int> wrong{0};
  std::vector<std::jthread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([&, k] {
      InferRequest request = net.create_infer_request();
      request.set_input_tensor(filled({1, 1, 64, 64}, static_cast<float>(k)));
      for (int run = 0; run < 200; ++run) {
        request.infer();
        const std::vector<float> result = floats(request.get_output_tensor());
        wrong += std::any_of(result.begin(), result.end(), [&](float v) { return v != static_cast<float>(2 * k + 1); });
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

// Report #5, second half: one request in several threads.
TEST_P(InferRequestTest, OneRequestInTwoThreadsIsACleanBusyError) {
  const CompiledModel net = compile(affine_model());
  InferRequest request = net.create_infer_request();
  request.set_input_tensor(filled({1, 1, 64, 64}, 1));
  std::atomic<int> other{0};
  std::atomic<int> done{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 7; ++t) {
    threads.emplace_back([&] {
      for (int run = 0; run < 50; ++run) {
        try {
          request.infer();
          ++done;
        } catch (const Error& error) {
          if (error.code() != ErrorCode::kBusy) ++other;
        }
      }
    });
  }
  threads.clear();
  EXPECT_EQ(other, 0);
  EXPECT_GT(done, 0);
  request.infer();
  EXPECT_THAT(floats(request.get_output_tensor()), Each(3.0F));
}

// Report #12: one tensor with several readers and names, an input and a constant as outputs.
TEST_P(InferRequestTest, KeepsEveryOutputInOrder) {
  NetBuilder net;
  const PortRef x = net.parameter("x", "2");
  const PortRef r = net.layer("ReLU", "r", {x});
  net.result(r);
  net.result(r);
  net.result(net.layer("Multiply", "m", {r, net.constant({1}, {2})}));
  net.result(net.layer("Negative", "n", {r}));
  net.result(x);
  net.result(net.constant({1}, {7}));
  InferRequest request = compile(net.finish()).create_infer_request();
  request.set_input_tensor(make_f32_tensor({2}, std::vector<float>{-1, 2}));
  for (int run = 0; run < 2; ++run) {
    request.infer();
    EXPECT_THAT(floats(request.get_output_tensor(0)), ElementsAre(0, 2));
    EXPECT_THAT(floats(request.get_output_tensor(1)), ElementsAre(0, 2));
    EXPECT_THAT(floats(request.get_output_tensor(2)), ElementsAre(0, 4));
    EXPECT_THAT(floats(request.get_output_tensor(3)), ElementsAre(0, -2));
    EXPECT_THAT(floats(request.get_output_tensor(4)), ElementsAre(-1, 2));
    EXPECT_THAT(floats(request.get_output_tensor(5)), ElementsAre(7));
  }
}

// Report #44: nothing to compute.
TEST_P(InferRequestTest, RunsOnEmptyTensors) {
  NetBuilder net;
  net.result(net.layer("ReLU", "y", {net.parameter("x", "0,3")}));
  InferRequest request = compile(net.finish()).create_infer_request();
  request.set_input_tensor(Tensor(ElementType::f32, {0, 3}));
  request.infer();
  EXPECT_EQ(request.get_output_tensor().shape(), (Shape{0, 3}));
}

TEST_P(InferRequestTest, WritesStraightIntoTheCallersTensor) {
  InferRequest request = compile(affine_model()).create_infer_request();
  const Tensor x = filled({1, 1, 64, 64}, 1);
  const Tensor y(ElementType::f32, {1, 1, 64, 64});
  request.set_input_tensor(x);
  request.set_output_tensor(0, y);
  request.infer();
  EXPECT_EQ(request.get_output_tensor().data(), y.data());
  EXPECT_THAT(floats(y), Each(3.0F));
  EXPECT_THAT(floats(x), Each(1.0F));
}

TEST_P(InferRequestTest, TheOutputMayBeTheInputsMemory) {
  InferRequest request = compile(affine_model()).create_infer_request();
  const Tensor both = filled({1, 1, 64, 64}, 1);
  request.set_input_tensor(both);
  request.set_output_tensor(0, both);
  request.infer();
  EXPECT_THAT(floats(both), Each(3.0F));
  request.infer();
  EXPECT_THAT(floats(both), Each(7.0F));
}

TEST_P(InferRequestTest, CompilesAPlanForEveryInputShape) {
  NetBuilder net;
  net.result(net.layer("Add", "y", {net.parameter("x", "?,2"), net.constant({2}, {1, 2})}));
  const CompiledModel compiled = compile(net.finish());
  EXPECT_THAT(compiled.placements(), IsEmpty());
  InferRequest request = compiled.create_infer_request();
  for (const std::int64_t rows : {1, 3, 1, 2, 4, 5, 6, 7, 8, 9, 10, 1}) {
    request.set_input_tensor(filled({rows, 2}, 1));
    request.infer();
    ASSERT_EQ(request.get_output_tensor().shape(), (Shape{rows, 2}));
    ASSERT_EQ(floats(request.get_output_tensor()).back(), 3.0F);
  }
  EXPECT_FALSE(compiled.placements().empty());
}

TEST_P(InferRequestTest, ConvertsTypesAndLayoutsAsWished) {
  NetBuilder net;
  net.result(net.layer("Multiply", "y", {net.parameter("x", "1,3,1,2"), net.constant({1, 3, 1, 1}, {1, 10, 100})}));
  Model model = net.finish();
  model.set_input_type("x", ElementType::u8);
  model.set_input_layout("x", "NHWC");
  model.set_output_type("y", ElementType::i32);
  model.set_output_layout("y", "NHWC");
  EXPECT_EQ(model.inputs()[0].shape.to_shape(), (Shape{1, 1, 2, 3}));
  EXPECT_EQ(model.outputs()[0].shape.to_shape(), (Shape{1, 1, 2, 3}));
  InferRequest request = compile(model).create_infer_request();
  std::vector<std::uint8_t> pixels{1, 2, 3, 4, 5, 255};
  request.set_input_tensor(Tensor(ElementType::u8, {1, 1, 2, 3}, pixels.data()));
  request.infer();
  const Tensor y = request.get_output_tensor();
  const auto values = y.values<std::int32_t>();
  EXPECT_THAT(std::vector<std::int32_t>(values.begin(), values.end()), ElementsAre(1, 20, 300, 4, 50, 25500));
}

TEST(PropertiesTest, TakesThreadsAndRefusesWhatItDoesNotKnow) {
  const Model model = affine_model();
  EXPECT_NO_THROW(core().compile_model(model, "CPU", {{"INFERENCE_NUM_THREADS", "1"}}));
  for (const char* bad : {"-1", "", "2x", "1025", "99999999999999999999"}) {
    EXPECT_THAT(error_of([&] {
                  core().compile_model(model, "CPU", {{"INFERENCE_NUM_THREADS", bad}});
                }).what(),
                HasSubstr("property INFERENCE_NUM_THREADS: expected 0 (all cores) to 1024, got '" + std::string(bad)));
  }
  EXPECT_THAT(error_of([&] {
                core().compile_model(model, "CPU", {{"NUM_STRANDS", "1"}});
              }).what(),
              HasSubstr("unknown property 'NUM_STRANDS'; known: PERF_COUNT, INFERENCE_NUM_THREADS, EXACT_NAN"));
}

TEST_P(InferRequestTest, ProfileSumsToTheWallTime) {
  const Model model = slow_model(4, 1 << 18);
  InferRequest request = compile(model, {{"PERF_COUNT", "YES"}}).create_infer_request();
  request.set_input_tensor(filled({1 << 18}, 1));
  request.infer();
  const auto begin = std::chrono::steady_clock::now();
  request.infer();
  const double wall_us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
  double sum_us = 0;
  bool has_layer = false;
  for (const LayerProfile& row : request.profiling_info()) {
    sum_us += row.device_us;
    has_layer = has_layer || row.layer == "subgraph0: tanh0";
  }
  EXPECT_TRUE(has_layer);
  // OpenCL only: the CPU device works in start().
  const std::size_t first = GetParam() == "CPU" ? 0 : 1;
  if (first == 1) {
    EXPECT_EQ(request.profiling_info()[0].layer, "subgraph0: enqueue");
  }
  EXPECT_EQ(request.profiling_info()[first].layer, "subgraph0: input transfer");
  EXPECT_NEAR(sum_us, wall_us, 0.1 * wall_us);
}

TEST_P(InferRequestTest, RefusesAStartWhileRunningAndEndsTheRun) {
  InferRequest request = compile(slow_model(20, 1 << 20)).create_infer_request();
  const Tensor x = filled({1 << 20}, 0);
  request.set_input_tensor(x);
  request.start_async();
  EXPECT_EQ(error_of([&] { request.start_async(); }).code(), ErrorCode::kBusy);
  EXPECT_EQ(error_of([&] { request.infer(); }).code(), ErrorCode::kBusy);
  EXPECT_EQ(error_of([&] { request.set_input_tensor(x); }).code(), ErrorCode::kBusy);
  EXPECT_EQ(error_of([&] { request.get_output_tensor(); }).code(), ErrorCode::kBusy);
  EXPECT_FALSE(request.wait_for(0ms));
  request.wait();
  EXPECT_THAT(floats(request.get_output_tensor()), Each(0.0F));
}

TEST_P(InferRequestTest, CancelledRunsEndSoonAndTheRequestRunsAgain) {
  InferRequest request = compile(affine_model()).create_infer_request();
  request.set_input_tensor(filled({1, 1, 64, 64}, 1));
  for (int i = 0; i < 20; ++i) {
    request.start_async();
    request.cancel();
    try {
      request.wait();  // it was faster
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCancelled);
    }
  }
  request.infer();
  EXPECT_THAT(floats(request.get_output_tensor()), Each(3.0F));
}

TEST_P(InferRequestTest, ACallbackReadsTheResultAndStartsTheNextRun) {
  InferRequest request = compile(affine_model()).create_infer_request();
  request.set_input_tensor(filled({1, 1, 64, 64}, 0));
  std::vector<float> seen;
  request.set_callback([&](std::exception_ptr error) {
    ASSERT_EQ(error, nullptr);
    seen.push_back(floats(request.get_output_tensor())[0]);
    if (seen.size() < 3) {
      request.set_input_tensor(filled({1, 1, 64, 64}, static_cast<float>(seen.size())));
      request.start_async();
    }
  });
  request.start_async();
  request.wait();
  EXPECT_THAT(seen, ElementsAre(1, 3, 5));
  request.set_callback(nullptr);
}

TEST_P(InferRequestTest, DestroyingARunningRequestReturns) {
  const CompiledModel net = compile(slow_model(4, 1 << 16));
  for (int i = 0; i < 5; ++i) {
    InferRequest request = net.create_infer_request();
    request.set_input_tensor(filled({1 << 16}, 1));
    request.start_async();
  }
}

// A cancelled run on the CPU stops between layers: far sooner than the seconds that all layers take.
TEST(CpuRequestTest, CancelStopsInTheMiddle) {
  InferRequest request = core().compile_model(slow_model(400, 1 << 20), "CPU").create_infer_request();
  request.set_input_tensor(filled({1 << 20}, 1));
  request.start_async();
  std::this_thread::sleep_for(20ms);
  const auto begin = std::chrono::steady_clock::now();
  request.cancel();
  EXPECT_EQ(error_of([&] { request.wait(); }).code(), ErrorCode::kCancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1500ms);
}

// Report #13: a layer that fails while running.
TEST(CpuRequestTest, AFailingLayerIsNamedAndTheRequestIsUsableAgain) {
  InferRequest request = core().compile_model(gather_model(), "CPU").create_infer_request();
  request.set_tensor("x", make_f32_tensor({4}, std::vector<float>{10, 11, 12, 13}));
  int calls = 0;
  request.set_callback([&](std::exception_ptr) { ++calls; });
  const auto run = [&](std::int64_t index) {
    request.set_tensor("index", make_i64_tensor({1}, std::vector<std::int64_t>{index}));
    request.start_async();
    request.wait();
  };
  EXPECT_THAT(error_of([&] { run(12); }).what(), HasSubstr("layer 'y' (Gather)"));
  EXPECT_THAT(error_of([&] { request.get_output_tensor(); }).what(), HasSubstr("no run has ended"));
  EXPECT_NO_THROW(run(2));
  EXPECT_THAT(floats(request.get_output_tensor()), ElementsAre(12));
  EXPECT_EQ(calls, 2);
}

TEST(CpuRequestTest, SaysWhatIsWrongWithATensor) {
  InferRequest request = core().compile_model(affine_model(), "CPU").create_infer_request();
  EXPECT_STREQ(error_of([&] { request.infer(); }).what(), "input 'x' was not given");
  EXPECT_STREQ(error_of([&] {
                 request.set_input_tensor(Tensor(ElementType::u8, {1, 1, 64, 64}));
               }).what(),
               "input 'x' takes f32[1,1,64,64], given u8[1,1,64,64]");
  EXPECT_STREQ(error_of([&] {
                 request.set_input_tensor(filled({1, 1, 64}, 0));
               }).what(),
               "input 'x' takes f32[1,1,64,64], given f32[1,1,64]");
  EXPECT_STREQ(error_of([&] { request.set_output_tensor(0, filled({1}, 0)); }).what(),
               "output 'y' takes f32[1,1,64,64], given f32[1]");
  EXPECT_STREQ(error_of([&] { request.set_tensor("z", filled({1}, 0)); }).what(), "no input 'z'; the model has 'x'");
  EXPECT_THAT(error_of([&] { request.set_input_tensor(1, filled({1}, 0)); }).what(),
              HasSubstr("input 1 does not exist"));
  EXPECT_THAT(error_of([&] { request.get_output_tensor(); }).what(), HasSubstr("no run has ended"));
  EXPECT_THAT(error_of([&] { request.profiling_info(); }).what(), HasSubstr("PERF_COUNT"));
}

TEST(CpuRequestTest, SpreadsRequestsOverAList) {
  if (!has_device("POCL")) GTEST_SKIP() << "no POCL";
  const CompiledModel net = core().compile_model(affine_model(), "MULTI:POCL,CPU", {{"PERF_COUNT", "YES"}});
  std::vector<std::string> used;
  for (int i = 0; i < 4; ++i) {
    InferRequest request = net.create_infer_request();
    request.set_input_tensor(filled({1, 1, 64, 64}, 1));
    request.infer();
    EXPECT_THAT(floats(request.get_output_tensor()), Each(3.0F));
    used.push_back(request.profiling_info().front().device);
  }
  EXPECT_THAT(used, ElementsAre("POCL", "CPU", "POCL", "CPU"));
}

}  // namespace
}  // namespace headrace::test
