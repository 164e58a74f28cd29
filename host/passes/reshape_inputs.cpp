// SPDX-License-Identifier: Apache-2.0
#include "passes/reshape_inputs.hpp"

#include "core/file.hpp"
#include "passes/input_channels.hpp"

namespace headrace {
namespace {

void declare(Node& parameter, PartialShape shape) {
  OutputInfo& info = parameter.outputs.at(0);
  info.is_resolved = shape.is_static();
  info.shape = info.is_resolved ? shape.to_shape() : Shape{};
  parameter.declared_shape = std::move(shape);
}

std::optional<std::size_t> batch_axis(const Node& parameter) {
  const PartialShape& shape = parameter.declared_shape;
  if (!shape.is_rank_known) return std::nullopt;
  const std::string layout = layout_of(parameter);
  if (!layout.empty()) {
    const std::size_t axis = layout.find('n');
    return axis < shape.dims.size() ? std::optional(axis) : std::nullopt;
  }
  return shape.dims.size() >= 2 ? std::optional<std::size_t>(0) : std::nullopt;
}

}  // namespace

void reshape_inputs(Graph& graph, const std::map<std::string, PartialShape>& shapes) {
  for (const auto& [name, shape] : shapes) {
    Node& parameter = graph.at(find_parameter(graph, name, "--input-shape"));
    const PartialShape& old = parameter.declared_shape;
    if (old.is_rank_known && shape.is_rank_known && old.dims.size() != shape.dims.size()) {
      fail(ErrorCode::kInvalidArgument, "--input-shape: input " + quote(input_name(graph, parameter.id)) +
                                            " is declared " + to_string(old) + ", which has another rank than " +
                                            to_string(shape));
    }
    declare(parameter, shape);
  }
}

std::vector<std::string> set_batch(Graph& graph, std::int64_t batch) {
  std::vector<std::string> changed;
  for (const NodeId id : graph.parameters()) {
    Node& parameter = graph.at(id);
    const auto axis = batch_axis(parameter);
    if (!axis) continue;
    PartialShape shape = parameter.declared_shape;
    const Dimension old = shape.dims[*axis];
    const bool is_batch = !old.is_static() || old.min == 1 || old.min == batch;
    if (!is_batch) {
      fail(ErrorCode::kInvalidArgument, "--batch: axis " + std::to_string(*axis) + " of input " +
                                            quote(input_name(graph, id)) + " " + to_string(shape) +
                                            " does not look like a batch; say where it is with --layout or give the " +
                                            "shape with --input-shape");
    }
    shape.dims[*axis] = {batch, batch};
    declare(parameter, std::move(shape));
    changed.push_back(input_name(graph, id));
  }
  check(!changed.empty(), ErrorCode::kInvalidArgument, "--batch: no input of the model has a batch axis");
  return changed;
}

}  // namespace headrace
