// SPDX-License-Identifier: Apache-2.0
// Roll: shifts elements along axes, those pushed out come in at the other end. ReverseSequence: reverses the first
// elements of each batch's sequence.
#include <algorithm>

#include "ops/checks.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"Roll", "ReverseSequence"};

Attributes parse(std::string_view type, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  if (type == "ReverseSequence") {
    attributes.set("batch_axis", parse_int(raw, "batch_axis", 0));
    attributes.set("seq_axis", parse_int(raw, "seq_axis", 1));
  }
  return attributes;
}

struct SequenceAxes {
  std::size_t batch = 0;
  std::size_t sequence = 1;
};

SequenceAxes sequence_axes(const Node& node, std::size_t rank) {
  const SequenceAxes axes{normalize_one_axis(node, node.attributes.get_int("batch_axis"), rank),
                          normalize_one_axis(node, node.attributes.get_int("seq_axis"), rank)};
  if (axes.batch == axes.sequence) fail_node(node, "has one axis as batch_axis and seq_axis");
  return axes;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  const Shape& shape = inputs[0].shape;
  if (node.type == "Roll") {
    check_input_count(node, inputs.size(), 3, 3);
    check_index_type(node, inputs, 1, "shift");
    check_index_type(node, inputs, 2, "axes");
    const std::int64_t shifts = count_elems(inputs[1].shape);
    if (shifts != 1 && shifts != count_elems(inputs[2].shape)) {
      fail_node(node, "has " + std::to_string(shifts) + " shifts for " + std::to_string(count_elems(inputs[2].shape)) +
                          " axes");
    }
    if (inputs[2].value != nullptr) {
      for (const std::int64_t axis : to_int64s(*inputs[2].value)) normalize_one_axis(node, axis, shape.size());
    }
  } else {
    check_input_count(node, inputs.size(), 2, 2);
    const SequenceAxes axes = sequence_axes(node, shape.size());
    check_shape(node, inputs[1].shape, {shape[axes.batch]}, "sequence lengths");
  }
  return {{inputs[0].type, shape}};
}

// Fills the result element by element: `source_of` changes an index tuple of the result into that of its source.
template <typename SourceOf>
void fill(const Tensor& source, Tensor& result, SourceOf source_of) {
  const Shape& shape = result.shape();
  const std::vector<std::int64_t> strides = row_major_strides(shape);
  const std::size_t bytes = size_bytes(result.type());
  std::vector<std::int64_t> index(shape.size());
  for (std::int64_t i = 0; i < result.count(); ++i) {
    for (std::size_t d = 0; d < shape.size(); ++d) index[d] = i / strides[d] % shape[d];
    source_of(index);
    std::int64_t from = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) from += index[d] * strides[d];
    std::copy_n(source.data() + static_cast<std::size_t>(from) * bytes, bytes,
                result.mutable_data() + static_cast<std::size_t>(i) * bytes);
  }
}

std::int64_t floor_mod(std::int64_t value, std::int64_t size) { return ((value % size) + size) % size; }

void roll(const Node& node, std::span<const Tensor> inputs, Tensor& result) {
  const Shape& shape = result.shape();
  const std::vector<std::int64_t> shifts = to_int64s(inputs[1]);
  const std::vector<std::int64_t> axes = to_int64s(inputs[2]);
  std::vector<std::int64_t> sums(shape.size(), 0);  // an axis may stand several times
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = normalize_one_axis(node, axes[i], shape.size());
    if (shape[axis] == 0) return;
    sums[axis] =
        floor_mod(sums[axis] + floor_mod(shifts.size() == 1 ? shifts[0] : shifts[i], shape[axis]), shape[axis]);
  }
  fill(inputs[0], result, [&](std::vector<std::int64_t>& index) {
    for (std::size_t d = 0; d < index.size(); ++d) index[d] = floor_mod(index[d] - sums[d], shape[d]);
  });
}

void reverse(const Node& node, std::span<const Tensor> inputs, Tensor& result) {
  const SequenceAxes axes = sequence_axes(node, result.shape().size());
  std::vector<std::int64_t> lengths;
  for (const double length : to_doubles(inputs[1])) lengths.push_back(static_cast<std::int64_t>(length));
  for (const std::int64_t length : lengths) {
    if (length < 0 || length > result.shape()[axes.sequence]) {
      fail(ErrorCode::kInvalidArgument, "ReverseSequence has a sequence length of " + std::to_string(length) +
                                            " for sequences of " + std::to_string(result.shape()[axes.sequence]));
    }
  }
  fill(inputs[0], result, [&](std::vector<std::int64_t>& index) {
    const std::int64_t length = lengths[static_cast<std::size_t>(index[axes.batch])];
    std::int64_t& place = index[axes.sequence];
    if (place < length) place = length - 1 - place;
  });
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  (node.type == "Roll" ? roll : reverse)(node, inputs, outputs[0]);
}

}  // namespace

const OpDescriptor& roll_op() {
  static constexpr OpDescriptor op = {.types = kTypes, .parse = parse, .infer = infer, .reference = reference};
  return op;
}

}  // namespace headrace
