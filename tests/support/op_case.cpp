// SPDX-License-Identifier: Apache-2.0
#include "support/op_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "ops/strided.hpp"

namespace headrace::test {
namespace {

constexpr std::byte kPoison{0xFF};  // a NaN in every float type, -1 in every integer type

enum class Order { kRowMajor, kChannelsLast, kView };

// A tensor at strided places of a poisoned byte buffer.
struct Placed {
  TensorDesc desc;
  Tensor bytes;
};

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

Tensor gather(const Placed& placed) {
  Tensor result(placed.desc.type, placed.desc.shape);
  const std::size_t size = size_bytes(placed.desc.type);
  for_each_elem(placed.desc, [&](std::int64_t i, std::int64_t position) {
    std::memcpy(result.mutable_data() + static_cast<std::size_t>(i) * size,
                placed.bytes.data() + static_cast<std::size_t>(position) * size, size);
  });
  return result;
}

// Counts poisoned bytes outside the tensor's elements that a kernel overwrote.
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

struct Placement {
  std::vector<Placed> inputs;
  std::vector<Placed> outputs;
  std::vector<LowerInput> lower_inputs;
  std::vector<TensorDesc> lower_outputs;
};

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

// Buffers: arena, inputs, outputs, packed constants, scratch.
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

void run_and_compare(const OpCase& op_case, const Node& node, Device& device, const KernelCaps& caps, Order order,
                     const std::vector<Tensor>& expected) {
  const OpDescriptor& op = *find_op(node.type);
  Placement placement = make_placement(op_case, node, op, caps, order);
  const std::string where = node.type + " on " + device.info().name + " (" + device.info().description + ") order " +
                            std::to_string(static_cast<int>(order));
  const Support support = op.supports(node, placement.lower_inputs, placement.lower_outputs, caps);
  ASSERT_TRUE(support.ok) << where << ": " << support.reason;
  const Lowered lowered = op.lower(node, placement.lower_inputs, placement.lower_outputs, caps);
  for (const KernelLaunch& launch : lowered.launches) {
    const std::vector<KernelInstance> all = find_op(node.type)->instances();
    // Kernels of other operators (copies) are listed by their own operator.
    EXPECT_FALSE(all.empty()) << where;
    EXPECT_NE(launch.local[0] * launch.local[1] * launch.local[2], 0U) << where;
  }
  const auto executable = device.load(make_plan(node, lowered, placement), {});
  const auto session = executable->make_session();
  for (std::size_t i = 0; i < placement.outputs.size(); ++i) {
    session->set_input(i, placement.outputs[i].bytes);
    session->set_output(i, placement.outputs[i].bytes);
  }
  session->start();
  session->finish();
  for (std::size_t i = 0; i < placement.outputs.size(); ++i) {
    const std::string what = where + " output " + std::to_string(i);
    expect_close(expected[i], gather(placement.outputs[i]), op_case.tolerance, what);
    EXPECT_EQ(count_stray_writes(placement.outputs[i]), 0) << what << ": bytes outside the tensor were written";
  }
}

}  // namespace

Node make_node(const OpCase& op_case) {
  const OpDescriptor* op = find_op(op_case.type);
  if (op == nullptr) fail(ErrorCode::kInternal, "no operator " + op_case.type);
  Node node;
  node.id = NodeId{0};
  node.name = "tested";
  node.type = op_case.type;
  node.source_type = op_case.type;
  node.opset = op_case.opset;
  node.attributes = op->parse(op_case.type, op_case.opset, op_case.attributes);
  node.inputs.resize(op_case.inputs.size());
  node.epilogue = op_case.epilogue;
  std::vector<InferInput> infer_inputs;
  for (std::size_t i = 0; i < count_op_inputs(node); ++i) {
    const Tensor& input = op_case.inputs[i];
    const bool is_constant =
        std::find(op_case.constants.begin(), op_case.constants.end(), i) != op_case.constants.end();
    infer_inputs.push_back({input.type(), input.shape(), is_constant ? &input : nullptr});
  }
  for (const InferOutput& output : op->infer(node, infer_inputs)) {
    node.outputs.push_back({output.type, output.shape, true, {}});
  }
  return node;
}

std::vector<Tensor> run_case_reference(const OpCase& op_case) {
  const Node node = make_node(op_case);
  std::vector<Tensor> outputs;
  for (const OutputInfo& output : node.outputs) outputs.emplace_back(output.type, output.shape);
  run_reference(node, op_case.inputs, outputs);
  return outputs;
}

void check_op(const OpCase& op_case) {
  const Node node = make_node(op_case);
  const std::vector<Tensor> expected = run_case_reference(op_case);
  for (Device* device : opencl_test_devices()) {
    for (const Order order : {Order::kRowMajor, Order::kChannelsLast, Order::kView}) {
      run_and_compare(op_case, node, *device, device->caps(), order, expected);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

void check_op_as(const OpCase& op_case, const std::function<void(KernelCaps&)>& change) {
  const Node node = make_node(op_case);
  const std::vector<Tensor> expected = run_case_reference(op_case);
  for (Device* device : opencl_test_devices()) {
    KernelCaps caps = device->caps();
    if (caps.type != DeviceType::kCpu) continue;
    change(caps);
    for (const Order order : {Order::kRowMajor, Order::kChannelsLast, Order::kView}) {
      run_and_compare(op_case, node, *device, caps, order, expected);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

void check_op_tile_family(const OpCase& op_case, std::size_t max_work_group) {
  check_op_as(op_case, [max_work_group](KernelCaps& caps) {
    caps.type = DeviceType::kGpu;
    caps.max_work_group = std::min(caps.max_work_group, max_work_group);
  });
}

void check_op_refused(const OpCase& op_case, const std::string& reason_part) {
  const Node node = make_node(op_case);
  const OpDescriptor& op = *find_op(node.type);
  for (Device* device : opencl_test_devices()) {
    const KernelCaps caps = device->caps();
    const Placement placement = make_placement(op_case, node, op, caps, Order::kRowMajor);
    const Support support = op.supports(node, placement.lower_inputs, placement.lower_outputs, caps);
    EXPECT_FALSE(support.ok) << node.type;
    EXPECT_NE(support.reason.find(reason_part), std::string::npos) << support.reason;
  }
}

void expect_close(const Tensor& expected, const Tensor& actual, double tolerance, const std::string& what) {
  ASSERT_EQ(to_string(expected.type()), to_string(actual.type())) << what;
  ASSERT_EQ(expected.shape(), actual.shape()) << what;
  const std::vector<double> e = to_doubles(expected);
  const std::vector<double> a = to_doubles(actual);
  double scale = 1.0;
  for (const double value : e) {
    if (std::isfinite(value)) scale = std::max(scale, std::fabs(value));
  }
  for (std::size_t i = 0; i < e.size(); ++i) {
    const bool is_nan_pair = std::isnan(e[i]) && std::isnan(a[i]);
    const bool is_ok = is_nan_pair || e[i] == a[i] || std::fabs(e[i] - a[i]) <= tolerance * scale;
    ASSERT_TRUE(is_ok) << what << ": element " << i << " of shape " << to_string(expected.shape()) << ": expected "
                       << e[i] << ", got " << a[i];
  }
}

Tensor random_tensor(const Shape& shape, std::uint32_t seed, float low, float high) {
  std::mt19937 generator(seed);
  Tensor tensor(ElementType::f32, shape);
  for (float& value : tensor.mutable_values<float>()) {
    value = low + (high - low) * static_cast<float>(generator() >> 8) * 0x1p-24F;
  }
  return tensor;
}

Tensor random_ints(ElementType type, const Shape& shape, std::uint32_t seed, std::int64_t low, std::int64_t high) {
  std::mt19937 generator(seed);
  Tensor wide(ElementType::i64, shape);
  for (std::int64_t& value : wide.mutable_values<std::int64_t>()) {
    value = low + static_cast<std::int64_t>(generator()) % (high - low);
  }
  return convert(wide, type);
}

Tensor floats(const Shape& shape, std::vector<float> values) { return make_f32_tensor(shape, values); }
Tensor ints(const Shape& shape, std::vector<std::int64_t> values) { return make_i64_tensor(shape, values); }

}  // namespace headrace::test
