// SPDX-License-Identifier: Apache-2.0
#include "plan/opencl_planner.hpp"

#include <algorithm>

#include "ops/copy.hpp"
#include "ops/strided.hpp"
#include "ops/view.hpp"

namespace headrace::detail {
namespace {

TensorDesc row_major_desc(const OutputInfo& info) { return {info.type, info.shape, row_major_strides(info.shape), 0}; }

std::size_t bytes_of(const TensorDesc& desc) {
  return static_cast<std::size_t>(desc.offset + extent_elems(desc)) * size_bytes(desc.type);
}

// For errors.
std::string layer_text(const Node& node) { return "layer '" + node.name + "' (" + node.source_type + ")"; }

bool satisfies(const TensorDesc& desc, LayoutRule rule) {
  if (rule == LayoutRule::kAny) return true;
  if (rule == LayoutRule::kRowMajor || desc.shape.size() < 3) return is_row_major(desc);
  return is_channels_last(desc);
}

}  // namespace

OpenclPlanner::OpenclPlanner(const PlanRequest& request, WeightsCache& weights)
    : request_(request), weights_(weights), nominal_(make_nominal_layouts(request)) {
  slices_ = find_concat_slices(request, nominal_);
}

std::shared_ptr<const DevicePlan> OpenclPlanner::run(PlanStats* stats) {
  place_inputs();
  choose_port_tensors();
  for (const NodeId id : request_.nodes) {
    const Node& node = request_.graph.at(id);
    try {
      plan_node(node);
    } catch (const Error& error) {
      rethrow_with_prefix(error, layer_text(node));
    }
  }
  write_outputs();
  if (stats != nullptr) *stats = counts_;
  return builder_.finish(stats);
}

void OpenclPlanner::place_inputs() {
  for (const PortRef& input : request_.inputs) {
    const OutputInfo& info = request_.graph.info(input);
    const std::string& name = info.names.empty() ? request_.graph.at(input).name : info.names.front();
    places_[input] = {builder_.add_port(name, info.type, info.shape, true), row_major_desc(info)};
  }
}

// An output whose tensor (or, behind whole-tensor views, the tensor that it aliases) is dense and row-major anyway is
// computed straight in the port's buffer.
void OpenclPlanner::choose_port_tensors() {
  const std::set<NodeId> inside(request_.nodes.begin(), request_.nodes.end());
  for (const PortRef& output : request_.outputs) {
    const OutputInfo& info = request_.graph.info(output);
    const std::string& name = info.names.empty() ? request_.graph.at(output).name : info.names.front();
    const StorageId storage = builder_.add_port(name, info.type, info.shape, false);
    output_ports_[output] = storage;
    PortRef source = output;
    while (nominal_.views.count(source) != 0) {
      const PortRef input = request_.graph.at(source).inputs.at(0);
      const TensorDesc& desc = nominal_.descs.at(input);
      const bool is_whole = desc.count() == nominal_.descs.at(source).count() && is_row_major(desc);
      if (!is_whole || inside.count(input.node) == 0 || !is_row_major(nominal_.descs.at(source))) break;
      source = input;
    }
    const bool can_live_there = nominal_.views.count(source) == 0 && slices_.count(source) == 0 &&
                                is_row_major(nominal_.descs.at(source)) && inside.count(source.node) != 0;
    if (can_live_there) port_storages_.emplace(source, storage);
  }
}

// The tensor's memory, which is made on first need: a Concat's buffer when its first part is written.
const Place& OpenclPlanner::allocate(PortRef ref) {
  const auto found = places_.find(ref);
  if (found != places_.end()) return found->second;
  Place place;
  const auto slice = slices_.find(ref);
  const auto port = port_storages_.find(ref);
  place.desc = nominal_.descs.at(ref);
  if (slice != slices_.end()) {
    const Place& whole = allocate(slice->second.concat);
    place.storage = whole.storage;
    place.desc.strides = whole.desc.strides;
    place.desc.offset = whole.desc.offset + slice->second.position * whole.desc.strides[slice->second.axis];
  } else if (port != port_storages_.end()) {
    place.storage = port->second;
  } else {
    place.storage = builder_.add_arena_storage(bytes_of(place.desc));
  }
  return places_.emplace(ref, place).first->second;
}

Place OpenclPlanner::place_of(PortRef ref) {
  const Node& node = request_.graph.at(ref);
  if (node.type != "Const") return places_.at(ref);
  const Tensor value = node.value.aligned_copy();
  return {builder_.add_constant(value, "constant '" + node.name + "'"), row_major_desc(node.outputs[0])};
}

// The tensor in an order that the rule allows: itself, or a dense copy that later users share.
Place OpenclPlanner::in_order(PortRef ref, LayoutRule rule, const Node& user) {
  Place place = place_of(ref);
  if (satisfies(place.desc, rule)) return place;
  const auto key = std::make_pair(ref, rule);
  const auto found = converted_.find(key);
  if (found != converted_.end()) return found->second;
  const bool is_channels_last = rule == LayoutRule::kChannelsLast && place.desc.shape.size() >= 3;
  Place dense;
  dense.desc = {place.desc.type, place.desc.shape,
                is_channels_last ? channels_last_strides(place.desc.shape) : row_major_strides(place.desc.shape), 0};
  dense.storage = builder_.add_arena_storage(bytes_of(dense.desc));
  copy(user, user.name + " (layout of input)", place, dense);
  ++counts_.copies;
  converted_[key] = dense;
  return dense;
}

void OpenclPlanner::copy(const Node& node, const std::string& layer, const Place& from, const Place& to) {
  const Lowered lowered = lower_copy(from.desc, to.desc, request_.caps);
  NodeStorages storages{{from.storage}, {to.storage}, {}, {}};
  add_packed_constants(node, lowered, storages);
  const auto bytes = 2 * to.desc.count() * static_cast<std::int64_t>(size_bytes(to.desc.type));
  builder_.add_launches(node, layer, lowered, storages, {0, bytes});
}

void OpenclPlanner::add_packed_constants(const Node& node, const Lowered& lowered, NodeStorages& storages) {
  std::vector<Tensor> tensors;
  for (const PortRef& input : node.inputs) {
    if (is_const(request_.graph, input)) tensors.push_back(request_.graph.at(input).value);
  }
  const auto sources = std::make_shared<const PackingSources>(std::move(tensors));
  const std::string context = lowered.constants.empty() ? "" : packing_context(node);
  for (const PackedConstant& constant : lowered.constants) {
    PackRequest request{node.name, constant.key, context, sources, constant.make};
    const auto make = [this, request = std::move(request), layer = layer_text(node)] {
      try {
        return weights_.get(request);
      } catch (const Error& error) {
        rethrow_with_prefix(error, layer);
      }
    };
    const std::string key = std::to_string(node.id.value) + "|" + constant.key;
    storages.constants.push_back(
        builder_.add_packed_constant(key, "weights of '" + node.name + "'", sources->size_bytes(), make));
  }
  for (const std::size_t bytes : lowered.scratch_bytes) {
    storages.scratch.push_back(builder_.add_arena_storage(bytes));
  }
}

// All that lowering may look at beside the constants' values and the device, which the form's key names.
std::string OpenclPlanner::packing_context(const Node& node) const {
  const auto shown = [](const OutputInfo& info) { return std::string(to_string(info.type)) + to_string(info.shape); };
  std::string text = node.type + "," + std::to_string(node.opset) + "," + std::to_string(node.epilogue.bias_input) +
                     "," + std::to_string(node.epilogue.residual_input);
  for (const auto& [name, value] : node.attributes.values()) text += "," + name + "=" + to_string(value);
  for (const PortRef& input : node.inputs) {
    text += (is_const(request_.graph, input) ? ",constant " : ",input ") + shown(request_.graph.info(input));
  }
  for (const OutputInfo& output : node.outputs) text += ",output " + shown(output);
  return text;
}

OpenclPlanner::NodeOperands OpenclPlanner::operands_of(const Node& node, const OpDescriptor& /*op*/) {
  const LayoutRules rules = layout_rules(node, request_.caps);
  NodeOperands operands;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const PortRef ref = node.inputs[i];
    if (is_const(request_.graph, ref)) {
      // Uploaded only if the kernel reads it as it is; packed forms are constants of their own.
      const Node& source = request_.graph.at(ref);
      operands.inputs.push_back({row_major_desc(source.outputs[0]), &source.value});
      operands.storages.inputs.push_back(-1);
      continue;
    }
    const Place place = in_order(ref, input_rule(rules, i), node);
    operands.inputs.push_back({place.desc, nullptr});
    operands.storages.inputs.push_back(place.storage);
  }
  for (std::size_t port = 0; port < node.outputs.size(); ++port) {
    const Place& place = allocate({node.id, static_cast<std::int32_t>(port)});
    operands.outputs.push_back(place.desc);
    operands.storages.outputs.push_back(place.storage);
  }
  return operands;
}

