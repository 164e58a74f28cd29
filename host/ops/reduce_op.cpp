// SPDX-License-Identifier: Apache-2.0
// ReduceSum, ReduceMean, ReduceMax, ReduceMin, ReduceProd, ReduceL1, ReduceL2, ReduceLogicalAnd and ReduceLogicalOr.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/axis_walk.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

// Codes of kernels/reduce_wide.cl and reduce_int.cl.
enum Code : std::int32_t { kSum, kMax, kMin, kProd, kL1, kL2, kAnd, kOr, kMean };

constexpr std::string_view kTypes[] = {"ReduceSum", "ReduceMax",        "ReduceMin",       "ReduceProd", "ReduceL1",
                                       "ReduceL2",  "ReduceLogicalAnd", "ReduceLogicalOr", "ReduceMean"};

Code code_of(std::string_view type) {
  const auto found = std::find(std::begin(kTypes), std::end(kTypes), type);
  HEADRACE_ASSERT(found != std::end(kTypes), "not a reduction");
  return static_cast<Code>(found - std::begin(kTypes));
}

Attributes parse(std::string_view, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  attributes.set("keep_dims", parse_bool(raw, "keep_dims", false));
  return attributes;
}

std::vector<std::size_t> axes_of(const Node& node, const InputValues& values, std::size_t rank) {
  return normalize_axes(node, ints_at(values, 1), rank);
}

bool contains(std::span<const std::size_t> axes, std::size_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 2, 2);
  const std::vector<std::size_t> axes = axes_of(node, values_of(inputs), inputs[0].shape.size());
  Shape shape;
  for (std::size_t i = 0; i < inputs[0].shape.size(); ++i) {
    if (!contains(axes, i)) {
      shape.push_back(inputs[0].shape[i]);
    } else if (node.attributes.get_bool("keep_dims")) {
      shape.push_back(1);
    }
  }
  return {{inputs[0].type, shape}};
}

double first_value(Code code) {
  if (code == kMax) return -std::numeric_limits<double>::infinity();
  if (code == kMin) return std::numeric_limits<double>::infinity();
  return code == kProd ? 1 : 0;
}

double step(Code code, double sum, double x) {
  switch (code) {
    case kMax: return x > sum || x != x ? x : sum;  // NaN stays
    case kMin: return x < sum || x != x ? x : sum;
    case kProd: return sum * x;
    case kL1: return sum + std::fabs(x);
    case kL2: return sum + x * x;
    default: return sum + x;
  }
}

double last(Code code, double sum, std::int64_t count) {
  if (code == kL2) return std::sqrt(sum);
  return code == kMean ? sum / static_cast<double>(count) : sum;
}

std::int64_t reduced_ints(Code code, const Tensor& input, std::int64_t start, const AxisLoops& loops) {
  std::uint64_t sum = code == kProd || code == kAnd ? 1 : 0;  // unsigned: wraps without undefined behaviour
  if (code == kMax) sum = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::min());
  if (code == kMin) sum = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  for (const std::int64_t offset : loops.offsets) {
    const std::int64_t value = int_value_at(input, start + offset);
    const auto x = static_cast<std::uint64_t>(value);
    switch (code) {
      case kMax: sum = static_cast<std::uint64_t>(std::max(static_cast<std::int64_t>(sum), value)); break;
      case kMin: sum = static_cast<std::uint64_t>(std::min(static_cast<std::int64_t>(sum), value)); break;
      case kProd: sum *= x; break;
      case kL1: sum += value < 0 ? 0 - x : x; break;
      case kL2: sum += x * x; break;
      case kAnd: sum = sum != 0 && value != 0 ? 1 : 0; break;
      case kOr: sum = sum != 0 || value != 0 ? 1 : 0; break;
      default: sum += x; break;
    }
  }
  const auto total = static_cast<std::int64_t>(sum);
  if (code == kL2) return static_cast<std::int64_t>(std::sqrt(static_cast<double>(total)));
  const auto count = static_cast<std::int64_t>(loops.offsets.size());
  return code == kMean && count > 0 ? total / count : total;
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const Code code = code_of(node.type);
  const AxisLoops loops = axis_loops(inputs[0].shape(), axes_of(node, values_of(inputs), inputs[0].shape().size()));
  const bool is_float = is_floating(inputs[0].type());
  for (std::size_t i = 0; i < loops.starts.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i);
    if (!is_float) {
      set_int(outputs[0], place, reduced_ints(code, inputs[0], loops.starts[i], loops));
      continue;
    }
    double sum = first_value(code);
    for (const std::int64_t offset : loops.offsets) sum = step(code, sum, real_at(inputs[0], loops.starts[i] + offset));
    set_real(outputs[0], place, last(code, sum, static_cast<std::int64_t>(loops.offsets.size())));
  }
}

