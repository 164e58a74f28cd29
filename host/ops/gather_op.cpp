// SPDX-License-Identifier: Apache-2.0
// Gather: slices of the data along an axis, picked by indices; the first batch_dims dimensions are walked together.
#include <algorithm>
#include <string>

#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"Gather"};

Attributes parse(std::string_view, std::int32_t opset, const RawAttributes& raw) {
  Attributes attributes;
  attributes.set("batch_dims", opset >= 7 ? parse_int(raw, "batch_dims", 0) : std::int64_t{0});
  return attributes;
}

// Data as [batch, outer, axis, inner], indices as [batch, picks], the result as [batch, outer, picks, inner].
struct GatherForm {
  Shape output;
  std::size_t axis = 0;
  std::int64_t batch = 1, outer = 1, axis_size = 1, inner = 1, picks = 1;
};

GatherForm form_of(const Node& node, const Shape& data, const Shape& indices, const InputValues& values) {
  GatherForm form;
  form.axis = normalize_one_axis(node, int_at(values, 2), data.size());
  std::int64_t batch_dims = node.attributes.get_int("batch_dims");
  if (batch_dims < 0) batch_dims += static_cast<std::int64_t>(indices.size());
  const std::size_t batches = static_cast<std::size_t>(batch_dims);
  if (batch_dims < 0 || batches > indices.size() || batches > form.axis) {
    fail_node(node, "has batch_dims " + std::to_string(batch_dims) + " for data " + to_string(data) + ", indices " +
                        to_string(indices) + " and axis " + std::to_string(form.axis));
  }
  for (std::size_t i = 0; i < data.size(); ++i) {
    std::int64_t& part =
        i < batches ? form.batch : (i < form.axis ? form.outer : (i == form.axis ? form.axis_size : form.inner));
    part *= data[i];
    if (i < batches && data[i] != indices[i]) {
      fail_node(node, "has batches of different sizes: data " + to_string(data) + ", indices " + to_string(indices));
    }
    if (i != form.axis) form.output.push_back(data[i]);
    if (i != form.axis) continue;
    for (std::size_t k = batches; k < indices.size(); ++k) {
      form.output.push_back(indices[k]);
      form.picks *= indices[k];
    }
  }
  return form;
}

void check_indices(const Node& node, std::span<const std::int64_t> indices, std::int64_t size, ErrorCode code) {
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] < -size || indices[i] >= size) {
      fail(code, (node.source_type.empty() ? node.type : node.source_type) + " has index " +
                     std::to_string(indices[i]) + " at place " + std::to_string(i) + " for an axis of size " +
                     std::to_string(size));
    }
  }
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 3, 3);
  const GatherForm form = form_of(node, inputs[0].shape, inputs[1].shape, values_of(inputs));
  if (inputs[1].type != ElementType::i32 && inputs[1].type != ElementType::i64) {
    fail_node(node, "needs i32 or i64 indices, has " + std::string(to_string(inputs[1].type)));
  }
  if (inputs[1].value != nullptr) {
    check_indices(node, to_int64s(*inputs[1].value), form.axis_size, ErrorCode::kBadModel);
  }
  return {{inputs[0].type, form.output}};
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const GatherForm form = form_of(node, inputs[0].shape(), inputs[1].shape(), values_of(inputs));
  const std::vector<std::int64_t> indices = to_int64s(inputs[1]);
  check_indices(node, indices, form.axis_size, ErrorCode::kInvalidArgument);
  const std::size_t slice_bytes = static_cast<std::size_t>(form.inner) * size_bytes(inputs[0].type());
  std::byte* to = outputs[0].mutable_data();
  for (std::int64_t b = 0; b < form.batch; ++b) {
    for (std::int64_t o = 0; o < form.outer; ++o) {
      for (std::int64_t p = 0; p < form.picks; ++p) {
        const std::int64_t index = indices[static_cast<std::size_t>(b * form.picks + p)];
        const std::int64_t place = index < 0 ? index + form.axis_size : index;
        const std::int64_t slice = (b * form.outer + o) * form.axis_size + place;
        to = std::copy_n(inputs[0].data() + static_cast<std::size_t>(slice) * slice_bytes, slice_bytes, to);
      }
    }
  }
}

