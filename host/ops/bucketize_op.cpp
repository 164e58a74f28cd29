// SPDX-License-Identifier: Apache-2.0
// Bucketize and SearchSorted: for each value its place among sorted boundaries, by binary search.
#include <algorithm>

#include "ops/checks.hpp"
#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"Bucketize", "SearchSorted"};

Attributes parse(std::string_view type, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  attributes.set("output_type", parse_enum(raw, "output_type", "i64", {"i32", "i64"}));
  if (type == "Bucketize") {
    attributes.set("with_right_bound", parse_bool(raw, "with_right_bound", true));
  } else {
    attributes.set("right_mode", parse_bool(raw, "right_mode", false));
  }
  return attributes;
}

// Boundaries of SearchSorted are one list for all values, or one per row of them.
void check_sorted_shapes(const Node& node, const Shape& sorted, const Shape& values) {
  if (sorted.size() == 1) return;
  const bool is_rowwise =
      !sorted.empty() && sorted.size() == values.size() && std::equal(sorted.begin(), sorted.end() - 1, values.begin());
  if (!is_rowwise) {
    fail_node(node, "has sorted sequences " + to_string(sorted) + " for values " + to_string(values));
  }
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 2, 2);
  const ElementType type = *find_element_type(node.attributes.get_string("output_type"));
  if (node.type == "Bucketize") {
    check_rank(node, inputs[1].shape, 1, "buckets");
    return {{type, inputs[0].shape}};
  }
  check_same_types(node, inputs, {0, 1});
  check_sorted_shapes(node, inputs[0].shape, inputs[1].shape);
  return {{type, inputs[1].shape}};
}

template <typename T>
void search(const std::vector<T>& bounds, const std::vector<T>& values, std::int64_t row_bounds,
            std::int64_t row_values, bool is_upper, Tensor& result) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t row = row_values == 0 ? 0 : static_cast<std::int64_t>(i) / row_values;
    const auto begin = bounds.begin() + row * row_bounds;
    const auto end = begin + row_bounds;
    const auto found = is_upper ? std::upper_bound(begin, end, values[i]) : std::lower_bound(begin, end, values[i]);
    set_int(result, static_cast<std::int64_t>(i), found - begin);
  }
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const bool is_bucketize = node.type == "Bucketize";
  const Tensor& values = inputs[is_bucketize ? 0 : 1];
  const Tensor& bounds = inputs[is_bucketize ? 1 : 0];
  const bool is_upper =
      is_bucketize ? !node.attributes.get_bool("with_right_bound") : node.attributes.get_bool("right_mode");
  const std::int64_t row_bounds = bounds.shape().back();
  // 0: all values look into the one list.
  const std::int64_t row_values = bounds.shape().size() == 1 ? 0 : values.shape().back();
  if (is_floating(values.type()) || is_floating(bounds.type())) {
    search(to_doubles(bounds), to_doubles(values), row_bounds, row_values, is_upper, outputs[0]);
  } else {
    search(to_int64s(bounds), to_int64s(values), row_bounds, row_values, is_upper, outputs[0]);
  }
}

}  // namespace

const OpDescriptor& bucketize_op() {
  static constexpr OpDescriptor op = {.types = kTypes, .parse = parse, .infer = infer, .reference = reference};
  return op;
}

}  // namespace headrace
