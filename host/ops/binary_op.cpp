// SPDX-License-Identifier: Apache-2.0
// Functions of two elements with broadcasting, type kept: arithmetic, PReLU, logical connectives.
#include <algorithm>
#include <array>
#include <cmath>

#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

// Codes of kernels/binary_wide.cl and binary_int.cl.
enum Code : std::int32_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kMaximum,
  kMinimum,
  kSquaredDifference,
  kPRelu,
  kPower,
  kMod,
  kFloorMod,
  kAnd,
  kOr,
  kXor,
  kFloorDivide,  // of integers
};

constexpr std::string_view kLight = "SET=0";
constexpr std::string_view kMath = "SET=1";  // Power and remainders compile slowly

struct Function {
  std::string_view type;
  Code code;
};

constexpr Function kFunctions[] = {
    {"Add", kAdd},       {"Subtract", kSubtract}, {"Multiply", kMultiply},
    {"Divide", kDivide}, {"Maximum", kMaximum},   {"Minimum", kMinimum},
    {"Power", kPower},   {"Mod", kMod},           {"FloorMod", kFloorMod},
    {"PReLU", kPRelu},   {"LogicalAnd", kAnd},    {"SquaredDifference", kSquaredDifference},
    {"LogicalOr", kOr},  {"LogicalXor", kXor},
};

constexpr auto kTypes = [] {
  std::array<std::string_view, std::size(kFunctions)> types;
  for (std::size_t i = 0; i < types.size(); ++i) types[i] = kFunctions[i].type;
  return types;
}();

Code code_of(std::string_view type) {
  const auto found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                  [&](const Function& function) { return function.type == type; });
  HEADRACE_ASSERT(found != std::end(kFunctions), "not a binary operator");
  return found->code;
}

bool is_logical(Code code) { return code == kAnd || code == kOr || code == kXor; }

Attributes parse(std::string_view type, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  set_broadcast(attributes, raw);
  if (type == "Divide") attributes.set("m_pythondiv", parse_bool(raw, "m_pythondiv", true));
  return attributes;
}

// IR's rule: a slope of rank 1 with as many values as channels belongs to the channels, not to the last axis.
bool is_channel_slope(const Shape& data, const Shape& slope) {
  return data.size() >= 2 && slope.size() == 1 && slope[0] == data[1];
}

TensorDesc slope_desc(const Shape& data, TensorDesc slope) {
  if (!is_channel_slope(data, slope.shape)) return slope;
  slope.shape.resize(data.size() - 1, 1);
  slope.strides.resize(data.size() - 1, 0);
  return slope;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 2, 2);
  if (inputs[0].type != inputs[1].type) {
    fail_node(node, "has inputs of types " + std::string(to_string(inputs[0].type)) + " and " +
                        std::string(to_string(inputs[1].type)) + ", which must be equal");
  }
  if (node.type != "PReLU") return {{inputs[0].type, infer_broadcast(node, inputs[0].shape, inputs[1].shape)}};
  const TensorDesc slope = slope_desc(inputs[0].shape, dense_desc(inputs[1].type, inputs[1].shape));
  if (broadcast_shapes(inputs[0].shape, slope.shape) != inputs[0].shape) {
    fail_node(node,
              "has a slope of shape " + to_string(inputs[1].shape) + " for data of " + to_string(inputs[0].shape));
  }
  return {{inputs[0].type, inputs[0].shape}};
}

std::vector<std::int64_t> strides_of(const Node& node, std::size_t index, const Shape& first, const TensorDesc& desc,
                                     const Shape& shape) {
  if (node.type == "PReLU" && index == 1) return broadcast_strides(slope_desc(first, desc), shape);
  return aligned_strides(node, index, desc, shape);
}

