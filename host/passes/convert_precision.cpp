// SPDX-License-Identifier: Apache-2.0
#include "passes/convert_precision.hpp"

#include "passes/make_node.hpp"

namespace headrace {
namespace {

// f32 readers of an f16 Parameter or constant; Results keep reading the original.
void widen_source(Rewriter& rewriter, PortRef source) {
  const std::vector<Graph::User> users = rewriter.users(source);
  PortRef widened;
  for (const Graph::User& user : users) {
    if (rewriter.graph().at(user.node).type == "Result") continue;
    if (!widened.node.is_valid()) {
      const Node& node = rewriter.graph().at(source);
      const std::string name = node.name + "/f32";
      widened = node.type == "Const" ? rewriter.add_const(name, convert(node.value, ElementType::f32))
                                     : add_op(rewriter, "Convert", name, {source}, {{"destination_type", "f32"}});
    }
    rewriter.set_input(user.node, static_cast<std::size_t>(user.input), widened);
  }
}

// One Convert back to f16 for all Results of a tensor; it gets the tensor's names, by which users know the output.
void narrow_results(Rewriter& rewriter, PortRef source) {
  const std::vector<Graph::User> users = rewriter.users(source);
  PortRef narrowed;
  for (const Graph::User& user : users) {
    if (rewriter.graph().at(user.node).type != "Result") continue;
    if (!narrowed.node.is_valid()) {
      narrowed = add_op(rewriter, "Convert", rewriter.graph().at(source).name + "/f16", {source},
                        {{"destination_type", "f16"}});
      auto& names = rewriter.at(source.node).outputs[static_cast<std::size_t>(source.port)].names;
      rewriter.at(narrowed.node).outputs[0].names = std::move(names);
      names.clear();
    }
    rewriter.set_input(user.node, static_cast<std::size_t>(user.input), narrowed);
  }
}

}  // namespace

void widen_attributes(Node& node) {
  const auto values = node.attributes.values();
  for (const auto& [name, value] : values) {
    const auto* text = std::get_if<std::string>(&value);
    if (text != nullptr && *text == "f16" && name.ends_with("type")) node.attributes.set(name, std::string("f32"));
  }
}

void convert_precision(Graph& graph) {
  const auto order = graph.topological_order();
  Rewriter rewriter(graph);
  for (const NodeId id : order) {
    const std::size_t count = graph.at(id).outputs.size();
    const bool is_source = graph.at(id).type == "Parameter" || graph.at(id).type == "Const";
    bool is_changed = false;
    for (std::size_t i = 0; i < count; ++i) {
      const PortRef port{id, static_cast<std::int32_t>(i)};
      if (graph.info(port).type != ElementType::f16) continue;
      is_changed = true;
      if (is_source) {
        widen_source(rewriter, port);
      } else {
        rewriter.at(id).outputs[i].type = ElementType::f32;
        narrow_results(rewriter, port);
      }
    }
    if (is_changed && !is_source) widen_attributes(rewriter.at(id));
  }
  graph.remove_dead();
}

}  // namespace headrace
