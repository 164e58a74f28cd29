// SPDX-License-Identifier: Apache-2.0
#include "runtime/calibration.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/file.hpp"
#include "core/log.hpp"
#include "plan/digest.hpp"
#include "runtime/model_impl.hpp"

namespace headrace {
namespace {

constexpr std::int64_t kMaxChunkBytes = std::int64_t{512} << 20U;  // of inner tensors that one run keeps
constexpr double kSmallestPower = 1e-30;
constexpr double kStoreSeconds = 10.0;
constexpr double kCollectShare = 0.7;  // of the time; comparing takes the rest

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool is_finite(const Tensor& tensor) {
  if (tensor.type() != ElementType::f32) {
    const std::vector<double> values = to_doubles(tensor);
    return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
  }
  const Tensor aligned = tensor.aligned_copy();
  const auto values = aligned.values<float>();
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

// Of the network with its weights, the tensors looked at and the samples.
std::string make_key(const Graph& graph, const std::vector<PortRef>& tensors, const CalibrationData& data,
                     const Calibration::Options& options) {
  std::string text = dump(graph) + "\n" + data.identity + "\n" + options.devices;
  for (const NodeId id : graph.nodes()) {
    if (graph.at(id).type == "Const") text += "\n" + to_hex(digest_of(graph.at(id).value));
  }
  for (const PortRef& ref : tensors) text += "\n" + std::to_string(ref.node.value) + ":" + std::to_string(ref.port);
  text += "\n" + std::to_string(data.count) + " " + std::to_string(options.subset);
  return to_hex(digest_of(as_bytes(text)));
}

std::string ranges_digest(const std::vector<QuantizableLayer>& layers, const ByteRanges& ranges) {
  std::string text;
  for (const QuantizableLayer& layer : layers) {
    const ByteRange& range = ranges.at(layer.data);
    text += std::to_string(layer.node.value) + " " + to_string(AttributeValue(static_cast<double>(range.low))) + " " +
            to_string(AttributeValue(static_cast<double>(range.high))) + "\n";
  }
  return to_hex(digest_of(as_bytes(text)));
}

std::vector<std::vector<std::size_t>> cut_chunks(const Graph& graph, const std::vector<PortRef>& tensors) {
  std::vector<std::vector<std::size_t>> chunks;
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const OutputInfo& info = graph.info(tensors[i]);
    const std::int64_t more = info.is_resolved ? 4 * count_elems(info.shape) : 0;
    if (chunks.empty() || bytes + more > kMaxChunkBytes) {
      chunks.emplace_back();
      bytes = 0;
    }
    chunks.back().push_back(i);
    bytes += more;
  }
  return chunks;
}

Graph with_outputs(const Graph& graph, const std::vector<PortRef>& tensors, const std::vector<std::size_t>& chunk) {
  Graph changed = graph;
  for (const std::size_t index : chunk) {
    Node result;
    result.name = "calibration/result" + std::to_string(index);
    result.type = "Result";
    result.inputs = {tensors[index]};
    changed.add(std::move(result));
  }
  return changed;
}

}  // namespace

std::vector<std::size_t> spread_samples(std::size_t count, std::size_t wanted) {
  const std::size_t number = std::min(count, wanted);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < number; ++i) places.push_back(i * count / number);
  return places;
}

void Samples::run(InferRequest& request, std::size_t index) const {
  const std::vector<Tensor> tensors = data_.read(index);
  const std::string what = quote(name(index));
  check(tensors.size() == inputs_.size(), ErrorCode::kInvalidArgument,
        what + ": " + std::to_string(tensors.size()) + " tensors for " + std::to_string(inputs_.size()) + " inputs");
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].count() == 0) {
      fail(ErrorCode::kInvalidArgument, what + ": no values for input " + quote(inputs_[i].name) + ", the shape is " +
                                            to_string(tensors[i].shape()));
    }
    if (is_floating(tensors[i].type()) && !is_finite(tensors[i])) {
      fail(ErrorCode::kBadModel,
           what + " holds NaN or infinite values for input " + quote(inputs_[i].name) + ": leave it out");
    }
    try {
      request.set_input_tensor(i, tensors[i]);
    } catch (const Error& error) {
      rethrow_with_prefix(error, what);
    }
  }
  request.infer();
}

