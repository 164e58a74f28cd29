// SPDX-License-Identifier: Apache-2.0
// Split and VariadicSplit: an axis cut into equal parts, or into parts of given lengths (one may be -1, the rest).
#include <numeric>

#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"Split", "VariadicSplit"};
constexpr std::int64_t kMaxParts = 65536;  // an empty axis divides by anything: bounds what a hostile file allocates

Attributes parse(std::string_view type, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  if (type == "Split") {
    attributes.set("num_splits", parse_int(raw, "num_splits"));
    const std::int64_t parts = attributes.get_int("num_splits");
    if (parts < 1 || parts > kMaxParts) {
      fail(ErrorCode::kBadModel,
           "attribute 'num_splits' is " + std::to_string(parts) + ", expected 1 to " + std::to_string(kMaxParts));
    }
  }
  return attributes;
}

std::vector<std::int64_t> equal_lengths(const Node& node, std::int64_t size) {
  const std::int64_t parts = node.attributes.get_int("num_splits");
  if (size % parts != 0) {
    fail_node(node,
              "cannot cut an axis of size " + std::to_string(size) + " into " + std::to_string(parts) + " equal parts");
  }
  return std::vector<std::int64_t>(static_cast<std::size_t>(parts), size / parts);
}

std::vector<std::int64_t> given_lengths(const Node& node, std::int64_t size, std::vector<std::int64_t> lengths) {
  std::int64_t left = size;
  std::int64_t* rest = nullptr;
  for (std::int64_t& length : lengths) {
    if (length < -1 || (length == -1 && rest != nullptr)) {
      fail_node(node, "has split lengths " + to_string(Shape(lengths)) + ", at most one may be -1");
    }
    if (length == -1) {
      rest = &length;
    } else if (length > left) {
      fail_node(node,
                "has split lengths " + to_string(Shape(lengths)) + " for an axis of size " + std::to_string(size));
    } else {
      left -= length;
    }
  }
  if (rest != nullptr) {
    *rest = left;
  } else if (left != 0) {
    fail_node(node, "has split lengths " + to_string(Shape(lengths)) + " for an axis of size " + std::to_string(size));
  }
  return lengths;
}

struct Cut {
  std::size_t axis = 0;
  std::vector<std::int64_t> lengths;
};

Cut cut_of(const Node& node, const Shape& shape, const InputValues& values) {
  const std::size_t axis = normalize_one_axis(node, int_at(values, 1), shape.size());
  if (node.type == "Split") return {axis, equal_lengths(node, shape[axis])};
  return {axis, given_lengths(node, shape[axis], ints_at(values, 2))};
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  const std::size_t count = node.type == "Split" ? 2 : 3;
  check_input_count(node, inputs.size(), count, count);
  const Cut cut = cut_of(node, inputs[0].shape, values_of(inputs));
  std::vector<InferOutput> outputs;
  for (const std::int64_t length : cut.lengths) {
    Shape shape = inputs[0].shape;
    shape[cut.axis] = length;
    outputs.push_back({inputs[0].type, shape});
  }
  return outputs;
}

Move move(const Node& node, const TensorDesc& from, const InputValues& values, std::size_t output,
          const TensorDesc& to) {
  const Cut cut = cut_of(node, from.shape, values);
  const std::int64_t start =
      std::accumulate(cut.lengths.begin(), cut.lengths.begin() + static_cast<std::ptrdiff_t>(output), std::int64_t{0});
  return {to.shape, {from.strides, from.offset + start * from.strides[cut.axis]}, {to.strides, to.offset}};
}

}  // namespace

const OpDescriptor& split_op() {
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