AxisPlan plan_of(const Node& node, std::span<const LowerInput> inputs, const TensorDesc& output) {
  const TensorDesc& input = inputs[0].desc;
  const std::vector<std::size_t> axes = axes_of(node, values_of(inputs), input.shape.size());
  const bool keeps = node.attributes.get_bool("keep_dims");
  std::vector<std::int64_t> strides(input.shape.size(), 0);
  std::size_t place = 0;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    const bool is_axis = contains(axes, i);
    if (!is_axis) strides[i] = output.strides[place];
    if (!is_axis || keeps) ++place;
  }
  return plan_axis_walk(input, axes, output.offset, strides);
}

KernelInstance instance_of(ElementType type, AxisForm form, const KernelCaps& caps) {
  if (type != ElementType::f32) return typed_instance("reduce_int", type);
  return axis_instance("reduce_wide", form, walk_vector_width(caps));
}

bool has_kernel(Code code, ElementType type) {
  const bool is_logical = code == kAnd || code == kOr;
  if (type == ElementType::boolean || type == ElementType::f16) return is_logical && type == ElementType::boolean;
  return !is_logical && (type == ElementType::f32 || code != kL2);
}

Support supports(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                 const KernelCaps& caps) {
  const ElementType type = inputs[0].desc.type;
  if (!has_kernel(code_of(node.type), type)) {
    return Support::no(node.type + " of element type " + std::string(to_string(type)) + " has no kernel");
  }
  if (inputs[1].constant == nullptr) return Support::no("the axes are not constant");
  if (const Support support = supports_int_index(inputs, outputs); !support.ok) return support;
  const AxisPlan plan = plan_of(node, inputs, outputs[0]);
  if (const Support support = supports_axis_walk(plan, inputs[0].desc.shape); !support.ok) return support;
  for (const AxisForm form : {AxisForm::kRows, AxisForm::kColumns}) {
    if (const Support support = supports_instance(instance_of(type, form, caps), caps); !support.ok) return support;
  }
  return Support::yes();
}

Lowered lower(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
              const KernelCaps& caps) {
  const Code code = code_of(node.type);
  const AxisWalk walk = plan_of(node, inputs, outputs[0]).walk;
  std::vector<LowerArg> extra = axis_args(walk, false);
  const ElementType type = inputs[0].desc.type;
  if (type == ElementType::f32) {
    extra.emplace_back(static_cast<std::int32_t>(code == kMean ? kSum : code));
    extra.emplace_back(code == kMean ? 1.0F / static_cast<float>(walk.count) : 1.0F);
  } else {
    extra.emplace_back(static_cast<std::int32_t>(code));
  }
  Lowered lowered;
  append_walk(lowered, instance_of(type, walk.form, caps), walk.kept, extra, caps);
  return lowered;
}

std::vector<KernelInstance> instances() {
  std::vector<KernelInstance> all = axis_instances("reduce_wide");
  for (const ElementType type : {ElementType::i8, ElementType::u8, ElementType::i32, ElementType::i64}) {
    all.push_back(typed_instance("reduce_int", type));
  }
  return all;
}

Cost cost(const Node&, std::span<const InferInput> inputs, std::span<const InferOutput> outputs) {
  const std::int64_t count = count_elems(inputs[0].shape);
  const auto bytes = static_cast<std::int64_t>(size_bytes(inputs[0].type));
  return {count, (count + count_elems(outputs[0].shape)) * bytes};
}

}  // namespace

const OpDescriptor& reduce_op() {
  static constexpr OpDescriptor op = {
      .types = kTypes,
      .parse = parse,
      .infer = infer,
      .cost = cost,
      .reference = reference,
      .supports = supports,
      .lower = lower,
      .instances = instances,
  };
  return op;
}

}  // namespace headrace
