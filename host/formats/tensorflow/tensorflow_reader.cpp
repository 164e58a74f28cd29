// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/tensorflow_reader.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/import/node_order.hpp"
#include "formats/tensorflow/tensorflow_context.hpp"
#include "formats/tensorflow/tensorflow_reader_impl.hpp"
#include "formats/tensorflow/tensorflow_tensor.hpp"

namespace headrace {
namespace detail {
namespace {

// Functions that call each other and unrolled loops can grow without bound; the largest networks have 10^5 nodes.
constexpr std::size_t kMaxNodes = 1'000'000;
constexpr int kMaxCallDepth = 48;
// Elements that Consts of one value may fill, for each byte of the file and in any case.
constexpr std::int64_t kFillPerByte = 16;
constexpr std::int64_t kLeastFillable = std::int64_t{1} << 22;

// Old Keras models ask this input whether they are trained.
bool is_learning_phase(const TensorflowNode& node) {
  return node.op == "Placeholder" && node.name.ends_with("keras_learning_phase");
}

// The edge that closes a loop of TensorFlow 1, which would make the graph a cycle; its converter refuses the loop.
bool closes_loop(const TensorflowNode& node) { return node.op == "NextIteration" || node.op == "RefNextIteration"; }

// Whether a node waits for a branch: what a Switch did not send does not run.
bool is_branch(std::string_view name, const TensorflowScope& scope) {
  const auto found = scope.nodes.find(name);
  if (found == scope.nodes.end()) return false;
  if (found->second->op == "Switch") return true;
  if (found->second->op != "Identity" || found->second->inputs.empty()) return false;
  const auto source = scope.nodes.find(parse_tensorflow_input(found->second->inputs[0]).node);
  return source != scope.nodes.end() && source->second->op == "Switch";
}

bool is_any(const TensorflowValues& values, TensorflowValue::Kind kind) {
  return std::any_of(values.begin(), values.end(), [&](const TensorflowValue& value) { return value.kind == kind; });
}

}  // namespace

TensorflowReader::TensorflowReader(const TensorflowModel& model, std::size_t size_bytes, Graph& graph)
    : model_(model),
      builder_(graph),
      fillable_(std::max(kLeastFillable, kFillPerByte * static_cast<std::int64_t>(size_bytes))) {
  for (const TensorflowFunction& function : model.functions) {
    if (!functions_.emplace(function.name, &function).second) {
      fail(ErrorCode::kBadModel, "the library has two functions named " + quote(function.name));
    }
  }
}

Tensor TensorflowReader::read_tensor(const TensorflowTensor& tensor) {
  return read_tensorflow_tensor(tensor, model_.owner, fillable_);
}

void TensorflowReader::read() {
  TensorflowScope scope;
  scope.is_main = true;
  for (const TensorflowNode& node : model_.nodes) scope.nodes.emplace(node.name, &node);
  const std::vector<const TensorflowNode*> outputs = find_outputs();
  if (outputs.empty()) fail(ErrorCode::kBadModel, "the graph has no outputs");
  std::vector<std::string_view> names;
  for (const TensorflowNode* node : outputs) names.push_back(node->name);
  const std::vector<std::size_t> sorted = order(model_.nodes, names, scope);
  add_parameters(scope, sorted);
  for (const std::size_t index : sorted) convert_node(model_.nodes[index], scope);
  refusals_.throw_if_any();
  add_results(outputs, scope);
  builder_.graph().remove_dead();
  builder_.store_types();
}

std::vector<const TensorflowNode*> TensorflowReader::find_outputs() const {
  std::unordered_set<std::string_view> read;
  for (const TensorflowNode& node : model_.nodes) {
    for (const std::string_view text : node.inputs) {
      const TensorflowInput input = parse_tensorflow_input(text);
      // A NoOp that waits for the graph's outputs groups them and is no reader.
      if (!input.is_control || node.op != "NoOp") read.insert(input.node);
    }
  }
  std::vector<const TensorflowNode*> outputs;
  for (const TensorflowNode& node : model_.nodes) {
    if (read.count(node.name) == 0 && is_tensorflow_sink(node.op)) outputs.push_back(&node);
  }
  return outputs;
}

std::vector<std::size_t> TensorflowReader::order(std::span<const TensorflowNode> nodes,
                                                 std::span<const std::string_view> outputs,
                                                 const TensorflowScope& scope) const {
  std::vector<NodeNames> names(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    names[i].outputs = {nodes[i].name};
    if (closes_loop(nodes[i])) continue;
    for (const std::string_view text : nodes[i].inputs) {
      const TensorflowInput input = parse_tensorflow_input(text);
      if (!input.is_control || is_branch(input.node, scope)) names[i].inputs.push_back(input.node);
    }
  }
  const NodeSurroundings around{[&](std::string_view name) { return scope.values.count(name) != 0; },
                                [&](std::size_t index) { return tensorflow_node_text(nodes[index]); }};
  return order_nodes(names, outputs, around);
}

void TensorflowReader::add_parameters(TensorflowScope& scope, std::span<const std::size_t> order) {
  std::vector<std::size_t> sorted(order.begin(), order.end());
  std::sort(sorted.begin(), sorted.end());
  for (const std::size_t index : sorted) {
    const TensorflowNode& node = model_.nodes[index];
    if ((node.op == "Placeholder" || node.op == "PlaceholderV2") && !is_learning_phase(node))
      add_parameter(node, scope);
  }
}

void TensorflowReader::add_parameter(const TensorflowNode& node, TensorflowScope& scope) {
  try {
    TensorflowContext context(*this, node, {});
    const ElementType type = context.attr_element_type("dtype");
    const PartialShape shape = context.attr_partial_shape("shape");
    const PortRef ref = builder_.add_parameter(node.name, type, shape);
    builder_.graph().at(ref.node).outputs[0].names.push_back(std::string(node.name) + ":0");
    builder_.add_knowledge(ref, type, shape, {});
    scope.values.emplace(node.name, TensorflowValues{ref});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnsupported) rethrow_with_prefix(error, tensorflow_node_text(node));
    refusals_.add(std::string(error.what()) + " of an input", node.name);
    scope.values.emplace(node.name, TensorflowValues{TensorflowValue(TensorflowValue::Kind::kRefused)});
  }
}

void TensorflowReader::add_results(const std::vector<const TensorflowNode*>& outputs, TensorflowScope& scope) {
  for (const TensorflowNode* node : outputs) {
    const TensorflowValues& values = scope.values.at(node->name);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i].kind == TensorflowValue::Kind::kDead) continue;
      if (values[i].kind != TensorflowValue::Kind::kTensor) {
        fail(ErrorCode::kUnsupported, tensorflow_node_text(*node) + ": an output that is a list of tensors");
      }
      builder_.add_output(std::string(node->name) + ":" + std::to_string(i), values[i].ref);
    }
  }
  if (builder_.graph().results().empty()) fail(ErrorCode::kBadModel, "no output of the graph is computed");
}