// True where every output aliases the input, so that there is nothing to run.
bool OpenclPlanner::plan_views(const Node& node) {
  if (node.inputs.empty() || is_const(request_.graph, node.inputs[0])) return false;
  std::vector<LowerInput> inputs;
  for (const PortRef& ref : node.inputs) {
    const Node& source = request_.graph.at(ref);
    const bool is_constant = source.type == "Const";
    inputs.push_back({is_constant ? row_major_desc(source.outputs[0]) : places_.at(ref).desc,
                      is_constant ? &source.value : nullptr});
  }
  std::vector<Place> places;
  for (std::size_t port = 0; port < node.outputs.size(); ++port) {
    const PortRef ref{node.id, static_cast<std::int32_t>(port)};
    if (nominal_.views.count(ref) == 0) return false;
    const OutputInfo& output = node.outputs[port];
    const auto view = view_of(node, inputs, port, output.shape);
    if (!view) return false;
    places.push_back(
        {places_.at(node.inputs[0]).storage, {output.type, output.shape, view->strides, view->offset_elems}});
  }
  for (std::size_t port = 0; port < places.size(); ++port) {
    places_[{node.id, static_cast<std::int32_t>(port)}] = places[port];
  }
  counts_.views += places.size();
  return true;
}

// Only the parts that were not written in place are copied.
void OpenclPlanner::plan_concat(const Node& node) {
  const Place whole = allocate({node.id, 0});
  const auto axis =
      static_cast<std::size_t>(normalize_axis(node.attributes.get_int("axis"), whole.desc.shape.size(), "axis"));
  std::int64_t position = 0;
  for (const PortRef& input : node.inputs) {
    const Shape& shape = request_.graph.info(input).shape;
    const auto slice = slices_.find(input);
    const bool is_in_place = slice != slices_.end() && slice->second.concat.node == node.id;
    if (is_in_place) {
      ++counts_.views;
    } else if (count_elems(shape) != 0) {
      Place part{whole.storage, {whole.desc.type, shape, whole.desc.strides, whole.desc.offset}};
      part.desc.offset += position * whole.desc.strides[axis];
      copy(node, node.name, place_of(input), part);
    }
    position += shape[axis];
  }
}

