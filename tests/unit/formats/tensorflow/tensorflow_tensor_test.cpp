// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "unit/formats/tensorflow/graph_bytes.hpp"

namespace headrace::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// The constant's value, or its error.
std::vector<double> read(int type, const std::vector<std::int64_t>& dims, const Message& values) {
  const Graph graph = parse_tf(tf_graph({tf_const("c", type, dims, values), tf_node("out", "Identity", {"c"})}));
  const NodeId id = graph.find("c");
  return to_doubles(graph.at(id).value);
}

std::string error_of_const(int type, const std::vector<std::int64_t>& dims, const Message& values) {
  return error_of([&] { read(type, dims, values); });
}

// tensorflow-onnx#465: every encoding of a Const of shape [2, 2].
TEST(TensorflowTensorTest, ReadsEveryEncoding) {
  const std::vector<std::int64_t> square = {2, 2};
  EXPECT_THAT(read(kTfFloat, square, Message().text(4, raw<float>({1, 2, 3, 4}))), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(read(kTfFloat, square, Message().text(5, raw<float>({1, 2, 3, 4}))), ElementsAre(1, 2, 3, 4));  // packed
  EXPECT_THAT(read(kTfFloat, square, Message().float32(5, 1)), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(read(kTfFloat, square, Message().float32(5, 1).float32(5, 2)), ElementsAre(1, 2, 2, 2));
  EXPECT_THAT(read(kTfFloat, square, Message()), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(read(kTfHalf, square, Message().number(13, 15360)), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(read(kTfInt32, square, Message().number(7, -7)), ElementsAre(-7, -7, -7, -7));
  EXPECT_THAT(read(9, square, Message().number(10, -7).number(10, 5)), ElementsAre(-7, 5, 5, 5));
  EXPECT_THAT(read(kTfBool, square, Message().number(11, 1).number(11, 0)), ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(read(4, square, Message().number(7, 200)), ElementsAre(200, 200, 200, 200));
  EXPECT_THAT(read(6, square, Message().number(7, -3)), ElementsAre(-3, -3, -3, -3));
  EXPECT_THAT(read(kTfDouble, {2}, Message().text(6, raw<double>({0.1, 2}))), ElementsAre(0.1, 2));
  EXPECT_THAT(read(kTfDouble, {2}, Message().text(4, raw<double>({0.1, 2}))), ElementsAre(0.1, 2));
  EXPECT_THAT(read(kTfFloat, {}, Message().float32(5, 3)), ElementsAre(3));
  EXPECT_TRUE(read(kTfFloat, {0}, Message()).empty());
}

TEST(TensorflowTensorTest, RefusesValuesThatDoNotFit) {
  EXPECT_THAT(error_of_const(kTfFloat, {2}, Message().text(4, "1234567")), HasSubstr("has 7 bytes"));
  EXPECT_THAT(error_of_const(kTfFloat, {3}, Message().text(4, raw<float>({1, 2}))), HasSubstr("has 8 bytes"));
  EXPECT_THAT(error_of_const(kTfFloat, {1}, Message().float32(5, 1).float32(5, 2)), HasSubstr("has 2 elements"));
  EXPECT_THAT(error_of_const(kTfString, {1}, Message().text(8, "a")), HasSubstr("element type DT_STRING"));
  EXPECT_THAT(error_of_const(kTfFloat, {-1}, Message()), HasSubstr("impossible shape"));
  EXPECT_THAT(error_of_const(99, {1}, Message()), HasSubstr("number 99"));
}

// What a few bytes grow to is bounded for the whole file, not for each constant.
TEST(TensorflowTensorTest, BoundsWhatConstantsFill) {
  std::vector<Message> nodes;
  Strings names;
  for (int i = 0; i < 40; ++i) {
    names.push_back("c" + std::to_string(i));
    nodes.push_back(tf_floats(names.back(), {1 << 20}, {1}));
  }
  nodes.push_back(tf_node("sum", "AddN", names));
  EXPECT_THAT(error_of([&] { parse_tf(tf_graph(nodes)); }), HasSubstr("may fill"));
}

}  // namespace
}  // namespace headrace::test
