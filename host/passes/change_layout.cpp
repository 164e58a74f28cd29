// SPDX-License-Identifier: Apache-2.0
#include "passes/change_layout.hpp"

#include <algorithm>

#include "core/file.hpp"
#include "passes/input_channels.hpp"

namespace headrace {
namespace {

constexpr std::string_view kOption = "--layout";

std::string checked(const std::string& layout) {
  std::string letters;
  for (const char c : layout) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool is_letter = (lower >= 'a' && lower <= 'z') || lower == '?';
    const bool is_new = lower == '?' || letters.find(lower) == std::string::npos;
    if (!is_letter || !is_new) {
      fail(ErrorCode::kInvalidArgument, "--layout: " + quote(layout) + " is no layout like nhwc");
    }
    letters += lower;
  }
  return letters;
}

// "[N,H,W,C]", as OpenVINO writes it.
std::string attribute_text(const std::string& letters) {
  std::string text = "[";
  for (const char c : letters) {
    if (text.size() > 1) text += ',';
    text += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return text + "]";
}

// order[i] is the axis of `source` that becomes axis i of `target`.
std::vector<std::int64_t> transpose_order(const std::string& source, const std::string& target) {
  std::vector<std::int64_t> order;
  for (const char c : target) {
    const std::size_t axis = source.find(c);
    const bool fits = c != '?' && axis != std::string::npos && source.size() == target.size();
    if (!fits) {
      fail(ErrorCode::kInvalidArgument,
           "--layout: " + quote(source) + " and " + quote(target) + " must have the same letters, each once");
    }
    order.push_back(static_cast<std::int64_t>(axis));
  }
  return order;
}

PortRef add_transpose(Rewriter& rewriter, const std::string& name, PortRef source,
                      const std::vector<std::int64_t>& order) {
  const Shape shape{static_cast<std::int64_t>(order.size())};
  const PortRef constant = rewriter.add_const(name + "/order", make_i64_tensor(shape, order));
  const ElementType type = rewriter.graph().info(source).type;
  return add_unresolved_op(rewriter, "Transpose", name, {source, constant}, type);
}

void change_input(Graph& graph, NodeId id, const std::string& from, const std::string& to) {
  set_layout(graph, input_name(graph, id), from);
  const std::vector<std::int64_t> back = transpose_order(to, from);
  const std::vector<std::int64_t> there = transpose_order(from, to);
  PartialShape shape = graph.at(id).declared_shape;
  if (shape.is_rank_known) {
    for (std::size_t i = 0; i < there.size(); ++i) {
      shape.dims[i] = graph.at(id).declared_shape.dims[static_cast<std::size_t>(there[i])];
    }
  }
  graph.at(id).declared_shape = shape;
  OutputInfo& info = graph.at(id).outputs.at(0);
  info.is_resolved = shape.is_static();
  info.shape = info.is_resolved ? shape.to_shape() : Shape{};
  set_layout(graph, input_name(graph, id), to);
  Rewriter rewriter(graph);
  const std::vector<Graph::User> readers = rewriter.users({id, 0});
  insert_behind(rewriter, id, readers, add_transpose(rewriter, new_name(graph, id, "layout"), {id, 0}, back));
}

// The output keeps its name: the Transpose takes it over.
void change_output(Graph& graph, NodeId result, const std::string& from, const std::string& to) {
  const PortRef source = graph.at(result).inputs.at(0);
  const std::string name = output_name(graph, result);
  Rewriter rewriter(graph);
  const PortRef last =
      add_transpose(rewriter, new_name(graph, source.node, "layout"), source, transpose_order(from, to));
  rewriter.set_input(result, 0, last);
  auto& names = rewriter.at(source.node).outputs.at(static_cast<std::size_t>(source.port)).names;
  rewriter.at(last.node).outputs[0].names = names.empty() ? std::vector<std::string>{name} : std::move(names);
  names.clear();
}

}  // namespace

void set_layout(Graph& graph, const std::string& input, const std::string& layout) {
  const std::string letters = checked(layout);
  const NodeId id = find_parameter(graph, input, kOption);
  const PartialShape& shape = graph.at(id).declared_shape;
  if (shape.is_rank_known && shape.dims.size() != letters.size()) {
    fail(ErrorCode::kInvalidArgument, "--layout: " + quote(layout) + " has " + std::to_string(letters.size()) +
                                          " letters, input " + quote(input_name(graph, id)) + " the shape " +
                                          to_string(shape));
  }
  graph.at(id).attributes.set("layout", attribute_text(letters));
}

void change_layout(Graph& graph, const std::string& name, const std::string& from, const std::string& to) {
  const std::string source = checked(from);
  const std::string target = checked(to);
  const auto& results = graph.results();
  const auto output = std::find_if(results.begin(), results.end(),
                                   [&](NodeId id) { return !name.empty() && output_name(graph, id) == name; });
  if (output != results.end() && !is_input_name(graph, name)) {
    change_output(graph, *output, source, target);
  } else {
    change_input(graph, find_parameter(graph, name, kOption), source, target);
  }
}

}  // namespace headrace
