// SPDX-License-Identifier: Apache-2.0
#include "runtime/html_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace headrace {
namespace {

constexpr std::string_view kStyle = R"css(
:root { --ink: #1d2733; --dim: #66758a; --line: #dfe5ec; --paper: #ffffff; --panel: #f5f7fa; --accent: #1767b1;
  --good: #1a7f4b; --old: #b9c6d6; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e9f0; --dim: #93a1b3; --line: #303b49; --paper: #141a21;
  --panel: #1c242e; --accent: #63a9ea; --good: #5cc48d; --old: #45566b; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans",
  sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 32px 24px 64px; }
h1 { font-size: 26px; margin: 0 0 4px; overflow-wrap: anywhere; } h2 { font-size: 18px; margin: 36px 0 10px; }
p { margin: 6px 0; } .dim { color: var(--dim); }
code, td.name { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 13px; overflow-wrap: anywhere; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(190px, 1fr)); gap: 12px; margin: 22px 0 4px; }
.card { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; }
.card b { display: block; font-size: 22px; font-weight: 600; } .card span { color: var(--dim); font-size: 13px; }
.card i { color: var(--good); font-style: normal; font-size: 13px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th { text-align: left; font-weight: 600; color: var(--dim); white-space: nowrap; }
th, td { padding: 5px 12px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.bar { display: inline-block; height: 9px; border-radius: 2px; background: var(--accent); min-width: 1px; }
.bar.old { background: var(--old); }
details { border: 1px solid var(--line); border-radius: 8px; margin: 8px 0; padding: 8px 14px; }
summary { cursor: pointer; font-weight: 600; }
svg { max-width: 100%; height: auto; }
.picture { overflow: auto; border: 1px solid var(--line); border-radius: 8px; background: #ffffff; padding: 12px;
  max-height: 85vh; }
.picture svg { display: block; margin: 0 auto; }
)css";

std::string shortened(double value, double step, const std::array<const char*, 6>& units) {
  std::size_t unit = 0;
  while (std::abs(value) >= step && unit + 1 < units.size()) {
    value /= step;
    ++unit;
  }
  const int digits = unit == 0 || std::abs(value) >= 100.0 ? 0 : std::abs(value) >= 10.0 ? 1 : 2;
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f %s", digits, value, units[unit]);
  std::string result(text.data());
  while (result.ends_with(' ')) result.pop_back();
  return result;
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '"') {
      result += "&quot;";
    } else if (static_cast<unsigned char>(c) < 0x20U || c == 0x7F) {
      result += ' ';
    } else {
      result += c;
    }
  }
  return result;
}

std::string html_page(std::string_view title, const std::string& body) {
  const std::string name = html_escaped(title);
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + name +
         "</title>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<style>" +
         std::string(kStyle) + "</style></head>\n<body><main>\n<h1>" + name + "</h1>\n" + body +
         "</main></body></html>\n";
}

std::string html_table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows,
                       const std::vector<std::size_t>& numbers) {
  const auto cell = [&](const char* tag, std::size_t column, const std::string& text) {
    const bool is_number = std::find(numbers.begin(), numbers.end(), column) != numbers.end();
    const std::string kind = is_number ? " class=\"number\"" : column == 0 ? " class=\"name\"" : "";
    return "<" + std::string(tag) + kind + ">" + text + "</" + tag + ">";
  };
  std::string text = "<div class=\"scroll\"><table><thead><tr>";
  for (std::size_t i = 0; i < head.size(); ++i) text += cell("th", i, head[i]);
  text += "</tr></thead>\n<tbody>";
  for (const auto& row : rows) {
    text += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) text += cell("td", i, row[i]);
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string with_thousands(std::int64_t value) {
  std::string text = std::to_string(value);
  const std::size_t first = text.starts_with("-") ? 1 : 0;
  for (std::size_t i = text.size(); i > first + 3;) text.insert(i -= 3, ",");
  return text;
}

std::string with_prefix(double value) { return shortened(value, 1e3, {"", "k", "M", "G", "T", "P"}); }

std::string with_bytes(double bytes) { return shortened(bytes, 1e3, {"B", "kB", "MB", "GB", "TB", "PB"}); }

}  // namespace headrace
