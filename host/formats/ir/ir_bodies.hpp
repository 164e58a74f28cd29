// SPDX-License-Identifier: Apache-2.0
// Joins the graphs inside If, Loop and TensorIterator to their layers' ports, as port maps and back edges say.
#pragma once

#include <map>

#include "formats/ir/ir_file.hpp"
#include "graph/graph.hpp"

namespace headrace::detail {

// `ids` are the nodes of the body's graph by their layers' ids. Throws kBadModel naming what a map names wrongly.
Body join_body(const IrLayer& layer, const IrBody& body, Graph graph, const std::map<std::int64_t, NodeId>& ids);

}  // namespace headrace::detail
