// SPDX-License-Identifier: Apache-2.0
#include "ops/view.hpp"

#include <algorithm>

#include "ops/strided.hpp"

namespace headrace {
namespace {

// Whether every stride that is used goes forward.
bool is_forward(const View& view, const Shape& shape) {
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] > 1 && view.strides[i] <= 0) return false;
  }
  return true;
}

struct Run {  // neighbouring dimensions of `from` that one stride walks
  std::int64_t size = 1;
  std::int64_t stride = 1;
};

}  // namespace

std::optional<View> view_of(const Node& node, std::span<const LowerInput> inputs, std::size_t output,
                            const Shape& output_shape) {
  const OpDescriptor* op = find_op(node.type);
  if (op == nullptr || op->view == nullptr || count_elems(output_shape) == 0) return std::nullopt;
  std::optional<View> view = op->view(node, inputs, output, output_shape);
  if (view && !is_forward(*view, output_shape)) return std::nullopt;
  return view;
}

std::vector<View> concat_views(const Node& node, std::span<const Shape> inputs, const TensorDesc& output) {
  const auto axis =
      static_cast<std::size_t>(normalize_axis(node.attributes.get_int("axis"), output.shape.size(), "axis of Concat"));
  std::vector<View> views;
  std::int64_t offset = output.offset;
  for (const Shape& shape : inputs) {
    views.push_back({output.strides, offset});
    offset += shape[axis] * output.strides[axis];
  }
  return views;
}

std::optional<std::vector<std::int64_t>> reshape_strides(const TensorDesc& from, const Shape& shape) {
  if (count_elems(shape) == 0) return row_major_strides(shape);
  std::vector<Run> runs;
  for (std::size_t i = 0; i < from.shape.size(); ++i) {
    if (from.shape[i] == 1) continue;
    if (!runs.empty() && runs.back().stride == from.shape[i] * from.strides[i]) {
      runs.back() = {runs.back().size * from.shape[i], from.strides[i]};
    } else {
      runs.push_back({from.shape[i], from.strides[i]});
    }
  }
  // From the innermost dimension outwards, each new dimension must divide what is left of the current run.
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t left = 1;
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && left == 1) {
      HEADRACE_ASSERT(!runs.empty(), "reshape to another number of elements");
      left = runs.back().size;
      stride = runs.back().stride;
      runs.pop_back();
    }
    if (left % shape[i] != 0) return std::nullopt;
    strides[i] = stride;
    left /= shape[i];
    stride *= shape[i];
  }
  return strides;
}

}  // namespace headrace
