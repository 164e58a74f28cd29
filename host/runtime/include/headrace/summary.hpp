// SPDX-License-Identifier: Apache-2.0
// What a network is made of: layers, shapes, costs, memory over time. Included by headrace/headrace.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headrace {

struct ModelSummary {
  struct TensorInfo {
    std::string type;
    std::string shape;  // "[1,3,224,224]"; empty where it is open
  };
  struct Source {
    std::size_t layer = 0;   // index into layers
    std::size_t output = 0;  // which of its outputs
  };
  struct Layer {
    std::string name;
    std::string type;            // the file's own type name; "Parameter" and "Result" are inputs and outputs
    std::vector<Source> inputs;  // without constants
    std::vector<TensorInfo> outputs;
    // Nothing where shapes are open; zero for inputs and outputs.
    std::optional<std::int64_t> flops;        // a multiply-add counts as two
    std::optional<std::int64_t> moved_bytes;  // read and written in one run
    std::optional<std::int64_t> live_bytes;   // of all tensors that must be kept while the layer runs, its own included
    std::int64_t parameters = 0;              // elements of constants that it reads, those for shapes left out
    std::int64_t weight_bytes = 0;
    std::vector<std::string> fused;  // layers of the file that are computed inside this one
    std::string device;              // where devices were given; empty: none runs it
    int subgraph = -1;
  };

  std::string name;
  std::vector<Layer> layers;         // in running order, inputs and outputs included
  std::vector<std::string> devices;  // that run layers, in the order of the list
  std::int64_t parameters = 0;       // every constant once
  std::int64_t weight_bytes = 0;
  std::optional<std::int64_t> flops;  // nothing where shapes are open
  std::optional<std::int64_t> moved_bytes;
  std::optional<std::int64_t> peak_bytes;  // the most live_bytes
  std::size_t peak_layer = 0;
};

// The summary as one JSON document.
std::string summary_json(const ModelSummary& summary);

// The network as text for Graphviz: a box per layer, coloured by device or, without devices, by the kind of its type.
std::string summary_dot(const ModelSummary& summary);

// One HTML page without external resources; `picture` is an SVG of the network, or empty.
std::string summary_html(const ModelSummary& summary, const std::string& picture);

}  // namespace headrace
