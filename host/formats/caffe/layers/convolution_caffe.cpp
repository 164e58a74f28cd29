// SPDX-License-Identifier: Apache-2.0
// Convolutions, plain and transposed.
#include "core/error.hpp"
#include "formats/caffe/caffe_window.hpp"

namespace headrace::detail {
namespace {

std::int64_t positive(std::int64_t value, const char* name) {
  if (value < 1) fail(ErrorCode::kBadModel, std::string(name) + " is " + std::to_string(value));
  return value;
}

// What the weights' number says of the channels of the other side: count = channels_per_group * outputs * kernel.
std::int64_t other_channels(const CaffeContext& c, std::int64_t outputs, const Ints& kernel) {
  const std::int64_t count = c.count_values(0);
  std::int64_t each = outputs;
  for (const std::int64_t size : kernel) {
    if (size > count || each > count) break;
    each *= size;
  }
  if (each > count || count % each != 0 || count == 0) {
    fail(ErrorCode::kBadModel, "has " + std::to_string(count) + " weights, which num_output " +
                                   std::to_string(outputs) + " and kernel " + to_string(kernel) + " do not divide");
  }
  return count / each;
}

void check_channels(const CaffeContext& c, std::int64_t channels) {
  const auto rank = c.maybe_rank(c.input());
  if (!rank || *rank < 2) return;
  if (const auto known = c.static_dim(c.input(), 1); known && *known != channels) {
    fail(ErrorCode::kBadModel,
         "its weights are for " + std::to_string(channels) + " channels, its input has " + std::to_string(*known));
  }
}

PortRef with_bias(CaffeContext& c, const CaffeParams& params, PortRef y, std::int64_t outputs, std::size_t spatial) {
  if (!params.get_bool("bias_term", true)) return y;
  Shape shape(spatial + 2, 1);
  shape[1] = outputs;
  return c.binary("Add", y, c.blob_constant(1, shape));
}

// Weights by groups: [groups, a / groups, b, k...] where a is the axis that the file's shape begins with.
Shape weights_shape(std::int64_t first, std::int64_t second, std::int64_t groups, const Ints& kernel) {
  Shape shape;
  if (groups > 1) {
    shape = {groups, first / groups, second};
  } else {
    shape = {first, second};
  }
  shape.insert(shape.end(), kernel.begin(), kernel.end());
  return shape;
}

std::vector<PortRef> convert(CaffeContext& c, bool is_transposed, bool is_depthwise) {
  c.need_inputs(1);
  const CaffeParams& params = c.params("convolution_param");
  const CaffeWindow window = caffe_conv_window(c, params);
  const std::int64_t outputs = positive(params.get_int("num_output", 0), "num_output");
  const std::int64_t groups = positive(params.get_int("group", is_depthwise ? outputs : 1), "group");
  if (params.get_int("axis", 1) != 1) c.refuse("axis " + std::to_string(params.get_int("axis", 1)));
  if (outputs % groups != 0) {
    fail(ErrorCode::kBadModel,
         "num_output " + std::to_string(outputs) + " does not divide into " + std::to_string(groups) + " groups");
  }
  // Convolution's weights are [OC, IC / groups, k...], those of its transpose [IC, OC / groups, k...].
  const std::int64_t other = other_channels(c, is_transposed ? outputs / groups : outputs, window.kernel);
  const std::int64_t inputs = is_transposed ? other : other * groups;
  check_channels(c, inputs);
  if (inputs % groups != 0) {
    fail(ErrorCode::kBadModel,
         std::to_string(inputs) + " channels do not divide into " + std::to_string(groups) + " groups");
  }
  const Shape shape = is_transposed ? weights_shape(inputs, outputs / groups, groups, window.kernel)
                                    : weights_shape(outputs, other, groups, window.kernel);
  std::string type = is_transposed ? "ConvolutionBackpropData" : "Convolution";
  if (groups > 1) type = is_transposed ? "GroupConvolutionBackpropData" : "GroupConvolution";
  const PortRef y = c.add(type, 1, {c.input(), c.blob_constant(0, shape)}, caffe_window_attributes(window));
  return {with_bias(c, params, y, outputs, window.kernel.size())};
}

std::vector<PortRef> convert_convolution(CaffeContext& c) { return convert(c, false, false); }
std::vector<PortRef> convert_depthwise(CaffeContext& c) { return convert(c, false, true); }
std::vector<PortRef> convert_deconvolution(CaffeContext& c) { return convert(c, true, false); }

// The depthwise types are those of well-known forks; the first has no field for its groups.
constexpr CaffeConverter kConverters[] = {
    {"Convolution", convert_convolution},
    {"ConvolutionDepthwise", convert_depthwise},
    {"DepthwiseConvolution", convert_convolution},
    {"Deconvolution", convert_deconvolution},
};

}  // namespace

std::span<const CaffeConverter> convolution_caffe() { return kConverters; }

}  // namespace headrace::detail
