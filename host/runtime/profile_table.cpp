// SPDX-License-Identifier: Apache-2.0
// The text of -pc.
#include <algorithm>
#include <array>
#include <cstdio>

#include "headrace/headrace.hpp"

namespace headrace {
namespace {

constexpr std::size_t kColumns = 10;
constexpr std::size_t kTextColumns = 5;
using Row = std::array<std::string, kColumns>;

std::string decimal(double value, int digits) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

// Work per time in units of 1e9 per second; "-" where nothing was counted or measured.
std::string rate(std::int64_t work, double time_us) {
  return work > 0 && time_us > 0.0 ? decimal(static_cast<double>(work) / time_us * 1e-3, 1) : "-";
}

std::string percent(std::optional<double> share) { return share ? decimal(*share * 100.0, 0) + " %" : "-"; }

Row to_row(const LayerProfile& row, const std::map<std::string, double>& peaks) {
  const std::string kernel = row.kernel.empty() ? "-" : row.kernel;
  return {row.layer,
          row.type,
          row.device,
          kernel,
          row.origin.empty() ? "-" : row.origin,
          decimal(row.device_us, 1),
          decimal(row.queue_us, 1),
          rate(row.flops, row.device_us),
          rate(row.bytes, row.device_us),
          percent(share_of_peak(row, peaks))};
}

// Columns of UTF-8 text: continuation bytes take none.
std::size_t count_columns(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string format(const std::vector<Row>& rows, std::size_t columns) {
  std::array<std::size_t, kColumns> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], count_columns(row[i]));
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < columns; ++i) {
      const std::string padding(widths[i] - count_columns(row[i]), ' ');
      line += i < kTextColumns ? row[i] + padding : padding + row[i];  // texts to the left, numbers to the right
      line += "  ";
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

}  // namespace

std::optional<double> share_of_peak(const LayerProfile& row, const std::map<std::string, double>& peaks) {
  constexpr double kBytesToFloats = 4.0;
  const auto peak = peaks.find(row.device);
  if (peak == peaks.end() || row.flops <= 0 || row.device_us <= 0.0) return std::nullopt;
  const double limit = peak->second * (row.type.starts_with("Quantized") ? kBytesToFloats : 1.0);
  return static_cast<double>(row.flops) / (row.device_us * 1e-6) / limit;
}

std::string profile_table(const std::vector<LayerProfile>& rows, const std::map<std::string, double>& peaks) {
  LayerProfile sum;
  sum.layer = "sum";
  std::vector<Row> table{
      {"LAYER", "TYPE", "DEVICE", "KERNEL", "FROM", "TIME us", "QUEUE us", "GFLOP/s", "GB/s", "OF PEAK"}};
  for (const LayerProfile& row : rows) {
    table.push_back(to_row(row, peaks));
    sum.device_us += row.device_us;
    // The share is the one device's where all layers that compute run on one.
    if (row.flops > 0) sum.device = sum.device.empty() || sum.device == row.device ? row.device : "several";
    sum.flops += row.flops;
    sum.bytes += row.bytes;
  }
  Row last = to_row(sum, peaks);
  last[6] = "";  // waiting in the queue overlaps with other layers' running: its sum means nothing
  table.push_back(last);
  std::string text = format(table, peaks.empty() ? kColumns - 1 : kColumns);
  for (const auto& [device, flops] : peaks) {
    text += "peak of " + device + ": " + decimal(flops * 1e-9, 1) + " GFLOP/s (multiply-adds of f32 in registers)\n";
  }
  return text;
}

}  // namespace headrace
