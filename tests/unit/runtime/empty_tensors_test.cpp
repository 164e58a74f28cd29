// SPDX-License-Identifier: Apache-2.0
// Tensors without elements: batch 0, and an empty tensor in the middle of a network.
#include "unit/runtime/request_fixture.hpp"

namespace headrace::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class EmptyTensorsTest : public InferRequestTest {};
INSTANTIATE_TEST_SUITE_P(Devices, EmptyTensorsTest, testing::Values("CPU", "POCL", "FPGA", "HETERO:POCL,CPU"),
                         test_name);

// x [N,3,8,8] -> convolution, ReLU, max pool, matrix product, softmax: what a classifier is made of.
Model classifier() {
  NetBuilder net;
  const RawAttributes same{{"strides", "1,1"}, {"pads_begin", "1,1"}, {"pads_end", "1,1"}, {"dilations", "1,1"}};
  const RawAttributes half{
      {"kernel", "2,2"}, {"strides", "2,2"}, {"pads_begin", "0,0"}, {"pads_end", "0,0"}, {"rounding_type", "floor"}};
  const PortRef x = net.parameter("x", "?,3,8,8");
  const PortRef conv = net.layer("Convolution", "conv", {x, net.constant(filled({4, 3, 3, 3}, 0.5F))}, same);
  const PortRef pool = net.layer("MaxPool", "pool", {net.layer("ReLU", "relu", {conv})}, half);
  const PortRef shape = net.constant(make_i64_tensor({2}, std::vector<std::int64_t>{0, 64}));
  const PortRef flat = net.layer("Reshape", "flat", {pool, shape}, {{"special_zero", "true"}});
  const PortRef scores = net.layer("MatMul", "scores", {flat, net.constant(filled({64, 5}, 0.1F))},
                                   {{"transpose_a", "false"}, {"transpose_b", "false"}});
  net.result(net.layer("SoftMax", "y", {scores}, {{"axis", "1"}}));
  return net.finish();
}

TEST_P(EmptyTensorsTest, BatchZeroGivesAnEmptyResultAndOtherBatchesFollow) {
  InferRequest request = compile(classifier()).create_infer_request();
  for (const std::int64_t batch : {0, 2, 0, 1}) {
    request.set_input_tensor(filled({batch, 3, 8, 8}, 1.0F));
    request.infer();
    const Tensor y = request.get_output_tensor();
    EXPECT_EQ(y.shape(), (Shape{batch, 5}));
    for (const float value : floats(y)) EXPECT_NEAR(value, 0.2F, 1e-6F);
  }
}

TEST_P(EmptyTensorsTest, BatchZeroMayBeFixedBeforehand) {
  Model model = classifier();
  model.set_input_shape("x", {0, 3, 8, 8});
  const CompiledModel net = compile(model, {{"PERFORMANCE_HINT", "THROUGHPUT"}});
  EXPECT_EQ(net.outputs()[0].shape.to_shape(), (Shape{0, 5}));
  InferRequest request = net.create_infer_request();
  request.set_input_tensor(filled({0, 3, 8, 8}, 1.0F));
  request.infer();
  EXPECT_THAT(floats(request.get_output_tensor()), IsEmpty());
}

// x [2,3] -> rows 1..1 (none), doubled, joined with x; and the sum of no rows.
TEST_P(EmptyTensorsTest, AnEmptyTensorInsideIsPassedOver) {
  NetBuilder net;
  const PortRef x = net.parameter("x", "2,3");
  const auto number = [&](std::int64_t value) {
    return net.constant(make_i64_tensor({1}, std::vector<std::int64_t>{value}));
  };
  const PortRef none = net.layer("Slice", "none", {x, number(1), number(1), number(1), number(0)}, {}, 8);
  const PortRef doubled = net.layer("Multiply", "doubled", {none, net.constant({1}, {2})});
  const PortRef tripled = net.layer("Multiply", "tripled", {x, net.constant({1}, {3})});
  net.result(net.layer("Concat", "joined", {doubled, tripled}, {{"axis", "0"}}));
  net.result(net.layer("ReduceSum", "sum", {doubled, number(0)}, {{"keep_dims", "false"}}));
  InferRequest request = compile(net.finish()).create_infer_request();
  request.set_input_tensor(make_f32_tensor({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6}));
  request.infer();
  EXPECT_THAT(floats(request.get_output_tensor(0)), ElementsAre(3, 6, 9, 12, 15, 18));
  EXPECT_THAT(floats(request.get_output_tensor(1)), ElementsAre(0, 0, 0));
}

TEST(FixedBatchTest, AnotherBatchIsTakenAndOtherSizesAreRefused) {
  Model model = affine_model();
  model.set_input_shape("x", {5, 1, 64, 64});
  EXPECT_EQ(model.outputs()[0].shape.to_shape(), (Shape{5, 1, 64, 64}));
  InferRequest request = core().compile_model(model, "CPU").create_infer_request();
  request.set_input_tensor(filled({5, 1, 64, 64}, 2));
  request.infer();
  EXPECT_THAT(floats(request.get_output_tensor()), testing::Each(5.0F));
  EXPECT_STREQ(error_of([&] {
                 model.set_input_shape("x", {1, 1, 64, 63});
               }).what(),
               "input 'x': the model takes [1,1,64,64], not [1,1,64,63]");
  EXPECT_EQ(error_of([&] { model.set_input_shape("x", {64, 64}); }).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_of([&] { model.set_input_shape("x", {-1, 1, 64, 64}); }).code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace headrace::test
