// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/onnx/onnx_context.hpp"
#include "formats/onnx/onnx_reader_impl.hpp"

namespace headrace {
namespace detail {
namespace {

constexpr std::int64_t kMaxOpset = 23;
// Functions that call each other and unrolled loops can grow without bound; the largest networks have 10^5 nodes.
constexpr std::size_t kMaxNodes = 1'000'000;

PartialShape shape_of_info(const OnnxValueInfo& info, std::vector<std::string_view>& dim_names) {
  if (info.dims.size() > kMaxFileRank) {
    fail(ErrorCode::kBadModel, "tensor " + quote(info.name) + " has " + std::to_string(info.dims.size()) +
                                   " dimensions, the limit is " + std::to_string(kMaxFileRank));
  }
  const PartialShape shape = declared_shape(info);
  Shape smallest;
  for (const Dimension& dim : shape.dims) smallest.push_back(dim.min);
  if (!is_countable(smallest)) {
    fail(ErrorCode::kBadModel, "tensor " + quote(info.name) + " has more than 2^63 bytes");
  }
  for (const OnnxDimension& dim : info.dims) dim_names.push_back(dim.param);
  return shape;
}

const OnnxAttribute* find_named(const std::vector<OnnxAttribute>* attributes, std::string_view name) {
  if (attributes == nullptr) return nullptr;
  for (const OnnxAttribute& attribute : *attributes) {
    if (attribute.name == name) return &attribute;
  }
  return nullptr;
}

// Inside a function an attribute may stand for one of the call's.
OnnxNode with_arguments(const OnnxNode& node, const OnnxScope& scope) {
  OnnxNode result = node;
  result.attributes.clear();
  for (const OnnxAttribute& attribute : node.attributes) {
    if (attribute.ref_attr_name.empty()) {
      result.attributes.push_back(attribute);
      continue;
    }
    const OnnxAttribute* argument = find_named(scope.arguments, attribute.ref_attr_name);
    if (argument == nullptr) argument = find_named(scope.defaults, attribute.ref_attr_name);
    if (argument == nullptr) continue;
    result.attributes.push_back(*argument);
    result.attributes.back().name = attribute.name;
  }
  return result;
}

bool has_references(const OnnxNode& node) {
  return std::any_of(node.attributes.begin(), node.attributes.end(),
                     [](const OnnxAttribute& attribute) { return !attribute.ref_attr_name.empty(); });
}

}  // namespace

PartialShape declared_shape(const OnnxValueInfo& info) {
  PartialShape shape;
  shape.is_rank_known = info.has_shape;
  for (const OnnxDimension& dim : info.dims) {
    const bool is_static = dim.value && *dim.value >= 0;
    shape.dims.push_back(is_static ? Dimension{*dim.value, *dim.value} : Dimension{});
  }
  return shape;
}

std::map<std::string_view, std::int64_t> opset_map(const std::vector<OnnxOpset>& opsets) {
  std::map<std::string_view, std::int64_t> map;
  for (const OnnxOpset& opset : opsets) {
    if (opset.domain.empty() && (opset.version < 1 || opset.version > kMaxOpset)) {
      fail(ErrorCode::kUnsupported, "opset " + std::to_string(opset.version) + ", known are 1 to " +
                                        std::to_string(kMaxOpset) + ": export the model for one of these");
    }
    map[opset.domain] = opset.version;
  }
  if (map.count("") == 0) map[""] = 1;
  return map;
}

std::vector<std::string_view> output_names(const OnnxGraph& graph) {
  std::vector<std::string_view> names;
  for (const OnnxValueInfo& output : graph.outputs) names.push_back(output.name);
  return names;
}

void OnnxReader::read() {
  OnnxScope scope;
  scope.frame = frame_;
  scope.is_main = true;
  scope.opsets = opset_map(model_.opsets);
  builder().graph().name = model_.graph.name.empty() ? "network" : std::string(model_.graph.name);
  if (model_.graph.outputs.empty()) fail(ErrorCode::kBadModel, "the graph has no outputs");
  declare(model_.graph, scope);
  tensors_.read_ahead(model_.graph.initializers);
  add_parameters(scope);
  convert_nodes(model_.graph.nodes, output_names(model_.graph), scope);
  refusals_.throw_if_any();
  add_results(scope);
  builder().graph().remove_dead();
  builder().store_types();
}

void OnnxReader::declare(const OnnxGraph& graph, OnnxScope& scope) {
  for (const OnnxTensor& tensor : graph.initializers) {
    if (!scope.initializers.emplace(tensor.name, &tensor).second) {
      fail(ErrorCode::kBadModel, "the graph has two initializers named " + quote(tensor.name));
    }
  }
  for (const std::string_view name : graph.sparse_initializers) {
    refusals_.add("sparse initializer", name);
    scope.values[name] = std::nullopt;
  }
  for (const OnnxValueInfo& info : graph.value_infos) scope.value_infos[info.name] = &info;
  for (const OnnxValueInfo& info : graph.outputs) scope.value_infos[info.name] = &info;
}

void OnnxReader::add_parameters(OnnxScope& scope) {
  for (const OnnxValueInfo& info : model_.graph.inputs) {
    // Up to IR version 3 files list their weights among the inputs.
    if (scope.initializers.count(info.name) != 0) continue;
    if (scope.values.count(info.name) != 0) {
      fail(ErrorCode::kBadModel, "the graph has two inputs named " + quote(info.name));
    }
    OnnxValue& value = scope.values[info.name];
    if (info.kind != "tensor") {
      refusals_.add("input of type " + (info.kind.empty() ? "unknown" : std::string(info.kind)), info.name);
      continue;
    }
    try {
      const ElementType type = onnx_element_type(info.elem_type);
      std::vector<std::string_view> dim_names;
      const PartialShape shape = shape_of_info(info, dim_names);
      value = builder().add_parameter(info.name, type, shape);
      builder().add_knowledge(*value, type, shape, dim_names);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kUnsupported) throw;
      refusals_.add(std::string(error.what()) + " of an input", info.name);
    }
  }
}

void OnnxReader::add_results(OnnxScope& scope) {
  std::unordered_map<std::string_view, bool> seen;
  for (const OnnxValueInfo& info : model_.graph.outputs) {
    if (!seen.emplace(info.name, true).second) {
      fail(ErrorCode::kBadModel, "the graph has two outputs named " + quote(info.name));
    }
    if (const OnnxValue value = look_up(info.name, scope)) builder().add_output(info.name, *value);
  }
  refusals_.throw_if_any();  // of a constant that only an output names
}

bool OnnxReader::is_visible(std::string_view name, const OnnxScope& scope) const {
  for (const OnnxScope* at = &scope; at != nullptr; at = at->parent) {
    if (at->values.count(name) != 0 || at->initializers.count(name) != 0) return true;
  }
  return false;
}

OnnxValue OnnxReader::read_initializer(const OnnxTensor& tensor, std::string_view name, OnnxScope& scope) {
  try {
    const PortRef ref = builder().add_constant(tensors_.read(tensor));
    Node& node = builder().graph().at(ref.node);
    node.name = builder().unique_name(scope.prefix + std::string(name));
    if (scope.is_main) node.outputs.at(0).names = {std::string(name)};
    return ref;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnsupported) throw;
    refusals_.add(error.what(), name);
    return std::nullopt;
  }
}