Calibration::Calibration(const Core& core, const Graph& graph, const std::vector<QuantizableLayer>& layers,
                         const CalibrationData& data, const Options& options, const QuantizationProgress& progress)
    : core_(core),
      graph_(graph),
      options_(options),
      progress_(progress),
      samples_(data, make_model(graph).inputs()),
      places_(spread_samples(data.count, options.subset)),
      last_store_s_(seconds_now()) {
  for (const QuantizableLayer& layer : layers) {
    if (indices_.emplace(layer.data, tensors_.size()).second) tensors_.push_back(layer.data);
  }
  chunks_ = cut_chunks(graph, tensors_);
  key_ = make_key(graph, tensors_, data, options);
  if (auto stored = load_state(key_, options.state_path);
      stored && stored->tensors.size() == tensors_.size() && stored->is_finite.size() == tensors_.size()) {
    state_ = std::move(*stored);
    resumed_ = state_.chunk == 0 ? state_.samples : places_.size();
  } else {
    state_.tensors.resize(tensors_.size());
    state_.is_finite.assign(tensors_.size(), true);
  }
}

void Calibration::collect() {
  while (state_.chunk < chunks_.size()) {
    collect_chunk(chunks_[state_.chunk]);
    ++state_.chunk;
    state_.samples = 0;
  }
}

void Calibration::collect_chunk(const std::vector<std::size_t>& chunk) {
  const std::size_t first = graph_.results().size();
  const CompiledModel net = core_.compile_model(make_model(with_outputs(graph_, tensors_, chunk)), options_.devices);
  InferRequest request = net.create_infer_request();
  for (; state_.samples < places_.size(); ++state_.samples) {
    const std::size_t place = places_[state_.samples];
    const auto done = static_cast<double>(state_.chunk * places_.size() + state_.samples);
    tell(kCollectShare * done / static_cast<double>(chunks_.size() * places_.size()), samples_.name(place));
    samples_.run(request, place);
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const Tensor values = request.get_output_tensor(first + i);
      if (!state_.tensors[chunk[i]].add(values.values<float>())) state_.is_finite[chunk[i]] = false;
    }
  }
}

void Calibration::compare(const std::vector<QuantizableLayer>& layers, const ByteRanges& ranges) {
  Graph graph = graph_;
  const auto comparisons = add_quantized_twins(graph, layers, ranges);
  if (std::string digest = ranges_digest(layers, ranges); state_.ranges != digest) {
    state_.ranges = std::move(digest);
    state_.layers.assign(layers.size(), {});
    state_.compared = 0;
  }
  if (state_.compared >= places_.size()) return;
  const CompiledModel net = core_.compile_model(make_model(std::move(graph)), options_.devices);
  InferRequest request = net.create_infer_request();
  for (; state_.compared < places_.size(); ++state_.compared) {
    const std::size_t place = places_[state_.compared];
    const double done = static_cast<double>(state_.compared) / static_cast<double>(places_.size());
    tell(kCollectShare + (1 - kCollectShare) * done, samples_.name(place));
    samples_.run(request, place);
    add_comparison(request, comparisons, places_.size());
  }
}

void Calibration::add_comparison(const InferRequest& request, const std::vector<LayerComparison>& comparisons,
                                 std::size_t count) {
  const auto share = 1.0 / static_cast<double>(count);
  for (std::size_t i = 0; i < comparisons.size(); ++i) {
    LayerMeans& means = state_.layers[i];
    const std::vector<double> shifts = to_doubles(request.get_output_tensor(comparisons[i].shift));
    means.shifts.resize(shifts.size(), 0.0);
    for (std::size_t channel = 0; channel < shifts.size(); ++channel) means.shifts[channel] += share * shifts[channel];
    const double error = to_doubles(request.get_output_tensor(comparisons[i].error)).front();
    const double power = to_doubles(request.get_output_tensor(comparisons[i].power)).front();
    // By sample, so that one with huge values does not hide what happens to the others.
    means.noise += share * (error == 0.0 ? 0.0 : error / std::max(power, kSmallestPower));
  }
}

const ValueStatistics* Calibration::find(PortRef tensor) const {
  const auto found = indices_.find(tensor);
  HEADRACE_ASSERT(found != indices_.end(), "a tensor that was not looked at");
  return state_.is_finite[found->second] ? &state_.tensors[found->second] : nullptr;
}

void Calibration::tell(double fraction, std::string_view what) {
  if (progress_ && !progress_(fraction, what)) stop();
  if (options_.state_path.empty() || seconds_now() - last_store_s_ < kStoreSeconds) return;
  store_state(state_, key_, options_.state_path);
  last_store_s_ = seconds_now();
}

void Calibration::stop() {
  const bool is_collecting = state_.chunk < chunks_.size();
  const std::size_t done = is_collecting ? state_.samples : state_.compared;
  std::string kept = "nothing is kept";
  if (!options_.state_path.empty()) {
    store_state(state_, key_, options_.state_path);
    kept = "the statistics are kept in " + quote(options_.state_path) + ", the same command goes on";
  }
  fail(ErrorCode::kCancelled,
       "interrupted " + std::string(is_collecting ? "in the runs for ranges" : "in the runs that compare layers") +
           " after " + std::to_string(done) + " of " + std::to_string(places_.size()) + " samples; " + kept);
}

}  // namespace headrace
