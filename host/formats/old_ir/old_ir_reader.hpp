// SPDX-License-Identifier: Apache-2.0
// Reads IR of versions 2 to 7 (2017 to 2019) into a Graph of today's operators.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/ir/ir_reader.hpp"
#include "graph/graph.hpp"

namespace headrace {

// Whether the text is an IR of a version that read_old_ir reads: looks at the version in its <net ...> alone.
bool is_old_ir(std::string_view xml);

// Reads an .xml file and its weights: `weights_path`, or the file with the same stem and the ending .bin. Logs one line
// that says that the network was upgraded. Inputs and results of precision FP16 are f32. Layer names and `source_type`
// are the file's; what a layer is made of is called "NAME/IrType". Outputs are the ports that no layer reads, named as
// their layer (NAME.i where it has several).
// Throws kIo (a file cannot be read), kBadModel (damaged, with the layer's name; a layer whose shape by its attributes
// is not the one in the file) or kUnsupported (all unsupported layers at once), each with the path.
Graph read_old_ir(const std::string& xml_path, const std::string& weights_path = "");

// Reads an old IR from memory; as read_old_ir, but messages carry no path of the XML, and nothing is logged.
Graph parse_old_ir(std::string_view xml, const WeightsBlob& weights);

}  // namespace headrace
