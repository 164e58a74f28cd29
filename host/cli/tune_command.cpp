// SPDX-License-Identifier: Apache-2.0
// `headrace tune`: measures the forms of kernels on a device.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/text.hpp"

namespace headrace {
namespace {

using Json = nlohmann::ordered_json;
using Row = Core::TuneReport::Row;

// Time by the default form to time by the fastest.
double gain(const Row& row) { return row.time_us > 0.0 ? row.default_us / row.time_us : 1.0; }

// What stands between the bars of a kernel's key: "conv_wide.cl TILE_M=14,TILE_N=2,VEC=16"
std::string short_form(const std::string& key) {
  std::string text = key.substr(0, key.rfind('|'));
  std::replace(text.begin(), text.end(), '|', ' ');
  return text;
}

void print_gains(const std::vector<Row>& rows) {
  TextTable table({"SHAPE", "FASTEST FORM", "us", "DEFAULT FORM", "us", "GAIN"});
  double sum = 0.0;
  double largest = 1.0;
  std::size_t count = 0;
  for (const Row& row : rows) {
    sum += std::log(gain(row));
    largest = std::max(largest, gain(row));
    if (row.form == row.default_form) continue;
    ++count;
    table.add({row.shape_class, short_form(row.form), fmt::format("{:.1f}", row.time_us), short_form(row.default_form),
               fmt::format("{:.1f}", row.default_us), fmt::format("{:.2f}", gain(row))});
  }
  if (count > 0) fmt::print("{}", table.to_string());
  fmt::print(
      "the default form is the fastest for {} of {} shapes; where it is not, another gains up to {:.2f}, on geometric "
      "average over all shapes {:.3f}\n",
      rows.size() - count, rows.size(), largest, std::exp(sum / static_cast<double>(rows.size())));
}

Json to_json(const Core::TuneReport& report, std::size_t measured) {
  Json rows = Json::array();
  for (const Row& row : report.rows) {
    rows.push_back({{"layer", row.layer},
                    {"shape", row.shape_class},
                    {"form", row.form},
                    {"us", row.time_us},
                    {"default", row.default_form},
                    {"default_us", row.default_us},
                    {"new", row.is_new}});
  }
  return {{"device", report.device}, {"table", report.path}, {"measured", measured}, {"shapes", rows}};
}

}  // namespace

int run_command(const TuneOptions& options) {
  const Core core;
  std::optional<Model> model;
  if (!options.is_all) model = open_model(core, options.model);
  stop_on_interrupt();
  Core::TuneReport report;
  {
    ProgressBar bar("tuning");
    report = core.tune(model, options.model.devices, {options.table, options.is_again},
                       [&bar](int done, int total, std::string_view what) {
                         bar.show(static_cast<double>(done) / std::max(total, 1), what);
                         return !is_interrupted();
                       });
  }
  if (is_interrupted() && static_cast<int>(report.rows.size()) < report.shapes) {
    fail(ErrorCode::kCancelled,
         fmt::format("interrupted after {} of {} shapes; they are kept in {}, the same command goes on",
                     report.rows.size(), report.shapes, report.path));
  }
  const auto measured =
      std::count_if(report.rows.begin(), report.rows.end(), [](const Row& row) { return row.is_new; });
  if (options.is_json) {
    const Json document = to_json(report, static_cast<std::size_t>(measured));
    fmt::print("{}\n", document.dump(2, ' ', false, Json::error_handler_t::replace));
    return 0;
  }
  if (report.rows.empty()) {
    fmt::print("{}: nothing to tune: no layer has a choice of forms\n", report.device);
    return 0;
  }
  print_gains(report.rows);
  fmt::print("{}: {} shapes measured, {} known before; table {}\n", report.device, measured,
             report.rows.size() - static_cast<std::size_t>(measured), report.path.empty() ? "not kept" : report.path);
  return 0;
}

}  // namespace headrace
