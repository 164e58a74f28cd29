// SPDX-License-Identifier: Apache-2.0
// Layers with weights: convolutions, FullyConnected, normalizations by constants, constants.
#include <algorithm>

#include "core/error.hpp"
#include "formats/import/layer_parts.hpp"
#include "formats/old_ir/old_ir_window.hpp"

namespace headrace::detail {
namespace {

std::int64_t positive(std::int64_t value, const char* name) {
  if (value < 1) fail(ErrorCode::kBadModel, std::string(name) + " is " + std::to_string(value));
  return value;
}

Shape per_channel(std::int64_t count, std::size_t rank) {
  Shape shape(std::max<std::size_t>(rank, 2), 1);
  shape[1] = count;
  return shape;
}

PortRef with_biases(OldIrContext& c, PortRef y, std::int64_t outputs) {
  if (!c.has_blob("biases")) return y;
  return c.binary("Add", y, c.blob("biases", per_channel(outputs, c.rank(c.input()))));
}

// Weights lie as [OC, IC / groups, k...], those of a Deconvolution as [IC, OC / groups, k...]; the file does not say
// so.
std::vector<PortRef> convert_convolution(OldIrContext& c, bool is_transposed) {
  OldIrWindow window = old_ir_window(c);
  if (is_transposed) window.auto_pad = "explicit";  // the file holds the pads that came of it
  const std::int64_t outputs = positive(c.get_int({"output", "num_output"}, 0), "output");
  const std::int64_t groups = positive(c.get_int({"group"}, 1), "group");
  const std::int64_t inputs = c.dim(c.input(), 1);
  if (outputs % groups != 0 || inputs % groups != 0) {
    fail(ErrorCode::kBadModel, std::to_string(inputs) + " and " + std::to_string(outputs) +
                                   " channels do not divide into " + std::to_string(groups) + " groups");
  }
  const std::int64_t first = is_transposed ? inputs : outputs;
  const std::int64_t second = (is_transposed ? outputs : inputs) / groups;
  Shape shape = groups > 1 ? Shape{groups, first / groups, second} : Shape{first, second};
  shape.insert(shape.end(), window.kernel.begin(), window.kernel.end());
  std::string type = is_transposed ? "ConvolutionBackpropData" : "Convolution";
  if (groups > 1) type = is_transposed ? "GroupConvolutionBackpropData" : "GroupConvolution";
  const PortRef y = c.add(type, 1, {c.input(), c.blob("weights", shape)}, old_ir_window_attributes(window));
  return {with_biases(c, y, outputs)};
}

std::vector<PortRef> convert_plain(OldIrContext& c) { return convert_convolution(c, false); }
std::vector<PortRef> convert_transposed(OldIrContext& c) { return convert_convolution(c, true); }

// Everything from the last axis of the result on is one row.
std::vector<PortRef> convert_fully_connected(OldIrContext& c) {
  const std::int64_t outputs = positive(c.get_int({"out-size", "out_size", "num_output"}, 0), "out-size");
  const std::size_t rank = c.output_shape().size();
  const Shape shape = c.shape(c.input());
  if (rank < 1 || rank > shape.size()) fail(ErrorCode::kBadModel, "its output has rank " + std::to_string(rank));
  const auto axis = static_cast<std::int64_t>(rank) - 1;
  const std::int64_t inputs = count_elems({shape.begin() + axis, shape.end()});
  const PortRef y = add_fully_connected(c, c.input(), c.blob("weights", {outputs, inputs}), axis, false);
  if (!c.has_blob("biases")) return {y};
  return {c.binary("Add", y, c.blob("biases", {outputs}))};
}

// One number for each channel, for all, or for every element of a picture.
Shape scale_shape(const OldIrContext& c, std::string_view name) {
  const std::int64_t count = c.count_values(name);
  const Shape shape = c.shape(c.input());
  if (shape.size() >= 2 && count != 1 && count != shape[1]) {
    Shape whole = shape;
    whole[0] = 1;
    if (count_elems(whole) == count) return whole;
  }
  return per_channel(count, shape.size());
}

std::vector<PortRef> convert_scale_shift(OldIrContext& c) {
  PortRef y = c.input();
  if (c.has_blob("weights")) y = c.binary("Multiply", y, c.blob("weights", scale_shape(c, "weights")));
  if (c.has_blob("biases")) y = c.binary("Add", y, c.blob("biases", scale_shape(c, "biases")));
  if (y == c.input()) fail(ErrorCode::kBadModel, "has neither <weights> nor <biases>");
  return {y};
}

// The weights are variances, the biases means.
std::vector<PortRef> convert_batch_normalization(OldIrContext& c) {
  const std::int64_t channels = c.dim(c.input(), 1);
  const auto count = static_cast<std::size_t>(c.count_values("weights") == channels ? channels : 0);
  const PortRef variance = c.blob("weights", {channels});
  const PortRef mean = c.blob("biases", {channels});
  const PortRef ones = c.constant_floats(std::vector<float>(count, 1));
  const PortRef zeros = c.constant_floats(std::vector<float>(count, 0));
  return {c.add("BatchNormInference", 5, {c.input(), ones, zeros, mean, variance},
                {{"epsilon", text(c.get_float({"epsilon", "eps"}, static_cast<double>(1e-3F)))}})};
}

std::vector<PortRef> convert_prelu(OldIrContext& c) {
  const std::int64_t count = c.count_values("weights");
  if (count != 1 && count != c.dim(c.input(), 1)) {
    fail(ErrorCode::kBadModel, "has " + std::to_string(count) + " slopes");
  }
  return {c.binary("PReLU", c.input(), c.blob("weights", {count}))};
}

std::vector<PortRef> convert_normalize(OldIrContext& c) {
  const bool is_across = c.get_bool({"across_spatial"}, true);
  const Ints axes = is_across ? iota(1, static_cast<std::int64_t>(c.rank(c.input()))) : Ints{1};
  const PortRef y = c.add("NormalizeL2", 1, {c.input(), c.constant_ints(axes)},
                          {{"eps", text(c.get_float({"eps"}, static_cast<double>(1e-10F)))}, {"eps_mode", "add"}});
  if (!c.has_blob("weights")) return {y};
  const bool is_shared = c.get_bool({"channel_shared"}, true) || c.count_values("weights") == 1;
  return {
      c.binary("Multiply", y, c.blob("weights", per_channel(is_shared ? 1 : c.dim(c.input(), 1), c.rank(c.input()))))};
}

// Halves become f32, as everything does.
std::vector<PortRef> convert_const(OldIrContext& c) {
  const Tensor value = c.stored_blob("custom", c.output_shape());
  const PortRef ref = c.constant(value);
  return {is_floating(value.type()) ? c.convert(ref, ElementType::f32) : ref};
}

constexpr OldIrConverter kConverters[] = {
    {"Convolution", convert_plain},
    {"Deconvolution", convert_transposed},
    {"FullyConnected", convert_fully_connected},
    {"InnerProduct", convert_fully_connected},
    {"ScaleShift", convert_scale_shift},
    {"BatchNormalization", convert_batch_normalization},
    {"PReLU", convert_prelu},
    {"Normalize", convert_normalize},
    {"Const", convert_const},
};

}  // namespace

std::span<const OldIrConverter> weights_old_ir() { return kConverters; }

}  // namespace headrace::detail
