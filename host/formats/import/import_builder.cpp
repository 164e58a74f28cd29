// SPDX-License-Identifier: Apache-2.0
#include "formats/import/import_builder.hpp"

#include <algorithm>
#include <cstring>

#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/import/shape_guess.hpp"
#include "ops/infer_graph.hpp"
#include "ops/strided.hpp"

namespace headrace::detail {
namespace {

// What an unknown dimension is tried with: larger than the kernels and strides of ordinary networks, and multiples of
// 64 so that divisions by strides leave no rest.
constexpr std::array<std::int64_t, 2> kTrialNumbers = {256, 320};

// Whether the operator only picks elements: what it picks may be known though the rest is not.
bool only_picks(std::string_view type) {
  constexpr std::string_view kPickers[] = {"ShapeOf",       "Gather",  "Slice",     "StridedSlice", "Split",
                                           "VariadicSplit", "Squeeze", "Unsqueeze", "Reshape"};
  return std::find(std::begin(kPickers), std::end(kPickers), type) != std::end(kPickers);
}

bool are_equal(const std::optional<Tensor>& a, const std::optional<Tensor>& b) {
  if (!a || !b) return false;
  if (a->data() == b->data()) return true;
  return a->type() == b->type() && a->shape() == b->shape() && a->size_bytes() == b->size_bytes() &&
         std::memcmp(a->data(), b->data(), a->size_bytes()) == 0;
}

}  // namespace

std::string ImportBuilder::unique_name(std::string name) {
  std::string unique = name;
  for (int number = 2; !names_.insert(unique).second; ++number) unique = name + "_" + std::to_string(number);
  return unique;
}

void ImportBuilder::begin_node(std::string_view name, std::string_view source_type) {
  node_name_ = name;
  source_type_ = source_type;
}

KnownTensor& ImportBuilder::slot(PortRef ref) {
  std::vector<KnownTensor>& ports = known_[ref.node.value];
  const auto port = static_cast<std::size_t>(ref.port);
  if (ports.size() <= port) ports.resize(port + 1);
  return ports[port];
}

const KnownTensor& ImportBuilder::known(PortRef ref) const {
  static const KnownTensor kNothing;
  const auto found = known_.find(ref.node.value);
  if (found == known_.end() || found->second.size() <= static_cast<std::size_t>(ref.port)) return kNothing;
  return found->second[static_cast<std::size_t>(ref.port)];
}

PortRef ImportBuilder::add(std::string_view type, std::int32_t opset, const std::vector<PortRef>& inputs,
                           const RawAttributes& attributes, std::size_t output_count) {
  return add_operator(type, opset, inputs, attributes, {}, output_count);
}

PortRef ImportBuilder::add_with_bodies(std::string_view type, std::int32_t opset, const std::vector<PortRef>& inputs,
                                       std::vector<Body> bodies, std::size_t output_count) {
  return add_operator(type, opset, inputs, {}, std::move(bodies), output_count);
}

PortRef ImportBuilder::add_operator(std::string_view type, std::int32_t opset, const std::vector<PortRef>& inputs,
                                    const RawAttributes& attributes, std::vector<Body> bodies,
                                    std::size_t output_count) {
  const OpDescriptor* op = find_op(type);
  if (op == nullptr) fail(ErrorCode::kUnsupported, "needs the operator " + std::string(type) + ", which is not there");
  Node node;
  node.type = type;
  node.opset = opset;
  node.source_type = source_type_;
  node.name = unique_name(node_name_ + "/" + node.type);
  node.attributes = op->parse == nullptr ? Attributes{} : op->parse(type, opset, attributes);
  node.inputs = inputs;
  node.outputs.resize(output_count);
  node.bodies = std::move(bodies);
  const NodeId id = graph_.add(std::move(node));
  next_id_ = id.value + 1;
  infer(graph_.at(id));
  return {id, 0};
}

PortRef ImportBuilder::add_constant(const Tensor& value) {
  const PortRef ref{graph_.add_const(unique_name(node_name_ + "/Const"), value), 0};
  next_id_ = ref.node.value + 1;
  KnownTensor& known = slot(ref);
  known.type = value.type();
  known.trials.fill({value.shape(), value});
  return ref;
}

PortRef ImportBuilder::add_parameter(std::string_view name, ElementType type, const PartialShape& shape) {
  Node node;
  node.type = "Parameter";
  node.source_type = "input";
  node.name = unique_name(std::string(name));
  node.declared_shape = shape;
  OutputInfo output;
  output.type = type;
  output.names = {std::string(name)};
  if (shape.is_static()) {
    output.shape = shape.to_shape();
    output.is_resolved = true;
  }
  node.outputs.push_back(output);
  const NodeId id = graph_.add(std::move(node));
  next_id_ = id.value + 1;
  return {id, 0};
}

void ImportBuilder::add_result(std::string_view name, PortRef source) {
  Node node;
  node.type = "Result";
  node.source_type = "output";
  node.name = unique_name(std::string(name) + "/sink_port_0");
  node.inputs = {source};
  graph_.add(std::move(node));
}

PortRef ImportBuilder::named_output(std::string_view name, PortRef ref) {
  std::vector<std::string>& names = graph_.at(ref.node).outputs.at(static_cast<std::size_t>(ref.port)).names;
  if (!names.empty() && names[0] == name) return ref;
  const auto& results = graph_.results();
  const bool is_taken =
      std::any_of(results.begin(), results.end(), [&](NodeId id) { return graph_.at(id).inputs[0] == ref; });
  const auto place = std::find(names.begin(), names.end(), name);
  if (place != names.end()) names.erase(place);
  if (!is_taken && graph_.at(ref.node).type != "Parameter") {
    names.insert(names.begin(), std::string(name));
    return ref;
  }
  const auto& type = known(ref).type;
  if (!type) fail(ErrorCode::kUnsupported, "output " + quote(name) + ": its element type is not known");
  begin_node(name, "Identity");
  // Convert to its own type copies.
  const PortRef copy = add("Convert", 1, {ref}, {{"destination_type", std::string(to_string(*type))}});
  graph_.at(copy.node).outputs[0].names = {std::string(name)};
  return copy;
}

void ImportBuilder::add_output(std::string_view name, PortRef source) { add_result(name, named_output(name, source)); }

std::array<std::int64_t, 2> ImportBuilder::trial_dimension(std::string_view name, const Dimension& dimension) {
  if (dimension.is_static()) return {dimension.min, dimension.min};
  is_dynamic_ = true;
  if (name.empty()) return kTrialNumbers;
  // Differently named dimensions get different numbers, so that they do not seem to be equal.
  const auto step = static_cast<std::int64_t>(64 * trial_dimensions_.size());
  return trial_dimensions_
      .try_emplace(std::string(name), std::array{kTrialNumbers[0] + step, kTrialNumbers[1] + 2 * step})
      .first->second;
}

void ImportBuilder::add_knowledge(PortRef ref, std::optional<ElementType> type,
                                  const std::optional<PartialShape>& shape,
                                  std::span<const std::string_view> dim_names) {
  KnownTensor& known = slot(ref);
  if (!known.type) known.type = type;
  if (!shape || !shape->is_rank_known) return;
  std::array<Shape, 2> shapes;
  for (std::size_t i = 0; i < shape->dims.size(); ++i) {
    const auto numbers = trial_dimension(i < dim_names.size() ? dim_names[i] : "", shape->dims[i]);
    for (std::size_t trial = 0; trial < 2; ++trial) shapes[trial].push_back(numbers[trial]);
  }
  if (!is_countable(shapes[0]) || !is_countable(shapes[1])) return;
  // One set of numbers, in part from inference and in part from here, would not fit together.
  if (known.trials[0].shape && known.trials[1].shape) return;
  for (std::size_t trial = 0; trial < 2; ++trial) known.trials[trial].shape = shapes[trial];
}

void ImportBuilder::store_types() {
  for (const auto& [id, ports] : known_) {
    if (!graph_.contains({id})) continue;
    std::vector<OutputInfo>& outputs = graph_.at(NodeId{id}).outputs;
    for (std::size_t i = 0; i < std::min(ports.size(), outputs.size()); ++i) {
      if (ports[i].type) outputs[i].type = *ports[i].type;
    }
  }
}

void ImportBuilder::infer(const Node& node) {
  const OpDescriptor& op = *find_op(node.type);
  if (op.infer == nullptr) return;
  infer_trial(node, op, 0);
  if (is_dynamic_) {
    infer_trial(node, op, 1);
  } else {
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      KnownTensor& known = slot({node.id, static_cast<std::int32_t>(i)});
      known.trials[1] = known.trials[0];
    }
  }
  guess(node);
  if (is_dynamic_) mark_accidental(node);
}

