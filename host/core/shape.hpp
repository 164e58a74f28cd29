// SPDX-License-Identifier: Apache-2.0
// Shapes of tensors: concrete (Shape) and as a model file may leave them (PartialShape).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

// Dimensions of a tensor, outermost first; {} is a scalar. Every dimension is >= 0.
using Shape = std::vector<std::int64_t>;

// Returns the product of the dimensions (1 for a scalar). Throws kInvalidArgument where it overflows int64.
std::int64_t count_elems(const Shape& shape);

// Most dimensions that a model file may give a tensor.
inline constexpr std::size_t kMaxFileRank = 32;
// Whether strides and bytes of a tensor of any element type fit int64, zeros among the dimensions or not: what is read
// from a file is asked before anything counts with it. False where a dimension is negative.
bool is_countable(const Shape& shape);

// Returns "[1,3,224,224]".
std::string to_string(const Shape& shape);

// Returns the strides, in elements, of a dense row-major tensor.
std::vector<std::int64_t> row_major_strides(const Shape& shape);

// Returns the shape that both broadcast to by the numpy rule, or nothing where they don't fit.
std::optional<Shape> broadcast_shapes(const Shape& a, const Shape& b);

// Maps a possibly negative axis to [0, rank). Throws kInvalidArgument naming what where it is outside [-rank, rank).
std::int64_t normalize_axis(std::int64_t axis, std::size_t rank, std::string_view what);

struct Dimension {
  std::int64_t min = 0;
  std::int64_t max = std::numeric_limits<std::int64_t>::max();

  bool is_static() const { return min == max; }
  bool contains(std::int64_t value) const { return value >= min && value <= max; }
  friend bool operator==(const Dimension&, const Dimension&) = default;
};

// A shape with unknown dimensions ("?,3,8..16") or an unknown rank ("...").
struct PartialShape {
  bool is_rank_known = true;
  std::vector<Dimension> dims;

  PartialShape() = default;
  explicit PartialShape(const Shape& shape);

  bool is_static() const;
  // Returns the concrete shape; throws kInvalidArgument where it is not static.
  Shape to_shape() const;
  bool accepts(const Shape& shape) const;
};

// Parses IR's notation: "1,3,8..16,?", "-1", "..." and "" (a scalar). Throws kInvalidArgument.
PartialShape parse_partial_shape(std::string_view text);
// Returns IR's notation in brackets: "[1,3,8..16,?]".
std::string to_string(const PartialShape& shape);

}  // namespace headrace
