// SPDX-License-Identifier: Apache-2.0
#include "passes/normalize_input.hpp"

#include <cmath>

#include "core/file.hpp"
#include "passes/make_node.hpp"

namespace headrace {
namespace {

struct Normalization {
  std::string_view option;  // as the user writes it
  std::string_view type;    // of the node
  std::string_view suffix;  // of the node's name
  bool is_divisor = false;
};

void check_values(const Normalization& what, const std::vector<double>& values) {
  check(!values.empty(), ErrorCode::kInvalidArgument, std::string(what.option) + ": no numbers");
  for (const double value : values) {
    const auto stored = static_cast<float>(value);
    const bool is_fine = std::isfinite(stored) && !(what.is_divisor && stored == 0.0F);
    if (!is_fine) {
      fail(ErrorCode::kInvalidArgument, std::string(what.option) + ": " + std::to_string(value) + " is no number to " +
                                            (what.is_divisor ? "divide by" : "subtract"));
    }
  }
}

// One number stands for every channel, and then needs no axis.
Shape constant_shape(const Graph& graph, NodeId id, const Normalization& what, std::size_t count) {
  if (count == 1) return {};
  const auto channels = static_cast<std::int64_t>(count);
  const std::size_t axis = channel_axis(graph, id, channels, what.option);
  Shape shape(graph.at(id).declared_shape.dims.size(), 1);
  shape.at(axis) = channels;
  return shape;
}

std::string normalize(Graph& graph, const Normalization& what, const ChannelNumbers& numbers) {
  check_values(what, numbers.values);
  const NodeId id = find_numbers_input(graph, numbers, what.option);
  const ElementType type = graph.info({id, 0}).type;
  if (!is_floating(type)) {
    fail(ErrorCode::kInvalidArgument, std::string(what.option) + ": input " + quote(input_name(graph, id)) +
                                          " has the element type " + std::string(to_string(type)) +
                                          ", which holds no fractions");
  }
  const Shape shape = constant_shape(graph, id, what, numbers.values.size());
  Rewriter rewriter(graph);
  const std::vector<Graph::User> readers = rewriter.users({id, 0});
  const std::string name = new_name(graph, id, what.suffix);
  const PortRef constant = rewriter.add_const(name + "/values", convert(make_f32(shape, numbers.values), type));
  insert_behind(rewriter, id, readers, add_unresolved_op(rewriter, what.type, name, {{id, 0}, constant}, type));
  return input_name(graph, id);
}

}  // namespace

std::string subtract_mean(Graph& graph, const ChannelNumbers& mean) {
  return normalize(graph, {"--mean", "Subtract", "mean", false}, mean);
}

std::string divide_scale(Graph& graph, const ChannelNumbers& scale) {
  return normalize(graph, {"--scale", "Divide", "scale", true}, scale);
}

}  // namespace headrace
