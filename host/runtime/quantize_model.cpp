// SPDX-License-Identifier: Apache-2.0
// quantize_model: calibrates a network on data, and writes it with FakeQuantize as IR.
#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>

#include "core/file.hpp"
#include "formats/ir/ir_writer.hpp"
#include "passes/correct_bias.hpp"
#include "passes/fold_portable.hpp"
#include "passes/infer_shapes.hpp"
#include "passes/portable_pipeline.hpp"
#include "runtime/accuracy.hpp"
#include "runtime/calibration.hpp"
#include "runtime/model_impl.hpp"

namespace headrace {
namespace {

// Shares of the time, for the progress.
constexpr double kCalibrated = 0.7;
constexpr double kChecked = 0.97;

void check_options(const Model& model, const std::string& xml_path, const CalibrationData& data,
                   const QuantizationOptions& options) {
  check(xml_path.ends_with(".xml"), ErrorCode::kInvalidArgument, "output file '" + xml_path + "' does not end in .xml");
  check(data.count > 0, ErrorCode::kInvalidArgument,
        "there are no data to calibrate network '" + model.name() + "' on");
  check(options.subset > 0, ErrorCode::kInvalidArgument, "--subset: no sample would be used");
  check(options.percentile > 50.0 && options.percentile <= 100.0, ErrorCode::kInvalidArgument,
        "--percentile: more than 50 and at most 100 is wanted");
}

Graph make_float_graph(const Model& model) {
  Graph graph = make_wished_graph(model.impl());
  if (is_quantized(graph)) {
    fail(ErrorCode::kUnsupported, "network '" + graph.name +
                                      "' is quantized already: it has FakeQuantize layers or weights in bytes; give "
                                      "the one in floats that it was made of");
  }
  run_portable_passes(graph);
  return graph;
}

ValueStatistics::Range range_of(const ValueStatistics& values, const QuantizationOptions& options) {
  using Method = QuantizationOptions::Method;
  if (options.method == Method::kPercentile) return values.percentile_range(options.percentile);
  if (options.method == Method::kMse) {
    return values.least_error_range(options.preset == QuantizationOptions::Preset::kPerformance);
  }
  return values.full_range();
}

class Quantization {
 public:
  Quantization(const Core& core, const Model& model, const CalibrationData& data, const QuantizationOptions& options,
               const QuantizationProgress& progress)
      : core_(core), data_(data), options_(options), progress_(progress), graph_(make_float_graph(model)) {}

  QuantizationReport run(const std::string& xml_path) {
    report_.name = graph_.name;
    find_layers();
    calibrate();
    const std::size_t put_back = options_.accuracy ? check_accuracy() : 0;
    write(make_quantized(put_back), put_back, xml_path);
    return std::move(report_);
  }

 private:
  void find_layers() {
    QuantizableLayers found =
        find_quantizable(graph_, {{options_.ignored_layers.begin(), options_.ignored_layers.end()},
                                  {options_.ignored_types.begin(), options_.ignored_types.end()}});
    for (const KeptFloatLayer& kept : found.kept) keep(kept.node, kept.reason);
    layers_ = std::move(found.layers);
    check_layers();
  }

  void check_layers() const {
    if (!layers_.empty()) return;
    const std::string why =
        report_.kept.empty() ? "" : "; layer " + quote(report_.kept.front().name) + ": " + report_.kept.front().reason;
    fail(ErrorCode::kUnsupported,
         "network '" + graph_.name + "' has no Convolution, GroupConvolution or MatMul that can be quantized" + why);
  }

  void keep(NodeId id, const std::string& reason) {
    report_.kept.push_back({graph_.at(id).name, graph_.at(id).type, reason});
  }

  void calibrate() {
    const QuantizationProgress progress = [this](double fraction, std::string_view what) {
      return !progress_ || progress_(kCalibrated * fraction, what);
    };
    Calibration calibration(core_, graph_, layers_, data_, {options_.devices, options_.subset, options_.state_path},
                            progress);
    calibration.collect();
    const bool is_symmetric = options_.preset == QuantizationOptions::Preset::kPerformance;
    std::erase_if(layers_, [&](const QuantizableLayer& layer) {
      const ValueStatistics* values = calibration.find(layer.data);
      if (values == nullptr || values->is_empty()) {
        keep(layer.node, values == nullptr ? "its data hold NaN or infinite values" : "its data are empty");
        return true;
      }
      const auto [low, high] = range_of(*values, options_);
      ranges_[layer.data] = byte_range_for(low, high, is_symmetric);
      return false;
    });
    check_layers();
    if (options_.corrects_bias || options_.accuracy) calibration.compare(layers_, ranges_);
    means_ = calibration.layers();
    report_.samples = calibration.samples();
    report_.resumed = calibration.resumed();
  }

  double noise(std::size_t layer) const { return layer < means_.size() ? means_[layer].noise : 0.0; }

