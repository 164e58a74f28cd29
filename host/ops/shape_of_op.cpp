// SPDX-License-Identifier: Apache-2.0
// ShapeOf and Range: integers that describe shapes; computed on the host, mostly before the run.
#include <algorithm>
#include <cmath>

#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"ShapeOf", "Range"};
constexpr std::string_view kNumbers[] = {"f32", "f16", "i8", "u8", "i32", "i64"};

Attributes parse(std::string_view type, std::int32_t opset, const RawAttributes& raw) {
  Attributes attributes;
  if (type == "ShapeOf") {
    attributes.set("output_type", parse_enum(raw, "output_type", "i64", {"i32", "i64"}));
  } else if (opset >= 4) {
    attributes.set("output_type", parse_enum(raw, "output_type", "f32", {std::begin(kNumbers), std::end(kNumbers)}));
  } else {
    attributes.set("output_type", std::string());  // as the inputs
  }
  return attributes;
}

// start, stop and step, converted to the output's type first, as the operator says.
struct RangeBounds {
  double start = 0;
  double stop = 0;
  double step = 1;

  std::int64_t count() const {
    const double steps = std::ceil((stop - start) / step);
    return steps > 0 ? static_cast<std::int64_t>(steps) : 0;
  }
};

double bound_at(const Node& node, const InputValues& values, std::size_t index, ElementType type) {
  if (values[index] == nullptr) ints_at(values, index);  // throws
  if (values[index]->count() != 1) fail_node(node, "needs single values for start, stop and step");
  return to_doubles(convert(*values[index], type))[0];
}

RangeBounds bounds_of(const Node& node, const InputValues& values, ElementType type) {
  constexpr double kMaxCount = 2147483647.0;
  const RangeBounds bounds{bound_at(node, values, 0, type), bound_at(node, values, 1, type),
                           bound_at(node, values, 2, type)};
  const double steps = (bounds.stop - bounds.start) / bounds.step;
  if (bounds.step == 0 || !(steps <= kMaxCount)) {
    fail_node(node, "from " + std::to_string(bounds.start) + " to " + std::to_string(bounds.stop) + " by " +
                        std::to_string(bounds.step) + " has no sensible length");
  }
  return bounds;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  const std::string& name = node.attributes.get_string("output_type");
  if (node.type == "ShapeOf") {
    check_input_count(node, inputs.size(), 1, 1);
    return {{*find_element_type(name), {static_cast<std::int64_t>(inputs[0].shape.size())}}};
  }
  check_input_count(node, inputs.size(), 3, 3);
  const ElementType type = name.empty() ? inputs[0].type : *find_element_type(name);
  return {{type, {bounds_of(node, values_of(inputs), type).count()}}};
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const ElementType type = outputs[0].type();
  Tensor exact(ElementType::i64, outputs[0].shape());
  Tensor real(ElementType::f32, outputs[0].shape());
  if (node.type == "ShapeOf") {
    std::copy(inputs[0].shape().begin(), inputs[0].shape().end(), exact.mutable_values<std::int64_t>().begin());
  } else {
    const RangeBounds bounds = bounds_of(node, values_of(inputs), type);
    for (std::int64_t i = 0; i < outputs[0].count(); ++i) {
      const double value = bounds.start + static_cast<double>(i) * bounds.step;
      const auto at = static_cast<std::size_t>(i);
      if (is_floating(type)) {
        real.mutable_values<float>()[at] = static_cast<float>(value);
      } else {
        exact.mutable_values<std::int64_t>()[at] = static_cast<std::int64_t>(value);
      }
    }
  }
  const Tensor result = convert(is_floating(type) ? real : exact, type);
  std::copy_n(result.data(), result.size_bytes(), outputs[0].mutable_data());
}

Support supports(const Node&, std::span<const LowerInput>, std::span<const TensorDesc>, const KernelCaps&) {
  return Support::no("shape computation");
}

}  // namespace

const OpDescriptor& shape_of_op() {
  static constexpr OpDescriptor op = {
      .types = kTypes,
      .parse = parse,
      .infer = infer,
      .reference = reference,
      .supports = supports,
  };
  return op;
}

}  // namespace headrace