OnnxValue OnnxReader::look_up(std::string_view name, OnnxScope& scope) {
  if (const auto found = scope.values.find(name); found != scope.values.end()) return found->second;
  if (const auto found = scope.initializers.find(name); found != scope.initializers.end()) {
    return scope.values[name] = read_initializer(*found->second, name, scope);
  }
  if (scope.parent == nullptr) fail(ErrorCode::kBadModel, "nothing makes the tensor " + quote(name));
  if (scope.parent->frame == scope.frame) return look_up(name, *scope.parent);
  OnnxValue outer;
  {
    const Temporarily<OnnxFrame*> around(frame_, scope.parent->frame);
    outer = look_up(name, *scope.parent);
  }
  if (!outer) return outer;
  return scope.values[name] = capture(*outer, scope);
}

void OnnxReader::convert_nodes(std::span<const OnnxNode> nodes, std::span<const std::string_view> outputs,
                               OnnxScope& scope) {
  const auto is_outside = [&](std::string_view name) { return is_visible(name, scope); };
  const Temporarily<OnnxScope*> inner(scope_, &scope);
  for (const std::size_t index : order_onnx_nodes(nodes, outputs, is_outside)) convert_node(nodes[index], scope);
}

void OnnxReader::count_node(const OnnxNode& node) {
  if (++node_count_ <= kMaxNodes) return;
  fail(ErrorCode::kBadModel,
       onnx_node_text(node) + ": functions and loops make more than " + std::to_string(kMaxNodes) + " nodes");
}

const OnnxFunction* OnnxReader::find_function(const OnnxNode& node) const {
  for (const OnnxFunction& function : model_.functions) {
    if (function.name == node.op_type && function.domain == node.domain && function.overload == node.overload) {
      return &function;
    }
  }
  return nullptr;
}

