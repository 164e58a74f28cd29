// SPDX-License-Identifier: Apache-2.0
// ScatterUpdate, ScatterElementsUpdate and ScatterNDUpdate: a copy of the data with some elements replaced by updates,
// or joined with them by a reduction. Updates are taken in order: of two for one place the later one wins.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/checks.hpp"
#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"ScatterUpdate", "ScatterElementsUpdate", "ScatterNDUpdate"};

Attributes parse(std::string_view type, std::int32_t opset, const RawAttributes& raw) {
  Attributes attributes;
  std::string reduction = "none";
  if (type == "ScatterElementsUpdate" && opset >= 12) {
    reduction = parse_enum(raw, "reduction", "none", {"none", "sum", "prod", "min", "max", "mean"});
    attributes.set("use_init_val", parse_bool(raw, "use_init_val", true));
  } else if (type == "ScatterNDUpdate" && opset >= 15) {
    reduction = parse_enum(raw, "reduction", "none", {"none", "sum", "sub", "prod", "min", "max"});
  }
  attributes.set("reduction", reduction);
  return attributes;
}

void check_axis_form(const Node& node, std::span<const InferInput> inputs) {
  const Shape& data = inputs[0].shape;
  const Shape& indices = inputs[1].shape;
  if (inputs[3].value != nullptr) {
    const std::size_t axis = normalize_one_axis(node, int_at(values_of(inputs), 3), data.size());
    if (node.type == "ScatterUpdate") {
      Shape expected(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(axis));
      expected.insert(expected.end(), indices.begin(), indices.end());
      expected.insert(expected.end(), data.begin() + static_cast<std::ptrdiff_t>(axis) + 1, data.end());
      check_shape(node, inputs[2].shape, expected, "updates");
    } else {
      for (std::size_t i = 0; i < data.size() && i < indices.size(); ++i) {
        if (i != axis && indices[i] > data[i]) {
          fail_node(node, "has indices " + to_string(indices) + " that reach past the data " + to_string(data));
        }
      }
    }
  }
  if (node.type == "ScatterUpdate") return;
  check_rank(node, indices, data.size(), "indices");
  check_shape(node, inputs[2].shape, indices, "updates");
}

void check_nd_form(const Node& node, std::span<const InferInput> inputs) {
  const Shape& data = inputs[0].shape;
  const Shape& indices = inputs[1].shape;
  if (indices.empty() || indices.back() > static_cast<std::int64_t>(data.size())) {
    fail_node(node, "has indices " + to_string(indices) + " for data of shape " + to_string(data));
  }
  Shape expected(indices.begin(), indices.end() - 1);
  expected.insert(expected.end(), data.begin() + static_cast<std::ptrdiff_t>(indices.back()), data.end());
  check_shape(node, inputs[2].shape, expected, "updates");
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  const std::size_t wanted = node.type == "ScatterNDUpdate" ? 3 : 4;
  check_input_count(node, inputs.size(), wanted, wanted);
  check_same_types(node, inputs, {0, 2});
  check_index_type(node, inputs, 1, "indices");
  if (wanted == 3) {
    check_nd_form(node, inputs);
  } else {
    check_index_type(node, inputs, 3, "axis");
    check_axis_form(node, inputs);
  }
  return {{inputs[0].type, inputs[0].shape}};
}

// Writes one element of the updates into the result.
class Joiner {
 public:
  Joiner(const Node& node, const Tensor& updates, Tensor& result)
      : reduction_(node.attributes.get_string("reduction")),
        updates_(updates),
        result_(result),
        elem_bytes_(size_bytes(result.type())) {}

  void operator()(std::int64_t to, std::int64_t from) {
    if (reduction_ == "none") {
      std::copy_n(updates_.data() + static_cast<std::size_t>(from) * elem_bytes_, elem_bytes_,
                  result_.mutable_data() + static_cast<std::size_t>(to) * elem_bytes_);
    } else if (is_floating(result_.type())) {
      set_real(result_, to, joined(real_at(result_, to), real_at(updates_, from)));
    } else {
      set_int(result_, to, joined(int_value_at(result_, to), int_value_at(updates_, from)));
    }
  }

 private:
  template <typename T>
  T joined(T a, T b) const {
    if (reduction_ == "sum" || reduction_ == "mean") return wrapping(a, b, '+');
    if (reduction_ == "sub") return wrapping(a, b, '-');
    if (reduction_ == "prod") return wrapping(a, b, '*');
    if (a != a || b != b) return a != a ? a : b;  // NaN stays
    return reduction_ == "min" ? std::min(a, b) : std::max(a, b);
  }

  static double wrapping(double a, double b, char what) {
    if (what == '+') return a + b;
    return what == '-' ? a - b : a * b;
  }
  static std::int64_t wrapping(std::int64_t a, std::int64_t b, char what) {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    if (what == '+') return static_cast<std::int64_t>(x + y);
    return static_cast<std::int64_t>(what == '-' ? x - y : x * y);
  }

  const std::string& reduction_;
  const Tensor& updates_;
  Tensor& result_;
  std::size_t elem_bytes_;
};

