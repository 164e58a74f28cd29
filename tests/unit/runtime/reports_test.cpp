// SPDX-License-Identifier: Apache-2.0
// Cases of public reports that need whole runs: graphs cut between devices (#11, #12), f16 sums (#14), attributes left
// out (#21), nothing to compute (#44), indices out of range (R8).
#include <cmath>
#include <functional>
#include <limits>

#include "unit/runtime/request_fixture.hpp"

namespace headrace::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Tensor ints(const Shape& shape, const std::vector<std::int64_t>& values) { return make_i64_tensor(shape, values); }

Tensor values_of(const Shape& shape, const std::vector<float>& values) { return make_f32_tensor(shape, values); }

// A 1x1 convolution whose weight [1,1,1,1] is an input: OpenCL refuses it, so HETERO cuts the graph here.
PortRef cpu_only(NetBuilder& net, const std::string& name, PortRef x, PortRef weight) {
  return net.layer("Convolution", name, {x, weight});
}

std::vector<std::string> devices_of(const CompiledModel& net, std::initializer_list<const char*> layers) {
  std::vector<std::string> devices;
  for (const char* layer : layers) {
    for (const LayerPlacement& placement : net.placements()) {
      if (placement.layer == layer) devices.push_back(placement.device);
    }
  }
  return devices;
}

class ReportsTest : public InferRequestTest {};
INSTANTIATE_TEST_SUITE_P(Devices, ReportsTest, testing::Values("CPU", "POCL", "HETERO:POCL,CPU"), test_name);

// #11: A -> B -> A with a skip over B.
TEST(CutGraphsTest, ASkipOverAnotherDeviceKeepsItsValue) {
  if (!has_device("POCL")) GTEST_SKIP() << "no POCL";
  NetBuilder net;
  const PortRef x = net.parameter("x", "1,1,1,3");
  const PortRef w = net.parameter("w", "1,1,1,1");
  const PortRef m = net.layer("Multiply", "m", {x, net.constant({1}, {2})});
  const PortRef r = net.layer("ReLU", "r", {cpu_only(net, "c", m, w)});
  net.result(net.layer("Add", "y", {m, r}));
  const CompiledModel compiled = core().compile_model(net.finish(), "HETERO:POCL,CPU");
  const std::vector<std::string> devices = devices_of(compiled, {"m", "c", "y"});
  ASSERT_EQ(devices.size(), 3U);
  EXPECT_EQ(devices[0], devices[2]);
  EXPECT_EQ(devices[1], "CPU");
  EXPECT_NE(devices[0], "CPU");
  InferRequest request = compiled.create_infer_request();
  request.set_tensor("x", values_of({1, 1, 1, 3}, {1, -2, 3}));
  request.set_tensor("w", filled({1, 1, 1, 1}, 1));
  for (int run = 0; run < 2; ++run) {
    request.infer();
    EXPECT_THAT(floats(request.get_output_tensor()), ElementsAre(4, -4, 12));
  }
}

