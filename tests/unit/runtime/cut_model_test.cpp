// SPDX-License-Identifier: Apache-2.0
// Networks in which the shapes of tensors hang on values that only a run gives.
#include <thread>

#include "core/half.hpp"
#include "unit/runtime/request_fixture.hpp"

namespace headrace::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

class CutModelTest : public InferRequestTest {};
INSTANTIATE_TEST_SUITE_P(Devices, CutModelTest, testing::Values("CPU", "POCL", "HETERO:POCL,CPU", "MULTI:POCL,CPU"),
                         test_name);

Tensor vector_of(std::vector<float> values) {
  return make_f32_tensor({static_cast<std::int64_t>(values.size())}, values);
}

PortRef number(NetBuilder& net, std::int64_t value) {
  return net.constant(make_i64_tensor({1}, std::vector<std::int64_t>{value}));
}

// The elements of `data` where `mask` is not zero: two layers behind a NonZero.
PortRef pick(NetBuilder& net, const std::string& name, PortRef data, PortRef mask) {
  const PortRef places = net.layer("NonZero", name + "_places", {mask}, {{"output_type", "i64"}}, 3);
  const PortRef flat = net.layer("Reshape", name + "_flat", {places, number(net, -1)}, {{"special_zero", "false"}});
  const PortRef axis = net.constant(make_i64_tensor({}, std::vector<std::int64_t>{0}));
  return net.layer("Gather", name, {data, flat, axis}, {{"batch_dims", "0"}}, 8);
}

// x [20] -> its positive elements, doubled ("picked"); relu(x) ("relu").
Model picking_model() {
  NetBuilder net;
  const PortRef relu = net.layer("ReLU", "relu", {net.parameter("x", "20")});
  const PortRef picked = pick(net, "pick", relu, relu);
  net.result(net.layer("Multiply", "picked", {picked, net.constant({1}, {2.0F})}));
  net.result(relu);
  return net.finish();
}

Tensor with_positive(std::vector<float> positive) {
  std::vector<float> values(20, -1.0F);
  for (std::size_t i = 0; i < positive.size(); ++i) values[3 * i] = positive[i];
  return vector_of(values);
}

TEST_P(CutModelTest, ShapesFollowTheValuesOfEachRun) {
  InferRequest request = compile(picking_model()).create_infer_request();
  for (const std::vector<float>& values : {std::vector<float>{1, 2, 3}, {4}, {}, {5, 6, 7}}) {
    request.set_input_tensor(with_positive(values));
    request.infer();
    std::vector<float> doubled = values;
    for (float& value : doubled) value *= 2.0F;
    EXPECT_EQ(floats(request.get_tensor("picked")), doubled);
    EXPECT_EQ(request.get_tensor("relu").shape(), (Shape{20}));
    EXPECT_EQ(floats(request.get_tensor("relu"))[0], values.empty() ? 0.0F : values[0]);
  }
}

// The positive elements of x that are above their mean: the second cut lies in the tail of the first.
TEST_P(CutModelTest, OneCutBehindAnother) {
  NetBuilder net;
  const PortRef x = net.parameter("x", "?");
  const PortRef relu = net.layer("ReLU", "relu", {x});
  const PortRef positive = pick(net, "positive", relu, relu);
  const PortRef mean = net.layer("ReduceMean", "mean", {positive, number(net, 0)}, {{"keep_dims", "true"}});
  net.result(pick(net, "large", positive, net.layer("Greater", "above", {positive, mean})));
  InferRequest request = compile(net.finish()).create_infer_request();
  request.set_input_tensor(with_positive({1, 2, 6}));
  request.infer();
  EXPECT_THAT(floats(request.get_output_tensor()), ElementsAre(6.0F));
  request.set_input_tensor(vector_of({-1, 3, 8, 9}));
  request.infer();
  EXPECT_THAT(floats(request.get_output_tensor()), ElementsAre(8.0F, 9.0F));
}

// Two that do not depend on each other.
TEST_P(CutModelTest, OneCutBesideAnother) {
  NetBuilder net;
  const PortRef x = net.parameter("x", "20");
  const PortRef up = net.layer("ReLU", "up", {x});
  const PortRef down = net.layer("ReLU", "down", {net.layer("Negative", "minus", {x})});
  const PortRef both =
      net.layer("Concat", "both", {pick(net, "a", up, up), pick(net, "b", down, down)}, {{"axis", "0"}});
  net.result(both);
  InferRequest request = compile(net.finish()).create_infer_request();
  std::vector<float> values(20, 0.0F);
  values[1] = 3.0F;
  values[7] = -4.0F;
  values[9] = -5.0F;
  request.set_input_tensor(vector_of(values));
  request.infer();
  EXPECT_THAT(floats(request.get_output_tensor()), ElementsAre(3.0F, 4.0F, 5.0F));
}

