// SPDX-License-Identifier: Apache-2.0
// Several requests at once: streams on parts of a device, the same bits, batches.
#include <cstring>
#include <map>

#include "unit/runtime/request_fixture.hpp"

namespace headrace::test {
namespace {

using testing::HasSubstr;

const Properties kThroughput{{"PERFORMANCE_HINT", "THROUGHPUT"}};

// Numbers that repeat late and cancel in sums, so that another order of adding shows.
Tensor uneven(const Shape& shape, int seed) {
  Tensor tensor(ElementType::f32, shape);
  auto values = tensor.mutable_values<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>((static_cast<int>(i) * 7919 + seed * 104729) % 2003 - 1001) / 997.0F;
  }
  return tensor;
}

// x [batch,16,20,20] -> 3x3 convolution to 24 channels, ReLU, 1x1 convolution to 40, mean over the picture.
Model conv_model(std::int64_t batch) {
  NetBuilder net;
  const RawAttributes same{{"strides", "1,1"}, {"pads_begin", "1,1"}, {"pads_end", "1,1"}, {"dilations", "1,1"}};
  const RawAttributes none{{"strides", "1,1"}, {"pads_begin", "0,0"}, {"pads_end", "0,0"}, {"dilations", "1,1"}};
  const PortRef x = net.parameter("x", std::to_string(batch) + ",16,20,20");
  const PortRef first = net.layer("Convolution", "first", {x, net.constant(uneven({24, 16, 3, 3}, 1))}, same);
  const PortRef relu = net.layer("ReLU", "relu", {first});
  const PortRef second = net.layer("Convolution", "second", {relu, net.constant(uneven({40, 24, 1, 1}, 2))}, none);
  const PortRef axes = net.constant(make_i64_tensor({2}, std::vector<std::int64_t>{2, 3}));
  net.result(net.layer("ReduceMean", "mean", {second, axes}, {{"keep_dims", "false"}}));
  net.result(second);
  return net.finish();
}

std::vector<std::byte> bytes_of(InferRequest& request) {
  std::vector<std::byte> bytes;
  for (std::size_t port = 0; port < 2; ++port) {
    const Tensor output = request.get_output_tensor(port);
    bytes.insert(bytes.end(), output.data(), output.data() + output.size_bytes());
  }
  return bytes;
}

class ThroughputTest : public InferRequestTest {};
INSTANTIATE_TEST_SUITE_P(Devices, ThroughputTest,
                         testing::Values("CPU", "POCL", "FPGA", "HETERO:POCL,CPU", "MULTI:POCL#0/2,POCL#1/2"),
                         test_name);

TEST_P(ThroughputTest, GivesTheSameBitsWhateverTheNumberOfRequests) {
  const CompiledModel net = compile(conv_model(1), kThroughput);
  constexpr int kPictures = 3;
  std::map<int, std::vector<std::byte>> expected;  // by picture
  for (const std::size_t count : {1U, 2U, 3U, 5U}) {
    std::vector<InferRequest> requests;
    for (std::size_t i = 0; i < count; ++i) requests.push_back(net.create_infer_request());
    for (int round = 0; round < 4; ++round) {
      const auto picture_of = [&](std::size_t i) { return (static_cast<int>(i) + round) % kPictures; };
      for (std::size_t i = 0; i < count; ++i) {
        requests[i].set_input_tensor(uneven({1, 16, 20, 20}, 10 + picture_of(i)));
        requests[i].start_async();
      }
      for (std::size_t i = 0; i < count; ++i) {
        requests[i].wait();
        const auto [found, is_new] = expected.try_emplace(picture_of(i), bytes_of(requests[i]));
        EXPECT_TRUE(is_new || found->second == bytes_of(requests[i])) << count << " requests, round " << round;
      }
    }
  }
}

TEST_P(ThroughputTest, BatchesGiveWhatSinglePicturesGive) {
  constexpr std::int64_t kBatch = 8;
  InferRequest batched = compile(conv_model(kBatch), kThroughput).create_infer_request();
  const Tensor input = uneven({kBatch, 16, 20, 20}, 3);
  batched.set_input_tensor(input);
  batched.infer();
  const std::vector<float> means = floats(batched.get_output_tensor(0));
  InferRequest single = compile(conv_model(1)).create_infer_request();
  const std::size_t picture = 16 * 20 * 20;
  for (std::size_t n = 0; n < kBatch; ++n) {
    const auto all = input.values<float>();
    Tensor one(ElementType::f32, {1, 16, 20, 20});
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(n * picture), picture, one.mutable_values<float>().begin());
    single.set_input_tensor(one);
    single.infer();
    const std::vector<float> wanted = floats(single.get_output_tensor(0));
    for (std::size_t c = 0; c < wanted.size(); ++c) EXPECT_NEAR(means[n * wanted.size() + c], wanted[c], 1e-4F);
  }
}

