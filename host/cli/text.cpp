// SPDX-License-Identifier: Apache-2.0
#include "cli/text.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "core/error.hpp"

namespace headrace {
namespace {

constexpr int kBarWidth = 30;
constexpr double kRedrawSeconds = 0.1;

// UTF-8 continuation bytes take no column of their own.
std::size_t count_columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Shape parse_dims(std::string_view dims, std::string_view whole) {
  Shape shape;
  while (!dims.empty()) {
    const std::size_t comma = std::min(dims.find(','), dims.size());
    std::int64_t value = -1;
    const auto [end, error] = std::from_chars(dims.data(), dims.data() + comma, value);
    if (error != std::errc() || end != dims.data() + comma || value < 0) {
      fail(ErrorCode::kInvalidArgument,
           fmt::format("--input-shape '{}': '{}' is not a dimension; write NAME[1,3,224,224]", whole,
                       dims.substr(0, comma)));
    }
    shape.push_back(value);
    const bool has_trailing_comma = comma + 1 == dims.size();
    check(!has_trailing_comma, ErrorCode::kInvalidArgument,
          fmt::format("--input-shape '{}' ends in a comma; write NAME[1,3,224,224]", whole));
    dims.remove_prefix(std::min(comma + 1, dims.size()));
  }
  return shape;
}

}  // namespace

std::string one_line(std::string_view message) {
  while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.remove_suffix(1);
  std::string line(message);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20U || c == 0x7F) c = ' ';
  }
  return line;
}

std::string TextTable::to_string() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], count_columns(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - count_columns(row[i]) + 2, ' ');
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

std::string join(const std::vector<std::string>& texts, std::string_view separator) {
  std::string joined;
  for (const std::string& text : texts) {
    if (&text != &texts.front()) joined += separator;
    joined += text;
  }
  return joined;
}

std::map<std::string, Shape> parse_input_shapes(const std::vector<std::string>& texts) {
  std::map<std::string, Shape> shapes;
  for (const std::string& text : texts) {
    std::string_view rest = text;
    do {
      const std::size_t open = rest.find('[');
      const std::size_t close = open == std::string_view::npos ? open : rest.find(']', open);
      const bool is_followed_well = close != std::string_view::npos &&
                                    (close + 1 == rest.size() || (rest[close + 1] == ',' && close + 2 < rest.size()));
      if (!is_followed_well) {
        fail(ErrorCode::kInvalidArgument, fmt::format("--input-shape '{}': write NAME[1,3,224,224]", text));
      }
      const std::string name(rest.substr(0, open));
      const bool is_new = shapes.emplace(name, parse_dims(rest.substr(open + 1, close - open - 1), text)).second;
      check(is_new, ErrorCode::kInvalidArgument, fmt::format("--input-shape: input '{}' is given twice", name));
      rest.remove_prefix(std::min(close + 2, rest.size()));
    } while (!rest.empty());
  }
  return shapes;
}

std::string file_stem_for(std::string_view tensor_name) {
  std::string stem(tensor_name);
  for (char& c : stem) {
    const bool is_kept =
        (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    if (!is_kept) c = '_';
  }
  return stem;
}

ProgressBar::ProgressBar(std::string_view title) : title_(title), is_terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  if (is_drawn_) fmt::print(stderr, "\r\033[K");
}

void ProgressBar::show(double fraction, std::string_view what) {
  if (!is_terminal_) return;
  const double now = seconds_now();
  if (now - last_draw_s_ < kRedrawSeconds) return;
  last_draw_s_ = now;
  is_drawn_ = true;
  const int filled = static_cast<int>(std::clamp(fraction, 0.0, 1.0) * kBarWidth);
  fmt::print(stderr, "\r\033[K{} [{:#<{}}{:.<{}}] {:3.0f}% {}", title_, "", filled, "", kBarWidth - filled,
             std::clamp(fraction, 0.0, 1.0) * 100.0, what.substr(0, 40));
}

}  // namespace headrace
