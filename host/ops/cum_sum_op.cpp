// SPDX-License-Identifier: Apache-2.0
// CumSum: sums of an axis' elements up to each place, forwards or backwards, with or without the place's own element.
#include "ops/checks.hpp"
#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"CumSum"};

Attributes parse(std::string_view, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  attributes.set("exclusive", parse_bool(raw, "exclusive", false));
  attributes.set("reverse", parse_bool(raw, "reverse", false));
  return attributes;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 1, 2);
  if (inputs[0].type == ElementType::boolean) fail_node(node, "needs numbers, has boolean");
  if (inputs.size() == 2) {
    check_index_type(node, inputs, 1, "axis");
    if (inputs[1].value != nullptr) normalize_one_axis(node, int_at(values_of(inputs), 1), inputs[0].shape.size());
  }
  return {{inputs[0].type, inputs[0].shape}};
}

// `read(i)` and `write(i, sum)` reach element i of the line.
template <typename T, typename Read, typename Write>
void sum_line(const Node& node, std::int64_t size, Read read, Write write) {
  const bool is_exclusive = node.attributes.get_bool("exclusive");
  const bool is_reverse = node.attributes.get_bool("reverse");
  T sum = 0;
  for (std::int64_t n = 0; n < size; ++n) {
    const std::int64_t i = is_reverse ? size - 1 - n : n;
    const T next = sum + read(i);
    write(i, is_exclusive ? sum : next);
    sum = next;
  }
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const Shape& shape = inputs[0].shape();
  const std::int64_t given = inputs.size() == 2 ? int_at(values_of(inputs), 1) : 0;
  const std::size_t axis = normalize_one_axis(node, given, shape.size());
  const std::int64_t size = shape[axis];
  const std::int64_t inner = row_major_strides(shape)[axis];
  const std::int64_t lines = size == 0 ? 0 : inputs[0].count() / size;
  for (std::int64_t line = 0; line < lines; ++line) {
    const std::int64_t start = line / inner * inner * size + line % inner;
    if (is_floating(inputs[0].type())) {
      sum_line<double>(
          node, size, [&](std::int64_t i) { return real_at(inputs[0], start + i * inner); },
          [&](std::int64_t i, double sum) { set_real(outputs[0], start + i * inner, sum); });
    } else {
      sum_line<std::uint64_t>(
          node, size,
          [&](std::int64_t i) { return static_cast<std::uint64_t>(int_value_at(inputs[0], start + i * inner)); },
          [&](std::int64_t i, std::uint64_t sum) {
            set_int(outputs[0], start + i * inner, static_cast<std::int64_t>(sum));
          });
    }
  }
}

}  // namespace

const OpDescriptor& cum_sum_op() {
  static constexpr OpDescriptor op = {.types = kTypes, .parse = parse, .infer = infer, .reference = reference};
  return op;
}

}  // namespace headrace
