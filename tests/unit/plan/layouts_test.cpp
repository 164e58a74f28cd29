// SPDX-License-Identifier: Apache-2.0
// Orders of dimensions in memory, those of size 1 in any place among them.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "plan/opencl_planner.hpp"

namespace headrace::detail {
namespace {

// A dense tensor whose dimensions lie in this order, outermost first.
TensorDesc in_order(const Shape& shape, const std::vector<std::size_t>& order) {
  TensorDesc desc{ElementType::f32, shape, std::vector<std::int64_t>(shape.size()), 0};
  std::int64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    desc.strides[order[i]] = stride;
    stride *= shape[order[i]];
  }
  return desc;
}

// Where the elements lie: dimensions of size 1 do not count.
std::vector<std::int64_t> strides_that_count(const TensorDesc& desc) {
  std::vector<std::int64_t> strides;
  for (std::size_t i = 0; i < desc.shape.size(); ++i) {
    if (desc.shape[i] != 1) strides.push_back(desc.strides[i]);
  }
  return strides;
}

std::vector<std::vector<std::size_t>> all_orders(std::size_t rank) {
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::vector<std::size_t>> orders;
  do {
    orders.push_back(order);
  } while (std::next_permutation(order.begin(), order.end()));
  return orders;
}

// Every pair of orders of a shape is the same order exactly where the elements lie in the same places.
TEST(LayoutsTest, OrdersAreComparedWhereverSizesAreOne) {
  const Shape full = {2, 3, 5, 7};
  for (unsigned ones = 0; ones < 16; ++ones) {
    Shape shape = full;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if ((ones >> i & 1U) != 0) shape[i] = 1;
    }
    for (const auto& a : all_orders(shape.size())) {
      const TensorDesc first = in_order(shape, a);
      EXPECT_EQ(strides_that_count({ElementType::f32, shape, strides_in_order_of(first, shape), 0}),
                strides_that_count(first))
          << to_string(shape);
      for (const auto& b : all_orders(shape.size())) {
        const TensorDesc second = in_order(shape, b);
        EXPECT_EQ(is_same_order(first, second), strides_that_count(first) == strides_that_count(second))
            << to_string(shape);
      }
    }
  }
}

}  // namespace
}  // namespace headrace::detail