KernelInstance gather_instance(std::size_t elem_bytes) {
  const std::string bytes = std::to_string(elem_bytes);
  return {"gather_wide.cl", "ELEM=" + bytes, "gather_wide_b" + bytes};
}

Support supports(const Node&, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                 const KernelCaps& caps) {
  if (inputs[2].constant == nullptr) {
    return Support::no("the axis is computed in the run, the kernel needs a constant");
  }
  const KernelInstance instance = gather_instance(size_bytes(outputs[0].type));
  if (!caps.offers(instance)) return Support::no("the programmed bitstream lacks " + instance.entry);
  return supports_int_index(inputs, outputs);
}

LayoutRules layouts(const Node&, const KernelCaps&) { return {{LayoutRule::kRowMajor}, LayoutRule::kRowMajor}; }

Lowered lower(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
              const KernelCaps&) {
  constexpr std::int64_t kElemsPerItem = 4096;
  Lowered lowered;
  if (outputs[0].count() == 0) return lowered;
  const GatherForm form = form_of(node, inputs[0].desc.shape, inputs[1].desc.shape, values_of(inputs));
  const std::int64_t block = std::max<std::int64_t>(1, kElemsPerItem / form.inner);
  KernelLaunch launch;
  launch.instance = gather_instance(size_bytes(outputs[0].type));
  launch.args = {Operand::input(0), Operand::input(1), Operand::output(0)};
  for (const std::int64_t value :
       {inputs[0].desc.offset, inputs[1].desc.offset, outputs[0].offset, form.outer, form.axis_size, form.inner,
        form.picks, block, std::int64_t{inputs[1].desc.type == ElementType::i64 ? 1 : 0}}) {
    launch.args.emplace_back(static_cast<std::int32_t>(value));
  }
  launch.global = {static_cast<std::size_t>((form.picks + block - 1) / block),
                   static_cast<std::size_t>(form.batch * form.outer), 1};
  lowered.launches.push_back(std::move(launch));
  return lowered;
}

std::vector<KernelInstance> instances() {
  return {gather_instance(1), gather_instance(2), gather_instance(4), gather_instance(8)};
}

// One known index picks a slice, which lies inside the data.
std::optional<View> view(const Node& node, std::span<const LowerInput> inputs, std::size_t, const Shape&) {
  if (inputs[1].constant == nullptr || inputs[2].constant == nullptr) return std::nullopt;
  if (!inputs[1].desc.shape.empty() && inputs[1].desc.shape != Shape{1}) return std::nullopt;
  const TensorDesc& data = inputs[0].desc;
  const GatherForm form = form_of(node, data.shape, inputs[1].desc.shape, values_of(inputs));
  if (form.axis_size == 0 || node.attributes.get_int("batch_dims") != 0) return std::nullopt;
  const std::int64_t index = to_int64s(*inputs[1].constant)[0];
  const auto axis = static_cast<std::ptrdiff_t>(form.axis);
  View view{data.strides, data.offset + (index < 0 ? index + form.axis_size : index) * data.strides[form.axis]};
  if (inputs[1].desc.shape.empty()) view.strides.erase(view.strides.begin() + axis);
  return view;
}

}  // namespace

const OpDescriptor& gather_op() {
  static constexpr OpDescriptor op = {
      .types = kTypes,
      .parse = parse,
      .infer = infer,
      .reference = reference,
      .supports = supports,
      .layouts = layouts,
      .lower = lower,
      .instances = instances,
      .view = view,
  };
  return op;
}

}  // namespace headrace