double floor_mod(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

double value_of(Code code, double a, double b) {
  switch (code) {
    case kAdd: return a + b;
    case kSubtract: return a - b;
    case kMultiply: return a * b;
    case kDivide: return a / b;
    case kMaximum: return a > b || a != a ? a : b;  // NaN on either side stays
    case kMinimum: return a < b || a != a ? a : b;
    case kSquaredDifference: return (a - b) * (a - b);
    case kPRelu: return a < 0 ? a * b : a;
    case kPower: return std::pow(a, b);
    case kMod: return std::fmod(a, b);
    case kFloorMod: return floor_mod(a, b);
    case kAnd: return a != 0 && b != 0 ? 1 : 0;
    case kOr: return a != 0 || b != 0 ? 1 : 0;
    case kXor: return (a != 0) != (b != 0) ? 1 : 0;
    case kFloorDivide: return std::floor(a / b);
  }
  fail(ErrorCode::kInternal, "unknown binary function");
}

using Bits = std::uint64_t;  // wraps without undefined behaviour

std::int64_t int_power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  Bits result = 1;
  for (Bits square = static_cast<Bits>(base), left = static_cast<Bits>(exponent); left != 0; left /= 2) {
    if (left % 2 == 1) result *= square;
    square *= square;
  }
  return static_cast<std::int64_t>(result);
}

// Quotients and remainders; division by zero gives 0 here and in the kernels: it must not trap.
std::int64_t int_quotient(Code code, std::int64_t a, std::int64_t b) {
  const bool is_remainder = code == kMod || code == kFloorMod;
  if (b == 0) return 0;
  if (b == -1) return is_remainder ? 0 : static_cast<std::int64_t>(0 - static_cast<Bits>(a));
  const std::int64_t rest = a % b;
  const bool is_below = rest != 0 && (rest < 0) != (b < 0);
  if (is_remainder) return code == kFloorMod && is_below ? rest + b : rest;
  return a / b - (code == kFloorDivide && is_below ? 1 : 0);
}

std::int64_t int_value_of(Code code, std::int64_t a, std::int64_t b) {
  const Bits x = static_cast<Bits>(a);
  const Bits y = static_cast<Bits>(b);
  switch (code) {
    case kAdd: return static_cast<std::int64_t>(x + y);
    case kSubtract: return static_cast<std::int64_t>(x - y);
    case kMultiply: return static_cast<std::int64_t>(x * y);
    case kMaximum: return std::max(a, b);
    case kMinimum: return std::min(a, b);
    case kSquaredDifference: return static_cast<std::int64_t>((x - y) * (x - y));
    case kPRelu: return a < 0 ? static_cast<std::int64_t>(x * y) : a;
    case kPower: return int_power(a, b);
    case kAnd: return a != 0 && b != 0 ? 1 : 0;
    case kOr: return a != 0 || b != 0 ? 1 : 0;
    case kXor: return (a != 0) != (b != 0) ? 1 : 0;
    default: return int_quotient(code, a, b);
  }
}

Code int_code_of(const Node& node) {
  const Code code = code_of(node.type);
  return code == kDivide && node.attributes.get_bool("m_pythondiv") ? kFloorDivide : code;
}

// The reference on f32, row by row: weights of whole networks are folded through it.
void compute_f32(Code code, const Shape& shape, const std::vector<std::vector<std::int64_t>>& strides,
                 std::span<const Tensor> inputs, Tensor& output) {
  StridedLoop rows = coalesce(shape, strides);
  std::int64_t count = 1;
  std::int64_t steps[3] = {};
  if (!rows.dims.empty()) {
    count = rows.dims.back();
    rows.dims.pop_back();
    for (std::size_t k = 0; k < rows.strides.size(); ++k) {
      steps[k] = rows.strides[k].back();
      rows.strides[k].pop_back();
    }
  }
  const float* a = inputs[0].values<float>().data();
  const float* b = inputs[1].values<float>().data();
  float* to = output.mutable_values<float>().data();
  walk_elements(rows.dims, rows.strides, [&](const std::vector<std::int64_t>& at) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto x = static_cast<double>(a[at[1] + i * steps[1]]);
      const auto y = static_cast<double>(b[at[2] + i * steps[2]]);
      to[at[0] + i * steps[0]] = static_cast<float>(value_of(code, x, y));
    }
  });
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const Shape& shape = outputs[0].shape();
  std::vector<std::vector<std::int64_t>> strides = {row_major_strides(shape)};
  for (std::size_t i = 0; i < 2; ++i) {
    strides.push_back(strides_of(node, i, inputs[0].shape(), dense_desc(inputs[i].type(), inputs[i].shape()), shape));
  }
  const bool is_float = is_floating(inputs[0].type());
  const Code code = is_float ? code_of(node.type) : int_code_of(node);
  if (inputs[0].type() == ElementType::f32) return compute_f32(code, shape, strides, inputs, outputs[0]);
  walk_elements(shape, strides, [&](const std::vector<std::int64_t>& at) {
    if (is_float) {
      set_real(outputs[0], at[0], value_of(code, real_at(inputs[0], at[1]), real_at(inputs[1], at[2])));
    } else {
      set_int(outputs[0], at[0], int_value_of(code, int_value_at(inputs[0], at[1]), int_value_at(inputs[1], at[2])));
    }
  });
}

