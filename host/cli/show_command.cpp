// SPDX-License-Identifier: Apache-2.0
// `headrace show`: the layers of a model, what they cost, and a picture of the network.
#include <fmt/core.h>

#include <algorithm>

#include "cli/commands.hpp"
#include "cli/run_dot.hpp"
#include "cli/text.hpp"
#include "core/file.hpp"
#include "runtime/html_text.hpp"

namespace headrace {
namespace {

constexpr double kBarCells = 12.0;

std::string outputs_text(const ModelSummary::Layer& layer) {
  std::vector<std::string> texts;
  for (const auto& output : layer.outputs) {
    texts.push_back((output.type == "f32" ? "" : output.type) + (output.shape.empty() ? "open" : output.shape));
  }
  return texts.empty() ? "-" : join(texts, " ");
}

// A bar as long as the share of the peak, in eighths of a cell.
std::string live_text(const ModelSummary& summary, const ModelSummary::Layer& layer) {
  if (!layer.live_bytes || !summary.peak_bytes || *summary.peak_bytes == 0) return "-";
  constexpr std::string_view kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double share = static_cast<double>(*layer.live_bytes) / static_cast<double>(*summary.peak_bytes);
  const auto eighths = static_cast<std::size_t>(share * kBarCells * 8.0 + 0.5);
  std::string bar;
  for (std::size_t i = 0; i < eighths / 8; ++i) bar += "█";
  return fmt::format("{:>8} {}{}", with_bytes(static_cast<double>(*layer.live_bytes)), bar, kEighths[eighths % 8]);
}

void print_layers(const ModelSummary& summary) {
  const bool is_placed = !summary.devices.empty();
  std::vector<std::string> head = {"LAYER", "TYPE", "OUTPUT", "PARAMETERS", "OPERATIONS"};
  if (is_placed) head.insert(head.end(), {"DEVICE", "SUBGRAPH", "FUSED"});
  head.emplace_back("LIVE MEMORY");
  TextTable table(head);
  for (const auto& layer : summary.layers) {
    if (layer.type == "Result") continue;
    std::vector<std::string> row = {layer.name, layer.type, outputs_text(layer),
                                    layer.parameters == 0 ? "-" : with_thousands(layer.parameters),
                                    layer.flops ? with_thousands(*layer.flops) : "open"};
    if (is_placed) {
      const bool is_input = layer.type == "Parameter";
      row.push_back(is_input ? "-" : layer.device.empty() ? "none" : layer.device);
      row.push_back(layer.subgraph < 0 ? "-" : std::to_string(layer.subgraph));
      row.push_back(layer.fused.empty() ? "-" : join(layer.fused, ","));
    }
    row.push_back(live_text(summary, layer));
    table.add(std::move(row));
  }
  fmt::print("{}\n", table.to_string());
}

void print_totals(const ModelSummary& summary) {
  const auto layers = std::count_if(summary.layers.begin(), summary.layers.end(), [](const auto& layer) {
    return layer.type != "Result" && layer.type != "Parameter";
  });
  fmt::print("{} layers, {} parameters ({} of constants)\n", layers, with_thousands(summary.parameters),
             with_bytes(static_cast<double>(summary.weight_bytes)));
  if (!summary.flops) {
    fmt::print("operations and memory are not known: give open shapes with --input-shape\n");
    return;
  }
  fmt::print("{} operations and {} moved in one run\n", with_thousands(*summary.flops),
             with_bytes(static_cast<double>(summary.moved_bytes.value_or(0))));
  if (!summary.peak_bytes) return;
  fmt::print("at most {} live at once, at {}\n", with_bytes(static_cast<double>(*summary.peak_bytes)),
             summary.layers[summary.peak_layer].name);
}

}  // namespace

int run_command(const ShowOptions& options) {
  const Core core;
  const Model model = open_model(core, options.model);
  const ModelSummary summary = core.summarize(model, options.model.devices);
  const bool has_picture = !options.svg_file.empty() || !options.html_file.empty();
  std::string picture;
  if (has_picture) {
    ProgressBar bar("show");
    bar.show(0.5, "drawing");
    picture = run_dot(summary_dot(summary));
  }
  if (!options.svg_file.empty()) write_file(options.svg_file, {as_bytes(picture)});
  if (!options.html_file.empty()) {
    const std::string page = summary_html(summary, picture);
    write_file(options.html_file, {as_bytes(page)});
  }
  if (options.is_json) {
    fmt::print("{}\n", summary_json(summary));
    return 0;
  }
  print_layers(summary);
  print_totals(summary);
  return 0;
}

}  // namespace headrace
