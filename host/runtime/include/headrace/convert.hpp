// SPDX-License-Identifier: Apache-2.0
// Writing a network as OpenVINO IR, with pre-processing baked in. Included by headrace/headrace.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/shape.hpp"

namespace headrace {

class Model;

// What the network is changed to before it is written. Inputs are named by tensor or layer; "" is the only one.
// When the written network runs, an input goes through these in the order: layout, channels reversed, mean, scale.
struct ConversionOptions {
  std::map<std::string, PartialShape> input_shapes{};  // in the file's layout; "?" leaves a dimension open
  std::vector<std::string> outputs{};                  // tensors or layers; empty: those of the file
  std::optional<std::int64_t> batch{};                 // of every input that has one
  bool compress_to_fp16 = false;
  bool reverse_input_channels = false;  // of every input with three channels

  // One number per channel, or one for all, in the order of the network's own channels.
  struct ChannelValues {
    std::string input;  // "": the only input with so many channels
    std::vector<double> values;
  };
  std::vector<ChannelValues> means{};   // subtracted
  std::vector<ChannelValues> scales{};  // divided by

  struct Layout {
    std::string name;  // an input, or, where `to` is set, also an output
    std::string from;  // the network's own, "nhwc"
    std::string to;    // that of the written network's input or output; empty: the same
  };
  std::vector<Layout> layouts{};
};

struct ConversionReport {
  struct Counts {
    std::int64_t layers = 0;      // without constants, inputs and outputs
    std::int64_t constants = 0;   // tensors
    std::int64_t parameters = 0;  // elements of the constants that are no shapes
    std::int64_t constant_bytes = 0;
    std::optional<std::int64_t> flops;        // of one run; nothing where shapes are open
    std::optional<std::int64_t> moved_bytes;  // read and written by all layers in one run
    std::map<std::string, std::int64_t> layers_by_type;
  };
  struct Change {
    std::string kind;   // "folded" into a constant, "fused" into another layer, "replaced", "removed", "added"
    std::string layer;  // a name of the file, or, of an added one, the new name
    std::string type;
    std::string into;  // what stands for it now, or empty
    std::string into_type;
  };
  struct Pass {
    std::string name;
    double time_ms = 0.0;
    std::int64_t layers_before = 0;
    std::int64_t layers_after = 0;
    std::string skipped;  // why it did not run, or empty
    std::vector<Change> changes;
  };
  struct Kept {
    std::string layer;
    std::string type;
    std::string reason;  // why it was not folded, fused or removed
  };
  struct Port {
    std::string name;
    std::string type;
    std::string shape;
    std::string layout;  // "nhwc", or empty
  };

  std::string name;  // of the network
  std::string xml_path;
  std::string bin_path;
  std::int64_t file_bytes = 0;  // of both together
  std::vector<Port> inputs;     // as written
  std::vector<Port> outputs;
  std::vector<std::string> preprocessing;  // what was baked in, one line each, in the order of running
  Counts before;                           // of the file's network with the wished shapes and outputs
  Counts after;
  std::vector<Pass> passes;  // in the order of running
  std::vector<Kept> kept;
  double optimize_ms = 0.0;
  double write_ms = 0.0;
};

// Called when a stage begins; fraction is between 0 and 1.
using ConversionProgress = std::function<void(double fraction, std::string_view stage)>;

// Writes the network as IR version 11: xml_path, which must end in .xml, and the .bin beside it, each by temporary name
// and rename. Optimizations are those that every reader of IR understands. Throws kInvalidArgument for options that do
// not fit the network, kBadModel where its layers do not fit the shapes, kIo.
ConversionReport convert_model(const Model& model, const std::string& xml_path, const ConversionOptions& options = {},
                               const ConversionProgress& progress = {});

// The network that convert_model writes, before it is optimized: what is left to do but the writing. Of the options
// only compress_to_fp16 is left aside. Throws what convert_model throws for them.
Model bake_model(const Model& model, const ConversionOptions& options);

// The report as one JSON document, and as one HTML page without external resources.
std::string conversion_json(const ConversionReport& report);
std::string conversion_html(const ConversionReport& report);

}  // namespace headrace