Cost cost(const Node&, std::span<const InferInput> inputs, std::span<const InferOutput> outputs) {
  Cost result{count_elems(outputs[0].shape), 0};
  for (const InferInput& input : inputs) {
    result.bytes += count_elems(input.shape) * static_cast<std::int64_t>(size_bytes(input.type));
  }
  result.bytes += result.flops * static_cast<std::int64_t>(size_bytes(outputs[0].type));
  return result;
}

Walk walk_of(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs) {
  const Shape& shape = outputs[0].shape;
  Walk walk{shape, {{Operand::output(0), outputs[0].offset, outputs[0].strides}}};
  for (std::size_t i = 0; i < 2; ++i) {
    const TensorDesc& desc = inputs[i].desc;
    walk.operands.push_back({Operand::input(i), desc.offset, strides_of(node, i, inputs[0].desc.shape, desc, shape)});
  }
  return walk;
}

KernelInstance instance_of(const Node& node, ElementType type, const KernelCaps& caps) {
  if (type != ElementType::f32) return typed_instance("binary_int", type);
  const Code code = code_of(node.type);
  const bool is_math = code == kPower || code == kMod || code == kFloorMod;
  return vector_instance("binary_wide", is_math ? kMath : kLight, walk_vector_width(caps));
}

Support supports(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                 const KernelCaps& caps) {
  const ElementType type = outputs[0].type;
  const bool is_float = is_floating(type);
  if (type == ElementType::f16 || is_logical(code_of(node.type)) != (type == ElementType::boolean)) {
    return Support::no(node.type + " of element type " + std::string(to_string(type)) + " has no kernel");
  }
  if (!is_float && !node.epilogue.is_empty()) return Support::no("a fused activation needs f32");
  if (const Support support = supports_int_index(inputs, outputs); !support.ok) return support;
  if (const Support support = supports_walk(walk_of(node, inputs, outputs)); !support.ok) return support;
  return supports_instance(instance_of(node, type, caps), caps);
}

Lowered lower(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
              const KernelCaps& caps) {
  const ElementType type = outputs[0].type;
  std::vector<LowerArg> extra;
  if (type == ElementType::f32) {
    const Epilogue& epilogue = node.epilogue;
    extra = {static_cast<std::int32_t>(code_of(node.type)), static_cast<std::int32_t>(epilogue.activation),
             epilogue.alpha, epilogue.beta};
  } else {
    extra = {static_cast<std::int32_t>(int_code_of(node))};
  }
  Lowered lowered;
  append_walk(lowered, instance_of(node, type, caps), walk_of(node, inputs, outputs), extra, caps);
  return lowered;
}

bool fuses(const Node& node, const Epilogue& epilogue) {
  const Code code = code_of(node.type);
  const bool is_arithmetic = code == kAdd || code == kSubtract || code == kMultiply || code == kDivide;
  const bool is_float = !node.outputs.empty() && is_floating(node.outputs[0].type);
  return is_arithmetic && is_float && epilogue.bias_input < 0 && epilogue.residual_input < 0 &&
         is_light_activation(epilogue.activation);
}

std::vector<KernelInstance> instances() {
  std::vector<KernelInstance> all = vector_instances("binary_wide", kLight);
  for (const KernelInstance& instance : vector_instances("binary_wide", kMath)) all.push_back(instance);
  for (const ElementType type : {ElementType::i8, ElementType::u8, ElementType::i32, ElementType::i64}) {
    all.push_back(typed_instance("binary_int", type));
  }
  return all;
}

}  // namespace

const OpDescriptor& binary_op() {
  static constexpr OpDescriptor op = {
      .types = kTypes,
      .parse = parse,
      .infer = infer,
      .cost = cost,
      .reference = reference,
      .supports = supports,
      .lower = lower,
      .fuses = fuses,
      .instances = instances,
  };
  return op;
}

}  // namespace headrace
