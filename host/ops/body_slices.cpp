// SPDX-License-Identifier: Apache-2.0
#include "ops/body_slices.hpp"

#include <algorithm>

#include "ops/checks.hpp"
#include "ops/move.hpp"

namespace headrace {
namespace {

// The first element of a slice's first part, the step to the next and how many there are.
struct Parts {
  std::size_t axis = 0;
  std::int64_t first = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
};

Parts parts_of(const Node& node, const BodySlice& slice, const Shape& shape) {
  const std::size_t axis = normalize_one_axis(node, slice.axis, shape.size());
  const std::int64_t size = shape[axis];
  const auto place = [&](std::int64_t at) { return at < 0 ? at + size + 1 : at; };
  const std::int64_t start = place(slice.start);
  const std::int64_t end = place(slice.end);
  const bool is_backward = slice.stride < 0;
  const std::int64_t low = is_backward ? end : start;
  const std::int64_t high = is_backward ? start : end;
  const bool has_step = slice.stride != 0 && slice.stride > -size - 1 && slice.stride < size + 1;
  const std::int64_t step = is_backward ? -slice.stride : slice.stride;
  if (low < 0 || high > size || low > high || !has_step || (high - low) % step != 0 || slice.part_size < 1 ||
      slice.part_size > step) {
    fail_node(node, "cuts axis " + std::to_string(axis) + " of " + to_string(shape) + " from " +
                        std::to_string(slice.start) + " to " + std::to_string(slice.end) + " by " +
                        std::to_string(slice.stride) + " into parts of " + std::to_string(slice.part_size));
  }
  return {axis, is_backward ? high - step : low, is_backward ? -step : step, (high - low) / step};
}

}  // namespace

std::int64_t count_parts(const Node& node, const BodySlice& slice, const Shape& shape) {
  return parts_of(node, slice, shape).count;
}

Shape part_shape(const Node& node, const BodySlice& slice, const Shape& shape) {
  Shape part = shape;
  part[parts_of(node, slice, shape).axis] = slice.part_size;
  return part;
}

std::int64_t part_start(const Node& node, const BodySlice& slice, const Shape& shape, std::int64_t number) {
  const Parts parts = parts_of(node, slice, shape);
  return parts.first + number * parts.step;
}

Tensor part_of(const Node& node, const BodySlice& slice, const Tensor& tensor, std::int64_t number) {
  const Shape& shape = tensor.shape();
  const Parts parts = parts_of(node, slice, shape);
  Tensor part(tensor.type(), part_shape(node, slice, shape));
  const std::int64_t outer = count_between(shape, 0, parts.axis);
  const std::size_t elem_bytes =
      static_cast<std::size_t>(count_between(shape, parts.axis + 1, shape.size())) * size_bytes(tensor.type());
  const std::size_t part_bytes = static_cast<std::size_t>(slice.part_size) * elem_bytes;
  for (std::int64_t o = 0; o < outer; ++o) {
    const std::int64_t from = o * shape[parts.axis] + parts.first + number * parts.step;
    std::copy_n(tensor.data() + static_cast<std::size_t>(from) * elem_bytes, part_bytes,
                part.mutable_data() + static_cast<std::size_t>(o) * part_bytes);
  }
  return part;
}

Tensor joined(const Node& node, const BodySlice& slice, const std::vector<Tensor>& parts) {
  Shape shape = parts.at(0).shape();
  const std::size_t axis = normalize_one_axis(node, slice.axis, shape.size());
  shape[axis] = count_elems({shape[axis], static_cast<std::int64_t>(parts.size())});
  Tensor whole(parts[0].type(), shape);
  const std::int64_t outer = count_between(shape, 0, axis);
  const std::size_t part_bytes = outer == 0 ? 0 : parts[0].size_bytes() / static_cast<std::size_t>(outer);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    check_shape(node, parts[i].shape(), parts[0].shape(), "parts");
    const std::size_t place = slice.stride < 0 ? parts.size() - 1 - i : i;
    for (std::int64_t o = 0; o < outer; ++o) {
      const std::size_t row = static_cast<std::size_t>(o);
      std::copy_n(parts[i].data() + row * part_bytes, part_bytes,
                  whole.mutable_data() + (row * parts.size() + place) * part_bytes);
    }
  }
  return whole;
}

}  // namespace headrace