// A Reshape to a shape that is computed from data.
TEST_P(CutModelTest, ComputedShapes) {
  NetBuilder net;
  const PortRef x = net.parameter("x", "24");
  const PortRef most = net.layer("ReduceMax", "most", {x, number(net, 0)}, {{"keep_dims", "true"}});
  const PortRef rows = net.layer("Convert", "rows", {most}, {{"destination_type", "i64"}});
  const PortRef shape = net.layer("Concat", "shape", {rows, number(net, -1)}, {{"axis", "0"}});
  const PortRef matrix = net.layer("Reshape", "matrix", {x, shape}, {{"special_zero", "false"}});
  net.result(net.layer("ReduceSum", "sums", {matrix, number(net, 1)}, {{"keep_dims", "false"}}));
  InferRequest request = compile(net.finish()).create_infer_request();
  for (const float most_value : {2.0F, 6.0F}) {
    std::vector<float> values(24, 1.0F);
    values[0] = most_value;
    request.set_input_tensor(vector_of(values));
    request.infer();
    const std::vector<float> sums = floats(request.get_output_tensor());
    ASSERT_EQ(sums.size(), static_cast<std::size_t>(most_value));
    EXPECT_EQ(sums[0], 24.0F / most_value - 1.0F + most_value);
  }
}

TEST_P(CutModelTest, OutputsGoWhereTheCallerWants) {
  InferRequest request = compile(picking_model()).create_infer_request();
  Tensor picked = vector_of({0, 0});
  Tensor relu = filled({20}, -1.0F);
  request.set_tensor("picked", picked);
  request.set_tensor("relu", relu);
  request.set_input_tensor(with_positive({1, 2}));
  request.infer();
  EXPECT_THAT(floats(picked), ElementsAre(2.0F, 4.0F));
  EXPECT_EQ(floats(relu)[3], 2.0F);
  request.set_input_tensor(with_positive({1}));
  EXPECT_THAT(error_of([&] { request.infer(); }).what(), HasSubstr("f32[1]"));
}

TEST_P(CutModelTest, HalfTensorsMayCross) {
  NetBuilder net;
  const PortRef x = net.parameter("x", "20", ElementType::f16);
  net.result(net.layer("Convert", "y", {pick(net, "pick", x, x)}, {{"destination_type", "f32"}}));
  InferRequest request = compile(net.finish()).create_infer_request();
  std::vector<float> values(20, 0.0F);
  values[4] = 1.5F;
  request.set_input_tensor(convert(vector_of(values), ElementType::f16));
  request.infer();
  EXPECT_THAT(floats(request.get_output_tensor()), ElementsAre(1.5F));
}

TEST_P(CutModelTest, RequestsRunSideBySide) {
  const CompiledModel compiled = compile(picking_model());
  std::vector<std::jthread> threads;
  for (float value = 1.0F; value <= 3.0F; value += 1.0F) {
    threads.emplace_back([&compiled, value] {
      InferRequest request = compiled.create_infer_request();
      for (std::size_t count = 0; count < 6; ++count) {
        request.set_input_tensor(with_positive(std::vector<float>(count, value)));
        request.infer();
        EXPECT_EQ(floats(request.get_tensor("picked")), std::vector<float>(count, 2.0F * value));
      }
    });
  }
}

TEST_P(CutModelTest, PlacementsAndProfileTellOfAllParts) {
  const CompiledModel compiled = compile(picking_model(), {{"PERF_COUNT", "YES"}});
  const auto names = [&] {
    std::vector<std::string> layers;
    for (const LayerPlacement& row : compiled.placements()) layers.push_back(row.layer);
    return layers;
  };
  EXPECT_THAT(names(), ElementsAre("relu", "pick_places", "pick_flat", "pick", "picked"));
  InferRequest request = compiled.create_infer_request();
  request.set_input_tensor(with_positive({1, 2}));
  request.infer();
  EXPECT_THAT(names(), Contains("pick_places"));
  const std::vector<LayerProfile> rows = request.profiling_info();
  EXPECT_THAT(rows, Contains(Field(&LayerProfile::layer, HasSubstr("subgraph0: relu"))));
  EXPECT_THAT(rows, Contains(Field(&LayerProfile::layer, "subgraph1: pick_places")));
  EXPECT_THAT(rows, Contains(Field(&LayerProfile::layer, HasSubstr("subgraph2: "))));
}

// Where the list has the CPU, it alone gets what new shapes come to in every run.
TEST(CutModelQueryTest, TellsWhyTheTailIsOnTheCpu) {
  if (!has_device("POCL")) GTEST_SKIP() << "POCL";
  const std::vector<LayerPlacement> rows = core().query_model(picking_model(), "HETERO:POCL,CPU");
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[0].device, "POCL");
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].device, "CPU");
    ASSERT_EQ(rows[i].refusals.size(), 1U) << rows[i].layer;
    EXPECT_THAT(rows[i].refusals[0].reason, HasSubstr("known in the run only"));
  }
  for (const LayerPlacement& row : core().query_model(picking_model(), "POCL")) {
    EXPECT_EQ(row.device, row.type == "NonZero" ? "CPU" : "POCL");
  }
}

}  // namespace
}  // namespace headrace::test
