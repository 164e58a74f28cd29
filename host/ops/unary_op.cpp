// SPDX-License-Identifier: Apache-2.0
// Functions of one element, type kept: activations, rounding, exponential and trigonometric functions, LogicalNot.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

// Codes of kernels/unary_wide.cl and unary_int.cl; those below 32 are enum Activation.
enum Code : std::int32_t {
  kAbs = 32,
  kNegative,
  kSign,
  kFloor,
  kCeiling,
  kRoundEven,
  kRoundAway,
  kSqrt,
  kExp,
  kSoftSign,
  kLog = 48,
  kErf,
  kSelu,
  kSin = 64,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
  kNot = 80,
  kSame,
};

constexpr std::int32_t code_of(Activation activation) { return static_cast<std::int32_t>(activation); }

// Programs by the price of their functions: the common ones must compile fast.
constexpr std::string_view kLight = "SET=0";
constexpr std::string_view kMath = "SET=1";
constexpr std::string_view kTrigonometric = "SET=2";

struct Function {
  std::string_view type;
  std::int32_t code;
  std::string_view set;
  std::int32_t int_code = -1;  // of unary_int.cl; -1: floats only on OpenCL devices
};

constexpr Function kFunctions[] = {
    {"ReLU", code_of(Activation::kRelu), kLight, code_of(Activation::kRelu)},
    {"Clamp", code_of(Activation::kClamp), kLight, code_of(Activation::kClamp)},
    {"Sigmoid", code_of(Activation::kSigmoid), kLight},
    {"Swish", code_of(Activation::kSwish), kLight},
    {"HSwish", code_of(Activation::kHSwish), kLight},
    {"HSigmoid", code_of(Activation::kHSigmoid), kLight},
    {"HardSigmoid", code_of(Activation::kHardSigmoid), kLight},
    {"Abs", kAbs, kLight, kAbs},
    {"Negative", kNegative, kLight, kNegative},
    {"Sign", kSign, kLight, kSign},
    {"Floor", kFloor, kLight, kSame},
    {"Ceiling", kCeiling, kLight, kSame},
    {"Round", kRoundEven, kLight, kSame},
    {"Sqrt", kSqrt, kLight},
    {"Exp", kExp, kLight},
    {"SoftSign", kSoftSign, kLight},
    {"Tanh", code_of(Activation::kTanh), kMath},
    {"Elu", code_of(Activation::kElu), kMath},
    {"Gelu", code_of(Activation::kGeluErf), kMath},
    {"Mish", code_of(Activation::kMish), kMath},
    {"SoftPlus", code_of(Activation::kSoftPlus), kMath},
    {"Log", kLog, kMath},
    {"Erf", kErf, kMath},
    {"Selu", kSelu, kMath},
    {"Sin", kSin, kTrigonometric},
    {"Cos", kCos, kTrigonometric},
    {"Tan", kTan, kTrigonometric},
    {"Asin", kAsin, kTrigonometric},
    {"Acos", kAcos, kTrigonometric},
    {"Atan", kAtan, kTrigonometric},
    {"Sinh", kSinh, kTrigonometric},
    {"Cosh", kCosh, kTrigonometric},
    {"Asinh", kAsinh, kTrigonometric},
    {"Acosh", kAcosh, kTrigonometric},
    {"Atanh", kAtanh, kTrigonometric},
    {"LogicalNot", kNot, kLight, kNot},
};

constexpr auto kTypes = [] {
  std::array<std::string_view, std::size(kFunctions)> types;
  for (std::size_t i = 0; i < types.size(); ++i) types[i] = kFunctions[i].type;
  return types;
}();

const Function& function_of(std::string_view type) {
  const auto found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                  [&](const Function& function) { return function.type == type; });
  HEADRACE_ASSERT(found != std::end(kFunctions), "not a unary operator");
  return *found;
}

