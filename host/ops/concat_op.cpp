// SPDX-License-Identifier: Apache-2.0
// Concat: tensors joined along an axis. The plan often lets the producers write into the result and skips the node.
#include "ops/move.hpp"
#include "ops/strided.hpp"
#include "ops/view.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"Concat"};

Attributes parse(std::string_view, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  attributes.set("axis", parse_int(raw, "axis"));
  return attributes;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 1, static_cast<std::size_t>(-1));
  Shape shape = inputs[0].shape;
  const std::size_t axis = normalize_one_axis(node, node.attributes.get_int("axis"), shape.size());
  for (const InferInput& input : inputs.subspan(1)) {
    bool fits = input.type == inputs[0].type && input.shape.size() == shape.size();
    for (std::size_t i = 0; fits && i < shape.size(); ++i) fits = i == axis || input.shape[i] == shape[i];
    if (!fits) {
      fail_node(node, "cannot join " + to_string(inputs[0].shape) + " " + std::string(to_string(inputs[0].type)) +
                          " and " + to_string(input.shape) + " " + std::string(to_string(input.type)) + " along axis " +
                          std::to_string(axis));
    }
    if (__builtin_add_overflow(shape[axis], input.shape[axis], &shape[axis])) fail_node(node, "overflows its axis");
  }
  return {{inputs[0].type, shape}};
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  std::vector<Shape> shapes;
  for (const Tensor& input : inputs) shapes.push_back(input.shape());
  const std::vector<View> places = concat_views(node, shapes, dense_desc(outputs[0].type(), outputs[0].shape()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    move_elements(inputs[i], outputs[0], {shapes[i], {row_major_strides(shapes[i]), 0}, places[i]});
  }
}

std::vector<Move> moves_of(const Node& node, std::span<const LowerInput> inputs, const TensorDesc& output) {
  std::vector<Shape> shapes;
  for (const LowerInput& input : inputs) shapes.push_back(input.desc.shape);
  std::vector<Move> moves;
  for (View& place : concat_views(node, shapes, output)) {
    const TensorDesc& desc = inputs[moves.size()].desc;
    moves.push_back({desc.shape, {desc.strides, desc.offset}, std::move(place)});
  }
  return moves;
}

Support supports(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                 const KernelCaps& caps) {
  if (const Support support = supports_int_index(inputs, outputs); !support.ok) return support;
  for (const Move& move : moves_of(node, inputs, outputs[0])) {
    if (const Support support = supports_move(outputs[0].type, move, caps); !support.ok) return support;
  }
  return Support::yes();
}

Lowered lower(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
              const KernelCaps& caps) {
  Lowered lowered;
  const std::vector<Move> moves = moves_of(node, inputs, outputs[0]);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    append_copy(lowered, outputs[0].type, moves[i], Operand::input(i), Operand::output(0), caps);
  }
  return lowered;
}

}  // namespace

const OpDescriptor& concat_op() {
  static constexpr OpDescriptor op = {
      .types = kTypes,
      .parse = parse,
      .infer = infer,
      .reference = reference,
      .supports = supports,
      .lower = lower,
      .instances = copy_instances,
  };
  return op;
}

}  // namespace headrace