void OnnxReader::convert_node(const OnnxNode& node, OnnxScope& scope) {
  count_node(node);
  std::vector<std::optional<PortRef>> inputs;
  bool is_refused = false;
  for (const std::string_view name : node.inputs) {
    inputs.push_back(name.empty() ? std::nullopt : look_up(name, scope));
    is_refused = is_refused || (!name.empty() && !inputs.back());
  }
  std::vector<OnnxValue> outputs;
  if (!is_refused) outputs = run_converter(node, scope, inputs);
  outputs.resize(std::max(outputs.size(), node.outputs.size()));
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].empty()) scope.values[node.outputs[i]] = outputs[i];
  }
}

std::vector<OnnxValue> OnnxReader::run_converter(const OnnxNode& node, OnnxScope& scope,
                                                 const std::vector<std::optional<PortRef>>& inputs) {
  const std::string_view name = node.name.empty() && !node.outputs.empty() ? node.outputs[0] : node.name;
  const Temporarily<std::string> path(node_path_, scope.prefix + std::string(name));
  const Temporarily<std::string> own_type(node_type_, readable(node.op_type));
  std::vector<OnnxValue> outputs;
  const std::int32_t first_new = builder().next_id();
  try {
    const OnnxNode call = has_references(node) ? with_arguments(node, scope) : node;
    if (const OnnxFunction* function = find_function(node)) {
      outputs = call_function(*function, call, scope, inputs);
    } else {
      const auto opset = scope.opsets.find(node.domain);
      const OnnxConverter* converter = find_onnx_converter(node.domain, node.op_type);
      if (converter == nullptr) fail(ErrorCode::kUnsupported, "unknown operator");
      builder().begin_node(node_path_, node_type_);
      OnnxContext context(*this, call, opset == scope.opsets.end() ? 1 : opset->second, inputs);
      for (const PortRef& ref : converter->convert(context)) outputs.emplace_back(ref);
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.outputs[i].empty() && i >= outputs.size()) {
        fail(ErrorCode::kUnsupported, "its output " + std::to_string(i) + " is not computed");
      }
    }
    keep_names(node, outputs, first_new, scope);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnsupported) {
      if (std::string_view(error.what()).starts_with("node '")) throw;
      rethrow_with_prefix(error, onnx_node_text(node));
    }
    outputs.clear();
    const std::string domain = node.domain.empty() ? "" : readable(node.domain) + ".";
    const std::string type = domain + readable(node.op_type);
    const std::string reason = error.what();
    if (reason != kRefusedInside) refusals_.add(reason == "unknown operator" ? type : type + ": " + reason, node_path_);
  }
  return outputs;
}

// The node that makes the first output gets the ONNX node's name, its tensors the file's names and what the file says
// of their shapes.
void OnnxReader::keep_names(const OnnxNode& node, const std::vector<OnnxValue>& outputs, std::int32_t first_new,
                            const OnnxScope& scope) {
  if (!outputs.empty() && outputs[0] && outputs[0]->node.value >= first_new) {
    Node& main = builder().graph().at(outputs[0]->node);
    main.name = builder().unique_name(node_path_);
  }
  for (std::size_t i = 0; i < std::min(outputs.size(), node.outputs.size()); ++i) {
    const std::string_view name = node.outputs[i];
    if (name.empty() || !outputs[i]) continue;
    if (const auto info = scope.value_infos.find(name); info != scope.value_infos.end()) {
      std::vector<std::string_view> dim_names;
      const PartialShape shape = shape_of_info(*info->second, dim_names);
      std::optional<ElementType> type;
      if (info->second->kind == "tensor" && info->second->elem_type != 0) {
        type = onnx_element_type(info->second->elem_type);
      }
      builder().add_knowledge(*outputs[i], type, shape, dim_names);
    }
    if (!scope.is_main) continue;
    auto& names = builder().graph().at(outputs[i]->node).outputs.at(static_cast<std::size_t>(outputs[i]->port)).names;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  }
}

}  // namespace detail

Graph parse_onnx(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  const detail::OnnxModel model = detail::parse_onnx_file(bytes, std::move(owner));
  Graph graph;
  detail::OnnxReader(model, graph).read();
  return graph;
}

Graph read_onnx(const std::string& path) {
  const MappedFile file = map_file(path);
  try {
    detail::OnnxModel model = detail::parse_onnx_file(file.bytes, file.owner);
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    model.folder = folder.empty() ? "." : folder.string();
    Graph graph;
    detail::OnnxReader(model, graph).read();
    return graph;
  } catch (const Error& error) {
    rethrow_with_prefix(error, quote(path));
  }
}

}  // namespace headrace