Attributes parse(std::string_view type, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  if (type == "Clamp") {
    attributes.set("min", parse_double(raw, "min"));
    attributes.set("max", parse_double(raw, "max"));
  }
  if (type == "Elu") attributes.set("alpha", parse_double(raw, "alpha"));
  if (type == "Round") {
    attributes.set("mode", parse_enum(raw, "mode", "half_to_even", {"half_to_even", "half_away_from_zero"}));
  }
  if (type == "Gelu") {
    attributes.set("approximation_mode", parse_enum(raw, "approximation_mode", "ERF", {"ERF", "TANH"}));
  }
  return attributes;
}

std::size_t max_inputs(std::string_view type) {
  if (type == "Swish") return 2;
  return type == "HardSigmoid" || type == "Selu" ? 3 : 1;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  const std::size_t most = max_inputs(node.type);
  check_input_count(node, inputs.size(), node.type == "Swish" ? 1 : most, most);
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    if (count_elems(inputs[i].shape) != 1) {
      fail_node(node, "expects one value in input " + std::to_string(i) + ", got shape " + to_string(inputs[i].shape));
    }
  }
  return {{inputs[0].type, inputs[0].shape}};
}

// What to compute: the code with its two numbers.
struct Call {
  std::int32_t code = 0;
  double alpha = 0;
  double beta = 0;
};

Call call_of(const Node& node, std::span<const Tensor> inputs) {
  Call call{function_of(node.type).code, 0, 0};
  if (node.type == "Clamp") call = {call.code, node.attributes.get_double("min"), node.attributes.get_double("max")};
  if (node.type == "Elu") call.alpha = node.attributes.get_double("alpha");
  if (node.type == "Swish") call.alpha = scalar_input(inputs, 1, 1);
  if (node.type == "HardSigmoid") call = {call.code, scalar_input(inputs, 1, 0.2), scalar_input(inputs, 2, 0.5)};
  if (node.type == "Selu") call = {call.code, scalar_input(inputs, 1, 0), scalar_input(inputs, 2, 0)};
  if (node.type == "Round" && node.attributes.get_string("mode") != "half_to_even") call.code = kRoundAway;
  if (node.type == "Gelu" && node.attributes.get_string("approximation_mode") == "TANH") {
    call.code = code_of(Activation::kGeluTanh);
  }
  return call;
}

double trigonometric(std::int32_t code, double x) {
  switch (code) {
    case kSin: return std::sin(x);
    case kCos: return std::cos(x);
    case kTan: return std::tan(x);
    case kAsin: return std::asin(x);
    case kAcos: return std::acos(x);
    case kAtan: return std::atan(x);
    case kSinh: return std::sinh(x);
    case kCosh: return std::cosh(x);
    case kAsinh: return std::asinh(x);
    case kAcosh: return std::acosh(x);
    default: return std::atanh(x);
  }
}

double value_of(const Call& call, double x) {
  switch (call.code) {
    case kAbs: return std::fabs(x);
    case kNegative: return -x;
    case kSign: return x > 0 ? 1 : (x < 0 ? -1 : x);  // NaN stays NaN
    case kFloor: return std::floor(x);
    case kCeiling: return std::ceil(x);
    case kRoundEven: return std::nearbyint(x);
    case kRoundAway: return std::round(x);
    case kSqrt: return std::sqrt(x);
    case kExp: return std::exp(x);
    case kSoftSign: return x / (1 + std::fabs(x));
    case kLog: return std::log(x);
    case kErf: return std::erf(x);
    case kSelu: return call.beta * (x < 0 ? call.alpha * std::expm1(x) : x);
    case kNot: return x == 0 ? 1 : 0;
    default: break;
  }
  if (call.code >= kSin) return trigonometric(call.code, x);
  return apply_activation(static_cast<Activation>(call.code), call.alpha, call.beta, x);
}

// Bounds of an integer Clamp: the integers inside [alpha, beta].
struct IntBounds {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

std::int64_t saturated_int(double value) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  if (value >= kLimit) return std::numeric_limits<std::int64_t>::max();
  if (value <= -kLimit) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
}

IntBounds int_bounds(const Call& call) {
  return {saturated_int(std::ceil(call.alpha)), saturated_int(std::floor(call.beta))};
}

