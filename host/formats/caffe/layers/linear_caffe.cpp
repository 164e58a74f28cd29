// SPDX-License-Identifier: Apache-2.0
// Sums and products with weights or of several blobs.
#include <algorithm>

#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/caffe/caffe_context.hpp"
#include "formats/import/layer_parts.hpp"

namespace headrace::detail {
namespace {

std::vector<PortRef> convert_inner_product(CaffeContext& c) {
  c.need_inputs(1);
  const CaffeParams& params = c.params("inner_product_param");
  const std::int64_t outputs = params.get_int("num_output", 0);
  const bool is_transposed = params.get_bool("transpose", false);
  const std::int64_t count = c.count_values(0);
  if (outputs < 1 || count % outputs != 0) {
    fail(ErrorCode::kBadModel,
         "has " + std::to_string(count) + " weights, which num_output " + std::to_string(outputs) + " does not divide");
  }
  const std::int64_t inputs = count / outputs;
  const PortRef weights = c.blob_constant(0, is_transposed ? Shape{inputs, outputs} : Shape{outputs, inputs});
  const PortRef y = add_fully_connected(c, c.input(), weights, params.get_int("axis", 1), is_transposed);
  if (!params.get_bool("bias_term", true)) return {y};
  return {c.binary("Add", y, c.blob_constant(1, {outputs}))};
}

std::vector<PortRef> convert_embed(CaffeContext& c) {
  const CaffeParams& params = c.params("embed_param");
  const std::int64_t outputs = params.get_int("num_output", 0);
  const std::int64_t words = params.get_int("input_dim", 0);
  const PortRef indices = c.convert(c.input(), ElementType::i32);
  const PortRef y = c.gather(c.blob_constant(0, {words, outputs}), indices, 0);
  if (!params.get_bool("bias_term", true)) return {y};
  return {c.binary("Add", y, c.blob_constant(1, {outputs}))};
}

std::vector<PortRef> convert_eltwise(CaffeContext& c) {
  const CaffeParams& params = c.params("eltwise_param");
  const std::string operation = params.get_enum("operation", "SUM", {{"PROD", "0"}, {"SUM", "1"}, {"MAX", "2"}});
  static_cast<void>(params.has("stable_prod_grad"));  // of training
  const std::vector<double> coefficients = params.floats("coeff");
  if (!coefficients.empty() && operation != "SUM") {
    fail(ErrorCode::kBadModel, "has coefficients and operation " + operation + ", expected SUM");
  }
  // Caffe does not broadcast, numpy's rule would hide a mistake.
  const auto first = c.static_shape(c.input());
  for (const PortRef& ref : c.inputs()) {
    const auto shape = c.static_shape(ref);
    if (first && shape && *shape != *first) {
      fail(ErrorCode::kBadModel, "has bottoms of the shapes " + to_string(*first) + " and " + to_string(*shape));
    }
  }
  const std::string_view type = operation == "SUM" ? "Add" : operation == "PROD" ? "Multiply" : "Maximum";
  return {add_joined(c, type, c.inputs(), coefficients)};
}

// The shape of a Scale's or Bias' blob: num_axes axes of the input from `axis` on, all of them for -1.
Shape blob_shape(const CaffeContext& c, std::size_t axis, std::size_t rank, std::int64_t num_axes) {
  if (num_axes < -1 || (num_axes >= 0 && static_cast<std::uint64_t>(num_axes) > rank - axis)) {
    fail(ErrorCode::kBadModel, "num_axes is " + std::to_string(num_axes));
  }
  const std::size_t count = num_axes == -1 ? rank - axis : static_cast<std::size_t>(num_axes);
  if (count == 1) return {c.count_values(0)};  // true of files that write four numbers too
  Shape shape;
  for (std::size_t i = 0; i < count; ++i) shape.push_back(c.dim(c.input(), axis + i));
  return shape;
}

void check_fits(const CaffeContext& c, const Shape& shape, std::size_t axis) {
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto size = c.static_dim(c.input(), axis + i);
    if (size && *size != shape[i]) {
      fail(ErrorCode::kBadModel, "its weights have " + std::to_string(shape[i]) + " elements along axis " +
                                     std::to_string(axis + i) + ", its input has " + std::to_string(*size));
    }
  }
}

// A blob of weights, or the second bottom, placed along the first bottom's axes.
PortRef operand(CaffeContext& c, const CaffeParams& params, Shape& shape, std::size_t rank, std::size_t axis) {
  const std::int64_t num_axes = params.get_int("num_axes", 1);  // a second bottom says it itself
  if (c.count_inputs() == 2) {
    shape = c.shape(c.input(1));
    check_fits(c, shape, axis);
    return aligned_to_axis(c, c.input(1), axis, rank);
  }
  shape = blob_shape(c, axis, rank, num_axes);
  check_fits(c, shape, axis);
  Shape aligned = shape;
  aligned.resize(rank - axis, 1);
  return c.blob_constant(0, aligned);
}

std::vector<PortRef> convert_scale(CaffeContext& c) {
  c.need_inputs(1, 2);
  const CaffeParams& params = c.params("scale_param");
  const std::size_t axis = caffe_axis(c, params.get_int("axis", 1));
  const std::size_t rank = c.rank(c.input());
  Shape shape;
  const PortRef y = c.binary("Multiply", c.input(), operand(c, params, shape, rank, axis));
  if (!params.get_bool("bias_term", false)) return {y};
  shape.resize(rank - axis, 1);
  return {c.binary("Add", y, c.blob_constant(c.count_inputs() == 2 ? 0 : 1, shape))};
}

std::vector<PortRef> convert_bias(CaffeContext& c) {
  c.need_inputs(1, 2);
  const CaffeParams& params = c.params("bias_param");
  Shape shape;
  const std::size_t axis = caffe_axis(c, params.get_int("axis", 1));
  return {c.binary("Add", c.input(), operand(c, params, shape, c.rank(c.input()), axis))};
}

constexpr CaffeConverter kConverters[] = {
    {"InnerProduct", convert_inner_product},
    {"Embed", convert_embed},
    {"Eltwise", convert_eltwise},
    {"Scale", convert_scale},
    {"Bias", convert_bias},
};

}  // namespace

std::span<const CaffeConverter> linear_caffe() { return kConverters; }

}  // namespace headrace::detail
