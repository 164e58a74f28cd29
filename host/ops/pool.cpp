// SPDX-License-Identifier: Apache-2.0
#include "ops/pool.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::int64_t kMaxAttribute = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMaxPad = 65535;  // bounds what a hostile file makes us allocate; real nets pad by < 100

struct AxisAttributes {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t extent() const { return (kernel - 1) * dilation + 1; }
};

// The list's entry for an axis, at least low (0 for pads): sums and products of two then fit int64.
std::int64_t attribute_at(const Node& node, std::string_view name, std::size_t axis, std::size_t rank,
                          std::int64_t low) {
  const std::vector<std::int64_t>& list = node.attributes.get_ints(name);
  if (list.size() != rank) {
    fail_node(node, "attribute '" + std::string(name) + "' has " + std::to_string(list.size()) + " values for " +
                        std::to_string(rank) + " spatial axes");
  }
  if (list[axis] < low || list[axis] > (low == 0 ? kMaxPad : kMaxAttribute)) {
    fail_node(node, "attribute '" + std::string(name) + "' has the value " + std::to_string(list[axis]));
  }
  return list[axis];
}

AxisAttributes axis_attributes(const Node& node, std::size_t axis, std::size_t rank, std::int64_t size) {
  AxisAttributes result{attribute_at(node, "kernel", axis, rank, 1), attribute_at(node, "strides", axis, rank, 1),
                        attribute_at(node, "dilations", axis, rank, 1), 0, 0};
  const std::string& auto_pad = node.attributes.get_string("auto_pad");
  if (auto_pad == "explicit") {
    result.begin = attribute_at(node, "pads_begin", axis, rank, 0);
    result.end = attribute_at(node, "pads_end", axis, rank, 0);
  } else if (auto_pad != "valid") {
    const std::int64_t count = (size + result.stride - 1) / result.stride;
    const std::int64_t total = std::max<std::int64_t>(0, (count - 1) * result.stride + result.extent() - size);
    result.begin = auto_pad == "same_upper" ? total / 2 : total - total / 2;
    result.end = total - result.begin;
  }
  return result;
}

std::int64_t count_windows(const Node& node, const AxisAttributes& axis, std::int64_t size) {
  const std::int64_t room = size + axis.begin + axis.end - axis.extent();
  if (room < 0) {
    fail_node(node, "has a window of " + std::to_string(axis.extent()) + " over a padded axis of " +
                        std::to_string(size + axis.begin + axis.end));
  }
  const std::string& rounding = node.attributes.get_string("rounding_type");
  if (rounding == "floor") return room / axis.stride + 1;
  const std::int64_t count = (room + axis.stride - 1) / axis.stride + 1;
  // PyTorch: the last window must start inside the input or the padding before it.
  const bool is_outside = (count - 1) * axis.stride >= size + axis.begin;
  return rounding == "ceil_torch" && is_outside ? count - 1 : count;
}

PoolAxis make_axis(const Node& node, const AxisAttributes& axis, std::int64_t size, bool is_padding_counted) {
  PoolAxis result;
  result.dilation = axis.dilation;
  const std::int64_t count = count_windows(node, axis, size);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t start = i * axis.stride - axis.begin;
    const std::int64_t skipped = start < 0 ? std::min((-start + axis.dilation - 1) / axis.dilation, axis.kernel) : 0;
    const std::int64_t first = start + skipped * axis.dilation;
    const std::int64_t fitting = first < size ? (size - 1 - first) / axis.dilation + 1 : 0;
    PoolWindow window{first, std::min(fitting, axis.kernel - skipped), 1};
    if (window.count == 0) window.start = 0;
    // Padding counts as zeros, but a window rounded up past the padding's end is cut there (Caffe's rule).
    const std::int64_t cut = std::min(start + axis.kernel, size + axis.end) - start;
    window.divisor = std::max<std::int64_t>(1, is_padding_counted ? cut : window.count);
    result.windows.push_back(window);
  }
  return result;
}

// Calls visit(position) for each input element of a window, in row-major order; position is spatial and flattened.
template <typename Visit>
void visit_window(const PoolAxes& axes, const std::vector<std::int64_t>& index,
                  const std::vector<std::int64_t>& strides, const Visit& visit) {
  std::vector<std::int64_t> step(axes.size(), 0);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (axes[k].windows[static_cast<std::size_t>(index[k])].count == 0) return;
  }
  while (true) {
    std::int64_t position = 0;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const PoolWindow& window = axes[k].windows[static_cast<std::size_t>(index[k])];
      position += (window.start + step[k] * axes[k].dilation) * strides[k];
    }
    visit(position);
    std::size_t k = axes.size();
    while (k-- > 0) {
      if (++step[k] < axes[k].windows[static_cast<std::size_t>(index[k])].count) break;
      step[k] = 0;
    }
    if (k == static_cast<std::size_t>(-1)) return;
  }
}

struct Maximum {
  double value = 0;
  std::int64_t position = -1;
};

bool beats(double value, double best) { return value > best || (std::isnan(value) && !std::isnan(best)); }

// Elements counted by one step of the flattened index in dimensions from `axis` on: the modulus of the full index.
std::int64_t index_modulus(const Shape& shape, std::size_t axis) {
  std::int64_t modulus = 1;
  for (std::size_t i = axis; i < shape.size(); ++i) modulus *= shape[i];
  return modulus;
}

