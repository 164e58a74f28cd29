// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include "core/file.hpp"
#include "core/log.hpp"
#include "device/peaks.hpp"
#include "passes/value_inputs.hpp"
#include "runtime/compiled_model_impl.hpp"
#include "runtime/cut_model.hpp"
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

std::string join_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

// The model's weights stay in its file; what is needed again is read from there.
void drop_weight_pages(const Graph& graph) {
  for (const NodeId id : graph.nodes()) {
    const Tensor& value = graph.at(id).value;
    if (value.is_read_only()) drop_file_pages({value.data(), value.size_bytes()});
  }
}

// The inputs that a value comes from. Ids of the graph with wishes stay what they are when inputs are bound to values.
std::vector<std::size_t> value_inputs(const Model::Impl& model, const std::vector<Shape>& shapes,
                                      const std::vector<PortRef>& sources) {
  Graph graph = make_wished_graph(model);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    OutputInfo& info = graph.at(graph.parameters()[i]).outputs.at(0);
    info.shape = shapes[i];
    info.is_resolved = true;
  }
  return inputs_behind(graph, sources);
}

}  // namespace

NetworkCache::Slot NetworkCache::get(const NetworkKey& key, const Make& make) {
  std::promise<Slot> promise;
  std::shared_future<Slot> found;
  std::list<Entry> dropped;  // goes outside the lock: a slot that loads waits for its end
  {
    const std::lock_guard lock(mutex_);
    const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.key == key; });
    if (entry != entries_.end()) {
      entries_.splice(entries_.begin(), entries_, entry);
      found = entry->slot;
    } else {
      entries_.push_front({key, promise.get_future().share()});
      if (entries_.size() > kMaxNetworks) dropped.splice(dropped.begin(), entries_, std::prev(entries_.end()));
    }
  }
  if (found.valid()) return found.get();
  try {
    auto slot = make(key);
    promise.set_value(slot);
    return slot;
  } catch (...) {
    promise.set_exception(std::current_exception());
    const std::lock_guard lock(mutex_);
    entries_.remove_if([&](const Entry& e) { return e.key == key; });
    throw;
  }
}

NetworkCache::Slot NetworkCache::latest() const {
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_) {
    if (entry.slot.wait_for(std::chrono::seconds(0)) == std::future_status::ready) return entry.slot.get();
  }
  return nullptr;
}

CompiledModel::Impl::Impl(std::shared_ptr<const Model::Impl> compiled, std::vector<DeviceList> device_lists,
                          DeviceList fallback_list, CompileOptions compile_options, std::shared_ptr<WeightsStore> store)
    : model(std::move(compiled)),
      lists(std::move(device_lists)),
      fallback(std::move(fallback_list)),
      options(compile_options),
      inputs(input_ports(*model)),
      outputs(output_ports(*model)),
      input_layers(headrace::input_layers(*model->graph)),
      output_layers(headrace::output_layers(*model->graph)),
      store_(store),
      weights_(std::move(store)),
      networks_(lists.size()) {
  const bool is_static =
      std::all_of(inputs.begin(), inputs.end(), [](const auto& port) { return port.shape.is_static(); });
  for (std::size_t list = 0; is_static && list < lists.size(); ++list) {
    try {
      slot(list, static_shapes(inputs), {});
    } catch (const UnknownValue& error) {
      // Small inputs decide shapes: the network is made for their values, when a run gives them.
      if (value_inputs(*model, static_shapes(inputs), error.sources()).empty()) cut_at(error);
    }
  }
}

LoadOptions CompiledModel::Impl::load_options(const DeviceList& devices) const {
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return {.is_profiling = options.is_profiling,
          .threads = threads_per_stream(options.threads, static_cast<int>(devices.streams), cores)};
}

std::shared_ptr<Network> CompiledModel::Impl::plan(const DeviceList& list, const NetworkKey& key) const {
  std::vector<PartitionDevice> devices = partition_devices(list);
  for (PartitionDevice& device : devices) {
    device.caps.exact_nan = options.exact_nan;
    if (!options.is_tuned) device.caps.tuning = nullptr;
  }
  const PlacedGraph placed = place_graph(bind_values(make_wished_graph(*model), key), key.shapes, devices);
  drop_weight_pages(*model->graph);  // what passes folded has been copied
  return plan_network(placed, list, devices, *model->graph, weights_);
}

