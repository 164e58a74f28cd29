// SPDX-License-Identifier: Apache-2.0
#include "passes/convert_precision.hpp"

#include <cmath>
#include <limits>

#include "core/log.hpp"
#include "passes/make_node.hpp"

namespace headrace {
namespace {

// `value` is a u64 constant as i64.
void check_range(const std::string& name, const Tensor& value) {
  for (const std::int64_t number : value.values<std::int64_t>()) {
    if (number >= 0) continue;
    fail(ErrorCode::kUnsupported, "constant '" + name + "' holds " +
                                      std::to_string(static_cast<std::uint64_t>(number)) +
                                      ", u64 is computed as i64, which ends at 2^63 - 1");
  }
}

// The constant in its computed type. A double that no float reaches becomes the largest one: exporters write the lowest
// double as "minus infinity" into attention masks, where a real one would turn a row that is masked throughout to NaN.
Tensor widen(const std::string& name, const Tensor& value, ElementType wide) {
  Tensor result = convert(value, wide);
  if (value.type() == ElementType::u64) check_range(name, result);
  if (value.type() != ElementType::f64) return result;
  const Tensor source = value.aligned_copy();
  const std::span<const double> doubles = source.values<double>();
  const std::span<float> floats = result.mutable_values<float>();
  std::size_t clamped = 0;
  for (std::size_t i = 0; i < doubles.size(); ++i) {
    if (std::isfinite(floats[i]) || !std::isfinite(doubles[i])) continue;
    floats[i] = std::copysign(std::numeric_limits<float>::max(), floats[i]);
    ++clamped;
  }
  if (clamped != 0) {
    log(LogLevel::kWarn, "convert_precision",
        "constant '" + name + "': " + std::to_string(clamped) +
            " values of f64, which is computed as f32, were set to 3.4e38");
  }
  return result;
}

// Readers of a Parameter or constant in its computed type; Results keep reading the original.
void widen_source(Rewriter& rewriter, PortRef source) {
  const ElementType wide = computed_type(rewriter.graph().info(source).type);
  const std::string wide_name(to_string(wide));
  const std::vector<Graph::User> users = rewriter.users(source);
  PortRef widened;
  for (const Graph::User& user : users) {
    if (rewriter.graph().at(user.node).type == "Result") continue;
    if (!widened.node.is_valid()) {
      const Node& node = rewriter.graph().at(source);
      const std::string name = node.name + "/" + wide_name;
      widened = node.type == "Const" ? rewriter.add_const(name, widen(node.name, node.value, wide))
                                     : add_op(rewriter, "Convert", name, {source}, {{"destination_type", wide_name}});
    }
    rewriter.set_input(user.node, static_cast<std::size_t>(user.input), widened);
  }
}

// One Convert back to the stored type for all Results of a tensor; it gets the tensor's names, by which users know the
// output.
void narrow_results(Rewriter& rewriter, PortRef source, ElementType type) {
  const std::string type_name(to_string(type));
  const std::vector<Graph::User> users = rewriter.users(source);
  PortRef narrowed;
  for (const Graph::User& user : users) {
    if (rewriter.graph().at(user.node).type != "Result") continue;
    if (!narrowed.node.is_valid()) {
      narrowed = add_op(rewriter, "Convert", rewriter.graph().at(source).name + "/" + type_name, {source},
                        {{"destination_type", type_name}});
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
    if (text == nullptr || !name.ends_with("type")) continue;
    const std::optional<ElementType> type = find_element_type(*text);
    if (type && !is_computed_type(*type)) node.attributes.set(name, std::string(to_string(computed_type(*type))));
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
      const ElementType type = graph.info(port).type;
      if (is_computed_type(type)) continue;
      is_changed = true;
      if (is_source) {
        widen_source(rewriter, port);
      } else {
        rewriter.at(id).outputs[i].type = computed_type(type);
        narrow_results(rewriter, port, type);
      }
    }
    if (is_changed && !is_source) widen_attributes(rewriter.at(id));
  }
  graph.remove_dead();
}

}  // namespace headrace
