// SPDX-License-Identifier: Apache-2.0
// What query, run and bench share.
#include <fmt/core.h>

#include <algorithm>

#include "cli/commands.hpp"
#include "cli/text.hpp"
#include "core/log.hpp"

namespace headrace {

Model open_model(const Core& core, const ModelOptions& options) {
  Model model = core.read_model(options.model, options.weights);
  for (const auto& [input, shape] : parse_input_shapes(options.input_shapes)) model.set_input_shape(input, shape);
  return model;
}

Properties properties_of(const CompileFlags& flags) {
  const auto text = [](bool is_on) { return is_on ? "YES" : "NO"; };
  return {{"PERF_COUNT", text(flags.is_profiling)},
          {"INFERENCE_NUM_THREADS", std::to_string(flags.threads)},
          {"EXACT_NAN", text(flags.exact_nan)},
          {"ENABLE_STARTUP_FALLBACK", text(flags.has_startup_fallback)}};
}

bool dump_if_asked(const Core& core, const Model& model, const ModelOptions& options) {
  constexpr std::string_view kPrefix = "after:";
  if (options.dump.empty()) return false;
  if (options.dump.compare(0, kPrefix.size(), kPrefix) != 0) {
    fail(ErrorCode::kInvalidArgument, fmt::format("--dump '{}': write --dump=after:PASS", options.dump));
  }
  fmt::print("{}", core.dump_after(model, options.devices, options.dump.substr(kPrefix.size())));
  return true;
}

void warn_if_only_cpu(const std::vector<LayerPlacement>& placements, const std::string& devices) {
  if (devices == "CPU" || devices == "HETERO:CPU" || placements.empty()) return;
  const bool is_all_cpu = std::all_of(placements.begin(), placements.end(), [](const LayerPlacement& placement) {
    return placement.device == "CPU" || placement.device.empty();
  });
  if (!is_all_cpu) return;
  log(LogLevel::kWarn, "cli",
      fmt::format("every layer runs on the CPU, none on another device of '{}' (headrace query tells why)", devices));
}

}  // namespace headrace
