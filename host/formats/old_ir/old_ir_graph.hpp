// SPDX-License-Identifier: Apache-2.0
// The walk over one network of an old IR, or the body of one of its layers.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "formats/import/import_builder.hpp"
#include "formats/import/refusals.hpp"
#include "formats/old_ir/old_ir_context.hpp"

namespace headrace::detail {

using OldIrPortId = std::pair<std::int64_t, std::int64_t>;  // layer, port

// Not thread-safe.
class OldIrGraph {
 public:
  OldIrGraph(const OldIrFile& file, const WeightsBlob& weights, Graph& graph)
      : file_(file), weights_(weights), graph_(graph), builder_(graph) {}
  // A body.
  OldIrGraph(const OldIrFile& file, const WeightsBlob& weights, Graph& graph, const ImportBuilder& outer)
      : file_(file), weights_(weights), graph_(graph), builder_(graph, outer) {}

  // Reads the whole network.
  void read();

  // For bodies: makes an input port that no edge feeds a Parameter, before the layers are read; makes an output port a
  // Result behind that. Each returns the node. Throw kBadModel where there is no such port.
  NodeId add_parameter(const OldIrPortId& port);
  void read_layers();
  NodeId add_result(const OldIrPortId& port);
  void store_types() { builder_.store_types(); }

 private:
  void connect();
  std::vector<std::size_t> order() const;
  void convert(const OldIrLayer& layer);
  std::vector<PortRef> run_converter(const OldIrLayer& layer, OldIrContext& context);
  PortRef add_input(const OldIrLayer& layer, OldIrContext& context);
  PortRef without_means(PortRef x, const Shape& shape, OldIrContext& context);
  void keep(const OldIrLayer& layer, const OldIrContext& context, const std::vector<PortRef>& outputs,
            std::int32_t first_new);
  void add_results();

  const OldIrFile& file_;
  const WeightsBlob& weights_;
  Graph& graph_;
  ImportBuilder builder_;
  Refusals refusals_;
  std::map<OldIrPortId, std::string> names_;    // of output ports and of a body's inputs
  std::set<std::string, std::less<>> outside_;  // names of a body's inputs
  std::map<OldIrPortId, OldIrPortId> sources_;  // of input ports
  std::set<OldIrPortId> read_;                  // output ports that some layer reads
  std::map<OldIrPortId, PortRef> values_;
  bool has_input_ = false;
};

// Emits a TensorIterator: its body as a graph of its own, joined by its port map.
std::vector<PortRef> add_tensor_iterator(ImportBuilder& builder, const OldIrLayer& layer, const WeightsBlob& weights,
                                         const std::vector<PortRef>& inputs);

}  // namespace headrace::detail
