// SPDX-License-Identifier: Apache-2.0
#include "support/placed_case.hpp"

#include <algorithm>
#include <cstring>

#include "ops/strided.hpp"

namespace headrace::test {
namespace {

constexpr std::byte kPoison{0xFF};  // a NaN in every float type, -1 in every integer type

LayoutRule rule_at(const std::vector<LayoutRule>& rules, std::size_t index) {
  if (rules.empty()) return LayoutRule::kAny;
  return rules[std::min(index, rules.size() - 1)];
}

TensorDesc place_desc(ElementType type, const Shape& shape, LayoutRule rule, Order order) {
  constexpr std::int64_t kGap = 3;
  constexpr std::int64_t kOffset = 5;
  TensorDesc desc{type, shape, row_major_strides(shape), 0};
  if (rule == LayoutRule::kRowMajor || shape.empty()) return desc;
  const bool is_cl = shape.size() >= 3 && (rule == LayoutRule::kChannelsLast || order == Order::kChannelsLast);
  const bool is_view = order == Order::kView;
  if (is_cl || (is_view && shape.size() >= 3)) {
    Shape padded = shape;  // a view of a buffer with more channels and one more column
    if (is_view) {
      padded[1] += kGap;
      padded.back() += 1;
    }
    desc.strides = channels_last_strides(padded);
  } else if (is_view) {
    Shape padded = shape;
    padded.back() += kGap;
    desc.strides = row_major_strides(padded);
  }
  if (is_view) desc.offset = kOffset;
  return desc;
}

Tensor poisoned_buffer(const TensorDesc& desc) {
  const std::int64_t elems = desc.offset + extent_elems(desc) + 16;  // 16 guard elements behind the last one
  Tensor bytes(ElementType::u8, {elems * static_cast<std::int64_t>(size_bytes(desc.type))});
  std::fill_n(bytes.mutable_data(), bytes.size_bytes(), kPoison);
  return bytes;
}

// Calls f(row-major index, element position in the buffer) for each element.
template <typename F>
void for_each_elem(const TensorDesc& desc, F f) {
  const std::int64_t count = desc.count();
  std::vector<std::int64_t> index(desc.shape.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t position = desc.offset;
    for (std::size_t d = 0; d < index.size(); ++d) position += index[d] * desc.strides[d];
    f(i, position);
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < desc.shape[d]) break;
      index[d] = 0;
    }
  }
}

Placed place(const Tensor& tensor, LayoutRule rule, Order order) {
  Placed placed{place_desc(tensor.type(), tensor.shape(), rule, order), {}};
  placed.bytes = poisoned_buffer(placed.desc);
  const std::size_t size = size_bytes(tensor.type());
  for_each_elem(placed.desc, [&](std::int64_t i, std::int64_t position) {
    std::memcpy(placed.bytes.mutable_data() + static_cast<std::size_t>(position) * size,
                tensor.data() + static_cast<std::size_t>(i) * size, size);
  });
  return placed;
}

}  // namespace

Tensor gather(const Placed& placed) {
  Tensor result(placed.desc.type, placed.desc.shape);
  const std::size_t size = size_bytes(placed.desc.type);
  for_each_elem(placed.desc, [&](std::int64_t i, std::int64_t position) {
    std::memcpy(result.mutable_data() + static_cast<std::size_t>(i) * size,
                placed.bytes.data() + static_cast<std::size_t>(position) * size, size);
  });
  return result;
}

std::int64_t count_stray_writes(const Placed& placed) {
  const std::size_t size = size_bytes(placed.desc.type);
  std::vector<bool> is_ours(placed.bytes.size_bytes(), false);
  for_each_elem(placed.desc, [&](std::int64_t, std::int64_t position) {
    for (std::size_t b = 0; b < size; ++b) is_ours[static_cast<std::size_t>(position) * size + b] = true;
  });
  std::int64_t count = 0;
  for (std::size_t b = 0; b < is_ours.size(); ++b) count += !is_ours[b] && placed.bytes.data()[b] != kPoison ? 1 : 0;
  return count;
}

Placement make_placement(const OpCase& op_case, const Node& node, const OpDescriptor& op, const KernelCaps& caps,
                         Order order) {
  const LayoutRules rules = op.layouts != nullptr ? op.layouts(node, caps) : LayoutRules{};
  Placement placement;
  for (std::size_t i = 0; i < op_case.inputs.size(); ++i) {
    const bool is_constant =
        std::find(op_case.constants.begin(), op_case.constants.end(), i) != op_case.constants.end();
    const LayoutRule rule = is_constant ? LayoutRule::kRowMajor : rule_at(rules.inputs, i);
    placement.inputs.push_back(place(op_case.inputs[i], rule, order));
    placement.lower_inputs.push_back({placement.inputs.back().desc, is_constant ? &op_case.inputs[i] : nullptr});
  }
  for (const OutputInfo& output : node.outputs) {
    Placed placed{place_desc(output.type, output.shape, rules.output, order), {}};
    placed.bytes = poisoned_buffer(placed.desc);
    placement.outputs.push_back(placed);
    placement.lower_outputs.push_back(placed.desc);
  }
  return placement;
}

std::shared_ptr<DevicePlan> make_plan(const Node& node, const Lowered& lowered, const Placement& placement) {
  auto plan = std::make_shared<DevicePlan>();
  plan->buffers.push_back({kMemoryAlignment, {}, "arena"});
  for (const Placed& input : placement.inputs)
    plan->buffers.push_back({input.bytes.size_bytes(), input.bytes, "input"});
  const auto first_output = static_cast<std::int32_t>(plan->buffers.size());
  for (const Placed& output : placement.outputs) {
    const auto buffer = static_cast<std::int32_t>(plan->buffers.size());
    const PlanPort port{"output", {buffer, 0}, ElementType::u8, output.bytes.shape()};
    plan->buffers.push_back({output.bytes.size_bytes(), {}, "output"});
    plan->inputs.push_back(port);  // the poison goes in, the result comes out
    plan->outputs.push_back(port);
  }
  const auto first_constant = static_cast<std::int32_t>(plan->buffers.size());
  for (const PackedConstant& constant : lowered.constants) {
    const Tensor packed = constant.make();
    plan->buffers.push_back({packed.size_bytes(), packed, constant.key});
  }
  const auto first_scratch = static_cast<std::int32_t>(plan->buffers.size());
  for (const std::size_t bytes : lowered.scratch_bytes) plan->buffers.push_back({bytes, {}, "scratch"});

  const auto buffer_of = [&](const Operand& operand) -> BufferRef {
    switch (operand.kind) {
      case Operand::Kind::kNull: return {};
      case Operand::Kind::kInput: return {1 + operand.index, operand.offset_bytes};
      case Operand::Kind::kOutput: return {first_output + operand.index, operand.offset_bytes};
      case Operand::Kind::kConstant: return {first_constant + operand.index, operand.offset_bytes};
      case Operand::Kind::kScratch: return {first_scratch + operand.index, operand.offset_bytes};
    }
    return {};
  };
  for (const KernelLaunch& kernel : lowered.launches) {
    Launch launch{kernel.instance, {}, kernel.global, kernel.local};
    for (const LowerArg& arg : kernel.args) {
      if (const auto* operand = std::get_if<Operand>(&arg)) {
        launch.args.emplace_back(buffer_of(*operand));
      } else {
        std::visit(
            [&](const auto& value) {
              if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, Operand>) launch.args.emplace_back(value);
            },
            arg);
      }
    }
    plan->steps.push_back({node.name, node.type, kernel.instance.entry, launch, 0, 0});
  }
  return plan;
}

}  // namespace headrace::test
