// SPDX-License-Identifier: Apache-2.0
// Eye: matrices with ones on one diagonal.
#include <algorithm>

#include "ops/checks.hpp"
#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"Eye"};

Attributes parse(std::string_view, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  attributes.set("output_type",
                 parse_enum(raw, "output_type", "f32", {"f32", "f16", "i8", "u8", "i32", "i64", "boolean"}));
  return attributes;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 3, 4);
  const InputValues values = values_of(inputs);
  Shape shape;
  if (inputs.size() == 4) shape = ints_at(values, 3);
  shape.push_back(int_at(values, 0));
  shape.push_back(int_at(values, 1));
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t size) { return size < 0; })) {
    fail_node(node, "has a negative size: " + to_string(shape));
  }
  return {{*find_element_type(node.attributes.get_string("output_type")), shape}};
}

void reference(const Node&, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const std::int64_t diagonal = int_at(values_of(inputs), 2);
  Tensor& result = outputs[0];
  const std::int64_t columns = result.shape().back();
  const std::int64_t rows = result.shape()[result.shape().size() - 2];
  const bool is_float = is_floating(result.type());
  for (std::int64_t i = 0; i < result.count(); ++i) {
    const std::int64_t value = i % columns - i / columns % rows == diagonal ? 1 : 0;
    is_float ? set_real(result, i, static_cast<double>(value)) : set_int(result, i, value);
  }
}

}  // namespace

const OpDescriptor& eye_op() {
  static constexpr OpDescriptor op = {.types = kTypes, .parse = parse, .infer = infer, .reference = reference};
  return op;
}

}  // namespace headrace
