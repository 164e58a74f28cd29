// SPDX-License-Identifier: Apache-2.0
// RegionYolo (activations of YOLO's last layer) and ReorgYolo (its passthrough layer). Source: Darknet's layers of the
// same names, as OpenVINO's operator specification has them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/checks.hpp"
#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"RegionYolo", "ReorgYolo"};

Attributes parse(std::string_view type, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  if (type == "ReorgYolo") {
    attributes.set("stride", parse_ints(raw, "stride"));
    return attributes;
  }
  attributes.set("anchors", parse_doubles(raw, "anchors", {}));
  attributes.set("axis", parse_int(raw, "axis"));
  attributes.set("coords", parse_int(raw, "coords"));
  attributes.set("classes", parse_int(raw, "classes"));
  attributes.set("end_axis", parse_int(raw, "end_axis"));
  attributes.set("num", parse_int(raw, "num"));
  attributes.set("do_softmax", parse_bool(raw, "do_softmax", true));
  attributes.set("mask", parse_ints(raw, "mask", {}));
  return attributes;
}

std::int64_t reorg_stride(const Node& node) {
  const std::vector<std::int64_t>& strides = node.attributes.get_ints("stride");
  if (strides.empty() || strides[0] < 1 || strides[0] > (1 << 15)) fail_node(node, "needs a positive stride");
  return strides[0];
}

// Channels are [regions, coords + 1 + classes].
struct RegionForm {
  std::int64_t regions = 0, coords = 0, classes = 0;
  std::int64_t entries() const { return coords + 1 + classes; }
};

RegionForm region_form(const Node& node, const Shape& shape) {
  constexpr std::int64_t kMost = 1 << 20;
  check_rank(node, shape, 4, "data");
  RegionForm form{node.attributes.get_bool("do_softmax")
                      ? node.attributes.get_int("num")
                      : static_cast<std::int64_t>(node.attributes.get_ints("mask").size()),
                  node.attributes.get_int("coords"), node.attributes.get_int("classes")};
  const bool is_sane = form.regions >= 1 && form.coords >= 2 && form.classes >= 0 && form.regions < kMost &&
                       form.coords < kMost && form.classes < kMost;
  if (!is_sane || form.regions * form.entries() != shape[1]) {
    fail_node(node, "of " + std::to_string(form.regions) + " regions with " + std::to_string(form.coords) +
                        " coordinates and " + std::to_string(form.classes) + " classes does not fit data of shape " +
                        to_string(shape));
  }
  return form;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 1, 1);
  const Shape& shape = inputs[0].shape;
  if (node.type == "ReorgYolo") {
    check_rank(node, shape, 4, "data");
    const std::int64_t stride = reorg_stride(node);
    if (shape[2] % stride != 0 || shape[3] % stride != 0 || shape[1] % (stride * stride) != 0) {
      fail_node(node, "of stride " + std::to_string(stride) + " does not fit data of shape " + to_string(shape));
    }
    return {{inputs[0].type, {shape[0], shape[1] * stride * stride, shape[2] / stride, shape[3] / stride}}};
  }
  check_float_type(node, inputs, 0, "data");
  region_form(node, shape);
  if (!node.attributes.get_bool("do_softmax")) return {{inputs[0].type, shape}};
  // Dimensions axis ... end_axis become one.
  const std::size_t first = normalize_one_axis(node, node.attributes.get_int("axis"), shape.size());
  const std::size_t last = normalize_one_axis(node, node.attributes.get_int("end_axis"), shape.size());
  if (first > last) fail_node(node, "has end_axis before axis");
  Shape flat(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(first));
  flat.push_back(count_between(shape, first, last + 1));
  flat.insert(flat.end(), shape.begin() + static_cast<std::ptrdiff_t>(last) + 1, shape.end());
  return {{inputs[0].type, flat}};
}

void reorg(const Node& node, const Tensor& data, Tensor& result) {
  const Shape& shape = data.shape();
  const std::int64_t stride = reorg_stride(node);
  const std::int64_t channels = shape[1] / (stride * stride);
  const std::size_t bytes = size_bytes(data.type());
  for (std::int64_t i = 0; i < data.count(); ++i) {
    const std::int64_t w = i % shape[3];
    const std::int64_t h = i / shape[3] % shape[2];
    const std::int64_t c = i / (shape[3] * shape[2]) % shape[1];
    const std::int64_t n = i / (shape[3] * shape[2] * shape[1]);
    // Darknet reads the memory as a picture of fewer channels and more pixels.
    const std::int64_t row = h * stride + c / channels / stride;
    const std::int64_t column = w * stride + c / channels % stride;
    const std::int64_t from =
        n * shape[1] * shape[2] * shape[3] + ((c % channels) * shape[2] * stride + row) * shape[3] * stride + column;
    std::copy_n(data.data() + static_cast<std::size_t>(from) * bytes, bytes,
                result.mutable_data() + static_cast<std::size_t>(i) * bytes);
  }
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

void region(const Node& node, const Tensor& data, Tensor& result) {
  const RegionForm form = region_form(node, data.shape());
  const std::int64_t pixels = data.shape()[2] * data.shape()[3];
  const bool has_softmax = node.attributes.get_bool("do_softmax");
  for (std::int64_t lane = 0; lane < data.shape()[0] * form.regions * pixels; ++lane) {
    const std::int64_t start = lane / pixels * form.entries() * pixels + lane % pixels;
    const auto value = [&](std::int64_t entry) { return real_at(data, start + entry * pixels); };
    double highest = -std::numeric_limits<double>::infinity();
    double sum = 0;
    for (std::int64_t k = form.coords + 1; k < form.entries(); ++k) highest = std::fmax(highest, value(k));
    for (std::int64_t k = form.coords + 1; k < form.entries(); ++k) sum += std::exp(value(k) - highest);
    for (std::int64_t k = 0; k < form.entries(); ++k) {
      double y = value(k);
      if (k < 2 || k == form.coords || (k > form.coords && !has_softmax)) {
        y = logistic(y);
      } else if (k > form.coords) {
        y = std::exp(y - highest) / sum;
      }
      set_real(result, start + k * pixels, y);
    }
  }
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  (node.type == "ReorgYolo" ? reorg : region)(node, inputs[0], outputs[0]);
}

}  // namespace

const OpDescriptor& yolo_op() {
  static constexpr OpDescriptor op = {.types = kTypes, .parse = parse, .infer = infer, .reference = reference};
  return op;
}

}  // namespace headrace
