// SPDX-License-Identifier: Apache-2.0
// TensorIterator and the cells inside it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "unit/formats/old_ir/old_ir_model.hpp"

namespace headrace::test {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;

std::vector<float> values_of(const Tensor& tensor) {
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

std::string input(int external, int layer, int port, std::string_view slice = "") {
  return "<input external_port_id=\"" + std::to_string(external) + "\" internal_layer_id=\"" + std::to_string(layer) +
         "\" internal_port_id=\"" + std::to_string(port) + "\" " + std::string(slice) + "/>";
}
std::string output(int external, int layer, int port, std::string_view slice = "") {
  return "<output" + input(external, layer, port, slice).substr(6);
}

constexpr std::string_view kForward = "axis=\"1\" part_size=\"1\" stride=\"1\"";
constexpr std::string_view kBackward = "axis=\"1\" part_size=\"1\" stride=\"-1\" start=\"-1\" end=\"0\"";
constexpr std::string_view kBackEdge =
    "<back_edges><edge from-layer=\"0\" from-port=\"2\" to-layer=\"0\" to-port=\"1\"/></back_edges>";

const std::string kSum = old_layer(0, "sum", "Eltwise", {{1, 1}, {1, 1}}, {{1, 1}});

// Sums along the second axis of [1, 3], from an initial value: all sums, and the last.
std::string sums(const std::string& port_map, std::string_view back_edges = kBackEdge, const std::string& body = kSum) {
  const std::string inside = "<port_map>" + port_map + "</port_map>" + std::string(back_edges) + "<body><layers>" +
                             body + "</layers><edges/></body>";
  return old_net(7,
                 {old_layer(0, "x", "Input", {}, {{1, 3}}), old_layer(1, "s", "Input", {}, {{1, 1}}),
                  old_layer(2, "ti", "TensorIterator", {{1, 3}, {1, 1}}, {{1, 3}, {1, 1}}, inside)},
                 {{0, 0, 2, 0}, {1, 0, 2, 1}});
}

const std::vector<Tensor> kInputs = {make_f32_tensor({1, 3}, std::vector<float>{1, 2, 4}),
                                     make_f32_tensor({1, 1}, std::vector<float>{100})};

TEST(OldIrBodyTest, IteratesForwardAndBackward) {
  const std::string forward = input(0, 0, 0, kForward) + input(1, 0, 1) + output(2, 0, 2, kForward) + output(3, 0, 2);
  std::vector<Tensor> results = run(parse_old(sums(forward)), kInputs);
  EXPECT_THAT(values_of(results[0]), ElementsAre(101, 103, 107));
  EXPECT_THAT(values_of(results[1]), ElementsAre(107));
  const std::string backward =
      input(0, 0, 0, kBackward) + input(1, 0, 1) + output(2, 0, 2, kBackward) + output(3, 0, 2);
  results = run(parse_old(sums(backward)), kInputs);
  EXPECT_THAT(values_of(results[0]), ElementsAre(107, 106, 104));
}

TEST(OldIrBodyTest, NamesWhatIsWrongWithABody) {
  const auto fault_of = [](const std::string& xml) { return error_of([&] { parse_old(xml); }); };
  const std::string good = input(0, 0, 0, kForward) + input(1, 0, 1) + output(2, 0, 2, kForward) + output(3, 0, 2);
  EXPECT_THAT(fault_of(sums(input(0, 7, 0) + good)),
              HasSubstr("names the input port 0 of layer 7, which the body lacks"));
  EXPECT_THAT(fault_of(sums(good + output(3, 0, 9))),
              HasSubstr("names the output port 9 of layer 0, which the body lacks"));
  EXPECT_THAT(fault_of(sums(input(9, 0, 0) + good)), HasSubstr("names the input port 9, which the layer lacks"));
  EXPECT_THAT(fault_of(sums(input(0, 0, 0) + good)), HasSubstr("is fed 2 times"));
  EXPECT_THAT(fault_of(sums(input(0, 0, 0, kForward) + output(2, 0, 2) + output(3, 0, 2))),
              HasSubstr("layer 'sum' (Eltwise): no edge feeds port 1"));
  EXPECT_THAT(
      fault_of(
          sums(good, "<back_edges><edge from-layer=\"0\" from-port=\"2\" to-layer=\"5\" to-port=\"1\"/></back_edges>")),
      HasSubstr("a back edge ends at port 1 of layer 5"));
  EXPECT_EQ(fault_of(sums(good, kBackEdge, old_layer(0, "n", "SimplerNMS", {{1, 1}, {1, 1}}, {{1, 1}}))),
            "not supported: TensorIterator: not supported: SimplerNMS ('n') ('ti')");
}

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

// Weights of the input and the state lie beside each other, gates in the order f, i, c, o.
TEST(OldIrBodyTest, RunsCells) {
  const std::vector<Tensor> inputs = {make_f32_tensor({1, 1}, std::vector<float>{2}),
                                      make_f32_tensor({1, 1}, std::vector<float>{3}),
                                      make_f32_tensor({1, 1}, std::vector<float>{5})};
  const OldCase lstm{"LSTMCell",
                     "<data hidden_size=\"1\" clip=\"0.0\"/>",
                     {{1, 1}, {1, 1}},
                     {.1F, .2F, .3F, .4F, .5F, .6F, .7F, .8F},
                     {.01F, .02F, .03F, .04F}};
  const auto gate = [](float wei, float state, float bias) { return 2 * wei + 3 * state + bias; };
  const float cell =
      sigmoid(gate(.1F, .2F, .01F)) * 5 + sigmoid(gate(.3F, .4F, .02F)) * std::tanh(gate(.5F, .6F, .03F));
  const std::vector<Tensor> states = run_old(lstm, inputs);
  EXPECT_NEAR(values_of(states[1])[0], cell, 1e-5);
  EXPECT_NEAR(values_of(states[0])[0], sigmoid(gate(.7F, .8F, .04F)) * std::tanh(cell), 1e-5);
  const OldCase rnn{"RNNCell", "<data hidden_size=\"1\"/>", {{1, 1}}, {.1F, .2F}, {.3F}};
  EXPECT_NEAR(values_of(run_old(rnn, {inputs[0], inputs[1]})[0])[0], std::tanh(gate(.1F, .2F, .3F)), 1e-5);
  // Gates z, r, h; the reset gate before or behind the product with the state.
  const std::vector<float> weights = {.1F, .2F, .3F, .4F, .5F, .6F};
  const float z = sigmoid(gate(.1F, .2F, .01F)), r = sigmoid(gate(.3F, .4F, .02F));
  const OldCase gru{"GRUCell", "<data hidden_size=\"1\"/>", {{1, 1}}, weights, {.01F, .02F, .03F}};
  const float h = std::tanh(2 * .5F + r * 3 * .6F + .03F);
  EXPECT_NEAR(values_of(run_old(gru, {inputs[0], inputs[1]})[0])[0], (1 - z) * h + z * 3, 1e-5);
  const OldCase before{
      "GRUCell", "<data hidden_size=\"1\" linear_before_reset=\"1\"/>", {{1, 1}}, weights, {.01F, .02F, .03F, .04F}};
  const float behind = std::tanh(2 * .5F + .03F + r * (3 * .6F + .04F));
  EXPECT_NEAR(values_of(run_old(before, {inputs[0], inputs[1]})[0])[0], (1 - z) * behind + z * 3, 1e-5);
}

}  // namespace
}  // namespace headrace::test
