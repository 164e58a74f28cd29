// SPDX-License-Identifier: Apache-2.0
// Comparisons with broadcasting, and the questions IsNaN, IsInf and IsFinite: results are booleans.
#include <algorithm>
#include <array>
#include <cmath>

#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

// Codes of kernels/compare_wide.cl. The last three look at one float, bits of `flags` say which infinities count.
enum Code : std::int32_t { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual, kIsNaN, kIsInf, kIsFinite };

constexpr std::int32_t kNegativeFlag = 1;
constexpr std::int32_t kPositiveFlag = 2;

constexpr std::string_view kTypes[] = {"Equal",        "NotEqual", "Less",  "LessEqual", "Greater",
                                       "GreaterEqual", "IsNaN",    "IsInf", "IsFinite"};

Code code_of(std::string_view type) {
  const auto found = std::find(std::begin(kTypes), std::end(kTypes), type);
  HEADRACE_ASSERT(found != std::end(kTypes), "not a comparison");
  return static_cast<Code>(found - std::begin(kTypes));
}

std::size_t count_operands(const Node& node) { return code_of(node.type) >= kIsNaN ? 1 : 2; }

Attributes parse(std::string_view type, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  if (code_of(type) < kIsNaN) set_broadcast(attributes, raw);
  if (type == "IsInf") {
    attributes.set("detect_negative", parse_bool(raw, "detect_negative", true));
    attributes.set("detect_positive", parse_bool(raw, "detect_positive", true));
  }
  return attributes;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), count_operands(node), count_operands(node));
  if (inputs.size() == 1) return {{ElementType::boolean, inputs[0].shape}};
  if (inputs[0].type != inputs[1].type) {
    fail_node(node, "has inputs of types " + std::string(to_string(inputs[0].type)) + " and " +
                        std::string(to_string(inputs[1].type)) + ", which must be equal");
  }
  return {{ElementType::boolean, infer_broadcast(node, inputs[0].shape, inputs[1].shape)}};
}

std::int32_t flags_of(const Node& node) {
  if (node.type != "IsInf") return 0;
  return (node.attributes.get_bool("detect_negative") ? kNegativeFlag : 0) +
         (node.attributes.get_bool("detect_positive") ? kPositiveFlag : 0);
}

template <typename T>
bool compared(Code code, T a, T b) {
  switch (code) {
    case kEqual: return a == b;
    case kNotEqual: return a != b;
    case kLess: return a < b;
    case kLessEqual: return a <= b;
    case kGreater: return a > b;
    default: return a >= b;
  }
}

bool classified(Code code, std::int32_t flags, double x) {
  if (code == kIsNaN) return std::isnan(x);
  if (code == kIsFinite) return std::isfinite(x);
  return std::isinf(x) && (flags & (x < 0 ? kNegativeFlag : kPositiveFlag)) != 0;
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const Code code = code_of(node.type);
  if (inputs.size() == 1) {
    const std::int32_t flags = flags_of(node);
    for (std::int64_t i = 0; i < inputs[0].count(); ++i) {
      set_int(outputs[0], i, classified(code, flags, real_at(inputs[0], i)) ? 1 : 0);
    }
    return;
  }
  const Shape& shape = outputs[0].shape();
  std::vector<std::vector<std::int64_t>> strides = {row_major_strides(shape)};
  for (std::size_t i = 0; i < 2; ++i) {
    strides.push_back(aligned_strides(node, i, dense_desc(inputs[i].type(), inputs[i].shape()), shape));
  }
  const bool is_float = is_floating(inputs[0].type());
  walk_elements(shape, strides, [&](const std::vector<std::int64_t>& at) {
    const bool result = is_float ? compared(code, real_at(inputs[0], at[1]), real_at(inputs[1], at[2]))
                                 : compared(code, int_value_at(inputs[0], at[1]), int_value_at(inputs[1], at[2]));
    set_int(outputs[0], at[0], result ? 1 : 0);
  });
}

// A question about one operand is a walk in which both places are that operand.
Walk walk_of(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs) {
  const Shape& shape = outputs[0].shape;
  Walk walk{shape, {{Operand::output(0), outputs[0].offset, outputs[0].strides}}};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t k = std::min(i, inputs.size() - 1);
    const TensorDesc& desc = inputs[k].desc;
    const bool is_pair = inputs.size() == 2;
    walk.operands.push_back(
        {Operand::input(k), desc.offset, is_pair ? aligned_strides(node, k, desc, shape) : desc.strides});
  }
  return walk;
}

Support supports(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                 const KernelCaps& caps) {
  const ElementType type = inputs[0].desc.type;
  if (type == ElementType::f16 || (inputs.size() == 1 && type != ElementType::f32)) {
    return Support::no(node.type + " of element type " + std::string(to_string(type)) + " has no kernel");
  }
  if (const Support support = supports_int_index(inputs, outputs); !support.ok) return support;
  if (const Support support = supports_walk(walk_of(node, inputs, outputs)); !support.ok) return support;
  return supports_instance(typed_instance("compare_wide", type), caps);
}

Lowered lower(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
              const KernelCaps& caps) {
  Lowered lowered;
  const std::array<LowerArg, 2> extra = {LowerArg{static_cast<std::int32_t>(code_of(node.type))},
                                         LowerArg{flags_of(node)}};
  append_walk(lowered, typed_instance("compare_wide", inputs[0].desc.type), walk_of(node, inputs, outputs), extra,
              caps);
  return lowered;
}

std::vector<KernelInstance> instances() {
  std::vector<KernelInstance> all;
  for (const ElementType type :
       {ElementType::f32, ElementType::i8, ElementType::u8, ElementType::i32, ElementType::i64}) {
    all.push_back(typed_instance("compare_wide", type));
  }
  return all;
}

}  // namespace

const OpDescriptor& compare_op() {
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
