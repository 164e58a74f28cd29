// SPDX-License-Identifier: Apache-2.0
// A model's summary as a drawing for Graphviz.
#include <algorithm>
#include <array>
#include <set>

#include "headrace/summary.hpp"
#include "runtime/html_text.hpp"

namespace headrace {
namespace {

constexpr std::size_t kMaxNameColumns = 44;
constexpr std::size_t kMaxFusedShown = 4;
constexpr std::size_t kManyLayers = 1000;

struct Color {
  std::string_view fill;
  std::string_view line;
};

// In priority order of the devices; they repeat.
constexpr std::array<Color, 8> kDeviceColors = {{{"#d3ecd7", "#2e8b4a"},
                                                 {"#d2e4f8", "#2869b0"},
                                                 {"#fbe9c4", "#b07d12"},
                                                 {"#f8d7dc", "#b4384d"},
                                                 {"#e6d9f3", "#7444a6"},
                                                 {"#d1eeee", "#218080"},
                                                 {"#ecdfd3", "#8a5a2c"},
                                                 {"#e1e4e8", "#57606a"}}};
constexpr Color kNowhere = {"#ffffff", "#c01f1f"};
constexpr Color kPort = {"#3a4654", "#3a4654"};

struct Kind {
  std::string_view name;
  Color color;
  std::array<std::string_view, 18> words;  // parts of type names, whole ones first come first served
};

constexpr std::array<Kind, 6> kKinds = {{
    {"sums of products",
     {"#d2e4f8", "#2869b0"},
     {"Conv", "MatMul", "Gemm", "InnerProduct", "FullyConnected", "LSTM", "GRU", "RNN", "Attention", "Einsum"}},
    {"normalization", {"#e6d9f3", "#7444a6"}, {"Norm", "MVN", "LRN", "Softmax", "SoftMax", "FakeQuantize", "Quantize"}},
    {"pooling, reduction", {"#d3ecd7", "#2e8b4a"}, {"Pool", "Reduce", "TopK", "ArgMax", "Interpolate", "Resize"}},
    {"activation",
     {"#fbe9c4", "#b07d12"},
     {"ReLU", "Relu", "Sigmoid", "Swish", "Clamp", "Clip", "Tanh", "Elu", "Gelu", "Mish", "SoftPlus", "Erf", "Exp"}},
    {"movement",
     {"#e1e4e8", "#57606a"},
     {"Reshape", "Transpose", "Concat", "Split", "Slice", "Squeeze", "Gather", "Pad", "Shuffle", "Broadcast", "Tile",
      "Flatten", "Permute", "Convert", "Shape", "DepthToSpace", "SpaceTo", "Scatter"}},
    {"element by element",
     {"#f8d7dc", "#b4384d"},
     {"Add", "Multiply", "Mul", "Subtract", "Divide", "Power", "Maximum", "Minimum", "Select", "Equal", "Less",
      "Greater", "Logical"}},
}};
constexpr Color kOtherKind = {"#ecdfd3", "#8a5a2c"};

const Kind* kind_of(std::string_view type) {
  for (const Kind& kind : kKinds) {
    for (const std::string_view word : kind.words) {
      if (!word.empty() && type.find(word) != std::string_view::npos) return &kind;
    }
  }
  return nullptr;
}

bool is_port(const ModelSummary::Layer& layer) { return layer.type == "Parameter" || layer.type == "Result"; }

Color color_of(const ModelSummary& summary, const ModelSummary::Layer& layer) {
  if (is_port(layer)) return kPort;
  if (summary.devices.empty()) {
    const Kind* kind = kind_of(layer.type);
    return kind == nullptr ? kOtherKind : kind->color;
  }
  const auto found = std::find(summary.devices.begin(), summary.devices.end(), layer.device);
  if (found == summary.devices.end()) return kNowhere;
  return kDeviceColors[static_cast<std::size_t>(found - summary.devices.begin()) % kDeviceColors.size()];
}

// Graphviz refuses what is no UTF-8, and a hostile name may hold anything. Bytes outside of well-formed sequences of
// two to four become '?'.
std::string valid_utf8(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80U                    ? 1
                               : lead >= 0xC2U && lead < 0xE0U ? 2
                               : lead >= 0xE0U && lead < 0xF0U ? 3
                               : lead >= 0xF0U && lead < 0xF5U ? 4
                                                               : 0;
    bool is_whole = length > 0 && i + length <= text.size();
    for (std::size_t k = 1; is_whole && k < length; ++k) {
      is_whole = (static_cast<unsigned char>(text[i + k]) & 0xC0U) == 0x80U;
    }
    result += is_whole ? std::string(text.substr(i, length)) : "?";
    i += is_whole ? length : 1;
  }
  return result;
}

// The end of a long name tells more than its beginning.
std::string shortened(std::string_view name) {
  const std::string text = valid_utf8(name);
  if (text.size() <= kMaxNameColumns) return html_escaped(text);
  std::size_t begin = text.size() - kMaxNameColumns + 1;
  while (begin < text.size() && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) ++begin;
  return "…" + html_escaped(text.substr(begin));
}

std::string small(const std::string& text) {
  return "<br/><font point-size=\"10\" color=\"#52606f\">" + text + "</font>";
}

std::string figures_of(const ModelSummary::Layer& layer) {
  std::string text;
  if (layer.parameters > 0) text += with_prefix(static_cast<double>(layer.parameters)) + " parameters";
  if (layer.flops && *layer.flops > 0) {
    text += (text.empty() ? "" : ", ") + with_prefix(static_cast<double>(*layer.flops)) + " operations";
  }
  return text;
}

std::string label_of(const ModelSummary::Layer& layer) {
  if (is_port(layer)) return "<font color=\"white\">" + shortened(layer.name) + "</font>";
  std::string label = "<b>" + shortened(layer.type) + "</b>" + small(shortened(layer.name));
  for (std::size_t i = 0; i < std::min(kMaxFusedShown, layer.fused.size()); ++i) {
    label += small("+ " + shortened(layer.fused[i]));
  }
  if (layer.fused.size() > kMaxFusedShown) {
    label += small("+ " + std::to_string(layer.fused.size() - kMaxFusedShown) + " more");
  }
  const std::string figures = figures_of(layer);
  return figures.empty() ? label : label + small(figures);
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : valid_utf8(text)) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < 0x20U ? ' ' : c;
  }
  return result + "\"";
}

