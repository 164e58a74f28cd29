// SPDX-License-Identifier: Apache-2.0
// MVN, NormalizeL2 and GRN: y = (x - mean) * scale, mean and scale taken along axes.
#include <algorithm>
#include <cmath>

#include "ops/axis_walk.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"MVN", "NormalizeL2", "GRN"};

// How the scale comes from the mean square s of x - mean (MVN) or the sum of squares s of x (the others); codes of
// kernels/norm_wide.cl.
enum class Scale : std::int32_t {
  kNone = 0,         // 1
  kInsideSqrt = 1,   // 1 / sqrt(s + eps)
  kOutsideSqrt = 2,  // 1 / (sqrt(s) + eps)
  kMax = 3,          // 1 / sqrt(max(s, eps))
};

Attributes parse_mvn(std::int32_t opset, const RawAttributes& raw) {
  Attributes attributes;
  attributes.set("eps", parse_double(raw, "eps"));
  attributes.set("normalize_variance", parse_bool(raw, "normalize_variance", true));
  if (opset >= 6) {
    attributes.set("eps_mode", parse_enum(raw, "eps_mode", "inside_sqrt", {"inside_sqrt", "outside_sqrt"}));
    return attributes;
  }
  attributes.set("across_channels", parse_bool(raw, "across_channels", false));
  if (raw.find("reduction_axes") != raw.end()) attributes.set("reduction_axes", parse_ints(raw, "reduction_axes"));
  return attributes;
}

Attributes parse(std::string_view type, std::int32_t opset, const RawAttributes& raw) {
  if (type == "MVN") return parse_mvn(opset, raw);
  Attributes attributes;
  if (type == "NormalizeL2") {
    attributes.set("eps", parse_double(raw, "eps"));
    attributes.set("eps_mode", parse_enum(raw, "eps_mode", "add", {"add", "max"}));
  } else {
    attributes.set("bias", parse_double(raw, "bias"));
  }
  return attributes;
}

bool has_axes_input(const Node& node) {
  return node.type == "NormalizeL2" || (node.type == "MVN" && node.attributes.has("eps_mode"));
}

std::vector<std::size_t> axes_of(const Node& node, const InputValues& values, std::size_t rank) {
  if (has_axes_input(node)) return normalize_axes(node, ints_at(values, 1), rank);
  if (node.type == "GRN") return {normalize_one_axis(node, 1, rank)};
  if (node.attributes.has("reduction_axes")) {
    return normalize_axes(node, node.attributes.get_ints("reduction_axes"), rank);
  }
  std::vector<std::size_t> axes;
  for (std::size_t i = node.attributes.get_bool("across_channels") ? 1 : 2; i < rank; ++i) axes.push_back(i);
  return axes;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  const std::size_t count = has_axes_input(node) ? 2 : 1;
  check_input_count(node, inputs.size(), count, count);
  axes_of(node, values_of(inputs), inputs[0].shape.size());
  return {{inputs[0].type, inputs[0].shape}};
}

Cost cost(const Node&, std::span<const InferInput> inputs, std::span<const InferOutput>) {
  constexpr std::int64_t kFlopsPerElement = 6;
  const std::int64_t count = count_elems(inputs[0].shape);
  return {kFlopsPerElement * count, 2 * count * static_cast<std::int64_t>(size_bytes(inputs[0].type))};
}

struct Rule {
  bool takes_mean = false;
  Scale scale = Scale::kNone;
  double eps = 0;
};

Rule rule_of(const Node& node) {
  if (node.type == "GRN") return {false, Scale::kInsideSqrt, node.attributes.get_double("bias")};
  const double eps = node.attributes.get_double("eps");
  if (node.type == "NormalizeL2") {
    return {false, node.attributes.get_string("eps_mode") == "max" ? Scale::kMax : Scale::kInsideSqrt, eps};
  }
  if (!node.attributes.get_bool("normalize_variance")) return {true, Scale::kNone, eps};
  const bool is_outside = node.attributes.has("eps_mode") && node.attributes.get_string("eps_mode") == "outside_sqrt";
  return {true, is_outside ? Scale::kOutsideSqrt : Scale::kInsideSqrt, eps};
}

double scale_of(const Rule& rule, double s) {
  switch (rule.scale) {
    case Scale::kNone: return 1;
    case Scale::kInsideSqrt: return 1 / std::sqrt(s + rule.eps);
    case Scale::kOutsideSqrt: return 1 / (std::sqrt(s) + rule.eps);
    case Scale::kMax: return 1 / std::sqrt(s < rule.eps ? rule.eps : s);
  }
  fail(ErrorCode::kInternal, "unknown scale");
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const Rule rule = rule_of(node);
  const Shape& shape = inputs[0].shape();
  const AxisLoops loops = axis_loops(shape, axes_of(node, values_of(inputs), shape.size()));
  const auto count = static_cast<double>(loops.offsets.size());
  for (const std::int64_t start : loops.starts) {
    double mean = 0;
    if (rule.takes_mean) {
      for (const std::int64_t offset : loops.offsets) mean += real_at(inputs[0], start + offset) / count;
    }
    double squares = 0;
    for (const std::int64_t offset : loops.offsets) {
      const double x = real_at(inputs[0], start + offset) - mean;
      squares += x * x;
    }
    const double scale = scale_of(rule, rule.takes_mean ? squares / count : squares);
    for (const std::int64_t offset : loops.offsets) {
      set_real(outputs[0], start + offset, (real_at(inputs[0], start + offset) - mean) * scale);
    }
  }
}

AxisPlan plan_of(const Node& node, std::span<const LowerInput> inputs, const TensorDesc& output) {
  const std::vector<std::size_t> axes = axes_of(node, values_of(inputs), output.shape.size());
  return plan_axis_walk(inputs[0].desc, axes, output.offset, output.strides);
}

Support supports(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                 const KernelCaps& caps) {
  if (outputs[0].type != ElementType::f32) {
    return Support::no(node.type + " of element type " + std::string(to_string(outputs[0].type)) + " has no kernel");
  }
  if (has_axes_input(node) && inputs[1].constant == nullptr) return Support::no("the axes are not constant");
  if (const Support support = supports_int_index(inputs, outputs); !support.ok) return support;
  const AxisPlan plan = plan_of(node, inputs, outputs[0]);
  if (const Support support = supports_axis_walk(plan, outputs[0].shape); !support.ok) return support;
  return supports_instance(axis_instance("norm_wide", plan.walk.form, walk_vector_width(caps)), caps);
}

Lowered lower(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
              const KernelCaps& caps) {
  const Rule rule = rule_of(node);
  const AxisWalk walk = plan_of(node, inputs, outputs[0]).walk;
  std::vector<LowerArg> extra = axis_args(walk, true);
  const float per_element = 1.0F / static_cast<float>(walk.count);
  extra.emplace_back(rule.takes_mean ? per_element : 0.0F);
  extra.emplace_back(rule.takes_mean ? per_element : 1.0F);
  extra.emplace_back(static_cast<std::int32_t>(rule.scale));
  extra.emplace_back(static_cast<float>(rule.eps));
  Lowered lowered;
  append_walk(lowered, axis_instance("norm_wide", walk.form, walk_vector_width(caps)), walk.kept, extra, caps);
  return lowered;
}

std::vector<KernelInstance> instances() { return axis_instances("norm_wide"); }

}  // namespace

const OpDescriptor& normalize_op() {
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
