// SPDX-License-Identifier: Apache-2.0
// What a CompiledModel holds: the model, its devices, and the networks compiled for the input shapes seen so far.
#pragma once

#include <atomic>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "ops/unknown_value.hpp"
#include "plan/weights_cache.hpp"
#include "runtime/model_impl.hpp"
#include "runtime/network.hpp"
#include "runtime/network_slot.hpp"
#include "runtime/properties.hpp"

namespace headrace {

// Networks by what they are made for, the latest used first; bounded. Thread-safe: two threads that need the same one
// compile once, others are not held up.
class NetworkCache {
 public:
  using Slot = std::shared_ptr<const NetworkSlot>;
  using Make = std::function<Slot(const NetworkKey&)>;

  // Returns the slot for the key, making it if need be. What `make` throws is not kept.
  Slot get(const NetworkKey& key, const Make& make);
  // The one used last, or null.
  Slot latest() const;

 private:
  struct Entry {
    NetworkKey key;
    std::shared_future<Slot> slot;
  };
  mutable std::mutex mutex_;
  std::list<Entry> entries_;
};

class CutModel;

// Immutable but for its caches; thread-safe.
struct CompiledModel::Impl {
  // `fallback` answers while a list's kernels are compiled, where the options ask for that. `store` keeps packed
  // weights between processes.
  Impl(std::shared_ptr<const Model::Impl> model, std::vector<DeviceList> lists, DeviceList fallback,
       CompileOptions options, std::shared_ptr<WeightsStore> store);

  // The network that a run with inputs of these shapes on one of the device lists uses: it may be the fallback's unless
  // the run needs the device itself. Values count only where shapes depend on them.
  using Inputs = std::vector<std::optional<Tensor>>;
  std::shared_ptr<const Network> network(std::size_t list, const std::vector<Shape>& shapes, const Inputs& values,
                                         bool needs_device) const;
  // The networks used last on any list, in running order: one, those of both halves of a model that is cut, or none.
  std::vector<std::shared_ptr<const Network>> latest() const;
  // The halves of a model that one network cannot hold; null where it is not, or has not been met.
  std::shared_ptr<const CutModel> cut() const;
  // The same, cut at the layer that the error names. Throws the error where it names none of the graph's.
  std::shared_ptr<const CutModel> cut_at(const UnknownValue& error) const;
  // Rows for every layer, as far as they are known.
  std::vector<LayerPlacement> placements() const;
  // Whether the fallback answers on some list.
  bool is_starting_up() const;

  // Where a request runs, for good: a device list and one of its streams.
  struct Seat {
    std::size_t list = 0;
    std::size_t stream = 0;
  };
  Seat next_seat() const;
  // Requests that keep every device busy.
  std::size_t count_streams() const;

  const std::shared_ptr<const Model::Impl> model;
  const std::vector<DeviceList> lists;  // more than one for MULTI
  const DeviceList fallback;
  const CompileOptions options;
  const std::vector<PortInfo> inputs;
  const std::vector<PortInfo> outputs;
  const std::vector<std::string> input_layers;
  const std::vector<std::string> output_layers;

 private:
  NetworkCache::Slot slot(std::size_t list, const std::vector<Shape>& shapes, const Inputs& values) const;
  NetworkCache::Slot make_slot(const DeviceList& devices, const NetworkKey& key) const;
  std::shared_ptr<Network> plan(const DeviceList& devices, const NetworkKey& key) const;
  NetworkKey key_of(const std::vector<Shape>& shapes, const Inputs& values) const;
  bool learn_value_inputs(const std::vector<Shape>& shapes, const Inputs& values,
                          const std::vector<PortRef>& sources) const;
  LoadOptions load_options(const DeviceList& devices) const;

  const std::shared_ptr<WeightsStore> store_;
  mutable WeightsCache weights_;
  mutable std::vector<NetworkCache> networks_;  // one per list
  mutable std::atomic<std::size_t> next_request_{0};
  mutable std::mutex cut_mutex_;
  mutable std::shared_ptr<const CutModel> cut_;
  mutable std::mutex value_inputs_mutex_;
  mutable std::set<std::size_t> value_inputs_;  // on whose values shapes depend, as far as it was met
};

}  // namespace headrace
