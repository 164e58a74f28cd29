// SPDX-License-Identifier: Apache-2.0
// Normalizations, and Softmax.
#include <algorithm>

#include "core/error.hpp"
#include "formats/caffe/caffe_context.hpp"
#include "formats/import/layer_parts.hpp"

namespace headrace::detail {
namespace {

std::vector<PortRef> convert_lrn(CaffeContext& c) {
  const CaffeParams& params = c.params("lrn_param");
  LocalResponse form;
  form.size = params.get_int("local_size", 5);
  form.alpha = params.get_float("alpha", 1);
  form.beta = params.get_float("beta", 0.75);
  form.k = params.get_float("k", 1);
  form.is_across_channels = params.get_enum("norm_region", "ACROSS_CHANNELS",
                                            {{"ACROSS_CHANNELS", "0"}, {"WITHIN_CHANNEL", "1"}}) == "ACROSS_CHANNELS";
  // Caffe builds the latter of other layers, whose constant is 1.
  if (!form.is_across_channels) form.k = 1;
  return {add_local_response(c, c.input(), form)};
}

// (x - mean) / sqrt(variance + eps); the file's sums are divided by its third blob.
std::vector<PortRef> convert_batch_norm(CaffeContext& c) {
  c.need_inputs(1);
  const CaffeParams& params = c.params("batch_norm_param");
  if (!params.get_bool("use_global_stats", true)) c.refuse("use_global_stats false: the statistics of the batch");
  static_cast<void>(params.has("moving_average_fraction"));  // of training
  if (c.count_blobs() > 3) c.refuse("more than three blobs: scale and bias of NVIDIA's fork");
  const std::int64_t channels = c.count_values(0);
  const auto known = c.static_dim(c.input(), 1);
  if (known && *known != channels) {
    fail(ErrorCode::kBadModel,
         "its weights are for " + std::to_string(channels) + " channels, its input has " + std::to_string(*known));
  }
  const double total = to_doubles(c.blob(2, {1}))[0];
  const double factor = total == 0 ? 0 : 1 / total;
  const auto divided = [&](std::size_t blob) {
    std::vector<float> values;
    for (const double value : to_doubles(c.blob(blob, {channels})))
      values.push_back(static_cast<float>(value * factor));
    return c.constant_floats(values);
  };
  const auto count = static_cast<std::size_t>(channels);
  const PortRef ones = c.constant_floats(std::vector<float>(count, 1));
  const PortRef zeros = c.constant_floats(std::vector<float>(count, 0));
  const double epsilon = params.get_float("eps", static_cast<double>(1e-5F));
  return {
      c.add("BatchNormInference", 5, {c.input(), ones, zeros, divided(0), divided(1)}, {{"epsilon", text(epsilon)}})};
}

// (x - mean) / (deviation + eps).
std::vector<PortRef> convert_mvn(CaffeContext& c) {
  const CaffeParams& params = c.params("mvn_param");
  const std::int64_t first = params.get_bool("across_channels", false) ? 1 : 2;
  const auto rank = static_cast<std::int64_t>(c.rank(c.input()));
  return {c.add("MVN", 6, {c.input(), c.constant_ints(iota(first, rank))},
                {{"eps", text(params.get_float("eps", static_cast<double>(1e-9F)))},
                 {"normalize_variance", text(params.get_bool("normalize_variance", true))},
                 {"eps_mode", "outside_sqrt"}})};
}

// SSD's: x / sqrt(sum of squares + eps), times a factor for each channel.
std::vector<PortRef> convert_normalize(CaffeContext& c) {
  const CaffeParams& params = c.params("norm_param");
  static_cast<void>(params.has("scale_filler"));  // of training
  const Ints axes =
      params.get_bool("across_spatial", true) ? iota(1, static_cast<std::int64_t>(c.rank(c.input()))) : Ints{1};
  const double epsilon = params.get_float("eps", static_cast<double>(1e-10F));
  const PortRef y =
      c.add("NormalizeL2", 1, {c.input(), c.constant_ints(axes)}, {{"eps", text(epsilon)}, {"eps_mode", "add"}});
  Shape shape(c.rank(c.input()), 1);
  if (!params.get_bool("channel_shared", true)) shape[1] = c.dim(c.input(), 1);
  return {c.binary("Multiply", y, c.blob_constant(0, shape))};
}

// A loss computes the same numbers in a run.
std::vector<PortRef> convert_softmax(CaffeContext& c) {
  const CaffeParams& params = c.params("softmax_param");
  return {c.add("SoftMax", 8, {c.input()}, {{"axis", text(params.get_int("axis", 1))}})};
}

constexpr CaffeConverter kConverters[] = {
    {"LRN", convert_lrn},         {"BatchNorm", convert_batch_norm},
    {"MVN", convert_mvn},         {"Normalize", convert_normalize},
    {"Softmax", convert_softmax}, {"SoftmaxWithLoss", convert_softmax},
};

}  // namespace

std::span<const CaffeConverter> normalize_caffe() { return kConverters; }

}  // namespace headrace::detail
