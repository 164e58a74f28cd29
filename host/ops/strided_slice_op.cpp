// SPDX-License-Identifier: Apache-2.0
// StridedSlice: begin, end and stride per dimension, with masks for "whole axis", new axes, dropped axes and "...".
#include <algorithm>

#include "ops/move.hpp"
#include "ops/slice_range.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"StridedSlice"};
constexpr std::string_view kMasks[] = {"begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask"};
constexpr std::size_t kNewAxis = static_cast<std::size_t>(-1);

Attributes parse(std::string_view, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  for (const std::string_view mask : kMasks) attributes.set(mask, parse_ints(raw, mask, {}));
  return attributes;
}

// What happens to one dimension: of the input, or a new one.
struct Piece {
  std::size_t axis = kNewAxis;
  SliceRange range{0, 1, 1};
  bool is_dropped = false;
};

class Slicer {
 public:
  Slicer(const Node& node, const Shape& shape, const InputValues& values)
      : node_(node), shape_(shape), begin_(ints_at(values, 1)), end_(ints_at(values, 2)) {
    strides_ = has_input(values, 3) ? ints_at(values, 3) : std::vector<std::int64_t>(begin_.size(), 1);
    if (end_.size() != begin_.size() || strides_.size() != begin_.size()) {
      fail_node(node, "has begin, end and strides of different lengths");
    }
  }

  std::vector<Piece> pieces() {
    bool has_ellipsis = false;
    for (std::size_t i = 0; i < begin_.size(); ++i) {
      if (has_mask("ellipsis_mask", i)) {
        if (has_ellipsis) fail_node(node_, "has more than one ellipsis");
        has_ellipsis = true;
        add_whole(axis_ + skipped_by_ellipsis());
      } else if (has_mask("new_axis_mask", i)) {
        pieces_.push_back({});
      } else {
        add_sliced(i);
      }
    }
    add_whole(shape_.size());
    return pieces_;
  }

 private:
  bool has_mask(std::string_view name, std::size_t i) const {
    const std::vector<std::int64_t>& mask = node_.attributes.get_ints(name);
    return i < mask.size() && mask[i] != 0;
  }

  // Input dimensions that no entry but the ellipsis takes.
  std::size_t skipped_by_ellipsis() const {
    std::size_t taken = 0;
    for (std::size_t i = 0; i < begin_.size(); ++i) {
      if (!has_mask("ellipsis_mask", i) && !has_mask("new_axis_mask", i)) ++taken;
    }
    return shape_.size() - std::min(taken, shape_.size());
  }

  void add_whole(std::size_t end_axis) {
    for (; axis_ < end_axis; ++axis_) pieces_.push_back({axis_, {0, 1, shape_[axis_]}, false});
  }

  void add_sliced(std::size_t i) {
    if (axis_ >= shape_.size()) fail_node(node_, "slices more dimensions than " + to_string(shape_) + " has");
    const std::int64_t size = shape_[axis_];
    if (has_mask("shrink_axis_mask", i)) {
      const std::int64_t index = has_mask("begin_mask", i) ? 0 : begin_[i];
      if (index < -size || index >= size) {
        fail_node(node_, "takes index " + std::to_string(index) + " of an axis of size " + std::to_string(size));
      }
      pieces_.push_back({axis_++, {index < 0 ? index + size : index, 1, 1}, true});
      return;
    }
    const std::int64_t step = strides_[i];
    if (step == 0) fail_node(node_, "has a stride of 0");
    constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    const std::int64_t begin = has_mask("begin_mask", i) ? (step > 0 ? 0 : kMax) : begin_[i];
    const std::int64_t end = has_mask("end_mask", i) ? (step > 0 ? kMax : kMin) : end_[i];
    pieces_.push_back({axis_++, python_slice(size, begin, end, step), false});
  }

  const Node& node_;
  const Shape& shape_;
  std::vector<std::int64_t> begin_;
  std::vector<std::int64_t> end_;
  std::vector<std::int64_t> strides_;
  std::size_t axis_ = 0;  // next input dimension
  std::vector<Piece> pieces_;
};

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 3, 4);
  Shape shape;
  for (const Piece& piece : Slicer(node, inputs[0].shape, values_of(inputs)).pieces()) {
    if (!piece.is_dropped) shape.push_back(piece.range.count);
  }
  return {{inputs[0].type, shape}};
}

Move move(const Node& node, const TensorDesc& from, const InputValues& values, std::size_t, const TensorDesc& to) {
  Move result{to.shape, {{}, from.offset}, {to.strides, to.offset}};
  for (const Piece& piece : Slicer(node, from.shape, values).pieces()) {
    const std::int64_t stride = piece.axis == kNewAxis ? 1 : from.strides[piece.axis];
    result.from.offset_elems += piece.range.first * stride;
    if (!piece.is_dropped) result.from.strides.push_back(piece.range.step * stride);
  }
  return result;
}

}  // namespace

const OpDescriptor& strided_slice_op() {
  static constexpr OpDescriptor op = {
      .types = kTypes,
      .parse = parse,
      .infer = infer,
      .reference = move_reference<move>,
      .supports = move_supports<move>,
      .lower = move_lower<move>,
      .instances = copy_instances,
      .view = move_view<move>,
  };
  return op;
}

}  // namespace headrace
