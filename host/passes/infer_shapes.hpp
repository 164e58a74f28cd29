// SPDX-License-Identifier: Apache-2.0
// Gives every tensor of a graph its element type and concrete shape.
#pragma once

#include <map>
#include <string>

#include "graph/graph.hpp"

namespace headrace {

// Fills OutputInfo's type, shape and is_resolved of every node, in topological order. Parameters get their shape from
// input_shapes (by any name of the input: tensor name or layer name) or from a static declared_shape. Values that are
// known before the run (constants, shapes, small computations on them) are followed, so that a Reshape whose target
// comes from ShapeOf and Gather is resolved. Can be run again with other shapes.
// Throws kInvalidArgument where an input's shape stays unknown, does not fit its declaration, or is given for no
// input; kUnsupported for an unknown operator; UnknownValue (ops/unknown_value.hpp) where a shape depends on a value
// that is not known; what the operator's infer throws, with "layer 'NAME' (TYPE): " before.
void infer_shapes(Graph& graph, const std::map<std::string, Shape>& input_shapes = {});

// The same as far as it goes where inputs have open dimensions: what depends on those stays unresolved. Returns whether
// every tensor is resolved.
bool infer_known_shapes(Graph& graph);

}  // namespace headrace
