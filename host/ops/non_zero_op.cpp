// SPDX-License-Identifier: Apache-2.0
// NonZero (where a tensor is not zero) and Unique (its values, or slices along an axis, each once). How large their
// results are depends on the values.
#include <algorithm>
#include <numeric>

#include "ops/checks.hpp"
#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"NonZero", "Unique"};

Attributes parse(std::string_view type, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  if (type == "NonZero") {
    attributes.set("output_type", parse_enum(raw, "output_type", "i64", {"i32", "i64"}));
    return attributes;
  }
  attributes.set("sorted", parse_bool(raw, "sorted", true));
  attributes.set("index_element_type", parse_enum(raw, "index_element_type", "i64", {"i32", "i64"}));
  attributes.set("count_element_type", parse_enum(raw, "count_element_type", "i64", {"i32", "i64"}));
  return attributes;
}

std::vector<std::int64_t> places_not_zero(const Tensor& data) {
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < data.count(); ++i) {
    const bool is_zero = is_floating(data.type()) ? real_at(data, i) == 0 : int_value_at(data, i) == 0;
    if (!is_zero) places.push_back(i);
  }
  return places;
}

// The distinct slices of a tensor seen as [outer, size, inner]; without an axis each element is a slice.
struct Distinct {
  std::int64_t outer = 1, size = 0, inner = 1;
  std::vector<std::int64_t> firsts;  // the first slice of each kind, in the order of the result
  std::vector<std::int64_t> kinds;   // of each slice
  std::vector<std::int64_t> counts;  // of each kind
};

class SliceOrder {
 public:
  SliceOrder(const Tensor& data, const Distinct& form) : data_(data), form_(form) {}

  // -1, 0 or 1; NaN stands behind all numbers.
  int compare(std::int64_t a, std::int64_t b) const {
    for (std::int64_t o = 0; o < form_.outer; ++o) {
      for (std::int64_t i = 0; i < form_.inner; ++i) {
        const int order = compare_elems((o * form_.size + a) * form_.inner + i, (o * form_.size + b) * form_.inner + i);
        if (order != 0) return order;
      }
    }
    return 0;
  }

 private:
  int compare_elems(std::int64_t a, std::int64_t b) const {
    if (!is_floating(data_.type())) {
      const std::int64_t x = int_value_at(data_, a);
      const std::int64_t y = int_value_at(data_, b);
      return x < y ? -1 : (x > y ? 1 : 0);
    }
    const double x = real_at(data_, a);
    const double y = real_at(data_, b);
    if (x != x || y != y) return (x != x ? 1 : 0) - (y != y ? 1 : 0);
    return x < y ? -1 : (x > y ? 1 : 0);
  }

  const Tensor& data_;
  const Distinct& form_;
};

