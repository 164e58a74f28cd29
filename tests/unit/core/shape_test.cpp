// SPDX-License-Identifier: Apache-2.0
#include "core/shape.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"

namespace headrace {
namespace {

using ::testing::ElementsAre;

TEST(CountElemsTest, ProductScalarAndEmpty) {
  EXPECT_EQ(count_elems({2, 3, 4}), 24);
  EXPECT_EQ(count_elems({}), 1);
  EXPECT_EQ(count_elems({0, 3}), 0);
  EXPECT_EQ(count_elems({std::int64_t{1} << 62, 8, 0}), 0);  // no overflow where nothing is stored
}

TEST(CountElemsTest, OverflowAndNegativeDimensionsAreErrors) {
  EXPECT_THROW(count_elems({std::int64_t{1} << 32, std::int64_t{1} << 32}), Error);
  EXPECT_THROW(count_elems({2, -1}), Error);
  EXPECT_THROW(count_elems({0, -1}), Error);
}

TEST(RowMajorStridesTest, InnermostIsOne) {
  EXPECT_THAT(row_major_strides({2, 3, 4}), ElementsAre(12, 4, 1));
  EXPECT_TRUE(row_major_strides({}).empty());
  EXPECT_THAT(row_major_strides({2, 0, 4}), ElementsAre(4, 4, 1));
}

TEST(BroadcastShapesTest, NumpyRule) {
  EXPECT_EQ(broadcast_shapes({2, 1, 4}, {3, 1}), (Shape{2, 3, 4}));
  EXPECT_EQ(broadcast_shapes({}, {5}), (Shape{5}));
  EXPECT_EQ(broadcast_shapes({0}, {1}), (Shape{0}));
  EXPECT_EQ(broadcast_shapes({1}, {0}), (Shape{0}));
  EXPECT_EQ(broadcast_shapes({2}, {3}), std::nullopt);
  EXPECT_EQ(broadcast_shapes({2, 3}, {2}), std::nullopt);
}

TEST(NormalizeAxisTest, WrapsNegativeRefusesOutside) {
  EXPECT_EQ(normalize_axis(-1, 4, "axis"), 3);
  EXPECT_EQ(normalize_axis(-4, 4, "axis"), 0);
  EXPECT_EQ(normalize_axis(3, 4, "axis"), 3);
  EXPECT_THROW(normalize_axis(4, 4, "axis"), Error);
  EXPECT_THROW(normalize_axis(-5, 4, "axis"), Error);
  EXPECT_THROW(normalize_axis(0, 0, "axis"), Error);
}

TEST(PartialShapeTest, ParsesAndPrintsEveryForm) {
  for (const std::string text : {"1,3,8..16,?", "?", "..8", "2..", "7", ""}) {
    const PartialShape shape = parse_partial_shape(text);
    EXPECT_EQ(parse_partial_shape(to_string(shape).substr(1, to_string(shape).size() - 2)).dims, shape.dims) << text;
  }
  EXPECT_EQ(to_string(parse_partial_shape("1, 3 ,8..16,-1")), "[1,3,8..16,?]");
  EXPECT_FALSE(parse_partial_shape("...").is_rank_known);
  EXPECT_EQ(to_string(parse_partial_shape("...")), "[...]");
}

TEST(PartialShapeTest, RefusesNonsense) {
  for (const std::string text : {"a", "1,,2", "1,", "-2", "9..8", "1.5", "99999999999999999999", "1;2"}) {
    EXPECT_THROW(parse_partial_shape(text), Error) << text;
  }
}

TEST(PartialShapeTest, StaticAndAccepts) {
  EXPECT_TRUE(parse_partial_shape("1,3").is_static());
  EXPECT_TRUE(parse_partial_shape("").is_static());
  EXPECT_FALSE(parse_partial_shape("1,?").is_static());
  EXPECT_FALSE(parse_partial_shape("...").is_static());
  EXPECT_EQ(parse_partial_shape("1,3").to_shape(), (Shape{1, 3}));
  EXPECT_THROW(parse_partial_shape("1,?").to_shape(), Error);
  EXPECT_TRUE(parse_partial_shape("1,2..4").accepts({1, 4}));
  EXPECT_FALSE(parse_partial_shape("1,2..4").accepts({1, 5}));
  EXPECT_FALSE(parse_partial_shape("1,2..4").accepts({1}));
  EXPECT_TRUE(parse_partial_shape("...").accepts({}));
  EXPECT_TRUE(PartialShape(Shape{2, 3}).accepts({2, 3}));
}

}  // namespace
}  // namespace headrace
