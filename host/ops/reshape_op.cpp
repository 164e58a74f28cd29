// SPDX-License-Identifier: Apache-2.0
// Reshape: the same elements in row-major order under another shape; 0 may copy a dimension, -1 is what is left.
#include "ops/move.hpp"
#include "ops/strided.hpp"
#include "ops/view.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"Reshape"};

Attributes parse(std::string_view, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  attributes.set("special_zero", parse_bool(raw, "special_zero", false));
  return attributes;
}

[[noreturn]] void fail_pattern(const Node& node, const Shape& shape, const Shape& pattern, const std::string& why) {
  fail_node(node, "cannot infer a shape from " + to_string(shape) + " and pattern " + to_string(pattern) + ": " + why);
}

Shape resolve(const Node& node, const Shape& shape, const Shape& pattern) {
  Shape result = pattern;
  std::int64_t known = 1;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (result[i] == 0 && node.attributes.get_bool("special_zero")) {
      if (i >= shape.size()) fail_pattern(node, shape, pattern, "0 stands past the input's rank");
      result[i] = shape[i];
    }
    if (result[i] < -1) fail_pattern(node, shape, pattern, "a dimension is negative");
    if (result[i] == -1) {
      if (open) fail_pattern(node, shape, pattern, "-1 stands twice");
      open = i;
      result[i] = 1;
    } else if (__builtin_mul_overflow(known, result[i], &known)) {
      fail_pattern(node, shape, pattern, "the number of elements overflows");
    }
  }
  const std::int64_t count = count_elems(shape);
  if (open) {
    if (known == 0 || count % known != 0) fail_pattern(node, shape, pattern, "-1 has no single value");
    result[*open] = count / known;
  } else if (known != count) {
    fail_pattern(node, shape, pattern, "the numbers of elements differ");
  }
  return result;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 2, 2);
  return {{inputs[0].type, resolve(node, inputs[0].shape, ints_at(values_of(inputs), 1))}};
}

// The output is dense and row-major, so it can be written under the input's shape.
Move move(const Node&, const TensorDesc& from, const InputValues&, std::size_t, const TensorDesc& to) {
  return {from.shape, {from.strides, from.offset}, {row_major_strides(from.shape), to.offset}};
}

Support supports(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                 const KernelCaps& caps) {
  return move_supports<move>(node, inputs.first(1), outputs, caps);  // the output's shape says all
}

LayoutRules layouts(const Node&, const KernelCaps&) { return {{LayoutRule::kAny}, LayoutRule::kRowMajor}; }

std::optional<View> view(const Node&, std::span<const LowerInput> inputs, std::size_t, const Shape& output_shape) {
  const auto strides = reshape_strides(inputs[0].desc, output_shape);
  if (!strides) return std::nullopt;
  return View{*strides, inputs[0].desc.offset};
}

}  // namespace

const OpDescriptor& reshape_op() {
  static constexpr OpDescriptor op = {
      .types = kTypes,
      .parse = parse,
      .infer = infer,
      .reference = move_reference<move>,
      .supports = supports,
      .layouts = layouts,
      .lower = move_lower<move>,
      .instances = copy_instances,
      .view = view,
  };
  return op;
}

}  // namespace headrace
