// SPDX-License-Identifier: Apache-2.0
// A model's summary as a page.
#include <algorithm>
#include <array>
#include <cstdio>

#include "headrace/summary.hpp"
#include "runtime/html_text.hpp"

namespace headrace {
namespace {

constexpr double kAxisWidth = 70.0;  // left of the chart, for its figures
constexpr double kChartWidth = 1000.0;
constexpr double kChartHeight = 220.0;
// A page stays readable, and a browser fast; the JSON has every row.
constexpr std::size_t kMaxRows = 4000;

std::string card(std::string_view title, const std::string& value, const std::string& note = "") {
  return "<div class=\"card\"><span>" + std::string(title) + "</span><b>" + value + "</b><span>" + note +
         "</span></div>\n";
}

bool is_port(const ModelSummary::Layer& layer) { return layer.type == "Parameter" || layer.type == "Result"; }

std::string cards(const ModelSummary& summary) {
  const auto layers =
      std::count_if(summary.layers.begin(), summary.layers.end(), [](const auto& layer) { return !is_port(layer); });
  std::string text = "<div class=\"cards\">\n" + card("Layers", with_thousands(layers)) +
                     card("Parameters", with_prefix(static_cast<double>(summary.parameters)),
                          with_bytes(static_cast<double>(summary.weight_bytes)) + " of constants");
  if (summary.flops) text += card("Operations in one run", with_prefix(static_cast<double>(*summary.flops)));
  if (summary.moved_bytes)
    text += card("Bytes moved in one run", with_bytes(static_cast<double>(*summary.moved_bytes)));
  if (summary.peak_bytes) {
    text += card("Most live at once", with_bytes(static_cast<double>(*summary.peak_bytes)),
                 "at " + html_escaped(summary.layers[summary.peak_layer].name));
  }
  return text + "</div>\n";
}

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f", value);
  return text.data();
}

// A column for each layer, as high as what is live while it runs.
std::string memory_chart(const ModelSummary& summary) {
  if (!summary.peak_bytes || *summary.peak_bytes == 0) return "";
  const double step = kChartWidth / static_cast<double>(summary.layers.size());
  std::string path = "M" + number(kAxisWidth) + " " + number(kChartHeight);
  for (std::size_t i = 0; i < summary.layers.size(); ++i) {
    const double share =
        static_cast<double>(summary.layers[i].live_bytes.value_or(0)) / static_cast<double>(*summary.peak_bytes);
    path += " V" + number(kChartHeight * (1.0 - share)) + " H" + number(kAxisWidth + step * static_cast<double>(i + 1));
  }
  path += " V" + number(kChartHeight) + " Z";
  std::string grid;
  for (const double share : {0.0, 0.25, 0.5, 0.75}) {
    const std::string y = number(kChartHeight * share);
    grid += "<line x1=\"" + number(kAxisWidth) + "\" x2=\"" + number(kAxisWidth + kChartWidth) + "\" y1=\"" + y +
            "\" y2=\"" + y + "\" stroke=\"var(--line)\"/><text text-anchor=\"end\" x=\"" + number(kAxisWidth - 8.0) +
            "\" y=\"" + number(kChartHeight * share + 13.0) + "\" font-size=\"12\" fill=\"var(--dim)\">" +
            with_bytes(static_cast<double>(*summary.peak_bytes) * (1.0 - share)) + "</text>";
  }
  return "<h2>Memory over time</h2>\n<p class=\"dim\">Bytes of all tensors that must be kept while each layer runs, "
         "each "
         "in memory of its own, weights not counted; layers from left to right.</p>\n<svg viewBox=\"0 0 " +
         number(kAxisWidth + kChartWidth) + " " + number(kChartHeight + 4.0) + "\"><path d=\"" + path +
         "\" fill=\"var(--accent)\" fill-opacity=\"0.75\"/>" + grid + "</svg>\n";
}

std::string optional_text(const std::optional<std::int64_t>& value) { return value ? with_thousands(*value) : "open"; }

std::string outputs_text(const ModelSummary::Layer& layer) {
  std::string text;
  for (const auto& output : layer.outputs) {
    text += (text.empty() ? "<code>" : "<br><code>") + output.type + " " +
            (output.shape.empty() ? "open" : html_escaped(output.shape)) + "</code>";
  }
  return text;
}

std::string layers_table(const ModelSummary& summary) {
  const bool is_placed = !summary.devices.empty();
  std::vector<std::string> head = {"Layer", "Type", "Output", "Parameters", "Operations", "Live bytes"};
  if (is_placed) head.insert(head.end(), {"Device", "Computed inside"});
  std::vector<std::vector<std::string>> rows;
  for (const auto& layer : summary.layers) {
    if (layer.type == "Result" || rows.size() == kMaxRows) continue;
    std::vector<std::string> row = {html_escaped(layer.name),   html_escaped(layer.type),
                                    outputs_text(layer),        with_thousands(layer.parameters),
                                    optional_text(layer.flops), optional_text(layer.live_bytes)};
    if (is_placed) {
      std::string fused;
      for (const std::string& name : layer.fused) fused += (fused.empty() ? "" : "<br>") + html_escaped(name);
      row.push_back(html_escaped(layer.device));
      row.push_back("<code>" + fused + "</code>");
    }
    rows.push_back(std::move(row));
  }
  return "<h2>Layers</h2>\n" + html_table(head, rows, {3, 4, 5});
}

}  // namespace

std::string summary_html(const ModelSummary& summary, const std::string& picture) {
  std::string body = cards(summary) + memory_chart(summary);
  // Graphviz writes a whole XML document, of which a page takes the <svg> alone.
  const std::size_t begin = picture.find("<svg");
  if (begin != std::string::npos) {
    body += "<h2>Network</h2>\n<div class=\"picture\">" + picture.substr(begin) + "</div>\n";
  }
  return html_page(summary.name, body + layers_table(summary));
}

}  // namespace headrace
