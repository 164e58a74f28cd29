// SPDX-License-Identifier: Apache-2.0
// The report of convert_model as a page.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>

#include "headrace/convert.hpp"
#include "runtime/html_text.hpp"

namespace headrace {
namespace {

constexpr double kBarPixels = 160.0;
// A page stays readable, and a browser fast; the JSON has every row.
constexpr std::size_t kMaxRows = 2000;

using Counts = ConversionReport::Counts;

std::string ms_text(double ms) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f", ms);
  return text.data();
}

std::string bar(double share, std::string_view kind = "") {
  std::array<char, 32> width{};
  std::snprintf(width.data(), width.size(), "%.1f", std::clamp(share, 0.0, 1.0) * kBarPixels);
  return "<span class=\"bar " + std::string(kind) + "\" style=\"width:" + width.data() + "px\"></span>";
}

std::string card(std::string_view title, const std::string& before, const std::string& after, double old_value,
                 double new_value) {
  std::string change;
  if (old_value > 0.0 && old_value != new_value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%+.1f %%", (new_value / old_value - 1.0) * 100.0);
    change = " <i>" + std::string(text.data()) + "</i>";
  }
  return "<div class=\"card\"><span>" + std::string(title) + "</span><b>" + after + "</b><span>before: " + before +
         "</span>" + change + "</div>\n";
}

template <typename Format>
std::string count_card(std::string_view title, std::int64_t before, std::int64_t after, Format format) {
  return card(title, format(before), format(after), static_cast<double>(before), static_cast<double>(after));
}

std::string cards(const Counts& before, const Counts& after) {
  const auto plain = [](std::int64_t value) { return with_thousands(value); };
  const auto prefix = [](std::int64_t value) { return with_prefix(static_cast<double>(value)); };
  const auto bytes = [](std::int64_t value) { return with_bytes(static_cast<double>(value)); };
  std::string text = "<div class=\"cards\">\n" + count_card("Layers", before.layers, after.layers, plain) +
                     count_card("Parameters", before.parameters, after.parameters, prefix) +
                     count_card("Constants in memory", before.constant_bytes, after.constant_bytes, bytes);
  if (before.flops && after.flops) text += count_card("Operations in one run", *before.flops, *after.flops, prefix);
  if (before.moved_bytes && after.moved_bytes) {
    text += count_card("Bytes moved in one run", *before.moved_bytes, *after.moved_bytes, bytes);
  }
  return text + "</div>\n";
}

std::string ports_section(const ConversionReport& report) {
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const char* kind, const std::vector<ConversionReport::Port>& ports) {
    for (const auto& port : ports) {
      rows.push_back({html_escaped(port.name), kind, html_escaped(port.type),
                      "<code>" + html_escaped(port.shape) + "</code>", html_escaped(port.layout)});
    }
  };
  add("input", report.inputs);
  add("output", report.outputs);
  std::string text = "<h2>Inputs and outputs</h2>\n" + html_table({"Name", "", "Type", "Shape", "Layout"}, rows);
  if (report.preprocessing.empty()) return text;
  text += "<p>Baked in, in this order:</p><ol>";
  for (const std::string& line : report.preprocessing) text += "<li><code>" + html_escaped(line) + "</code></li>";
  return text + "</ol>\n";
}

std::string changes_text(const ConversionReport::Pass& pass) {
  if (!pass.skipped.empty()) return "<span class=\"dim\">skipped: " + html_escaped(pass.skipped) + "</span>";
  std::map<std::string, int> kinds;
  for (const auto& change : pass.changes) ++kinds[change.kind];
  std::string text;
  for (const auto& [kind, count] : kinds) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + kind;
  return text.empty() ? "<span class=\"dim\">nothing to do</span>" : text;
}

std::string passes_section(const ConversionReport& report) {
  double longest = 1e-9;
  for (const auto& pass : report.passes) longest = std::max(longest, pass.time_ms);
  std::vector<std::vector<std::string>> rows;
  for (const auto& pass : report.passes) {
    rows.push_back({html_escaped(pass.name), changes_text(pass), with_thousands(pass.layers_after),
                    ms_text(pass.time_ms), bar(pass.time_ms / longest)});
  }
  return "<h2>Passes</h2>\n" + html_table({"Pass", "What it did", "Layers after", "Time [ms]", ""}, rows, {2, 3});
}