  // Places in layers_, the noisiest first.
  std::vector<std::size_t> by_noise() const {
    std::vector<std::size_t> order(layers_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) { return noise(a) > noise(b); });
    return order;
  }

  // The layers that are in floats again, by place.
  std::set<std::size_t> noisiest(std::size_t put_back) const {
    const std::vector<std::size_t> order = by_noise();
    return {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(put_back)};
  }

  Graph make_quantized(std::size_t put_back) const {
    const std::set<std::size_t> left_out = noisiest(put_back);
    std::vector<QuantizableLayer> layers;
    std::map<NodeId, std::vector<double>> shifts;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (left_out.count(i) != 0) continue;
      layers.push_back(layers_[i]);
      if (options_.corrects_bias) shifts[layers_[i].node] = means_.at(i).shifts;
    }
    Graph graph = graph_;
    insert_fake_quantize(graph, layers, ranges_);
    correct_bias(graph, shifts);
    infer_known_shapes(graph);
    return graph;
  }

  std::size_t check_accuracy() {
    const Samples samples(data_, make_model(graph_).inputs());
    double step = kCalibrated;
    const auto tell = [&](std::string_view what) {
      step +=
          (kChecked - step) / (20.0 * static_cast<double>(data_.count));  // how many trials there will be is not known
      if (!progress_ || progress_(step, what)) return;
      fail(ErrorCode::kCancelled, "interrupted in the accuracy check" +
                                      std::string(options_.state_path.empty() ? "" : "; the statistics are kept in ") +
                                      (options_.state_path.empty() ? "" : quote(options_.state_path)));
    };
    const AccuracyMeter meter(core_, graph_, samples, options_.devices, options_.accuracy->labels, tell);
    report_.measure = meter.measure();
    report_.float_value = meter.float_value();
    std::map<std::size_t, Accuracy> measured;
    const auto measure_drop = [&](std::size_t put_back) {
      const Accuracy accuracy = put_back == layers_.size() ? Accuracy{meter.float_value(), 0.0}
                                                           : meter.measure_network(make_quantized(put_back), tell);
      measured[put_back] = accuracy;
      if (put_back < layers_.size()) report_.trials.push_back({put_back, accuracy.drop});
      return accuracy.drop;
    };
    const auto fewest = find_fewest(layers_.size(), options_.accuracy->max_drop, measure_drop);
    if (!fewest || *fewest == layers_.size()) {
      fail(ErrorCode::kUnsupported,
           "network '" + graph_.name + "': no layer can stay quantized for a drop of at most " +
               to_string(AttributeValue(options_.accuracy->max_drop)) + "; the whole of it dropped by " +
               to_string(AttributeValue(report_.trials.front().drop)) + " (" + report_.measure + ")");
    }
    report_.quantized_value = measured.at(*fewest).value;
    report_.drop = measured.at(*fewest).drop;
    return *fewest;
  }

  void write(const Graph& graph, std::size_t put_back, const std::string& xml_path) {
    if (progress_) progress_(kChecked, "writing");
    const std::set<std::size_t> left_out = noisiest(put_back);
    const std::vector<std::size_t> order = by_noise();
    for (std::size_t i = 0; i < put_back; ++i) report_.put_back.push_back(graph_.at(layers_[order[i]].node).name);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (left_out.count(i) != 0) {
        keep(layers_[i].node, "put back for accuracy");
        continue;
      }
      const Node& node = graph_.at(layers_[i].node);
      const ByteRange& range = ranges_.at(layers_[i].data);
      report_.layers.push_back(
          {node.name, node.type, static_cast<double>(range.low), static_cast<double>(range.high), noise(i)});
    }
    write_ir(graph, xml_path);
    report_.xml_path = xml_path;
    report_.bin_path = std::filesystem::path(xml_path).replace_extension(".bin").string();
    std::error_code ignored;
    for (const std::string& path : {report_.xml_path, report_.bin_path}) {
      const auto size = std::filesystem::file_size(path, ignored);
      if (!ignored) report_.file_bytes += static_cast<std::int64_t>(size);
    }
    if (!options_.state_path.empty()) std::filesystem::remove(options_.state_path, ignored);
  }

  const Core& core_;
  const CalibrationData& data_;
  const QuantizationOptions& options_;
  const QuantizationProgress& progress_;
  Graph graph_;  // in floats, optimized
  std::vector<QuantizableLayer> layers_;
  ByteRanges ranges_;
  std::vector<LayerMeans> means_;  // by layer; empty where they were not compared
  QuantizationReport report_;
};

}  // namespace

QuantizationReport quantize_model(const Core& core, const Model& model, const std::string& xml_path,
                                  const CalibrationData& data, const QuantizationOptions& options,
                                  const QuantizationProgress& progress) {
  check_options(model, xml_path, data, options);
  return Quantization(core, model, data, options, progress).run(xml_path);
}

}  // namespace headrace