// Type and rank are needed even where trial numbers do not fit (a Reshape of a picture whose height has to be 48), or a
// shape hangs on values that only a run gives.
void ImportBuilder::guess(const Node& node) {
  std::vector<std::optional<ElementType>> types;
  std::array<std::vector<KnownTensor::Trial>, 2> inputs;
  for (const PortRef& ref : node.inputs) {
    const KnownTensor& input = known(ref);
    types.push_back(input.type);
    for (std::size_t trial = 0; trial < 2; ++trial) inputs[trial].push_back(input.trials[trial]);
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    KnownTensor& output = slot({node.id, static_cast<std::int32_t>(i)});
    if (output.trials[0].shape && output.trials[1].shape) continue;
    if (!output.type) output.type = guess_type(node, i, types);
    for (std::size_t trial = 0; trial < 2; ++trial) {
      auto& shape = output.trials[trial].shape;
      if (!shape) shape = guess_shape(node, i, inputs[trial], kTrialNumbers[trial]);
      if (shape && !is_countable(*shape)) shape.reset();
      is_dynamic_ = is_dynamic_ || shape.has_value();
    }
  }
}

void ImportBuilder::infer_trial(const Node& node, const OpDescriptor& op, std::size_t trial) {
  std::vector<InferInput> inputs;
  std::vector<Tensor> values;
  // Bodies and contractions of many operands can take any time.
  bool are_values_known = op.reference != nullptr && node.bodies.empty() && node.type != "Einsum";
  for (const PortRef& ref : node.inputs) {
    const KnownTensor& known_input = known(ref);
    const KnownTensor::Trial& input = known_input.trials[trial];
    if (!known_input.type || !input.shape) return;
    // A loop whose inputs are all known would be run to find its shapes: files can hold long ones.
    const bool is_state = (node.type == "Loop" && inputs.size() >= 2) || node.type == "TensorIterator";
    inputs.push_back({*known_input.type, *input.shape, input.value && !is_state ? &*input.value : nullptr});
    const bool is_only_stored = !is_computed_type(*known_input.type) && node.type != "Convert";
    if (node.type == "ShapeOf") {
      values.emplace_back(*known_input.type, *input.shape, nullptr, static_cast<const void*>(nullptr));
    } else if (input.value && input.value->count() <= kMaxValueElems && !is_only_stored) {
      values.push_back(input.value->aligned_copy());
    } else {
      are_values_known = false;
    }
  }
  try {
    const std::vector<InferOutput> outputs = op.infer(node, inputs);
    std::vector<Tensor> results;
    for (std::size_t i = 0; i < outputs.size() && i < node.outputs.size(); ++i) {
      KnownTensor& known_output = slot({node.id, static_cast<std::int32_t>(i)});
      known_output.type = outputs[i].type;
      if (!is_countable(outputs[i].shape)) return;
      known_output.trials[trial].shape = outputs[i].shape;
      const bool is_only_stored = !is_computed_type(outputs[i].type) && node.type != "Convert";
      are_values_known = are_values_known && !is_only_stored && count_elems(outputs[i].shape) <= kMaxValueElems;
    }
    if (!are_values_known) return;
    // The reference reads the node's resolved outputs.
    Node resolved = node;
    resolved.outputs.resize(outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      resolved.outputs[i].type = outputs[i].type;
      resolved.outputs[i].shape = outputs[i].shape;
      resolved.outputs[i].is_resolved = true;
      results.emplace_back(outputs[i].type, outputs[i].shape);
    }
    run_reference(resolved, values, results);
    for (std::size_t i = 0; i < results.size() && i < node.outputs.size(); ++i) {
      slot({node.id, static_cast<std::int32_t>(i)}).trials[trial].value = results[i];
    }
  } catch (const Error&) {
    // Shapes that are only tried need not fit, and what does not fit in earnest is told when the model is compiled.
  }
}

void ImportBuilder::mark_accidental(const Node& node) {
  bool do_inputs_differ = false;
  bool is_accidental = false;
  for (const PortRef& ref : node.inputs) {
    const KnownTensor& input = known(ref);
    is_accidental = is_accidental || input.is_accidental;
    do_inputs_differ = do_inputs_differ || !are_equal(input.trials[0].value, input.trials[1].value);
  }
  if (only_picks(node.type)) do_inputs_differ = false;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    KnownTensor& output = slot({node.id, static_cast<std::int32_t>(i)});
    const bool do_agree = are_equal(output.trials[0].value, output.trials[1].value);
    output.is_accidental = is_accidental || (do_inputs_differ && do_agree);
  }
}

}  // namespace headrace::detail
