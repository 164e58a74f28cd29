// SPDX-License-Identifier: Apache-2.0
// The public class Core: devices, models, compilation.
#include <cstdlib>

#include "runtime/compiled_model_impl.hpp"
#include "runtime/core_impl.hpp"
#include "runtime/model_file.hpp"
#include "runtime/model_impl.hpp"

namespace headrace {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// HEADRACE_x_DIR, else the user's folder of that kind as XDG says, else the one under the home folder, else none.
std::string folder(const char* own, const char* xdg, const char* below_home) {
  if (const std::string chosen = environment(own); !chosen.empty()) return chosen;
  if (const std::string base = environment(xdg); base.starts_with("/")) return base + "/headrace";
  if (const std::string home = environment("HOME"); !home.empty()) return home + below_home + "/headrace";
  return "";
}

}  // namespace

CoreOptions default_core_options() {
  CoreOptions options;
  options.cache_dir = folder("HEADRACE_CACHE_DIR", "XDG_CACHE_HOME", "/.cache");
  options.state_dir = folder("HEADRACE_STATE_DIR", "XDG_STATE_HOME", "/.local/state");
  return options;
}

Core::Core(const CoreOptions& options) : impl_(std::make_shared<Impl>(options)) {}

std::vector<DeviceSummary> Core::devices() const { return impl_->devices.list(); }

Model Core::read_model(const std::string& path, const std::string& weights_path) const {
  return make_model(read_model_file(path, weights_path));
}

CompiledModel Core::compile_model(const Model& model, std::string_view devices, const Properties& properties) const {
  const CompileOptions options = parse_properties(properties);
  DeviceList fallback;
  if (options.has_startup_fallback) {
    fallback = impl_->devices.resolve("CPU").front();
    fallback.names = {"CPU (startup)"};  // in placements and profiles
  }
  return CompiledModel(std::make_shared<CompiledModel::Impl>(std::make_shared<const Model::Impl>(model.impl()),
                                                             impl_->devices.resolve(devices, options.streams),
                                                             std::move(fallback), options, impl_->packed_weights));
}

}  // namespace headrace