std::string node_line(const ModelSummary& summary, std::size_t index) {
  const ModelSummary::Layer& layer = summary.layers[index];
  const Color color = color_of(summary, layer);
  const std::string place = layer.device.empty() ? "" : " on " + layer.device;
  return "  n" + std::to_string(index) + " [label=<" + label_of(layer) + ">, fillcolor=\"" + std::string(color.fill) +
         "\", color=\"" + std::string(color.line) + "\", tooltip=" + quoted(layer.name + place) + "];\n";
}

std::string edge_line(const ModelSummary& summary, const ModelSummary::Source& source, std::size_t target) {
  const auto& outputs = summary.layers[source.layer].outputs;
  std::string line = "  n" + std::to_string(source.layer) + " -> n" + std::to_string(target);
  if (source.output < outputs.size() && !outputs[source.output].shape.empty()) {
    const auto& info = outputs[source.output];
    line += " [label=" + quoted(" " + (info.type == "f32" ? "" : info.type + " ") + info.shape) + "]";
  }
  return line + ";\n";
}

std::string legend_cell(const Color& color, const std::string& text) {
  return "<td bgcolor=\"" + std::string(color.fill) + "\" color=\"" + std::string(color.line) + "\">  " + text +
         "  </td>";
}

std::string legend(const ModelSummary& summary) {
  std::string cells;
  if (!summary.devices.empty()) {
    for (std::size_t i = 0; i < summary.devices.size(); ++i) {
      cells += legend_cell(kDeviceColors[i % kDeviceColors.size()], shortened(summary.devices[i]));
    }
    const bool has_homeless = std::any_of(summary.layers.begin(), summary.layers.end(),
                                          [](const auto& layer) { return !is_port(layer) && layer.device.empty(); });
    if (has_homeless) cells += legend_cell(kNowhere, "no device runs it");
  } else {
    std::set<const Kind*> used;
    for (const auto& layer : summary.layers) {
      if (!is_port(layer)) used.insert(kind_of(layer.type));
    }
    for (const Kind& kind : kKinds) {
      if (used.count(&kind) != 0) cells += legend_cell(kind.color, std::string(kind.name));
    }
    if (used.count(nullptr) != 0) cells += legend_cell(kOtherKind, "other");
  }
  // A table stands alone in a label: the title is its first row.
  const std::string title = "<tr><td border=\"0\" colspan=\"10\"><b>" + shortened(summary.name) + "</b></td></tr>";
  return "<table border=\"0\" cellborder=\"1\" cellspacing=\"6\" cellpadding=\"4\">" + title +
         (cells.empty() ? "" : "<tr>" + cells + "</tr>") + "</table>";
}

}  // namespace

std::string summary_dot(const ModelSummary& summary) {
  // nslimit bounds the steps of the layout's simplex method, which are what takes minutes on thousands of layers.
  const std::string limits = summary.layers.size() > kManyLayers ? "nslimit=3, nslimit1=3, " : "";
  std::string text =
      "digraph network {\n  graph [fontname=\"DejaVu Sans\", fontsize=16, labelloc=t, nodesep=0.35, ranksep=0.45, " +
      limits + "pad=0.3, bgcolor=white, label=<" + legend(summary) +
      ">];\n  node [shape=box, style=\"filled,rounded\", fontname=\"DejaVu Sans\", fontsize=13, fontcolor=\"#1d2733\", "
      "penwidth=1.2, margin=\"0.18,0.09\", height=0.3];\n  edge [fontname=\"DejaVu Sans\", fontsize=10, "
      "fontcolor=\"#52606f\", color=\"#7a8796\", arrowsize=0.7];\n";
  for (std::size_t i = 0; i < summary.layers.size(); ++i) text += node_line(summary, i);
  for (std::size_t i = 0; i < summary.layers.size(); ++i) {
    for (const auto& source : summary.layers[i].inputs) text += edge_line(summary, source, i);
  }
  return text + "}\n";
}

}  // namespace headrace
