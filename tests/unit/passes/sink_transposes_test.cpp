// SPDX-License-Identifier: Apache-2.0
#include "passes/sink_transposes.hpp"

#include <gtest/gtest.h>

#include "test_graph.hpp"

namespace headrace::testing {
namespace {

// Nodes in NHWC between which convolutions stand in Transposes, as TensorFlow's graphs are read.
class PictureBuilder : public GraphBuilder {
 public:
  PortRef last(PortRef x) { return op("Transpose", next("last"), {x, ints(next("order"), {0, 2, 3, 1})}); }
  PortRef first(PortRef x) { return op("Transpose", next("first"), {x, ints(next("order"), {0, 3, 1, 2})}); }
  // 1x1, from `in` to `out` channels.
  PortRef conv(PortRef x, std::int64_t in, std::int64_t out) {
    const PortRef weights = random(next("w"), {out, in, 1, 1}, 3);
    return last(op("Convolution", next("conv"), {first(x), weights},
                   {{"strides", "1,1"}, {"dilations", "1,1"}, {"pads_begin", "0,0"}, {"pads_end", "0,0"}}));
  }
  std::string next(const std::string& name) { return name + std::to_string(++count_); }

 private:
  int count_ = 0;
};

TEST(SinkTransposesTest, OneStaysInFrontOfAChainOfConvolutions) {
  PictureBuilder b;
  PortRef t = b.conv(b.parameter("x", "2,5,4,3"), 3, 4);
  t = b.op("ReLU", "relu", {b.op("Add", "bias", {t, b.random("c", {4}, 5)})});
  const PortRef skip = t;
  t = b.conv(t, 4, 4);
  t = b.op("Add", "residual", {t, skip});
  t = b.conv(t, 4, 2);
  b.result(b.op("ReduceMean", "pool", {t, b.ints("hw", {1, 2})}, {{"keep_dims", "false"}}));
  const Graph graph = expect_same_meaning(b.graph, sink_transposes);
  EXPECT_EQ(count_transposes(graph), 1U);
}

struct Through {
  std::string name;
  std::function<PortRef(PictureBuilder&, PortRef)> add;  // from [2, 5, 4, 3] to a tensor of rank 4, 3 channels
};

std::vector<Through> operators() {
  return {
      {"Clamp",
       [](auto& b, PortRef t) {
         return b.op("Clamp", "n", {t}, {{"min", "-0.2"}, {"max", "0.3"}});
       }},
      {"PreluScalar",
       [](auto& b, PortRef t) {
         return b.op("PReLU", "n", {t, b.floats("s", {1}, {0.1F})});
       }},
      {"PreluFull",
       [](auto& b, PortRef t) {
         return b.op("PReLU", "n", {t, b.random("s", {1, 1, 1, 3}, 1)});
       }},
      {"AddRow",
       [](auto& b, PortRef t) {
         return b.op("Add", "n", {b.random("s", {4, 3}, 1), t});
       }},
      {"MulFull",
       [](auto& b, PortRef t) {
         return b.op("Multiply", "n", {t, b.random("s", {2, 5, 4, 3}, 1)});
       }},
      {"FakeQuantize",
       [](auto& b, PortRef t) {
         const PortRef low = b.floats("l", {3}, {-1, -0.5F, -0.25F});
         const PortRef high = b.floats("h", {3}, {1, 0.5F, 0.75F});
         return b.op("FakeQuantize", "n", {t, low, high, low, high}, {{"levels", "16"}});
       }},
      {"SoftMax",
       [](auto& b, PortRef t) {
         return b.op("SoftMax", "n", {t}, {{"axis", "-1"}}, 8);
       }},
      {"ConcatSelf",
       [](auto& b, PortRef t) {
         return b.op("Concat", "n", {t, t}, {{"axis", "1"}});
       }},
      {"Pad",
       [](auto& b, PortRef t) {
         return b.op("Pad", "n", {t, b.ints("b", {0, 1, 2, 0}), b.ints("e", {0, 3, 0, 0}), b.floats("v", {}, {0.5F})},
                     {{"pad_mode", "constant"}}, 12);
       }},
      {"Slice",
       [](auto& b, PortRef t) {
         return b.op("Slice", "n",
                     {t, b.ints("b", {1, 0}), b.ints("e", {4, 3}), b.ints("s", {2, 1}), b.ints("a", {1, -2})}, {}, 8);
       }},
      {"StridedSlice",
       [](auto& b, PortRef t) {
         return b.op("StridedSlice", "n", {t, b.ints("b", {0, 1, 7}), b.ints("e", {0, 5, 3}), b.ints("s", {1, 2, 1})},
                     {{"begin_mask", "1,0,1"},
                      {"end_mask", "1,0,0"},
                      {"new_axis_mask", ""},
                      {"shrink_axis_mask", ""},
                      {"ellipsis_mask", ""}});
       }},
      {"ReduceKeep",
       [](auto& b, PortRef t) {
         return b.op("ReduceMax", "n", {t, b.ints("a", {1, -2})}, {{"keep_dims", "true"}});
       }},
      {"Mvn",
       [](auto& b, PortRef t) {
         return b.op("MVN", "n", {t, b.ints("a", {-1})},
                     {{"eps", "1e-5"}, {"normalize_variance", "true"}, {"eps_mode", "inside_sqrt"}}, 6);
       }},
      {"Select",
       [](auto& b, PortRef t) {
         const PortRef is_above = b.op("Greater", "g", {t, b.floats("z", {}, {0})});
         return b.op("Select", "n", {is_above, t, b.op("Negative", "m", {t})});
       }},
  };
}

TEST(SinkTransposesTest, GoesThroughOperatorsOfAnyAxisOrder) {
  for (const Through& through : operators()) {
    SCOPED_TRACE(through.name);
    PictureBuilder b;
    PortRef t = b.conv(b.parameter("x", "2,5,4,3"), 3, 3);
    t = through.add(b, t);
    b.result(b.op("ReduceSum", "sum", {b.conv(t, 3, 2), b.ints("hw", {1, 2})}, {{"keep_dims", "false"}}), "y");
    const Graph graph = expect_same_meaning(b.graph, sink_transposes);
    EXPECT_EQ(count_transposes(graph), 1U);
  }
}

TEST(SinkTransposesTest, SplitsAndReductionsKeepTheRestInOrder) {
  for (const std::int64_t axis : {1, 2, 3}) {
    PictureBuilder b;
    const PortRef t = b.conv(b.parameter("x", "2,6,4,3"), 3, 8);
    const PortRef parts = b.op("Split", "split", {t, b.scalar_int("a", axis)}, {{"num_splits", "2"}}, 1, 2);
    PortRef sum = b.op("Multiply", "product", {parts, {parts.node, 1}});
    sum = b.op("ReduceMean", "mean", {sum, b.ints("axes", {axis})}, {{"keep_dims", "false"}});
    b.result(b.op("ReLU", "out", {sum}), "y");
    b.result(b.conv(b.op("ReLU", "other", {t}), 8, 1), "z");
    expect_same_meaning(b.graph, sink_transposes);
  }
}

TEST(SinkTransposesTest, AReshapeStopsItAndOnesBecomeReshapes) {
  PictureBuilder b;
  PortRef t = b.conv(b.parameter("x", "2,5,4,3"), 3, 4);
  b.result(b.op("Reshape", "flat", {t, b.ints("s", {2, 80})}, {{"special_zero", "false"}}), "flat");
  PortRef gate = b.op("ReduceMean", "pool", {t, b.ints("hw", {1, 2})}, {{"keep_dims", "false"}});
  gate = b.op("Reshape", "gate", {gate, b.ints("s2", {2, 1, 1, 4})}, {{"special_zero", "false"}});
  gate = b.op("Sigmoid", "sigmoid", {b.conv(gate, 4, 4)});
  t = b.conv(b.op("Multiply", "scaled", {t, gate}), 4, 2);
  b.result(b.op("ReduceMean", "pool2", {t, b.ints("hw2", {1, 2})}, {{"keep_dims", "false"}}), "y");
  const Graph graph = expect_same_meaning(b.graph, sink_transposes);
  EXPECT_EQ(count_transposes(graph), 2U);  // the first, and that of the flat output
}

TEST(SinkTransposesTest, ChangesNothingWhereNoneWouldGo) {
  PictureBuilder b;
  const PortRef x = b.parameter("x", "2,3,5,4");
  const PortRef t = b.op("ReLU", "relu", {b.op("Transpose", "own", {x, b.ints("o", {0, 2, 3, 1})})});
  const PortRef other = b.op("ReLU", "matrix", {b.op("Transpose", "m", {x, b.ints("mo", {0, 1, 3, 2})})});
  b.result(t, "y");
  b.result(other, "z");
  const Graph graph = expect_same_meaning(b.graph, sink_transposes);
  EXPECT_EQ(graph.at(graph.find("relu")).inputs[0].node, graph.find("own"));
}

TEST(SinkTransposesTest, WorksWithOpenShapes) {
  PictureBuilder b;
  PortRef t = b.conv(b.parameter("x", "?,?,?,3"), 3, 4);
  t = b.op("ReLU", "relu", {b.op("Add", "bias", {t, b.random("c", {4}, 5)})});
  b.result(b.op("ReduceMean", "pool", {b.conv(t, 4, 2), b.ints("hw", {1, 2})}, {{"keep_dims", "false"}}), "y");
  Graph graph = b.graph;
  sink_transposes(graph);
  verify(graph, "sink_transposes");
  EXPECT_EQ(count_transposes(graph), 1U);
}

}  // namespace
}  // namespace headrace::testing