void TensorflowReader::count_node(const TensorflowNode& node) {
  if (++node_count_ <= kMaxNodes) return;
  fail(ErrorCode::kBadModel,
       tensorflow_node_text(node) + ": functions and loops make more than " + std::to_string(kMaxNodes) + " nodes");
}

TensorflowValue TensorflowReader::look_up(const TensorflowInput& input, const TensorflowScope& scope) const {
  const auto found = scope.values.find(input.node);
  if (found == scope.values.end()) fail(ErrorCode::kBadModel, "nothing makes its input " + quote(input.node));
  const TensorflowValues& values = found->second;
  if (values.size() == 1 && values[0].kind != TensorflowValue::Kind::kTensor &&
      values[0].kind != TensorflowValue::Kind::kList) {
    return values[0];
  }
  const auto node = scope.nodes.find(input.node);
  const std::int32_t index =
      node == scope.nodes.end() ? 0 : tensorflow_output_index(node->second->op, input.output, input.index);
  if (static_cast<std::size_t>(index) >= values.size()) {
    fail(ErrorCode::kUnsupported, "reads output " + std::to_string(index) + " of " + quote(input.node) + ", of which " +
                                      std::to_string(values.size()) + " are computed");
  }
  return values[static_cast<std::size_t>(index)];
}

void TensorflowReader::convert_node(const TensorflowNode& node, TensorflowScope& scope) {
  count_node(node);
  if (scope.values.count(node.name) != 0) return;  // a Parameter
  const std::string path = scope.prefix + std::string(node.name);
  TensorflowValues outputs;
  try {
    TensorflowValues inputs;
    bool is_dead = false;
    for (const std::string_view text : closes_loop(node) ? std::vector<std::string_view>{} : node.inputs) {
      const TensorflowInput input = parse_tensorflow_input(text);
      if (input.is_control) {
        is_dead =
            is_dead || (is_branch(input.node, scope) && look_up(input, scope).kind == TensorflowValue::Kind::kDead);
      } else {
        inputs.push_back(look_up(input, scope));
      }
    }
    if (is_dead || (node.op != "Merge" && is_any(inputs, TensorflowValue::Kind::kDead))) {
      outputs = {TensorflowValue(TensorflowValue::Kind::kDead)};
    } else if (is_any(inputs, TensorflowValue::Kind::kRefused)) {
      outputs = {TensorflowValue(TensorflowValue::Kind::kRefused)};
    } else {
      const std::string outer = std::exchange(node_path_, path);
      outputs = run_converter(node, scope, inputs);
      node_path_ = outer;
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnsupported) {
      if (std::string_view(error.what()).starts_with("node '")) throw;
      rethrow_with_prefix(error, tensorflow_node_text(node));
    }
    const std::string type = readable(node.op);
    const std::string reason = error.what();
    if (reason != kTensorflowRefusedInside) {
      refusals_.add(reason == "unknown operator" ? type : type + ": " + reason, path);
    }
    outputs = {TensorflowValue(TensorflowValue::Kind::kRefused)};
  }
  scope.values.insert_or_assign(node.name, std::move(outputs));
}

