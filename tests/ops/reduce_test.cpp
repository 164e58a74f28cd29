// SPDX-License-Identifier: Apache-2.0
// Kernels of the reductions against their references on every device.
#include <gtest/gtest.h>

#include <limits>

#include "support/op_case.hpp"

namespace headrace::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct ReduceShape {
  Shape shape;
  std::vector<std::int64_t> axes;
};

Tensor axes_tensor(const std::vector<std::int64_t>& axes) {
  return ints({static_cast<std::int64_t>(axes.size())}, axes);
}

OpCase reduce_case(const std::string& type, const Tensor& x, const std::vector<std::int64_t>& axes, bool keep_dims) {
  return {.type = type,
          .attributes = {{"keep_dims", keep_dims ? "true" : "false"}},
          .inputs = {x, axes_tensor(axes)},
          .constants = {1}};
}

const std::vector<ReduceShape>& reduce_shapes() {
  static const std::vector<ReduceShape> shapes = {
      {{1}, {0}},
      {{3, 70}, {1}},
      {{70, 3}, {0}},
      {{2, 35, 7, 5}, {2, 3}},
      {{1, 130, 7, 7}, {-1, -2}},
      {{2, 19, 3, 4}, {1}},
      {{2, 19, 3, 4}, {0, 2}},
      {{2, 5, 3, 4}, {0, 1, 2, 3}},
      {{2, 17, 1, 3}, {}},
      {{2, 3, 2, 3, 2, 3}, {1, 3, 5}},
      {{2, 3, 2, 3, 2, 3}, {0, 2, 4}},
      {{3, 5, 4}, {2}},
  };
  return shapes;
}

class ReduceFunctionOpTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ReduceFunctionOpTest, MatchesReference) {
  std::uint32_t seed = 1;
  for (const ReduceShape& c : reduce_shapes()) {
    const Tensor x = random_tensor(c.shape, seed++, -1.5F, 1.5F);
    check_op(reduce_case(GetParam(), x, c.axes, true));
    check_op(reduce_case(GetParam(), x, c.axes, false));
  }
}

TEST_P(ReduceFunctionOpTest, PassesNan) {
  std::vector<float> values(40, 1.0F);
  values[21] = kNan;
  check_op(reduce_case(GetParam(), floats({2, 20}, values), {1}, false));
  check_op(reduce_case(GetParam(), floats({20, 2}, values), {0}, false));
}

INSTANTIATE_TEST_SUITE_P(Functions, ReduceFunctionOpTest,
                         ::testing::Values("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd",
                                           "ReduceL1", "ReduceL2"));

// public-reports #14: sums that a half or one float cannot hold.
TEST(ReduceOpTest, KeepsLongSums) {
  check_op(reduce_case("ReduceMean", floats({1, 1, 64, 64}, std::vector<float>(4096, 1.0F)), {2, 3}, true));
  check_op(reduce_case("ReduceMean", floats({1, 1, 256, 256}, std::vector<float>(65536, 2.0F)), {2, 3}, true));
  check_op(reduce_case("ReduceMean", random_tensor({1, 2, 600, 601}, 7, 0, 1), {2, 3}, true));
  check_op(reduce_case("ReduceSum", random_tensor({360600}, 8, 0, 1), {0}, true));
}

class ReduceIntOpTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ReduceIntOpTest, MatchesReference) {
  for (const ElementType type : {ElementType::i32, ElementType::i64}) {
    for (const std::vector<std::int64_t>& axes : {std::vector<std::int64_t>{1}, {0, 2}, {3}}) {
      OpCase c = reduce_case(GetParam(), random_ints(type, {2, 5, 3, 2}, 9, -5, 6), axes, false);
      c.tolerance = 0;
      check_op(c);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, ReduceIntOpTest,
                         ::testing::Values("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd",
                                           "ReduceL1"));

TEST(ReduceLogicalOpTest, MatchesReference) {
  for (const char* type : {"ReduceLogicalAnd", "ReduceLogicalOr"}) {
    for (const std::int64_t high : {1, 2}) {
      const Tensor x = random_ints(ElementType::boolean, {2, 3, 5, 2}, 10, 0, high + 1);
      check_op(reduce_case(type, x, {1}, true));
      check_op(reduce_case(type, x, {2, 3}, false));
    }
  }
  check_op_refused(reduce_case("ReduceLogicalOr", random_tensor({2}, 1), {0}, true), "has no kernel");
}

}  // namespace
}  // namespace headrace::test
