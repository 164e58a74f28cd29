// SPDX-License-Identifier: Apache-2.0
// Reads a model file of any format that Headrace knows.
#pragma once

#include <string>

#include "graph/graph.hpp"

namespace headrace {

// Chooses the reader by the file's ending (.xml, .onnx, .prototxt), else by its first bytes (.pb); a .caffemodel stands
// for the .prototxt beside it. Throws what the reader throws, kBadModel for a file of no known format, kInvalidArgument
// where weights are named for a format that has none.
Graph read_model_file(const std::string& path, const std::string& weights_path);

}  // namespace headrace