Distinct distinct_of(const Node& node, const Tensor& data, const Tensor* axis_input) {
  Distinct result;
  result.size = data.count();
  if (axis_input != nullptr) {
    const std::size_t axis = normalize_one_axis(node, to_int64s(*axis_input).at(0), data.shape().size());
    result.size = data.shape()[axis];
    result.outer = count_between(data.shape(), 0, axis);
    result.inner = count_between(data.shape(), axis + 1, data.shape().size());
  }
  const SliceOrder order(data, result);
  std::vector<std::int64_t> slices(static_cast<std::size_t>(result.size));
  std::iota(slices.begin(), slices.end(), std::int64_t{0});
  std::stable_sort(slices.begin(), slices.end(),
                   [&](std::int64_t a, std::int64_t b) { return order.compare(a, b) < 0; });
  result.kinds.resize(slices.size());
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if (i == 0 || order.compare(slices[i - 1], slices[i]) != 0) {
      result.firsts.push_back(slices[i]);
      result.counts.push_back(0);
    }
    result.kinds[static_cast<std::size_t>(slices[i])] = static_cast<std::int64_t>(result.firsts.size()) - 1;
    ++result.counts.back();
  }
  if (node.attributes.get_bool("sorted")) return result;
  // By their first place instead of by value.
  std::vector<std::size_t> by_place(result.firsts.size());
  std::iota(by_place.begin(), by_place.end(), std::size_t{0});
  std::sort(by_place.begin(), by_place.end(),
            [&](std::size_t a, std::size_t b) { return result.firsts[a] < result.firsts[b]; });
  Distinct ordered = result;
  std::vector<std::int64_t> new_kind(by_place.size());
  for (std::size_t i = 0; i < by_place.size(); ++i) {
    ordered.firsts[i] = result.firsts[by_place[i]];
    ordered.counts[i] = result.counts[by_place[i]];
    new_kind[by_place[i]] = static_cast<std::int64_t>(i);
  }
  for (std::int64_t& kind : ordered.kinds) kind = new_kind[static_cast<std::size_t>(kind)];
  return ordered;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  const bool is_unique = node.type == "Unique";
  check_input_count(node, inputs.size(), 1, is_unique ? 2 : 1);
  const InputValues values = values_of(inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (values[i] == nullptr) ints_at(values, i);  // throws
  }
  if (!is_unique) {
    const auto count = static_cast<std::int64_t>(places_not_zero(*values[0]).size());
    return {{*find_element_type(node.attributes.get_string("output_type")),
             {static_cast<std::int64_t>(inputs[0].shape.size()), count}}};
  }
  const Distinct distinct = distinct_of(node, *values[0], inputs.size() == 2 ? values[1] : nullptr);
  const auto count = static_cast<std::int64_t>(distinct.firsts.size());
  Shape shape = {count};
  if (inputs.size() == 2) {
    shape = inputs[0].shape;
    shape[normalize_one_axis(node, int_at(values, 1), shape.size())] = count;
  }
  const ElementType index = *find_element_type(node.attributes.get_string("index_element_type"));
  const ElementType number = *find_element_type(node.attributes.get_string("count_element_type"));
  return {{inputs[0].type, shape}, {index, {count}}, {index, {distinct.size}}, {number, {count}}};
}

void write_ints(const std::vector<std::int64_t>& values, std::span<Tensor> outputs, std::size_t output) {
  if (output >= outputs.size()) return;
  for (std::size_t i = 0; i < values.size(); ++i) set_int(outputs[output], static_cast<std::int64_t>(i), values[i]);
}

void unique(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const Distinct distinct = distinct_of(node, inputs[0], inputs.size() == 2 ? &inputs[1] : nullptr);
  const std::size_t slice_bytes = static_cast<std::size_t>(distinct.inner) * size_bytes(inputs[0].type());
  std::byte* to = outputs[0].mutable_data();
  for (std::int64_t o = 0; o < distinct.outer; ++o) {
    for (const std::int64_t slice : distinct.firsts) {
      std::copy_n(inputs[0].data() + static_cast<std::size_t>(o * distinct.size + slice) * slice_bytes, slice_bytes,
                  to);
      to += slice_bytes;
    }
  }
  write_ints(distinct.firsts, outputs, 1);
  write_ints(distinct.kinds, outputs, 2);
  write_ints(distinct.counts, outputs, 3);
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  if (node.type == "Unique") return unique(node, inputs, outputs);
  const std::vector<std::int64_t> places = places_not_zero(inputs[0]);
  const std::vector<std::int64_t> strides = row_major_strides(inputs[0].shape());
  std::int64_t at = 0;
  for (std::size_t d = 0; d < strides.size(); ++d) {
    for (const std::int64_t place : places) set_int(outputs[0], at++, place / strides[d] % inputs[0].shape()[d]);
  }
}

}  // namespace

const OpDescriptor& non_zero_op() {
  static constexpr OpDescriptor op = {.types = kTypes, .parse = parse, .infer = infer, .reference = reference};
  return op;
}

}  // namespace headrace
