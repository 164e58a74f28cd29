// SPDX-License-Identifier: Apache-2.0
#include "ops/strided.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace headrace {
namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kSqrtTwoOverPi = 0.79788456080286535588;

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
// std::clamp and std::max would turn NaN into a bound.
double clamped(double x, double low, double high) { return x < low ? low : (x > high ? high : x); }

// In float and by these operations, as the kernels: at the border between two levels others choose the other one.
double nearest_level(double x, double first, double last) {
  constexpr float kSteps = 255;
  const auto low = static_cast<float>(first);
  const auto range = static_cast<float>(last) - low;
  const float step = (static_cast<float>(clamped(x, first, last)) - low) * (kSteps / range);
  return static_cast<double>(std::nearbyint(step) * (range / kSteps) + low);
}

double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

// The axis that a bias runs along: channels for convolutions, the last one for MatMul and the rest.
std::size_t bias_axis(const Node& node, std::size_t rank) {
  return node.type.find("Convolution") != std::string::npos ? 1 : rank - 1;
}

void apply_epilogue(const Node& node, std::span<const Tensor> inputs, Tensor& output) {
  const Epilogue& epilogue = node.epilogue;
  const Shape& shape = output.shape();
  const auto values = output.mutable_values<float>();
  const float* bias = nullptr;
  const float* residual = nullptr;
  if (epilogue.bias_input >= 0) bias = inputs[static_cast<std::size_t>(epilogue.bias_input)].values<float>().data();
  if (epilogue.residual_input >= 0) {
    residual = inputs[static_cast<std::size_t>(epilogue.residual_input)].values<float>().data();
  }
  const std::size_t axis = bias_axis(node, shape.size());
  const std::int64_t inner = std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, shape.end(),
                                             std::int64_t{1}, std::multiplies<>());
  for (std::size_t i = 0; i < values.size(); ++i) {
    double value = values[i];
    if (bias != nullptr) value += bias[(static_cast<std::int64_t>(i) / inner) % shape[axis]];
    if (residual != nullptr) value += residual[i];
    values[i] = static_cast<float>(apply_activation(epilogue.activation, epilogue.alpha, epilogue.beta, value));
  }
}

}  // namespace

std::vector<std::int64_t> broadcast_strides(const TensorDesc& desc, const Shape& shape) {
  HEADRACE_ASSERT(desc.shape.size() <= shape.size(), "broadcast to a lower rank");
  std::vector<std::int64_t> strides(shape.size(), 0);
  const std::size_t shift = shape.size() - desc.shape.size();
  for (std::size_t i = 0; i < desc.shape.size(); ++i) {
    if (desc.shape[i] != 1) strides[shift + i] = desc.strides[i];
  }
  return strides;
}

StridedLoop coalesce(const Shape& shape, std::vector<std::vector<std::int64_t>> strides) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return strides[0][a] > strides[0][b]; });
  StridedLoop loop;
  loop.strides.resize(strides.size());
  for (const std::size_t dim : order) {
    bool can_merge = !loop.dims.empty();
    for (std::size_t k = 0; k < strides.size() && can_merge; ++k) {
      can_merge = loop.strides[k].back() == strides[k][dim] * shape[dim];
    }
    if (can_merge) {
      loop.dims.back() *= shape[dim];
      for (std::size_t k = 0; k < strides.size(); ++k) loop.strides[k].back() = strides[k][dim];
    } else {
      loop.dims.push_back(shape[dim]);
      for (std::size_t k = 0; k < strides.size(); ++k) loop.strides[k].push_back(strides[k][dim]);
    }
  }
  return loop;
}

bool is_row_major(const TensorDesc& desc) {
  std::int64_t expected = 1;
  for (std::size_t i = desc.shape.size(); i-- > 0;) {
    if (desc.shape[i] != 1 && desc.strides[i] != expected) return false;
    expected *= std::max<std::int64_t>(desc.shape[i], 1);
  }
  return true;
}

