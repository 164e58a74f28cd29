// SPDX-License-Identifier: Apache-2.0
// ExtractImagePatches: windows of a picture, laid along the channels: [N, KH * KW * C, OH, OW], the channel innermost.
#include <algorithm>

#include "ops/checks.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"ExtractImagePatches"};

Attributes parse(std::string_view, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  for (const char* name : {"sizes", "strides", "rates"}) attributes.set(name, parse_ints(raw, name));
  attributes.set("auto_pad", parse_enum(raw, "auto_pad", "valid", {"same_upper", "same_lower", "valid"}));
  return attributes;
}

// Windows along one axis.
struct Windows {
  std::int64_t kernel = 1, stride = 1, rate = 1, count = 0, pad = 0;
};

Windows windows_of(const Node& node, std::size_t axis, std::int64_t size) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  const auto value = [&](const char* name) {
    const std::vector<std::int64_t>& all = node.attributes.get_ints(name);
    if (all.size() != 2 || all[axis] < 1 || all[axis] > kMost)
      fail_node(node, "needs two positive " + std::string(name));
    return all[axis];
  };
  Windows windows{value("sizes"), value("strides"), value("rates")};
  const std::int64_t extent = (windows.kernel - 1) * windows.rate + 1;
  if (node.attributes.get_string("auto_pad") == "valid") {
    windows.count = size < extent ? 0 : (size - extent) / windows.stride + 1;
    return windows;
  }
  windows.count = (size + windows.stride - 1) / windows.stride;
  const std::int64_t pads = std::max<std::int64_t>((windows.count - 1) * windows.stride + extent - size, 0);
  windows.pad = node.attributes.get_string("auto_pad") == "same_upper" ? pads / 2 : (pads + 1) / 2;
  return windows;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 1, 1);
  const Shape& shape = inputs[0].shape;
  check_rank(node, shape, 4, "data");
  const Windows y = windows_of(node, 0, shape[2]);
  const Windows x = windows_of(node, 1, shape[3]);
  return {{inputs[0].type, {shape[0], count_elems({shape[1], y.kernel, x.kernel}), y.count, x.count}}};
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const Shape& shape = inputs[0].shape();
  const Shape& result = outputs[0].shape();
  const Windows y = windows_of(node, 0, shape[2]);
  const Windows x = windows_of(node, 1, shape[3]);
  const std::size_t bytes = size_bytes(inputs[0].type());
  std::fill_n(outputs[0].mutable_data(), outputs[0].size_bytes(), std::byte{0});
  const std::vector<std::int64_t> strides = row_major_strides(result);
  for (std::int64_t i = 0; i < outputs[0].count(); ++i) {
    const std::int64_t patch = i / strides[1] % result[1];
    const std::int64_t c = patch % shape[1];
    const std::int64_t kx = patch / shape[1] % x.kernel;
    const std::int64_t ky = patch / shape[1] / x.kernel;
    const std::int64_t h = i / strides[2] % result[2] * y.stride + ky * y.rate - y.pad;
    const std::int64_t w = i % result[3] * x.stride + kx * x.rate - x.pad;
    if (h < 0 || h >= shape[2] || w < 0 || w >= shape[3]) continue;
    const std::int64_t from = ((i / strides[0] * shape[1] + c) * shape[2] + h) * shape[3] + w;
    std::copy_n(inputs[0].data() + static_cast<std::size_t>(from) * bytes, bytes,
                outputs[0].mutable_data() + static_cast<std::size_t>(i) * bytes);
  }
}

}  // namespace

const OpDescriptor& image_patches_op() {
  static constexpr OpDescriptor op = {.types = kTypes, .parse = parse, .infer = infer, .reference = reference};
  return op;
}

}  // namespace headrace