std::string more_rows(std::size_t count) {
  if (count <= kMaxRows) return "";
  return "<p class=\"dim\">and " + std::to_string(count - kMaxRows) + " more, which the JSON report has</p>\n";
}

std::string changes_section(const ConversionReport& report) {
  std::string text = "<h2>Layers that changed</h2>\n";
  bool is_empty = true;
  for (const auto& pass : report.passes) {
    if (pass.changes.empty()) continue;
    is_empty = false;
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < std::min(kMaxRows, pass.changes.size()); ++i) {
      const auto& change = pass.changes[i];
      const std::string into = change.into.empty() ? "" : "<code>" + html_escaped(change.into) + "</code>";
      rows.push_back({html_escaped(change.layer), html_escaped(change.type), html_escaped(change.kind), into,
                      html_escaped(change.into_type)});
    }
    text += "<details><summary>" + html_escaped(pass.name) + ": " + changes_text(pass) + "</summary>\n" +
            html_table({"Layer", "Type", "", "Into", "Type"}, rows) + more_rows(pass.changes.size()) + "</details>\n";
  }
  return is_empty ? text + "<p class=\"dim\">None.</p>\n" : text;
}

std::string kept_section(const ConversionReport& report) {
  std::string text = "<h2>Layers that stayed, and why</h2>\n";
  if (report.kept.empty()) return text + "<p class=\"dim\">No layer that could have gone stayed.</p>\n";
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < std::min(kMaxRows, report.kept.size()); ++i) {
    const auto& kept = report.kept[i];
    rows.push_back({html_escaped(kept.layer), html_escaped(kept.type), html_escaped(kept.reason)});
  }
  return text + html_table({"Layer", "Type", "Reason"}, rows) + more_rows(report.kept.size());
}

std::string types_section(const Counts& before, const Counts& after) {
  std::set<std::string> types;
  std::int64_t most = 1;
  for (const Counts* counts : {&before, &after}) {
    for (const auto& [type, count] : counts->layers_by_type) {
      types.insert(type);
      most = std::max(most, count);
    }
  }
  const auto count_of = [](const Counts& counts, const std::string& type) {
    const auto found = counts.layers_by_type.find(type);
    return found == counts.layers_by_type.end() ? std::int64_t{0} : found->second;
  };
  std::vector<std::vector<std::string>> rows;
  for (const std::string& type : types) {
    const std::int64_t a = count_of(before, type);
    const std::int64_t b = count_of(after, type);
    const auto share = [&](std::int64_t count) { return static_cast<double>(count) / static_cast<double>(most); };
    rows.push_back(
        {html_escaped(type), with_thousands(a), with_thousands(b), bar(share(a), "old") + "<br>" + bar(share(b))});
  }
  return "<h2>Layers by type</h2>\n" + html_table({"Type", "Before", "After",
                                                   "before <span class=\"bar old\" style=\"width:12px\"></span> after "
                                                   "<span class=\"bar\" style=\"width:12px\"></span>"},
                                                  rows, {1, 2});
}

}  // namespace

std::string conversion_html(const ConversionReport& report) {
  const std::string body = "<p class=\"dim\">Written by Headrace to <code>" + html_escaped(report.xml_path) +
                           "</code> and <code>" + html_escaped(report.bin_path) + "</code> (" +
                           with_bytes(static_cast<double>(report.file_bytes)) + "). Optimized in " +
                           ms_text(report.optimize_ms) + " ms, written in " + ms_text(report.write_ms) + " ms.</p>\n" +
                           cards(report.before, report.after) + ports_section(report) + passes_section(report) +
                           kept_section(report) + types_section(report.before, report.after) + changes_section(report);
  return html_page("Conversion of " + report.name, body);
}

}  // namespace headrace