bool is_channels_last(const TensorDesc& desc) {
  const std::size_t rank = desc.shape.size();
  if (rank < 3) return false;
  if (desc.shape[1] != 1 && desc.strides[1] != 1) return false;
  for (std::size_t i = 2; i < rank; ++i) {
    if (desc.shape[i] != 1 && desc.strides[i] < desc.shape[1]) return false;
  }
  return true;
}

std::vector<std::int64_t> channels_last_strides(const Shape& shape) {
  HEADRACE_ASSERT(shape.size() >= 3, "channels-last needs rank 3");
  std::vector<std::int64_t> strides(shape.size());
  strides[1] = 1;
  std::int64_t stride = std::max<std::int64_t>(shape[1], 1);
  for (std::size_t i = shape.size(); i-- > 2;) {
    strides[i] = stride;
    stride *= std::max<std::int64_t>(shape[i], 1);
  }
  strides[0] = stride;
  return strides;
}

std::int64_t extent_elems(const TensorDesc& desc) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < desc.shape.size(); ++i) {
    if (desc.shape[i] == 0) return 0;
    last += (desc.shape[i] - 1) * desc.strides[i];
  }
  return last + 1;
}

Support supports_int_index(std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs) {
  constexpr std::int64_t kMaxElems = std::numeric_limits<std::int32_t>::max();
  for (const LowerInput& input : inputs) {
    if (extent_elems(input.desc) > kMaxElems) {
      return Support::no("input of shape " + to_string(input.desc.shape) + " has more than 2^31 elements");
    }
  }
  for (const TensorDesc& output : outputs) {
    if (extent_elems(output) > kMaxElems) {
      return Support::no("output of shape " + to_string(output.shape) + " has more than 2^31 elements");
    }
  }
  return Support::yes();
}

void check_input_count(const Node& node, std::size_t count, std::size_t at_least, std::size_t at_most) {
  if (count >= at_least && count <= at_most) return;
  std::string expected = std::to_string(at_least);
  if (at_most != at_least) expected += " to " + std::to_string(at_most);
  fail(ErrorCode::kBadModel, node.source_type + " expects " + expected + " inputs, has " + std::to_string(count));
}

std::size_t count_op_inputs(const Node& node) {
  std::size_t count = node.inputs.size();
  if (node.epilogue.bias_input >= 0) --count;
  if (node.epilogue.residual_input >= 0) --count;
  return count;
}

void run_reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const OpDescriptor* op = find_op(node.type);
  HEADRACE_ASSERT(op != nullptr && op->reference != nullptr, "operator without a reference");
  op->reference(node, inputs.first(count_op_inputs(node)), outputs);
  if (!node.epilogue.is_empty()) apply_epilogue(node, inputs, outputs[0]);
}

double apply_activation(Activation activation, double alpha, double beta, double x) {
  switch (activation) {
    case Activation::kNone: return x;
    case Activation::kRelu: return x < 0 ? 0 : x;
    case Activation::kClamp: return clamped(x, alpha, beta);
    case Activation::kLeakyRelu: return x < 0 ? alpha * x : x;
    case Activation::kSigmoid: return sigmoid(x);
    case Activation::kSwish: return x * sigmoid(alpha * x);
    case Activation::kHSwish: return x * clamped(x + 3, 0, 6) / 6;
    case Activation::kHSigmoid: return clamped(x + 3, 0, 6) / 6;
    case Activation::kTanh: return std::tanh(x);
    case Activation::kElu: return x < 0 ? alpha * std::expm1(x) : x;
    case Activation::kGeluErf: return 0.5 * x * (1 + std::erf(x * kSqrtHalf));
    case Activation::kGeluTanh: return 0.5 * x * (1 + std::tanh(kSqrtTwoOverPi * (x + 0.044715 * x * x * x)));
    case Activation::kMish: return x * std::tanh(softplus(x));
    case Activation::kSoftPlus: return softplus(x);
    case Activation::kHardSigmoid: return clamped(alpha * x + beta, 0, 1);
    case Activation::kFakeQuantize: return nearest_level(x, alpha, beta);
  }
  fail(ErrorCode::kInternal, "unknown activation");
}

std::string dtype_suffix(ElementType type) {
  return type == ElementType::boolean ? "u8" : std::string(to_string(type));
}

}  // namespace headrace
