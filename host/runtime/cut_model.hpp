// SPDX-License-Identifier: Apache-2.0
// A model that is run in two halves: the output shapes of one of its layers hang on values that only a run gives.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "passes/cut_at_layer.hpp"
#include "runtime/compiled_model_impl.hpp"

namespace headrace {

// Both halves are compiled models of their own, and may be cut again. Immutable but for the tail, which is made when
// the first run tells the element types of its inputs. Thread-safe.
class CutModel {
 public:
  using Compiled = std::shared_ptr<const CompiledModel::Impl>;
  using Compile = std::function<Compiled(Graph graph, bool is_tail)>;

  // Compiles the head.
  CutModel(LayerCut cut, Compile compile);

  const LayerCut& cut() const { return cut_; }
  const Compiled& head() const { return head_; }
  // The tail for inputs of these types.
  Compiled tail(std::span<const Tensor> inputs) const;
  // Null before a run has made it.
  Compiled tail_if_made() const;

 private:
  LayerCut cut_;
  Compile compile_;
  Compiled head_;
  mutable std::mutex mutex_;
  mutable Compiled tail_;
};

// The lists for the tail: new shapes come with every run, and the host needs no kernels compiled for them, so it is
// alone where it is on the list.
std::vector<DeviceList> tail_lists(const std::vector<DeviceList>& lists);

// Rows for a tail that has not been placed: every layer on the list's first device, the others refused by `reason`.
std::vector<LayerPlacement> list_unplaced(const Graph& tail, const DeviceList& devices, const std::string& reason);

// The part of a graph with these input shapes whose own shapes are known before the run: all of it, or what does not
// depend on certain layers, named in a warning unless `is_quiet`. Ids stay what they are.
Graph known_part(Graph graph, std::span<const Shape> input_shapes, bool is_quiet = false);

// Why what lies behind such a layer runs where it runs.
std::string reason_of_cut(const Node& layer);

// The row of the layer between the halves.
LayerPlacement placement_of_cut(const Node& layer, const DeviceList& devices);

// All rows of a model that is cut, their subgraphs numbered through.
std::vector<LayerPlacement> join_placements(std::vector<LayerPlacement> head, LayerPlacement layer,
                                            std::vector<LayerPlacement> tail);

}  // namespace headrace