std::int64_t int_value_of(std::int32_t code, const IntBounds& bounds, std::int64_t x) {
  switch (code) {
    case kAbs: return x < 0 ? static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(x)) : x;
    case kNegative: return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(x));
    case kSign: return (x > 0 ? 1 : 0) - (x < 0 ? 1 : 0);
    case kNot: return x == 0 ? 1 : 0;
    case kSame: return x;
    case code_of(Activation::kRelu): return std::max<std::int64_t>(x, 0);
    default: return x < bounds.low ? bounds.low : std::min(x, bounds.high);
  }
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const Call call = call_of(node, inputs);
  const std::int32_t int_code = function_of(node.type).int_code;
  const bool is_exact = !is_floating(inputs[0].type()) && int_code >= 0;
  const IntBounds bounds = is_exact ? int_bounds(call) : IntBounds{};
  for (std::int64_t i = 0; i < inputs[0].count(); ++i) {
    if (is_exact) {
      set_int(outputs[0], i, int_value_of(int_code, bounds, int_value_at(inputs[0], i)));
    } else {
      set_real(outputs[0], i, value_of(call, real_at(inputs[0], i)));
    }
  }
}

Walk walk_of(std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs) {
  return {outputs[0].shape,
          {{Operand::output(0), outputs[0].offset, outputs[0].strides},
           {Operand::input(0), inputs[0].desc.offset, inputs[0].desc.strides}}};
}

KernelInstance instance_of(const Node& node, ElementType type, const KernelCaps& caps) {
  if (type != ElementType::f32) return typed_instance("unary_int", type);
  return vector_instance("unary_wide", function_of(node.type).set, walk_vector_width(caps));
}

Support supports(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                 const KernelCaps& caps) {
  const ElementType type = inputs[0].desc.type;
  const bool is_float = type == ElementType::f32;
  if (is_float ? node.type == "LogicalNot" : function_of(node.type).int_code < 0 || type == ElementType::f16) {
    return Support::no(node.type + " of element type " + std::string(to_string(type)) + " has no kernel");
  }
  if (const Support support = supports_scalar_constants(inputs, 1); !support.ok) return support;
  if (const Support support = supports_int_index(inputs, outputs); !support.ok) return support;
  if (const Support support = supports_walk(walk_of(inputs, outputs)); !support.ok) return support;
  return supports_instance(instance_of(node, type, caps), caps);
}

Lowered lower(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
              const KernelCaps& caps) {
  std::vector<Tensor> values(inputs.size());
  for (std::size_t i = 1; i < inputs.size(); ++i) values[i] = *inputs[i].constant;
  const Call call = call_of(node, values);
  const ElementType type = inputs[0].desc.type;
  std::vector<LowerArg> extra;
  if (type == ElementType::f32) {
    extra = {call.code, static_cast<float>(call.alpha), static_cast<float>(call.beta)};
  } else {
    const IntBounds bounds = int_bounds(call);
    extra = {function_of(node.type).int_code};
    append_long(extra, bounds.low);
    append_long(extra, bounds.high);
  }
  Lowered lowered;
  append_walk(lowered, instance_of(node, type, caps), walk_of(inputs, outputs), extra, caps);
  return lowered;
}

std::vector<KernelInstance> instances() {
  std::vector<KernelInstance> all;
  for (const std::string_view set : {kLight, kMath, kTrigonometric}) {
    const std::vector<KernelInstance> some = vector_instances("unary_wide", set);
    all.insert(all.end(), some.begin(), some.end());
  }
  for (const ElementType type : {ElementType::i8, ElementType::u8, ElementType::i32, ElementType::i64}) {
    all.push_back(typed_instance("unary_int", type));
  }
  return all;
}

}  // namespace

const OpDescriptor& unary_op() {
  static constexpr OpDescriptor op = {
      .types = kTypes,
      .parse = parse,
      .infer = infer,
      .reference = reference,
      .supports = supports,
      .lower = lower,
      .instances = instances,
  };
  return op;
}

}  // namespace headrace
