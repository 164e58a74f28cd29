// SPDX-License-Identifier: Apache-2.0
// What a CompiledModel holds: the model, its devices, and the networks compiled for the input shapes seen so far.
#pragma once

#include <atomic>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "plan/weights_cache.hpp"
#include "runtime/model_impl.hpp"
#include "runtime/network.hpp"
#include "runtime/properties.hpp"

namespace headrace {

// Networks by input shapes, the latest used first; bounded. Thread-safe: two threads that need the same shapes compile
// once, other shapes are not held up.
class NetworkCache {
 public:
  using Make = std::function<std::shared_ptr<const Network>(std::span<const Shape>)>;

  // Returns the network for these shapes, making it if need be. What `make` throws is not kept.
  std::shared_ptr<const Network> get(const std::vector<Shape>& shapes, const Make& make);
  // The one used last, or null.
  std::shared_ptr<const Network> latest() const;

 private:
  struct Entry {
    std::vector<Shape> shapes;
    std::shared_future<std::shared_ptr<const Network>> network;
  };
  mutable std::mutex mutex_;
  std::list<Entry> entries_;
};

// Immutable but for its caches; thread-safe.
struct CompiledModel::Impl {
  // `store` keeps packed weights between processes.
  Impl(std::shared_ptr<const Model::Impl> model, std::vector<DeviceList> lists, CompileOptions options,
       std::shared_ptr<WeightsStore> store);

  // The network for these input shapes on one of the device lists.
  std::shared_ptr<const Network> network(std::size_t list, const std::vector<Shape>& shapes) const;
  // The network used last on any list, or null.
  std::shared_ptr<const Network> latest() const;
  // The list that the next request runs on.
  std::size_t next_list() const { return next_list_++ % lists.size(); }

  const std::shared_ptr<const Model::Impl> model;
  const std::vector<DeviceList> lists;  // more than one for MULTI
  const CompileOptions options;
  const std::vector<PortInfo> inputs;
  const std::vector<PortInfo> outputs;
  const std::vector<std::string> input_layers;
  const std::vector<std::string> output_layers;

 private:
  mutable WeightsCache weights_;
  mutable std::vector<NetworkCache> networks_;  // one per list
  mutable std::atomic<std::size_t> next_list_{0};
};

}  // namespace headrace