// #12: one tensor that another device reads twice, that is an output twice, beside an input and a constant as outputs.
TEST(CutGraphsTest, KeepsEveryOutputInOrder) {
  if (!has_device("POCL")) GTEST_SKIP() << "no POCL";
  NetBuilder net;
  const PortRef x = net.parameter("x", "1,1,1,2");
  const PortRef w = net.parameter("w", "1,1,1,1");
  const PortRef r = net.layer("ReLU", "r", {cpu_only(net, "c", x, w)});
  net.result(r);
  net.result(r);
  net.result(net.layer("Multiply", "m", {r, net.constant({1}, {2})}));
  net.result(net.layer("Negative", "n", {r}));
  net.result(x);
  net.result(net.constant({1}, {7}));
  const CompiledModel compiled = core().compile_model(net.finish(), "HETERO:POCL,CPU");
  EXPECT_THAT(devices_of(compiled, {"c"}), ElementsAre("CPU"));
  EXPECT_THAT(devices_of(compiled, {"m"}), testing::Not(ElementsAre("CPU")));
  InferRequest request = compiled.create_infer_request();
  request.set_tensor("x", values_of({1, 1, 1, 2}, {-1, 2}));
  request.set_tensor("w", filled({1, 1, 1, 1}, 1));
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

// x as f16, `layer` of it, the result as f16.
Tensor run_half(const std::string& device, const Shape& shape, const Tensor& x,
                const std::function<PortRef(NetBuilder&, PortRef)>& layer) {
  NetBuilder net;
  std::string text;
  for (const std::int64_t size : shape) text += (text.empty() ? "" : ",") + std::to_string(size);
  net.result(layer(net, net.parameter("x", text, ElementType::f16)));
  InferRequest request = core().compile_model(net.finish(), device).create_infer_request();
  request.set_input_tensor(convert(x, ElementType::f16));
  request.infer();
  return convert(request.get_output_tensor(), ElementType::f32);
}

// #14, R2, R13: sums of f16 are kept in f32.
TEST_P(ReportsTest, SumsHalvesInFloat) {
  const auto mean = [](NetBuilder& net, PortRef x) {
    return net.layer("ReduceMean", "y", {x, net.constant(ints({2}, {2, 3}))}, {{"keep_dims", "false"}});
  };
  EXPECT_THAT(floats(run_half(GetParam(), {1, 1, 64, 64}, filled({1, 1, 64, 64}, 1), mean)), ElementsAre(1));
  EXPECT_THAT(floats(run_half(GetParam(), {1, 1, 256, 256}, filled({1, 1, 256, 256}, 2), mean)), ElementsAre(2));
  const auto convolution = [](NetBuilder& net, PortRef x) {
    return net.layer("Convolution", "y", {x, net.constant(convert(filled({1, 4096, 1, 1}, 1), ElementType::f16))});
  };
  EXPECT_THAT(floats(run_half(GetParam(), {1, 4096, 1, 1}, filled({1, 4096, 1, 1}, 1), convolution)),
              ElementsAre(4096));
  const auto softmax = [](NetBuilder& net, PortRef x) { return net.layer("SoftMax", "y", {x}, {{"axis", "0"}}); };
  const std::vector<float> scores = floats(run_half(GetParam(), {5}, values_of({5}, {8, 18, 28, 38, 48}), softmax));
  EXPECT_NEAR(scores[4], 0.999955F, 5e-4F);
}

// #21, #8: strides, dilations and pads left out are 1, 1 and 0.
TEST_P(ReportsTest, ConvolutionsDoWithoutAttributes) {
  const Tensor x = values_of({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const auto run = [&](const char* type, const Shape& weights) {
    NetBuilder net;
    Tensor wei = filled(weights, 1);
    net.result(net.layer(type, "y", {net.parameter("x", "1,1,3,3"), net.constant(wei)}));
    InferRequest request = compile(net.finish()).create_infer_request();
    request.set_input_tensor(x);
    request.infer();
    return floats(request.get_output_tensor());
  };
  EXPECT_THAT(run("Convolution", {1, 1, 2, 2}), ElementsAre(12, 16, 24, 28));
  EXPECT_THAT(run("GroupConvolution", {1, 1, 1, 2, 2}), ElementsAre(12, 16, 24, 28));
  const auto spread = ElementsAre(1, 3, 5, 3, 5, 12, 16, 9, 11, 24, 28, 15, 7, 15, 17, 9);
  EXPECT_THAT(run("ConvolutionBackpropData", {1, 1, 2, 2}), spread);
  EXPECT_THAT(run("GroupConvolutionBackpropData", {1, 1, 1, 2, 2}), spread);
}

// A NaN reaches the outputs whose window holds it, and no others where EXACT_NAN asks for that.
TEST_P(ReportsTest, ExactNanKeepsNanInItsWindow) {
  NetBuilder net;
  const PortRef x = net.parameter("x", "1,32,40,40");
  net.result(net.layer("Convolution", "y", {x, net.constant(filled({32, 32, 3, 3}, 1))}));
  Tensor input = filled({1, 32, 40, 40}, 1);
  input.mutable_values<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  const Model model = net.finish();
  for (const char* exact : {"YES", "NO"}) {
    InferRequest request = core().compile_model(model, GetParam(), {{"EXACT_NAN", exact}}).create_infer_request();
    request.set_input_tensor(input);
    request.infer();
    const std::vector<float> y = floats(request.get_output_tensor());
    EXPECT_TRUE(std::isnan(y[0]));
    EXPECT_EQ(y[38 * 5 + 5], 288);  // past every tile that reads the NaN
    if (std::string_view(exact) == "YES") {
      EXPECT_EQ(y[1], 288);
    }
  }
}

// #44: the sum of nothing is 0.
TEST_P(ReportsTest, SumsOverNothing) {
  NetBuilder net;
  const PortRef r = net.layer("ReLU", "r", {net.parameter("x", "2,0")});
  const PortRef sum = net.layer("ReduceSum", "s", {r, net.constant(ints({1}, {1}))}, {{"keep_dims", "false"}});
  net.result(net.layer("Add", "y", {sum, net.constant({1}, {1})}));
  InferRequest request = compile(net.finish()).create_infer_request();
  request.set_input_tensor(Tensor(ElementType::f32, {2, 0}));
  request.infer();
  EXPECT_THAT(floats(request.get_output_tensor()), ElementsAre(1, 1));
}

// #44: layers without anything to compute, in front of ones that compute.
TEST_P(ReportsTest, RunsLayersWithoutElements) {
  const auto run = [&](const char* type, const char* shape, const Shape& x_shape, const std::vector<Tensor>& constants,
                       const RawAttributes& raw = {}, std::int32_t opset = 1) {
    NetBuilder net;
    std::vector<PortRef> inputs = {net.parameter("x", shape)};
    for (const Tensor& constant : constants) inputs.push_back(net.constant(constant));
    net.result(net.layer(type, "y", inputs, raw, opset));
    InferRequest request = compile(net.finish()).create_infer_request();
    request.set_input_tensor(filled(x_shape, 3));
    request.infer();
    return request.get_output_tensor();
  };
  const RawAttributes pool{{"kernel", "2,2"}, {"strides", "1,1"}, {"pads_begin", "0,0"}, {"pads_end", "0,0"}};
  EXPECT_EQ(run("Convolution", "0,1,3,3", {0, 1, 3, 3}, {filled({2, 1, 2, 2}, 1)}).shape(), (Shape{0, 2, 2, 2}));
  EXPECT_EQ(run("MaxPool", "0,1,3,3", {0, 1, 3, 3}, {}, pool).shape(), (Shape{0, 1, 2, 2}));
  EXPECT_EQ(run("MatMul", "0,3", {0, 3}, {filled({3, 2}, 1)}).shape(), (Shape{0, 2}));
  EXPECT_EQ(run("SoftMax", "0,3", {0, 3}, {}, {{"axis", "1"}}).shape(), (Shape{0, 3}));
  EXPECT_THAT(floats(run("Concat", "1,2,2", {1, 2, 2}, {filled({1, 0, 2}, 1)}, {{"axis", "1"}})),
              ElementsAre(3, 3, 3, 3));
  const std::vector<Tensor> no_indices = {Tensor(ElementType::i64, {0}), ints({1}, {0})};
  EXPECT_EQ(run("Gather", "4", {4}, no_indices, {}, 8).shape(), (Shape{0}));
}

// R8: an OpenCL kernel cannot fail while it runs, so an index out of range reads nothing and gives zero there.
TEST(PoclRequestTest, IndicesOutOfRangeReadNothing) {
  if (!has_device("POCL")) GTEST_SKIP() << "no POCL";
  InferRequest request = core().compile_model(gather_model(), "POCL").create_infer_request();
  request.set_tensor("x", values_of({4}, {10, 11, 12, 13}));
  const auto gather = [&](std::int64_t index) {
    request.set_tensor("index", ints({1}, {index}));
    request.infer();
    return floats(request.get_output_tensor());
  };
  EXPECT_THAT(gather(2), ElementsAre(12));
  EXPECT_THAT(gather(-1), ElementsAre(13));
  EXPECT_THAT(gather(12), ElementsAre(0));
  EXPECT_THAT(gather(-13), ElementsAre(0));
  EXPECT_THAT(gather(std::numeric_limits<std::int64_t>::min()), ElementsAre(0));
}

}  // namespace
}  // namespace headrace::test