// What a reduction starts from where the data's own values do not count.
void set_neutral(Tensor& result, std::int64_t at, const std::string& reduction) {
  const bool is_float = is_floating(result.type());
  if (reduction == "sum" || reduction == "mean" || reduction == "prod") {
    const std::int64_t value = reduction == "prod" ? 1 : 0;
    is_float ? set_real(result, at, static_cast<double>(value)) : set_int(result, at, value);
  } else if (is_float) {
    const double infinity = std::numeric_limits<double>::infinity();
    set_real(result, at, reduction == "min" ? infinity : -infinity);
  } else {
    const unsigned bits = static_cast<unsigned>(8 * size_bytes(result.type()));
    const bool is_signed = result.type() != ElementType::u8 && result.type() != ElementType::boolean;
    const std::uint64_t top = is_signed ? (std::uint64_t{1} << (bits - 1)) - 1 : (std::uint64_t{1} << bits) - 1;
    const auto high = static_cast<std::int64_t>(top);
    set_int(result, at, reduction == "min" ? high : (is_signed ? -high - 1 : 0));
  }
}

void divide(Tensor& result, std::int64_t at, std::int64_t count) {
  if (is_floating(result.type())) return set_real(result, at, real_at(result, at) / static_cast<double>(count));
  set_int(result, at, int_value_at(result, at) / count);  // towards zero, as OpenVINO does
}

void scatter_elements(const Node& node, std::span<const Tensor> inputs, Tensor& result) {
  const std::size_t axis = normalize_one_axis(node, to_int64s(inputs[3])[0], result.shape().size());
  const std::string& reduction = node.attributes.get_string("reduction");
  const std::vector<std::int64_t> indices = to_int64s(inputs[1]);
  const std::vector<std::int64_t> strides = row_major_strides(result.shape());
  std::vector<std::int64_t> other_strides = strides;
  other_strides[axis] = 0;
  std::vector<std::int64_t> places;
  walk_elements(inputs[1].shape(), {other_strides}, [&](const std::vector<std::int64_t>& at) {
    const auto i = static_cast<std::int64_t>(places.size());
    const std::int64_t index = checked_index(node, indices[static_cast<std::size_t>(i)], result.shape()[axis], i);
    places.push_back(at[0] + index * strides[axis]);
  });
  const bool has_init = !node.attributes.has("use_init_val") || node.attributes.get_bool("use_init_val");
  if (!has_init && reduction != "none") {
    for (const std::int64_t place : places) set_neutral(result, place, reduction);
  }
  Joiner join(node, inputs[2], result);
  for (std::size_t i = 0; i < places.size(); ++i) join(places[i], static_cast<std::int64_t>(i));
  if (reduction != "mean") return;
  std::sort(places.begin(), places.end());
  for (auto it = places.begin(); it != places.end();) {
    const auto next = std::upper_bound(it, places.end(), *it);
    divide(result, *it, next - it + (has_init ? 1 : 0));
    it = next;
  }
}

// Data as [outer, axis, inner], updates as [outer, picks, inner].
void scatter_slices(const Node& node, std::span<const Tensor> inputs, Tensor& result) {
  const Shape& shape = result.shape();
  const std::size_t axis = normalize_one_axis(node, to_int64s(inputs[3])[0], shape.size());
  const std::vector<std::int64_t> indices = to_int64s(inputs[1]);
  const std::int64_t outer = count_between(shape, 0, axis);
  const std::int64_t inner = count_between(shape, axis + 1, shape.size());
  const auto picks = static_cast<std::int64_t>(indices.size());
  const std::size_t slice_bytes = static_cast<std::size_t>(inner) * size_bytes(result.type());
  if (inputs[2].count() != outer * picks * inner) {
    fail_node(node, "has updates " + to_string(inputs[2].shape()) + " for data " + to_string(shape));
  }
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t p = 0; p < picks; ++p) {
      const std::int64_t index = checked_index(node, indices[static_cast<std::size_t>(p)], shape[axis], p);
      std::copy_n(inputs[2].data() + static_cast<std::size_t>(o * picks + p) * slice_bytes, slice_bytes,
                  result.mutable_data() + static_cast<std::size_t>(o * shape[axis] + index) * slice_bytes);
    }
  }
}

void scatter_nd(const Node& node, std::span<const Tensor> inputs, Tensor& result) {
  const Shape& shape = result.shape();
  const auto depth = static_cast<std::size_t>(inputs[1].shape().back());
  const std::vector<std::int64_t> indices = to_int64s(inputs[1]);
  const std::vector<std::int64_t> strides = row_major_strides(shape);
  const std::int64_t slice = count_between(shape, depth, shape.size());
  const std::int64_t picks = count_between(inputs[1].shape(), 0, inputs[1].shape().size() - 1);
  Joiner join(node, inputs[2], result);
  for (std::int64_t p = 0; p < picks; ++p) {
    std::int64_t start = 0;
    for (std::size_t d = 0; d < depth; ++d) {
      const std::size_t at = static_cast<std::size_t>(p) * depth + d;
      start += strides[d] * checked_index(node, indices[at], shape[d], static_cast<std::int64_t>(at));
    }
    for (std::int64_t i = 0; i < slice; ++i) join(start + i, p * slice + i);
  }
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  std::copy_n(inputs[0].data(), inputs[0].size_bytes(), outputs[0].mutable_data());
  if (node.type == "ScatterUpdate") return scatter_slices(node, inputs, outputs[0]);
  if (node.type == "ScatterNDUpdate") return scatter_nd(node, inputs, outputs[0]);
  scatter_elements(node, inputs, outputs[0]);
}

}  // namespace

const OpDescriptor& scatter_op() {
  static constexpr OpDescriptor op = {.types = kTypes, .parse = parse, .infer = infer, .reference = reference};
  return op;
}

}  // namespace headrace