void store_index(Tensor& indices, std::int64_t at, std::int64_t index) {
  if (indices.type() == ElementType::i64) {
    indices.mutable_values<std::int64_t>()[static_cast<std::size_t>(at)] = index;
  } else {
    indices.mutable_values<std::int32_t>()[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(index);
  }
}

template <typename T>
void pool_typed(const PoolSpec& spec, const Tensor& input, std::span<Tensor> outputs) {
  const auto source = input.values<T>();
  const auto target = outputs[0].mutable_values<T>();
  const Shape in_spatial = spatial_shape(input.shape());
  const Shape out_spatial = spatial_shape(outputs[0].shape());
  const std::vector<std::int64_t> strides = row_major_strides(in_spatial);
  const std::int64_t plane = count_elems(in_spatial);
  const std::int64_t out_plane = count_elems(out_spatial);
  const std::int64_t modulus = index_modulus(input.shape(), spec.index_axis);
  std::vector<std::int64_t> index(out_spatial.size());
  for (std::int64_t out = 0; out < outputs[0].count(); ++out) {
    std::int64_t rest = out % out_plane;
    double divisor = 1;
    for (std::size_t k = index.size(); k-- > 0;) {
      index[k] = rest % out_spatial[k];
      rest /= out_spatial[k];
      divisor *= static_cast<double>(spec.axes[k].windows[static_cast<std::size_t>(index[k])].divisor);
    }
    const std::int64_t base = out / out_plane * plane;
    double sum = 0;
    Maximum best;
    visit_window(spec.axes, index, strides, [&](std::int64_t position) {
      const auto value = static_cast<double>(source[static_cast<std::size_t>(base + position)]);
      sum += value;
      if (best.position < 0 || beats(value, best.value)) best = {value, position};
    });
    if (spec.kind == PoolKind::kAverage) {
      target[static_cast<std::size_t>(out)] = static_cast<T>(sum / divisor);
      continue;
    }
    const bool is_empty = best.position < 0;
    target[static_cast<std::size_t>(out)] =
        is_empty ? std::numeric_limits<T>::lowest() : source[static_cast<std::size_t>(base + best.position)];
    if (outputs.size() > 1) store_index(outputs[1], out, is_empty ? 0 : (base + best.position) % modulus);
  }
}

}  // namespace

PoolAxes make_pool_axes(const Node& node, const Shape& spatial) {
  const bool is_padding_counted = node.type == "AvgPool" && !node.attributes.get_bool("exclude-pad");
  PoolAxes axes;
  for (std::size_t i = 0; i < spatial.size(); ++i) {
    if (spatial[i] > kMaxAttribute) fail_node(node, "has an axis of " + std::to_string(spatial[i]));
    axes.push_back(
        make_axis(node, axis_attributes(node, i, spatial.size(), spatial[i]), spatial[i], is_padding_counted));
  }
  return axes;
}

PoolAxes make_adaptive_axes(const Shape& spatial, const Shape& output) {
  PoolAxes axes(spatial.size());
  for (std::size_t k = 0; k < spatial.size(); ++k) {
    for (std::int64_t i = 0; i < output[k]; ++i) {
      const std::int64_t start = i * spatial[k] / output[k];
      const std::int64_t end = ((i + 1) * spatial[k] + output[k] - 1) / output[k];
      axes[k].windows.push_back({start, end - start, std::max<std::int64_t>(1, end - start)});
    }
  }
  return axes;
}

Shape spatial_shape(const Shape& shape) { return Shape(shape.begin() + 2, shape.end()); }

Shape pooled_shape(const Shape& input, const PoolAxes& axes) {
  Shape shape = {input[0], input[1]};
  for (const PoolAxis& axis : axes) shape.push_back(static_cast<std::int64_t>(axis.windows.size()));
  return shape;
}

void pool_reference(const PoolSpec& spec, const Tensor& input, std::span<Tensor> outputs) {
  switch (input.type()) {
    case ElementType::f32: return pool_typed<float>(spec, input, outputs);
    case ElementType::i8: return pool_typed<std::int8_t>(spec, input, outputs);
    case ElementType::u8: return pool_typed<std::uint8_t>(spec, input, outputs);
    case ElementType::i32: return pool_typed<std::int32_t>(spec, input, outputs);
    case ElementType::i64: return pool_typed<std::int64_t>(spec, input, outputs);
    default: break;
  }
  fail(ErrorCode::kUnsupported, "pooling of element type " + std::string(to_string(input.type())));
}

Cost pool_cost(const PoolAxes& axes, std::span<const InferInput> inputs, std::span<const InferOutput> outputs) {
  std::int64_t flops = outputs[0].shape[0] * outputs[0].shape[1];
  for (const PoolAxis& axis : axes) {
    std::int64_t elems = 0;
    for (const PoolWindow& window : axis.windows) elems += window.count;
    flops *= elems;
  }
  const std::int64_t elems = count_elems(inputs[0].shape) + count_elems(outputs[0].shape);
  return {flops, elems * static_cast<std::int64_t>(size_bytes(inputs[0].type))};
}

}  // namespace headrace
