// SPDX-License-Identifier: Apache-2.0
// `headrace convert`: a model file as optimized IR, with pre-processing baked in.
#include <fmt/core.h>

#include <map>

#include "cli/commands.hpp"
#include "cli/convert_texts.hpp"
#include "cli/text.hpp"
#include "core/file.hpp"
#include "runtime/html_text.hpp"

namespace headrace {
namespace {

ConversionOptions conversion_options(const ConvertOptions& options) {
  ConversionOptions result = preparation_of(options.preparation);
  result.outputs = options.outputs;
  result.batch = options.batch;
  result.compress_to_fp16 = options.compresses;
  return result;
}

std::string bytes_text(std::int64_t bytes) { return with_bytes(static_cast<double>(bytes)); }

std::string optional_text(const std::optional<std::int64_t>& value, bool is_bytes) {
  if (!value) return "-";
  return is_bytes ? bytes_text(*value) : with_prefix(static_cast<double>(*value));
}

void print_counts(const ConversionReport& report) {
  const auto& a = report.before;
  const auto& b = report.after;
  TextTable table({"", "BEFORE", "AFTER"});
  table.add({"layers", with_thousands(a.layers), with_thousands(b.layers)});
  table.add({"parameters", with_thousands(a.parameters), with_thousands(b.parameters)});
  table.add({"constants", bytes_text(a.constant_bytes), bytes_text(b.constant_bytes)});
  table.add({"operations of one run", optional_text(a.flops, false), optional_text(b.flops, false)});
  table.add({"bytes moved in one run", optional_text(a.moved_bytes, true), optional_text(b.moved_bytes, true)});
  fmt::print("{}", table.to_string());
}

void print_passes(const ConversionReport& report) {
  TextTable table({"PASS", "LAYERS", "FOLDED", "FUSED", "REPLACED", "REMOVED", "MS", "SKIPPED"});
  for (const auto& pass : report.passes) {
    std::map<std::string, int> kinds;
    for (const auto& change : pass.changes) ++kinds[change.kind];
    const auto count = [&](const char* kind) { return kinds[kind] == 0 ? "-" : std::to_string(kinds[kind]); };
    table.add({pass.name, std::to_string(pass.layers_after), count("folded"), count("fused"), count("replaced"),
               count("removed"), fmt::format("{:.2f}", pass.time_ms), pass.skipped.empty() ? "" : pass.skipped});
  }
  fmt::print("\n{}", table.to_string());
}

void print_summary(const ConversionReport& report) {
  print_counts(report);
  print_passes(report);
  if (!report.preprocessing.empty()) fmt::print("\nbaked in, in this order:\n");
  for (const std::string& line : report.preprocessing) fmt::print("  {}\n", line);
  if (!report.kept.empty()) {
    fmt::print("\n{} layers stayed that could have gone; --report tells why\n", report.kept.size());
  }
  fmt::print("\nwrote {} and {} ({}) in {:.0f} ms\n", report.xml_path, report.bin_path, bytes_text(report.file_bytes),
             report.optimize_ms + report.write_ms);
}

void write_report(const ConversionReport& report, const std::string& path) {
  const std::string text = path.ends_with(".json") ? conversion_json(report) + "\n" : conversion_html(report);
  write_file(path, {as_bytes(text)});
}

}  // namespace

int run_command(const ConvertOptions& options) {
  const ConversionOptions wanted = conversion_options(options);
  ConversionReport report;
  {
    ProgressBar bar("convert");
    bar.show(0.0, "reading " + options.model);
    const Core core;
    const Model model = core.read_model(options.model, options.weights);
    report = convert_model(model, options.output, wanted,
                           [&](double fraction, std::string_view stage) { bar.show(fraction, stage); });
  }
  if (!options.report.empty()) write_report(report, options.report);
  if (options.is_json) {
    fmt::print("{}\n", conversion_json(report));
  } else {
    print_summary(report);
    if (!options.report.empty()) fmt::print("wrote {}\n", options.report);
  }
  return 0;
}

}  // namespace headrace