TEST_P(ThroughputTest, SaysHowManyRequestsKeepItBusy) {
  const Model model = affine_model();
  EXPECT_EQ(compile(model, {{"NUM_STREAMS", "3"}, {"PERFORMANCE_HINT", "THROUGHPUT"}}).get_property("PERFORMANCE_HINT"),
            "THROUGHPUT");
  const bool is_multi = GetParam().starts_with("MULTI");
  EXPECT_EQ(compile(model).get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"), is_multi ? "2" : "1");
  const CompiledModel three = compile(model, {{"NUM_STREAMS", "3"}});
  EXPECT_EQ(three.get_property("NUM_STREAMS"), is_multi ? "6" : "3");
  EXPECT_EQ(three.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"), is_multi ? "6" : "3");
  std::vector<InferRequest> requests;
  for (int i = 0; i < 7; ++i) {
    requests.push_back(three.create_infer_request());
    requests.back().set_input_tensor(filled({1, 1, 64, 64}, static_cast<float>(i)));
    requests.back().start_async();
  }
  for (int i = 0; i < 7; ++i) {
    requests[static_cast<std::size_t>(i)].wait();
    EXPECT_THAT(floats(requests[static_cast<std::size_t>(i)].get_output_tensor()),
                testing::Each(2.0F * static_cast<float>(i) + 1.0F));
  }
}

TEST(ThroughputOfPoclTest, UsesAllUnitsByParts) {
  if (!has_device("POCL")) GTEST_SKIP() << "no POCL";
  int units = 0;
  for (const DeviceSummary& device : core().devices()) {
    if (device.aliases == std::vector<std::string>{"POCL"}) units = device.compute_units;
  }
  const CompiledModel net = core().compile_model(affine_model(), "POCL", kThroughput);
  const int streams = std::stoi(net.get_property("NUM_STREAMS"));
  EXPECT_EQ(units % streams, 0);
  EXPECT_EQ(streams > 1, units > 1);
  EXPECT_EQ(net.get_property("EXECUTION_DEVICES"), "POCL");
}

TEST(ThroughputOfPoclTest, HoldsWeightsOnceWhateverTheStreams) {
  if (!has_device("POCL")) GTEST_SKIP() << "no POCL";
  const Model model = conv_model(1);
  const auto weights = [&](const Properties& properties) {
    return core().compile_model(model, "POCL", properties).memory_use().front().weights_bytes;
  };
  EXPECT_EQ(weights(kThroughput), weights({{"NUM_STREAMS", "1"}}));
}

TEST(PropertyTest, RefusesBadValuesAndNames) {
  const auto message = [](const Properties& properties) {
    return std::string(error_of([&] { core().compile_model(affine_model(), "CPU", properties); }).what());
  };
  EXPECT_EQ(message({{"PERFORMANCE_HINT", "throughput"}}),
            "property PERFORMANCE_HINT: expected LATENCY or THROUGHPUT, got 'throughput'");
  for (const char* bad : {"0", "-1", "", "auto", "1025", "2x"}) {
    EXPECT_EQ(message({{"NUM_STREAMS", bad}}),
              "property NUM_STREAMS: expected AUTO or 1 to 1024, got '" + std::string(bad) + "'");
  }
  EXPECT_EQ(message({{"ENABLE_STARTUP_FALLBACK", "1"}}),
            "property ENABLE_STARTUP_FALLBACK: expected YES or NO, got '1'");
  const CompiledModel net = core().compile_model(affine_model(), "CPU", {{"NUM_STREAMS", "AUTO"}});
  EXPECT_EQ(net.get_property("NUM_STREAMS"), "1");
  EXPECT_EQ(net.get_property("PERFORMANCE_HINT"), "LATENCY");
  EXPECT_EQ(net.get_property("ENABLE_STARTUP_FALLBACK"), "NO");
  EXPECT_EQ(net.get_property("PERF_COUNT"), "NO");
  EXPECT_THAT(error_of([&] { net.get_property("SPEED"); }).what(),
              HasSubstr("no property 'SPEED'; known: OPTIMAL_NUMBER_OF_INFER_REQUESTS, EXECUTION_DEVICES, PERF_COUNT"));
}

}  // namespace
}  // namespace headrace::test