TensorflowValues TensorflowReader::run_converter(const TensorflowNode& node, TensorflowScope& scope,
                                                 const TensorflowValues& inputs) {
  const std::int32_t first_new = builder_.next_id();
  if (has_function(node.op)) return call(node.op, inputs);
  const TensorflowConverter* converter = find_tensorflow_converter(node.op);
  if (converter == nullptr) fail(ErrorCode::kUnsupported, "unknown operator");
  builder_.begin_node(node_path_, readable(node.op));
  TensorflowContext context(*this, node, inputs);
  const TensorflowValues outputs = converter->convert(context);
  keep_names(node, outputs, first_new, scope);
  return outputs;
}

TensorflowValues TensorflowReader::call(std::string_view name, const TensorflowValues& inputs) {
  const auto found = functions_.find(name);
  if (found == functions_.end()) fail(ErrorCode::kBadModel, "calls the function " + quote(name) + ", which is missing");
  const TensorflowFunction& function = *found->second;
  if (depth_ >= kMaxCallDepth) {
    fail(ErrorCode::kBadModel, "functions call each other deeper than " + std::to_string(kMaxCallDepth));
  }
  if (inputs.size() != function.inputs.size()) {
    fail(ErrorCode::kBadModel, "gives " + std::to_string(inputs.size()) + " inputs to the function " + quote(name) +
                                   ", which has " + std::to_string(function.inputs.size()));
  }
  TensorflowScope scope;
  scope.prefix = node_path_ + "/";
  for (std::size_t i = 0; i < inputs.size(); ++i) scope.values.emplace(function.inputs[i], TensorflowValues{inputs[i]});
  for (const TensorflowNode& node : function.nodes) scope.nodes.emplace(node.name, &node);
  std::vector<TensorflowInput> results;
  std::vector<std::string_view> wanted;
  for (const std::string_view output : function.outputs) {
    const auto entry = std::find_if(function.returns.begin(), function.returns.end(),
                                    [&](const auto& pair) { return pair.first == output; });
    if (entry == function.returns.end()) {
      fail(ErrorCode::kBadModel,
           "the function " + quote(name) + " does not say what its output " + quote(output) + " is");
    }
    results.push_back(parse_tensorflow_input(entry->second));
    wanted.push_back(results.back().node);
  }
  ++depth_;
  for (const std::size_t index : order(function.nodes, wanted, scope)) convert_node(function.nodes[index], scope);
  --depth_;
  TensorflowValues outputs;
  for (const TensorflowInput& result : results) {
    outputs.push_back(look_up(result, scope));
    if (outputs.back().kind == TensorflowValue::Kind::kRefused) {
      fail(ErrorCode::kUnsupported, kTensorflowRefusedInside);
    }
  }
  return outputs;
}

// The node that makes the first output gets the TensorFlow node's name, its tensors the file's names.
void TensorflowReader::keep_names(const TensorflowNode& node, const TensorflowValues& outputs, std::int32_t first_new,
                                  const TensorflowScope& scope) {
  const auto is_tensor = [](const TensorflowValue& value) { return value.kind == TensorflowValue::Kind::kTensor; };
  if (!outputs.empty() && is_tensor(outputs[0]) && outputs[0].ref.node.value >= first_new) {
    builder_.graph().at(outputs[0].ref.node).name = builder_.unique_name(node_path_);
  }
  for (std::size_t i = 0; i < outputs.size() && scope.is_main; ++i) {
    if (!is_tensor(outputs[i])) continue;
    auto& names =
        builder_.graph().at(outputs[i].ref.node).outputs.at(static_cast<std::size_t>(outputs[i].ref.port)).names;
    const std::string name = std::string(node.name) + ":" + std::to_string(i);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
}

}  // namespace detail

Graph parse_tensorflow(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  const detail::TensorflowModel model = detail::parse_tensorflow_file(bytes, std::move(owner));
  Graph graph;
  detail::TensorflowReader(model, bytes.size(), graph).read();
  return graph;
}

Graph read_tensorflow(const std::string& path) {
  const MappedFile file = map_file(path);
  try {
    return parse_tensorflow(file.bytes, file.owner);
  } catch (const Error& error) {
    rethrow_with_prefix(error, quote(path));
  }
}

}  // namespace headrace