NetworkCache::Slot CompiledModel::Impl::make_slot(const DeviceList& devices, const NetworkKey& key) const {
  std::shared_ptr<Network> network = plan(devices, key);
  const LoadOptions load = load_options(devices);
  const std::size_t unbuilt = options.has_startup_fallback ? count_unbuilt(*network) : 0;
  if (unbuilt == 0) {
    load_network(*network, load);
    return std::make_shared<const NetworkSlot>(std::move(network));
  }
  const std::string name = join_names(devices.names);
  std::shared_ptr<Network> meanwhile = plan(fallback, key);
  load_network(*meanwhile, load);
  log(LogLevel::kInfo, "startup",
      name + ",the CPU answers while " + std::to_string(unbuilt) + " programs are compiled");
  const auto load_in_background = [network, load] {
    load_network(*network, load);
    return network;
  };
  return std::make_shared<const NetworkSlot>(std::move(meanwhile), load_in_background, name);
}

NetworkKey CompiledModel::Impl::key_of(const std::vector<Shape>& shapes, const Inputs& values) const {
  NetworkKey key{shapes, {}};
  const std::lock_guard lock(value_inputs_mutex_);
  if (value_inputs_.empty()) return key;
  key.values.resize(shapes.size());
  for (const std::size_t input : value_inputs_) {
    if (input < values.size() && values[input]) key.values[input] = values[input]->clone();
  }
  return key;
}

// Notes the inputs that a value comes from. Returns whether that says more than was known.
bool CompiledModel::Impl::learn_value_inputs(const std::vector<Shape>& shapes, const Inputs& values,
                                             const std::vector<PortRef>& sources) const {
  bool is_new = false;
  for (const std::size_t input : value_inputs(*model, shapes, sources)) {
    if (input >= values.size() || !values[input]) continue;  // given as a device buffer
    const std::lock_guard lock(value_inputs_mutex_);
    is_new = value_inputs_.insert(input).second || is_new;
  }
  return is_new;
}

NetworkCache::Slot CompiledModel::Impl::slot(std::size_t list, const std::vector<Shape>& shapes,
                                             const Inputs& values) const {
  while (true) {
    const NetworkKey key = key_of(shapes, values);
    try {
      return networks_[list].get(key, [&](const NetworkKey& wanted) { return make_slot(lists[list], wanted); });
    } catch (const UnknownValue& error) {
      if (!learn_value_inputs(shapes, values, error.sources())) throw;
    }
  }
}

std::shared_ptr<const Network> CompiledModel::Impl::network(std::size_t list, const std::vector<Shape>& shapes,
                                                            const Inputs& values, bool needs_device) const {
  const NetworkCache::Slot found = slot(list, shapes, values);
  return needs_device ? found->wait() : found->get();
}

std::shared_ptr<const CutModel> CompiledModel::Impl::cut() const {
  const std::lock_guard lock(cut_mutex_);
  return cut_;
}

std::shared_ptr<const CutModel> CompiledModel::Impl::cut_at(const UnknownValue& error) const {
  const std::lock_guard lock(cut_mutex_);
  if (cut_ != nullptr) return cut_;
  Graph graph = make_wished_graph(*model);
  if (!graph.contains(error.node())) throw error;
  const auto compile = [this](Graph half, bool is_tail) {
    auto part = std::make_shared<const Model::Impl>(make_model(std::move(half)).impl());
    return std::make_shared<const CompiledModel::Impl>(std::move(part), is_tail ? tail_lists(lists) : lists, fallback,
                                                       options, store_);
  };
  cut_ = std::make_shared<const CutModel>(cut_at_layer(graph, error.node()), compile);
  log(LogLevel::kInfo, "cut", "the network is run in two halves: " + std::string(error.what()));
  return cut_;
}

std::vector<std::shared_ptr<const Network>> CompiledModel::Impl::latest() const {
  std::vector<std::shared_ptr<const Network>> networks;
  if (const auto halves = cut()) {
    networks = halves->head()->latest();
    if (const auto tail = halves->tail_if_made()) {
      for (auto& network : tail->latest()) networks.push_back(std::move(network));
    }
    return networks;
  }
  for (const NetworkCache& cache : networks_) {
    if (const auto slot = cache.latest()) return {slot->get()};
  }
  return {};
}

std::vector<LayerPlacement> CompiledModel::Impl::placements() const {
  const auto halves = cut();
  if (halves == nullptr) {
    const auto networks = latest();
    return networks.empty() ? std::vector<LayerPlacement>{} : networks.front()->placements;
  }
  std::vector<LayerPlacement> tail;
  if (const auto made = halves->tail_if_made()) tail = made->placements();
  if (tail.empty()) tail = list_unplaced(halves->cut().tail, lists.front(), reason_of_cut(halves->cut().layer));
  return join_placements(halves->head()->placements(), placement_of_cut(halves->cut().layer, lists.front()),
                         std::move(tail));
}

