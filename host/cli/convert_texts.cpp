// SPDX-License-Identifier: Apache-2.0
#include "cli/convert_texts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

namespace headrace {
namespace {

// "NAME[BODY]" split at the last bracket that opens; a name may hold brackets itself.
struct Bracketed {
  std::string name;
  std::string body;
};

std::optional<Bracketed> split_brackets(std::string_view text, char open, char close) {
  const std::size_t begin = text.rfind(open);
  if (begin == std::string_view::npos || text.back() != close) return std::nullopt;
  return Bracketed{std::string(text.substr(0, begin)), std::string(text.substr(begin + 1, text.size() - begin - 2))};
}

// Pieces between the commas outside of brackets.
std::vector<std::string> split_outside(std::string_view text, char open, char close) {
  std::vector<std::string> pieces(1);
  bool is_inside = false;
  for (const char c : text) {
    is_inside = c == open || (is_inside && c != close);
    if (c == ',' && !is_inside) {
      pieces.emplace_back();
    } else {
      pieces.back() += c;
    }
  }
  return pieces;
}

double parse_number(std::string_view text, std::string_view option, std::string_view whole) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail(ErrorCode::kInvalidArgument,
         fmt::format("{} '{}': '{}' is no number; write R,G,B or NAME[R,G,B]", option, whole, text));
  }
  return value;
}

}  // namespace

std::map<std::string, PartialShape> parse_open_shapes(const std::vector<std::string>& texts) {
  std::map<std::string, PartialShape> shapes;
  for (const std::string& text : texts) {
    for (const std::string& piece : split_outside(text, '[', ']')) {
      const auto parts = piece.empty() ? std::nullopt : split_brackets(piece, '[', ']');
      if (!parts) {
        fail(ErrorCode::kInvalidArgument, fmt::format("--input-shape '{}': write NAME[1,3,224,224]", text));
      }
      try {
        const bool is_new = shapes.emplace(parts->name, parse_partial_shape(parts->body)).second;
        check(is_new, ErrorCode::kInvalidArgument, fmt::format("input '{}' is given twice", parts->name));
      } catch (const Error& error) {
        rethrow_with_prefix(error, fmt::format("--input-shape '{}'", text));
      }
    }
  }
  return shapes;
}

ConversionOptions::ChannelValues parse_channel_values(const std::string& text, std::string_view option) {
  ConversionOptions::ChannelValues result;
  const auto parts = text.empty() ? std::nullopt : split_brackets(text, '[', ']');
  result.input = parts ? parts->name : "";
  const std::string body = parts ? parts->body : text;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = body.find(',', begin);
    result.values.push_back(parse_number(std::string_view(body).substr(begin, end - begin), option, text));
  }
  return result;
}

std::vector<ConversionOptions::Layout> parse_layouts(const std::string& text) {
  std::vector<ConversionOptions::Layout> layouts;
  for (const std::string& piece : split_outside(text, '(', ')')) {
    const auto parts = piece.empty() ? std::nullopt : split_brackets(piece, '(', ')');
    const std::string body = parts ? parts->body : piece;
    const std::size_t arrow = body.find("->");
    ConversionOptions::Layout layout;
    layout.name = parts ? parts->name : "";
    layout.from = body.substr(0, arrow);
    layout.to = arrow == std::string::npos ? "" : body.substr(arrow + 2);
    const bool is_complete = !layout.from.empty() && (arrow == std::string::npos || !layout.to.empty());
    check(is_complete, ErrorCode::kInvalidArgument,
          fmt::format("--layout '{}': write NAME(nhwc) or NAME(nhwc->nchw)", text));
    layouts.push_back(std::move(layout));
  }
  return layouts;
}

ConversionOptions preparation_of(const PreparationOptions& options) {
  ConversionOptions result;
  result.input_shapes = parse_open_shapes(options.input_shapes);
  result.reverse_input_channels = options.is_reversed;
  for (const std::string& text : options.means) result.means.push_back(parse_channel_values(text, "--mean"));
  for (const std::string& text : options.scales) result.scales.push_back(parse_channel_values(text, "--scale"));
  for (const std::string& text : options.layouts) {
    for (auto& layout : parse_layouts(text)) result.layouts.push_back(std::move(layout));
  }
  return result;
}

}  // namespace headrace