void OpenclPlanner::plan_node(const Node& node) {
  const OpDescriptor* op = find_op(node.type);
  HEADRACE_ASSERT(op != nullptr, "operator is known");
  const bool is_empty = std::all_of(node.outputs.begin(), node.outputs.end(),
                                    [](const OutputInfo& output) { return count_elems(output.shape) == 0; });
  if (is_empty) {
    for (std::size_t port = 0; port < node.outputs.size(); ++port) allocate({node.id, static_cast<std::int32_t>(port)});
    return;
  }
  if (node.type == "Concat") {
    plan_concat(node);
    return;
  }
  if (plan_views(node)) return;
  NodeOperands operands = operands_of(node, *op);
  if (op->supports == nullptr) fail(ErrorCode::kUnsupported, "has no OpenCL form");
  const Support support = op->supports(node, operands.inputs, operands.outputs, request_.caps);
  if (!support.ok) fail(ErrorCode::kUnsupported, support.reason);
  const Lowered lowered = op->lower(node, operands.inputs, operands.outputs, request_.caps);
  for (const KernelLaunch& kernel : lowered.launches) {
    for (const LowerArg& arg : kernel.args) {
      const auto* operand = std::get_if<Operand>(&arg);
      if (operand == nullptr || operand->kind != Operand::Kind::kInput) continue;
      const auto index = static_cast<std::size_t>(operand->index);
      if (operands.storages.inputs.at(index) < 0) {
        operands.storages.inputs[index] = place_of(node.inputs[index]).storage;
      }
    }
  }
  add_packed_constants(node, lowered, operands.storages);
  builder_.add_launches(node, node.name, lowered, operands.storages, cost_of(node, *op));
}

Cost OpenclPlanner::cost_of(const Node& node, const OpDescriptor& op) const {
  std::vector<InferInput> inputs;
  std::vector<InferOutput> outputs;
  Cost cost;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const OutputInfo& info = request_.graph.info(node.inputs[i]);
    cost.bytes += count_elems(info.shape) * static_cast<std::int64_t>(size_bytes(info.type));
    if (i < count_op_inputs(node)) inputs.push_back({info.type, info.shape, nullptr});
  }
  for (const OutputInfo& info : node.outputs) {
    cost.bytes += count_elems(info.shape) * static_cast<std::int64_t>(size_bytes(info.type));
    outputs.push_back({info.type, info.shape});
  }
  return op.cost != nullptr ? op.cost(node, inputs, outputs) : cost;
}

void OpenclPlanner::write_outputs() {
  for (const PortRef& output : request_.outputs) {
    const StorageId port = output_ports_.at(output);
    const Place& place = places_.at(output);
    if (place.storage == port || place.desc.count() == 0) continue;
    const Node& node = request_.graph.at(output);
    const Place target{port, row_major_desc(request_.graph.info(output))};
    copy(node, node.name + " (layout of output)", place, target);
    ++counts_.copies;
  }
}

}  // namespace headrace::detail
