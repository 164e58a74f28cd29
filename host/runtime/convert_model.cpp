// SPDX-License-Identifier: Apache-2.0
// convert_model: a network with pre-processing baked in, optimized, as IR.
#include <chrono>
#include <filesystem>

#include "formats/ir/ir_writer.hpp"
#include "headrace/headrace.hpp"
#include "passes/change_layout.hpp"
#include "passes/cut_outputs.hpp"
#include "passes/explain_kept.hpp"
#include "passes/graph_changes.hpp"
#include "passes/graph_totals.hpp"
#include "passes/infer_shapes.hpp"
#include "passes/normalize_input.hpp"
#include "passes/portable_pipeline.hpp"
#include "passes/reshape_inputs.hpp"
#include "passes/reverse_channels.hpp"
#include "runtime/model_impl.hpp"

namespace headrace {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::string join_values(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : ",") + to_string(AttributeValue(value));
  return text;
}

ConversionReport::Counts counts_of(const Graph& graph) {
  const GraphTotals totals = count_graph(graph);
  ConversionReport::Counts counts{totals.layers, totals.constants, totals.parameters,    totals.constant_bytes,
                                  std::nullopt,  std::nullopt,     totals.layers_by_type};
  if (totals.is_complete) {
    counts.flops = totals.flops;
    counts.moved_bytes = totals.moved_bytes;
  }
  return counts;
}

// Shapes, outputs and what is known of layouts: what the rest refers to.
void apply_wishes(Graph& graph, const ConversionOptions& options) {
  reshape_inputs(graph, options.input_shapes);
  for (const auto& layout : options.layouts) {
    if (layout.to.empty() || is_input_name(graph, layout.name)) set_layout(graph, layout.name, layout.from);
  }
  if (options.batch) set_batch(graph, *options.batch);
  if (!options.outputs.empty()) cut_outputs(graph, options.outputs);
}

// Each step stands directly behind the input, so the one that runs first is put there last.
std::vector<std::string> bake_preprocessing(Graph& graph, const ConversionOptions& options) {
  std::vector<std::string> lines;
  for (const auto& scale : options.scales) {
    const std::string input = divide_scale(graph, {scale.input, scale.values});
    lines.push_back("input '" + input + "': divided by " + join_values(scale.values));
  }
  for (const auto& mean : options.means) {
    const std::string input = subtract_mean(graph, {mean.input, mean.values});
    lines.push_back("input '" + input + "': " + join_values(mean.values) + " subtracted");
  }
  if (options.reverse_input_channels) {
    for (const std::string& input : reverse_channels(graph)) {
      lines.push_back("input '" + input + "': channels reversed");
    }
  }
  for (const auto& layout : options.layouts) {
    if (layout.to.empty()) continue;
    change_layout(graph, layout.name, layout.from, layout.to);
    lines.push_back("'" + layout.name + "': outside " + layout.to + ", inside " + layout.from);
  }
  return {lines.rbegin(), lines.rend()};
}

Graph make_baked_graph(const Model& model, const ConversionOptions& options, std::vector<std::string>& steps) {
  Graph graph = make_wished_graph(model.impl());
  apply_wishes(graph, options);
  steps = bake_preprocessing(graph, options);
  return graph;
}

// Runs the passes and writes down what each did.
class Recorder {
 public:
  Recorder(ConversionReport& report, const ConversionProgress& progress) : report_(report), progress_(progress) {}

  void run(Graph& graph) {
    run_portable_passes(
        graph, {[&](const PortablePass& pass, const Graph& g) { before(pass, g); },
                [&](const PortablePass& pass, const Graph& g, std::string_view skipped) { after(pass, g, skipped); }});
  }

 private:
  void before(const PortablePass& pass, const Graph& graph) {
    if (progress_) {
      const auto count = static_cast<double>(portable_passes().size());
      progress_(0.1 + 0.5 * static_cast<double>(report_.passes.size()) / count, pass.name);
    }
    snapshot_.emplace(graph);
    layers_ = count_layers(graph);
    start_ = Clock::now();
  }

  void after(const PortablePass& pass, const Graph& graph, std::string_view skipped) {
    ConversionReport::Pass row;
    row.time_ms = ms_since(start_);
    row.name = pass.name;
    row.layers_before = layers_;
    row.layers_after = count_layers(graph);
    row.skipped = skipped;
    for (const LayerChange& change : snapshot_->changes_to(graph)) {
      row.changes.push_back({change.kind, change.layer, change.type, change.into, change.into_type});
    }
    report_.passes.push_back(std::move(row));
  }

  static std::int64_t count_layers(const Graph& graph) {
    std::int64_t count = 0;
    for (const NodeId id : graph.nodes()) count += is_layer(graph.at(id)) ? 1 : 0;
    return count;
  }

  ConversionReport& report_;
  const ConversionProgress& progress_;
  std::optional<LayerSnapshot> snapshot_;
  std::int64_t layers_ = 0;
  Clock::time_point start_;
};

void fill_ports(const Graph& graph, ConversionReport& report) {
  for (const NodeId id : graph.parameters()) {
    const Node& node = graph.at(id);
    report.inputs.push_back({input_name(graph, id), std::string(to_string(node.outputs.at(0).type)),
                             to_string(node.declared_shape), layout_of(node)});
  }
  for (const NodeId id : graph.results()) {
    const OutputInfo& info = graph.info(graph.at(id).inputs.at(0));
    report.outputs.push_back({output_name(graph, id), std::string(to_string(info.type)),
                              info.is_resolved ? to_string(info.shape) : "open", ""});
  }
}

void write(const Graph& graph, const std::string& xml_path, bool compresses, ConversionReport& report) {
  const auto start = Clock::now();
  write_ir(graph, xml_path, {.compress_to_fp16 = compresses});
  report.write_ms = ms_since(start);
  report.xml_path = xml_path;
  report.bin_path = std::filesystem::path(xml_path).replace_extension(".bin").string();
  std::error_code ignored;
  for (const std::string& path : {report.xml_path, report.bin_path}) {
    const auto size = std::filesystem::file_size(path, ignored);
    if (!ignored) report.file_bytes += static_cast<std::int64_t>(size);
  }
}

}  // namespace

Model bake_model(const Model& model, const ConversionOptions& options) {
  std::vector<std::string> ignored;
  return make_model(make_baked_graph(model, options, ignored));
}

ConversionReport convert_model(const Model& model, const std::string& xml_path, const ConversionOptions& options,
                               const ConversionProgress& progress) {
  check(xml_path.ends_with(".xml"), ErrorCode::kInvalidArgument, "output file '" + xml_path + "' does not end in .xml");
  ConversionReport report;
  if (progress) progress(0.05, "shapes");
  Graph graph = make_baked_graph(model, options, report.preprocessing);
  report.name = graph.name;
  infer_known_shapes(graph);
  report.before = counts_of(graph);
  const auto start = Clock::now();
  Recorder(report, progress).run(graph);
  report.optimize_ms = ms_since(start);
  for (const KeptLayer& kept : explain_kept(graph)) report.kept.push_back({kept.layer, kept.type, kept.reason});
  report.after = counts_of(graph);
  fill_ports(graph, report);
  if (progress) progress(0.7, "writing");
  write(graph, xml_path, options.compress_to_fp16, report);
  if (progress) progress(1.0, "done");
  return report;
}

}  // namespace headrace
