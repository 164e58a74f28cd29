// SPDX-License-Identifier: Apache-2.0
#include "passes/input_channels.hpp"

#include <algorithm>
#include <cctype>

#include "core/file.hpp"
#include "ops/descriptor.hpp"

namespace headrace {
namespace {

std::string list_inputs(const Graph& graph) {
  std::string list;
  for (const NodeId id : graph.parameters()) list += (list.empty() ? "" : ", ") + quote(input_name(graph, id));
  return list.empty() ? "none" : list;
}

bool answers_to(const Node& parameter, std::string_view name) {
  const auto& names = parameter.outputs.at(0).names;
  return parameter.name == name || std::find(names.begin(), names.end(), name) != names.end();
}

bool has_channels(const Dimension& dim, std::int64_t channels) {
  if (!dim.is_static()) return false;
  return channels == 0 ? dim.min == 1 || dim.min == 3 : dim.min == channels;
}

}  // namespace

NodeId find_parameter(const Graph& graph, std::string_view name, std::string_view option) {
  const auto& parameters = graph.parameters();
  if (name.empty() && parameters.size() == 1) return parameters.front();
  for (const std::string& wanted : {std::string(name), std::string(name) + ":0"}) {
    const auto found =
        std::find_if(parameters.begin(), parameters.end(), [&](NodeId id) { return answers_to(graph.at(id), wanted); });
    if (!name.empty() && found != parameters.end()) return *found;
  }
  const std::string what =
      name.empty() ? "the model has several inputs, name one" : "the model has no input " + quote(name);
  fail(ErrorCode::kInvalidArgument, std::string(option) + ": " + what + "; its inputs: " + list_inputs(graph));
}

bool is_input_name(const Graph& graph, std::string_view name) {
  const auto& parameters = graph.parameters();
  return name.empty() ||
         std::any_of(parameters.begin(), parameters.end(), [&](NodeId id) { return answers_to(graph.at(id), name); });
}

std::string layout_of(const Node& parameter) {
  if (!parameter.attributes.has("layout")) return "";
  std::string letters;
  for (const char c : parameter.attributes.get_string("layout")) {
    const bool is_letter = std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '?';
    if (is_letter) letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return letters;
}

std::optional<std::size_t> find_channel_axis(const Node& parameter, std::int64_t channels) {
  const PartialShape& shape = parameter.declared_shape;
  if (const std::string layout = layout_of(parameter); !layout.empty()) {
    const std::size_t axis = layout.find('c');
    if (axis == std::string::npos || !shape.is_rank_known || layout.size() != shape.dims.size()) return std::nullopt;
    const bool fits = channels == 0 || !shape.dims[axis].is_static() || has_channels(shape.dims[axis], channels);
    return fits ? std::optional(axis) : std::nullopt;
  }
  if (!shape.is_rank_known || shape.dims.size() != 4) return std::nullopt;
  const bool is_second = has_channels(shape.dims[1], channels);
  const bool is_last = has_channels(shape.dims[3], channels);
  if (is_second == is_last) return std::nullopt;
  return is_second ? 1 : 3;
}

std::size_t channel_axis(const Graph& graph, NodeId parameter, std::int64_t channels, std::string_view option) {
  const Node& node = graph.at(parameter);
  if (const auto axis = find_channel_axis(node, channels)) return *axis;
  const std::string layout = layout_of(node).empty() ? "" : " and the layout " + layout_of(node);
  const std::string count = channels == 0 ? "a" : "one axis of " + std::to_string(channels) + " elements as the";
  fail(ErrorCode::kInvalidArgument, std::string(option) + ": input " + quote(input_name(graph, parameter)) +
                                        " has the shape " + to_string(node.declared_shape) + layout + ", in which " +
                                        count + " channel axis cannot be told; say where it is with --layout " +
                                        input_name(graph, parameter) + "(nhwc)");
}

NodeId find_numbers_input(const Graph& graph, const ChannelNumbers& numbers, std::string_view option) {
  const auto& parameters = graph.parameters();
  if (!numbers.input.empty() || parameters.size() == 1) return find_parameter(graph, numbers.input, option);
  std::vector<NodeId> fitting;
  const auto channels = static_cast<std::int64_t>(numbers.values.size());
  std::copy_if(parameters.begin(), parameters.end(), std::back_inserter(fitting),
               [&](NodeId id) { return find_channel_axis(graph.at(id), channels == 1 ? 0 : channels).has_value(); });
  if (fitting.size() == 1) return fitting.front();
  return find_parameter(graph, "", option);  // which lists the inputs
}

PortRef add_unresolved_op(Rewriter& rewriter, std::string_view type, const std::string& name,
                          std::vector<PortRef> inputs, ElementType element_type, std::int32_t opset) {
  const OpDescriptor* op = find_op(type);
  HEADRACE_ASSERT(op != nullptr, "an operator of pre-processing is not built in");
  Node node;
  node.name = name;
  node.type = std::string(type);
  node.opset = opset;
  node.attributes = op->parse(type, opset, {});
  node.inputs = std::move(inputs);
  node.outputs.resize(1);
  node.outputs[0].type = element_type;
  return rewriter.add(std::move(node));
}

void insert_behind(Rewriter& rewriter, NodeId parameter, const std::vector<Graph::User>& readers, PortRef last) {
  for (const Graph::User& reader : readers) {
    if (reader.node != parameter) rewriter.set_input(reader.node, static_cast<std::size_t>(reader.input), last);
  }
}

std::string new_name(const Graph& graph, NodeId parameter, std::string_view suffix) {
  const std::string base = graph.at(parameter).name + "/" + std::string(suffix);
  const auto nodes = graph.nodes();
  std::string name = base;
  for (int i = 2;; ++i) {
    const bool is_taken = std::any_of(nodes.begin(), nodes.end(), [&](NodeId id) { return graph.at(id).name == name; });
    if (!is_taken) return name;
    name = base + "_" + std::to_string(i);
  }
}

}  // namespace headrace