bool CompiledModel::Impl::is_starting_up() const {
  if (const auto halves = cut()) {
    const auto tail = halves->tail_if_made();
    return halves->head()->is_starting_up() || (tail != nullptr && tail->is_starting_up());
  }
  return std::any_of(networks_.begin(), networks_.end(), [](const NetworkCache& cache) {
    const auto slot = cache.latest();
    return slot != nullptr && slot->is_loading();
  });
}

CompiledModel::Impl::Seat CompiledModel::Impl::next_seat() const {
  const std::size_t request = next_request_++;
  const std::size_t list = request % lists.size();
  return {list, request / lists.size() % lists[list].streams};
}

std::size_t CompiledModel::Impl::count_streams() const {
  std::size_t count = 0;
  for (const DeviceList& list : lists) count += list.streams;
  return count;
}

CompiledModel::CompiledModel(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

InferRequest CompiledModel::create_infer_request() const {
  return InferRequest(std::make_shared<InferRequest::Impl>(impl_));
}

std::vector<PortInfo> CompiledModel::inputs() const { return impl_->inputs; }
std::vector<PortInfo> CompiledModel::outputs() const { return impl_->outputs; }

std::vector<LayerPlacement> CompiledModel::placements() const { return impl_->placements(); }

std::vector<std::string> CompiledModel::origins() const {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> kernels;  // device and origin -> kernels
  for (const auto& network : impl_->latest()) {
    for (const LoadedSubgraph& subgraph : network->subgraphs) {
      const std::vector<std::string> origins = subgraph.executable->step_origins();
      for (std::size_t s = 0; s < origins.size(); ++s) {
        const PlanStep& step = subgraph.plan->steps[s];
        const auto* launch = std::get_if<Launch>(&step.action);
        kernels[{network->devices.names[subgraph.device], origins[s]}].insert(launch != nullptr ? launch->instance.key()
                                                                                                : step.kernel);
      }
    }
  }
  std::vector<std::string> lines;
  for (const auto& [place, names] : kernels) {
    const std::string count = std::to_string(names.size()) + (names.size() == 1 ? " kernel" : " kernels");
    lines.push_back(place.first + ": " + place.second + " (" + count + ")");
  }
  return lines;
}

std::map<std::string, double> CompiledModel::measure_peaks() const {
  std::map<std::string, double> peaks;
  for (const auto& network : impl_->latest()) {
    for (const LoadedSubgraph& subgraph : network->subgraphs) {
      const std::string& name = network->devices.names[subgraph.device];
      if (peaks.count(name) != 0) continue;
      const double flops = measure_peak_flops(*network->devices.devices[subgraph.device]);
      if (flops > 0.0) peaks.emplace(name, flops);
    }
  }
  return peaks;
}

std::string CompiledModel::get_property(std::string_view name) const {
  if (name == "OPTIMAL_NUMBER_OF_INFER_REQUESTS") return std::to_string(impl_->count_streams());
  if (name == "NUM_STREAMS") return std::to_string(impl_->count_streams());
  if (name == "EXECUTION_DEVICES") {
    if (impl_->is_starting_up()) return "(CPU)";
    std::vector<std::string> names;
    for (const DeviceList& list : impl_->lists) names.push_back(join_names(list.names));
    return join_names(names);
  }
  if (const auto value = property_text(impl_->options, name)) return *value;
  fail(ErrorCode::kInvalidArgument, "no property '" + std::string(name) +
                                        "'; known: OPTIMAL_NUMBER_OF_INFER_REQUESTS, EXECUTION_DEVICES, " +
                                        property_names());
}

std::vector<CompiledModel::MemoryUse> CompiledModel::memory_use() const {
  std::vector<MemoryUse> uses;
  for (const auto& network : impl_->latest()) {
    for (const std::string& name : network->devices.names) {
      const auto is_here = [&](const MemoryUse& use) { return use.device == name; };
      if (std::none_of(uses.begin(), uses.end(), is_here)) uses.push_back({name, 0, 0, 0});
    }
    for (const LoadedSubgraph& subgraph : network->subgraphs) {
      const std::string& name = network->devices.names[subgraph.device];
      MemoryUse& use = *std::find_if(uses.begin(), uses.end(), [&](const MemoryUse& u) { return u.device == name; });
      use.arena_bytes += subgraph.stats.arena_bytes;
      use.weights_bytes += subgraph.stats.weights_bytes;
      use.lower_bound_bytes += subgraph.stats.lower_bound_bytes;
    }
  }
  return uses;
}

}  // namespace headrace
