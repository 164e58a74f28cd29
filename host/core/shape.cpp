// SPDX-License-Identifier: Apache-2.0
#include "core/shape.hpp"

#include <algorithm>
#include <charconv>

#include "core/error.hpp"

namespace headrace {
namespace {

constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::int64_t parse_bound(std::string_view text, std::string_view whole) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    fail(ErrorCode::kInvalidArgument, "shape '" + std::string(whole) + "': '" + std::string(text) +
                                          "' is not a dimension (use a number, ? or MIN..MAX)");
  }
  return value;
}

Dimension parse_dimension(std::string_view text, std::string_view whole) {
  if (text == "?" || text == "-1") return {0, kUnbounded};
  const auto dots = text.find("..");
  if (dots == std::string_view::npos) {
    const std::int64_t value = parse_bound(text, whole);
    return {value, value};
  }
  const std::string_view low = text.substr(0, dots);
  const std::string_view high = text.substr(dots + 2);
  Dimension dimension{low.empty() ? 0 : parse_bound(low, whole), high.empty() ? kUnbounded : parse_bound(high, whole)};
  check(dimension.min <= dimension.max, ErrorCode::kInvalidArgument,
        "shape '" + std::string(whole) + "': interval '" + std::string(text) + "' is empty");
  return dimension;
}

}  // namespace

std::int64_t count_elems(const Shape& shape) {
  std::int64_t count = 1;
  const bool is_negative = std::any_of(shape.begin(), shape.end(), [](std::int64_t dim) { return dim < 0; });
  // An empty tensor has no elements, however large its other dimensions are.
  if (!is_negative && std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  for (const std::int64_t dim : shape) {
    if (is_negative || __builtin_mul_overflow(count, dim, &count)) {
      fail(ErrorCode::kInvalidArgument,
           "shape " + to_string(shape) + " has a negative dimension or more than 2^63 elements");
    }
  }
  return count;
}

bool is_countable(const Shape& shape) {
  std::int64_t bytes = 8;  // of the largest element
  return std::all_of(shape.begin(), shape.end(), [&](std::int64_t dim) {
    return dim >= 0 && !__builtin_mul_overflow(bytes, std::max<std::int64_t>(dim, 1), &bytes);
  });
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i != 0) text += ',';
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

std::vector<std::int64_t> row_major_strides(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<std::int64_t>(shape[i], 1);
  }
  return strides;
}

std::optional<Shape> broadcast_shapes(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape result(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t da = i + a.size() < rank ? 1 : a[i + a.size() - rank];
    const std::int64_t db = i + b.size() < rank ? 1 : b[i + b.size() - rank];
    if (da != db && da != 1 && db != 1) return std::nullopt;
    result[i] = da == 1 ? db : da;
  }
  return result;
}

std::int64_t normalize_axis(std::int64_t axis, std::size_t rank, std::string_view what) {
  const auto limit = static_cast<std::int64_t>(rank);
  if (axis < -limit || axis >= limit) {
    fail(ErrorCode::kInvalidArgument, std::string(what) + " " + std::to_string(axis) + " is outside [" +
                                          std::to_string(-limit) + ", " + std::to_string(limit - 1) + "]");
  }
  return axis < 0 ? axis + limit : axis;
}

PartialShape::PartialShape(const Shape& shape) {
  for (const std::int64_t dim : shape) dims.push_back({dim, dim});
}

bool PartialShape::is_static() const {
  return is_rank_known && std::all_of(dims.begin(), dims.end(), [](const Dimension& d) { return d.is_static(); });
}

Shape PartialShape::to_shape() const {
  check(is_static(), ErrorCode::kInvalidArgument, "shape " + to_string(*this) + " is not static");
  Shape shape;
  for (const Dimension& dim : dims) shape.push_back(dim.min);
  return shape;
}

bool PartialShape::accepts(const Shape& shape) const {
  if (!is_rank_known) return true;
  if (dims.size() != shape.size()) return false;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (!dims[i].contains(shape[i])) return false;
  }
  return true;
}

PartialShape parse_partial_shape(std::string_view text) {
  const std::string_view body = trimmed(text);
  PartialShape shape;
  if (body.empty()) return shape;
  if (body == "...") {
    shape.is_rank_known = false;
    return shape;
  }
  std::size_t start = 0;
  while (start <= body.size()) {
    const std::size_t comma = std::min(body.find(',', start), body.size());
    shape.dims.push_back(parse_dimension(trimmed(body.substr(start, comma - start)), text));
    start = comma + 1;
  }
  return shape;
}

std::string to_string(const PartialShape& shape) {
  if (!shape.is_rank_known) return "[...]";
  std::string text = "[";
  for (std::size_t i = 0; i < shape.dims.size(); ++i) {
    const Dimension& dim = shape.dims[i];
    if (i != 0) text += ',';
    if (dim.is_static()) {
      text += std::to_string(dim.min);
    } else if (dim.min == 0 && dim.max == kUnbounded) {
      text += '?';
    } else {
      text += std::to_string(dim.min) + "..";
      if (dim.max != kUnbounded) text += std::to_string(dim.max);
    }
  }
  return text + "]";
}

}  // namespace headrace
