// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "core/file.hpp"
#include "core/log.hpp"
#include "runtime/compiled_model_impl.hpp"
#include "runtime/infer_request_impl.hpp"

namespace headrace {
namespace {

// Plans are small beside the weights that they share; more shapes than these at a time are rare.
constexpr std::size_t kMaxNetworks = 8;

std::vector<Shape> static_shapes(const std::vector<PortInfo>& inputs) {
  std::vector<Shape> shapes;
  for (const PortInfo& input : inputs) shapes.push_back(input.shape.to_shape());
  return shapes;
}

// The model's weights stay in its file; what is needed again is read from there.
void drop_weight_pages(const Graph& graph) {
  for (const NodeId id : graph.nodes()) {
    const Tensor& value = graph.at(id).value;
    if (value.is_read_only()) drop_file_pages({value.data(), value.size_bytes()});
  }
}

}  // namespace

std::shared_ptr<const Network> NetworkCache::get(const std::vector<Shape>& shapes, const Make& make) {
  std::promise<std::shared_ptr<const Network>> promise;
  std::shared_future<std::shared_ptr<const Network>> found;
  {
    const std::lock_guard lock(mutex_);
    const auto entry =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.shapes == shapes; });
    if (entry != entries_.end()) {
      entries_.splice(entries_.begin(), entries_, entry);
      found = entry->network;
    } else {
      entries_.push_front({shapes, promise.get_future().share()});
      if (entries_.size() > kMaxNetworks) entries_.pop_back();
    }
  }
  if (found.valid()) return found.get();
  try {
    auto network = make(shapes);
    promise.set_value(network);
    return network;
  } catch (...) {
    promise.set_exception(std::current_exception());
    const std::lock_guard lock(mutex_);
    entries_.remove_if([&](const Entry& e) { return e.shapes == shapes; });
    throw;
  }
}

std::shared_ptr<const Network> NetworkCache::latest() const {
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_) {
    if (entry.network.wait_for(std::chrono::seconds(0)) == std::future_status::ready) return entry.network.get();
  }
  return nullptr;
}

CompiledModel::Impl::Impl(std::shared_ptr<const Model::Impl> compiled, std::vector<DeviceList> device_lists,
                          CompileOptions compile_options, std::shared_ptr<WeightsStore> store)
    : model(std::move(compiled)),
      lists(std::move(device_lists)),
      options(compile_options),
      inputs(input_ports(*model)),
      outputs(output_ports(*model)),
      input_layers(headrace::input_layers(*model->graph)),
      output_layers(headrace::output_layers(*model->graph)),
      weights_(std::move(store)),
      networks_(lists.size()) {
  const bool is_static =
      std::all_of(inputs.begin(), inputs.end(), [](const auto& port) { return port.shape.is_static(); });
  for (std::size_t list = 0; is_static && list < lists.size(); ++list) network(list, static_shapes(inputs));
}

std::shared_ptr<const Network> CompiledModel::Impl::network(std::size_t list, const std::vector<Shape>& shapes) const {
  return networks_[list].get(shapes, [&](std::span<const Shape> wanted) {
    std::vector<PartitionDevice> devices = partition_devices(lists[list]);
    for (PartitionDevice& device : devices) device.caps.exact_nan = options.exact_nan;
    const PlacedGraph placed = place_graph(make_wished_graph(*model), wanted, devices);
    drop_weight_pages(*model->graph);  // what passes folded has been copied
    return make_network(placed, lists[list], devices, *model->graph, weights_,
                        {.is_profiling = options.is_profiling, .threads = options.threads});
  });
}

std::shared_ptr<const Network> CompiledModel::Impl::latest() const {
  for (const NetworkCache& cache : networks_) {
    if (auto network = cache.latest()) return network;
  }
  return nullptr;
}

CompiledModel::CompiledModel(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

InferRequest CompiledModel::create_infer_request() const {
  return InferRequest(std::make_shared<InferRequest::Impl>(impl_));
}

std::vector<PortInfo> CompiledModel::inputs() const { return impl_->inputs; }
std::vector<PortInfo> CompiledModel::outputs() const { return impl_->outputs; }

std::vector<LayerPlacement> CompiledModel::placements() const {
  const auto network = impl_->latest();
  return network == nullptr ? std::vector<LayerPlacement>{} : network->placements;
}

std::vector<std::string> CompiledModel::origins() const {
  const auto network = impl_->latest();
  if (network == nullptr) return {};
  std::map<std::pair<std::string, std::string>, std::set<std::string>> kernels;  // device and origin -> kernels
  for (const LoadedSubgraph& subgraph : network->subgraphs) {
    const std::vector<std::string> origins = subgraph.executable->step_origins();
    for (std::size_t s = 0; s < origins.size(); ++s) {
      const PlanStep& step = subgraph.plan->steps[s];
      const auto* launch = std::get_if<Launch>(&step.action);
      kernels[{network->devices.names[subgraph.device], origins[s]}].insert(launch != nullptr ? launch->instance.key()
                                                                                              : step.kernel);
    }
  }
  std::vector<std::string> lines;
  for (const auto& [place, names] : kernels) {
    const std::string count = std::to_string(names.size()) + (names.size() == 1 ? " kernel" : " kernels");
    lines.push_back(place.first + ": " + place.second + " (" + count + ")");
  }
  return lines;
}

std::vector<CompiledModel::MemoryUse> CompiledModel::memory_use() const {
  const auto network = impl_->latest();
  if (network == nullptr) return {};
  std::vector<MemoryUse> result;
  for (std::size_t device = 0; device < network->devices.names.size(); ++device) {
    MemoryUse use{network->devices.names[device], 0, 0, 0};
    for (const LoadedSubgraph& subgraph : network->subgraphs) {
      if (subgraph.device != device) continue;
      use.arena_bytes += subgraph.stats.arena_bytes;
      use.weights_bytes += subgraph.stats.weights_bytes;
      use.lower_bound_bytes += subgraph.stats.lower_bound_bytes;
    }
    result.push_back(use);
  }
  return result;
}

}  // namespace headrace
