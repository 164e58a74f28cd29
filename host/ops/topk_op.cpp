// SPDX-License-Identifier: Apache-2.0
// TopK: the k largest or smallest elements along an axis and their places.
//
// Of equal elements the lower place comes first (stable), NaN counts as larger than every number; sort "none" gives the
// order of "value".
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"TopK"};
constexpr ElementType kKernelTypes[] = {ElementType::f32, ElementType::i32, ElementType::i64, ElementType::i8,
                                        ElementType::u8};

Attributes parse(std::string_view, std::int32_t opset, const RawAttributes& raw) {
  Attributes attributes;
  attributes.set("axis", parse_int(raw, "axis"));
  attributes.set("mode", parse_enum(raw, "mode", "max", {"max", "min"}));
  attributes.set("sort", parse_enum(raw, "sort", "value", {"value", "index", "none"}));
  attributes.set("stable", parse_bool(raw, "stable", false));
  attributes.set("index_element_type",
                 opset >= 3 ? parse_enum(raw, "index_element_type", "i32", {"i32", "i64"}) : std::string("i32"));
  return attributes;
}

// The input as [outer, size, inner], the outputs as [outer, k, inner].
struct TopKForm {
  std::int64_t outer = 1, size = 1, inner = 1, k = 1;
  bool is_max = true;
  bool is_sorted_by_index = false;
};

TopKForm form_of(const Node& node, const Shape& shape, std::int64_t k) {
  const std::size_t axis = normalize_one_axis(node, node.attributes.get_int("axis"), shape.size());
  TopKForm form;
  form.size = shape[axis];
  form.k = k;
  form.inner = row_major_strides(shape)[axis];
  for (std::size_t i = 0; i < axis; ++i) form.outer *= shape[i];
  form.is_max = node.attributes.get_string("mode") == "max";
  form.is_sorted_by_index = node.attributes.get_string("sort") == "index";
  return form;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 2, 2);
  const std::int64_t k = int_at(values_of(inputs), 1);
  const TopKForm form = form_of(node, inputs[0].shape, k);
  if (k < 0 || k > form.size) {
    fail_node(node, "takes " + std::to_string(k) + " elements of an axis of size " + std::to_string(form.size));
  }
  Shape shape = inputs[0].shape;
  shape[normalize_one_axis(node, node.attributes.get_int("axis"), shape.size())] = k;
  return {{inputs[0].type, shape}, {*find_element_type(node.attributes.get_string("index_element_type")), shape}};
}

bool is_larger(double a, double b) { return a > b || (std::isnan(a) && !std::isnan(b)); }

template <typename T>
void topk_typed(const TopKForm& form, const Tensor& input, std::span<Tensor> outputs) {
  const auto source = input.values<T>();
  const auto target = outputs[0].mutable_values<T>();
  Tensor places(ElementType::i64, outputs[1].shape());
  const auto place_values = places.mutable_values<std::int64_t>();
  std::vector<std::int64_t> order(static_cast<std::size_t>(form.size));
  for (std::int64_t line = 0; line < form.outer * form.inner; ++line) {
    const std::int64_t o = line / form.inner;
    const std::int64_t i = line % form.inner;
    const auto value = [&](std::int64_t n) {
      return source[static_cast<std::size_t>((o * form.size + n) * form.inner + i)];
    };
    const auto is_first = [&](std::int64_t a, std::int64_t b) {
      if constexpr (std::is_floating_point_v<T>) {
        return form.is_max ? is_larger(value(a), value(b)) : is_larger(value(b), value(a));
      } else {
        return form.is_max ? value(a) > value(b) : value(a) < value(b);
      }
    };
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::stable_sort(order.begin(), order.end(), is_first);
    if (form.is_sorted_by_index) std::sort(order.begin(), order.begin() + form.k);
    for (std::int64_t n = 0; n < form.k; ++n) {
      const auto at = static_cast<std::size_t>((o * form.k + n) * form.inner + i);
      target[at] = value(order[static_cast<std::size_t>(n)]);
      place_values[at] = order[static_cast<std::size_t>(n)];
    }
  }
  const Tensor converted = convert(places, outputs[1].type());
  std::copy_n(converted.data(), converted.size_bytes(), outputs[1].mutable_data());
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const TopKForm form = form_of(node, inputs[0].shape(), to_int64s(inputs[1])[0]);
  switch (inputs[0].type()) {
    case ElementType::f32: return topk_typed<float>(form, inputs[0], outputs);
    case ElementType::i8: return topk_typed<std::int8_t>(form, inputs[0], outputs);
    case ElementType::u8: return topk_typed<std::uint8_t>(form, inputs[0], outputs);
    case ElementType::i32: return topk_typed<std::int32_t>(form, inputs[0], outputs);
    case ElementType::i64: return topk_typed<std::int64_t>(form, inputs[0], outputs);
    default: break;
  }
  fail(ErrorCode::kUnsupported, "TopK of element type " + std::string(to_string(inputs[0].type())));
}

KernelInstance topk_instance(ElementType type) { return {"topk_wide.cl", "", "topk_wide_" + dtype_suffix(type)}; }

Support supports(const Node&, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                 const KernelCaps& caps) {
  const ElementType type = inputs[0].desc.type;
  if (inputs[1].constant == nullptr) return Support::no("k is computed in the run, the kernel needs a constant");
  if (std::find(std::begin(kKernelTypes), std::end(kKernelTypes), type) == std::end(kKernelTypes)) {
    return Support::no("TopK of " + std::string(to_string(type)) + " has no kernel");
  }
  if (!caps.offers(topk_instance(type))) {
    return Support::no("the programmed bitstream lacks " + topk_instance(type).entry);
  }
  return supports_int_index(inputs, outputs);
}

LayoutRules layouts(const Node&, const KernelCaps&) { return {{LayoutRule::kRowMajor}, LayoutRule::kRowMajor}; }

Lowered lower(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
              const KernelCaps&) {
  Lowered lowered;
  if (outputs[0].count() == 0) return lowered;
  const TopKForm form = form_of(node, inputs[0].desc.shape, to_int64s(*inputs[1].constant)[0]);
  KernelLaunch launch;
  launch.instance = topk_instance(inputs[0].desc.type);
  launch.args = {Operand::input(0), Operand::output(0), Operand::output(1)};
  for (const std::int64_t value :
       {inputs[0].desc.offset, outputs[0].offset, outputs[1].offset, form.size, form.inner, form.k,
        std::int64_t{form.is_max ? 1 : 0}, std::int64_t{form.is_sorted_by_index ? 1 : 0},
        std::int64_t{outputs[1].type == ElementType::i64 ? 1 : 0}}) {
    launch.args.emplace_back(static_cast<std::int32_t>(value));
  }
  launch.global = {static_cast<std::size_t>(form.inner), static_cast<std::size_t>(form.outer), 1};
  lowered.launches.push_back(std::move(launch));
  return lowered;
}

std::vector<KernelInstance> instances() {
  std::vector<KernelInstance> result;
  for (const ElementType type : kKernelTypes) result.push_back(topk_instance(type));
  return result;
}

}  // namespace

const OpDescriptor& topk_op() {
  static constexpr OpDescriptor op = {
      .types = kTypes,
      .parse = parse,
      .infer = infer,
      .reference = reference,
      .supports = supports,
      .layouts = layouts,
      .lower = lower,
      .instances = instances,
  };
  return op;
}

}  // namespace headrace
