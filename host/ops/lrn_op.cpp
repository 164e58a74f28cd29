// SPDX-License-Identifier: Apache-2.0
// LRN: y = x / (bias + alpha / size^axes * sum of squares in a window of `size` along each axis)^beta.
#include <algorithm>
#include <cmath>

#include "ops/axis_walk.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"LRN"};
constexpr std::size_t kMaxAxes = 3;  // loops of kernels/lrn_wide.cl

Attributes parse(std::string_view, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  for (const char* name : {"alpha", "beta", "bias"}) attributes.set(name, parse_double(raw, name));
  const std::int64_t size = parse_int(raw, "size");
  if (size < 1) fail(ErrorCode::kBadModel, "attribute 'size' is " + std::to_string(size) + ", expected 1 or more");
  if (size % 2 == 0) {
    fail(ErrorCode::kUnsupported,
         "LRN with the even size " + std::to_string(size) +
             " is not supported: where its window lies differs between frameworks; use an odd size");
  }
  attributes.set("size", size);
  return attributes;
}

std::vector<std::size_t> axes_of(const Node& node, const InputValues& values, std::size_t rank) {
  return normalize_axes(node, ints_at(values, 1), rank);
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 2, 2);
  axes_of(node, values_of(inputs), inputs[0].shape.size());
  return {{inputs[0].type, inputs[0].shape}};
}

Cost cost(const Node& node, std::span<const InferInput> inputs, std::span<const InferOutput>) {
  const std::int64_t count = count_elems(inputs[0].shape);
  return {2 * count * node.attributes.get_int("size"),
          2 * count * static_cast<std::int64_t>(size_bytes(inputs[0].type))};
}

double scaled_alpha(const Node& node, std::size_t axes) {
  return node.attributes.get_double("alpha") /
         std::pow(static_cast<double>(node.attributes.get_int("size")), static_cast<double>(axes));
}

// Sum of squares in the window around `index`, the part of it inside the tensor.
double window_sum(const Tensor& x, const std::vector<std::int64_t>& index, std::span<const std::size_t> axes,
                  std::int64_t radius) {
  Shape sizes(index.size(), 1);
  std::int64_t start = 0;
  const std::vector<std::int64_t> strides = row_major_strides(x.shape());
  for (std::size_t i = 0; i < index.size(); ++i) {
    std::int64_t first = index[i];
    if (std::find(axes.begin(), axes.end(), i) != axes.end()) {
      first = std::max<std::int64_t>(0, index[i] - radius);
      sizes[i] = std::min(x.shape()[i], index[i] + radius + 1) - first;
    }
    start += first * strides[i];
  }
  double sum = 0;
  walk_elements(sizes, {strides}, [&](const std::vector<std::int64_t>& at) {
    const double value = real_at(x, start + at[0]);
    sum += value * value;
  });
  return sum;
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const Shape& shape = inputs[0].shape();
  const std::vector<std::size_t> axes = axes_of(node, values_of(inputs), shape.size());
  const double alpha = scaled_alpha(node, axes.size());
  const double bias = node.attributes.get_double("bias");
  const double beta = node.attributes.get_double("beta");
  const std::int64_t radius = node.attributes.get_int("size") / 2;
  std::vector<std::int64_t> index(shape.size(), 0);
  for (std::int64_t i = 0; i < inputs[0].count(); ++i) {
    const double base = bias + alpha * window_sum(inputs[0], index, axes, radius);
    set_real(outputs[0], i, real_at(inputs[0], i) / std::pow(base, beta));
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

// One of the axes of the window, or a filler of size 1.
struct WindowAxis {
  std::int64_t size = 1;
  std::int64_t src = 0;
  std::int64_t dst = 0;
  std::int64_t radius = 0;
};

struct WindowPlan {
  Walk kept;
  std::vector<WindowAxis> axes;  // outermost first, kMaxAxes of them where supported
  AxisForm form = AxisForm::kColumns;
};

WindowPlan plan_of(const Node& node, std::span<const LowerInput> inputs, const TensorDesc& output) {
  const TensorDesc& input = inputs[0].desc;
  const std::vector<std::size_t> axes = axes_of(node, values_of(inputs), input.shape.size());
  const std::int64_t radius = node.attributes.get_int("size") / 2;
  WindowPlan plan;
  plan.kept.operands = {{Operand::output(0), output.offset, {}}, {Operand::input(0), input.offset, {}}};
  for (std::size_t i = 0; i < input.shape.size(); ++i) {
    if (std::find(axes.begin(), axes.end(), i) != axes.end()) {
      plan.axes.push_back({input.shape[i], input.strides[i], output.strides[i], radius});
      plan.kept.weight *= std::max<std::int64_t>(1, input.shape[i] * std::min(2 * radius + 1, input.shape[i]));
    } else {
      plan.kept.shape.push_back(input.shape[i]);
      plan.kept.operands[0].strides.push_back(output.strides[i]);
      plan.kept.operands[1].strides.push_back(input.strides[i]);
    }
  }
  std::stable_sort(plan.axes.begin(), plan.axes.end(),
                   [](const WindowAxis& a, const WindowAxis& b) { return a.src > b.src; });
  if (plan.axes.size() < kMaxAxes) plan.axes.insert(plan.axes.begin(), kMaxAxes - plan.axes.size(), WindowAxis{});
  const WindowAxis& inner = plan.axes.back();
  if (inner.size > 1 && inner.src == 1 && inner.dst == 1) plan.form = AxisForm::kRows;
  return plan;
}

Support supports(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                 const KernelCaps& caps) {
  if (outputs[0].type != ElementType::f32) return Support::no("LRN of a type other than f32 has no kernel");
  if (inputs[1].constant == nullptr) return Support::no("the axes are not constant");
  if (const Support support = supports_int_index(inputs, outputs); !support.ok) return support;
  const WindowPlan plan = plan_of(node, inputs, outputs[0]);
  if (plan.axes.size() > kMaxAxes) return Support::no("LRN along more than three axes has no kernel");
  if (const Support support = supports_walk(plan.kept); !support.ok) return support;
  return supports_instance(axis_instance("lrn_wide", plan.form, walk_vector_width(caps)), caps);
}

Lowered lower(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
              const KernelCaps& caps) {
  const WindowPlan plan = plan_of(node, inputs, outputs[0]);
  std::vector<LowerArg> extra;
  for (std::int64_t WindowAxis::*member :
       {&WindowAxis::size, &WindowAxis::src, &WindowAxis::dst, &WindowAxis::radius}) {
    for (const WindowAxis& axis : plan.axes) extra.emplace_back(static_cast<std::int32_t>(axis.*member));
  }
  const std::size_t axes = axes_of(node, values_of(inputs), outputs[0].shape.size()).size();
  extra.emplace_back(static_cast<float>(scaled_alpha(node, axes)));
  extra.emplace_back(static_cast<float>(node.attributes.get_double("beta")));
  extra.emplace_back(static_cast<float>(node.attributes.get_double("bias")));
  Lowered lowered;
  append_walk(lowered, axis_instance("lrn_wide", plan.form, walk_vector_width(caps)), plan.kept, extra, caps);
  return lowered;
}

std::vector<KernelInstance> instances() { return axis_instances("lrn_wide"); }

}  // namespace

const OpDescriptor& lrn_op() {
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
