// SPDX-License-Identifier: Apache-2.0
// GatherElements (one index per result) and GatherND (one index tuple per slice).
#include <algorithm>

#include "ops/checks.hpp"
#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"GatherElements", "GatherND"};

constexpr std::int32_t kKeepsBatchOpset = 8;  // GatherND-5 joins the batch dimensions of its result into one

Attributes parse(std::string_view type, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  if (type == "GatherElements") {
    attributes.set("axis", parse_int(raw, "axis"));
  } else {
    attributes.set("batch_dims", parse_int(raw, "batch_dims", 0));
  }
  return attributes;
}

Shape elements_shape(const Node& node, const Shape& data, const Shape& indices) {
  check_rank(node, indices, data.size(), "indices");
  const std::size_t axis = normalize_one_axis(node, node.attributes.get_int("axis"), data.size());
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (i != axis && indices[i] > data[i]) {
      fail_node(node, "has indices " + to_string(indices) + " that reach past the data " + to_string(data));
    }
  }
  return indices;
}

std::size_t batch_dims_of(const Node& node, const Shape& data, const Shape& indices) {
  const std::int64_t batch_dims = node.attributes.get_int("batch_dims");
  const auto limit = static_cast<std::int64_t>(std::min(data.size(), indices.size()));
  if (batch_dims < 0 || batch_dims >= std::max<std::int64_t>(limit, 1)) {
    fail_node(node, "has batch_dims " + std::to_string(batch_dims) + " for data " + to_string(data) + " and indices " +
                        to_string(indices));
  }
  return static_cast<std::size_t>(batch_dims);
}

Shape nd_shape(const Node& node, const Shape& data, const Shape& indices) {
  const std::size_t batch = batch_dims_of(node, data, indices);
  if (indices.empty() || indices.back() > static_cast<std::int64_t>(data.size() - batch)) {
    fail_node(node, "has indices " + to_string(indices) + " for data of shape " + to_string(data));
  }
  if (!std::equal(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(batch), indices.begin())) {
    fail_node(node, "has batches of different sizes: data " + to_string(data) + ", indices " + to_string(indices));
  }
  Shape shape(indices.begin(), indices.end() - 1);
  if (node.opset < kKeepsBatchOpset && batch > 1) {
    shape.erase(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(batch));
    shape.insert(shape.begin(), count_between(data, 0, batch));
  }
  shape.insert(shape.end(), data.begin() + static_cast<std::ptrdiff_t>(batch) + indices.back(), data.end());
  return shape;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 2, 2);
  check_index_type(node, inputs, 1, "indices");
  const auto shape_of = node.type == "GatherND" ? nd_shape : elements_shape;
  return {{inputs[0].type, shape_of(node, inputs[0].shape, inputs[1].shape)}};
}

void copy_elems(const Tensor& source, std::int64_t from, Tensor& result, std::int64_t to, std::int64_t count) {
  const std::size_t bytes = size_bytes(source.type());
  std::copy_n(source.data() + static_cast<std::size_t>(from) * bytes, static_cast<std::size_t>(count) * bytes,
              result.mutable_data() + static_cast<std::size_t>(to) * bytes);
}

void gather_elements(const Node& node, std::span<const Tensor> inputs, Tensor& result) {
  const Shape& data = inputs[0].shape();
  const std::size_t axis = normalize_one_axis(node, node.attributes.get_int("axis"), data.size());
  const std::vector<std::int64_t> indices = to_int64s(inputs[1]);
  std::vector<std::int64_t> strides = row_major_strides(data);
  const std::int64_t axis_stride = strides[axis];
  strides[axis] = 0;
  std::int64_t i = 0;
  walk_elements(result.shape(), {strides}, [&](const std::vector<std::int64_t>& at) {
    const std::int64_t index = checked_index(node, indices[static_cast<std::size_t>(i)], data[axis], i);
    copy_elems(inputs[0], at[0] + index * axis_stride, result, i, 1);
    ++i;
  });
}

void gather_nd(const Node& node, std::span<const Tensor> inputs, Tensor& result) {
  const Shape& data = inputs[0].shape();
  const Shape& shape = inputs[1].shape();
  const std::size_t batch = batch_dims_of(node, data, shape);
  const auto depth = static_cast<std::size_t>(shape.back());
  const std::vector<std::int64_t> indices = to_int64s(inputs[1]);
  const std::vector<std::int64_t> strides = row_major_strides(data);
  const std::int64_t batches = count_between(data, 0, batch);
  const std::int64_t picks = count_between(shape, batch, shape.size() - 1);
  const std::int64_t batch_elems = count_between(data, batch, data.size());
  const std::int64_t slice = count_between(data, batch + depth, data.size());
  for (std::int64_t row = 0; row < batches * picks; ++row) {
    std::int64_t start = row / picks * batch_elems;
    for (std::size_t d = 0; d < depth; ++d) {
      const std::size_t at = static_cast<std::size_t>(row) * depth + d;
      start += strides[batch + d] * checked_index(node, indices[at], data[batch + d], static_cast<std::int64_t>(at));
    }
    copy_elems(inputs[0], start, result, row * slice, slice);
  }
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  (node.type == "GatherND" ? gather_nd : gather_elements)(node, inputs, outputs[0]);
}

}  // namespace

const OpDescriptor& gather_elements_op() {
  static constexpr OpDescriptor op = {.types = kTypes, .parse = parse, .infer = infer, .reference = reference};
  return op;
}

}  // namespace headrace
