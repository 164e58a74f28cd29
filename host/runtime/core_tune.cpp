// SPDX-License-Identifier: Apache-2.0
// Core::tune: measures, and keeps what was measured.
#include "core/log.hpp"
#include "device/opencl/tuning_file.hpp"
#include "runtime/core_impl.hpp"
#include "runtime/cut_model.hpp"
#include "runtime/model_impl.hpp"
#include "runtime/network.hpp"
#include "runtime/tune_cases.hpp"
#include "runtime/tune_measure.hpp"

namespace headrace {
namespace {

TunedShape to_shape(const Measured& measured, const std::string& layer) {
  for (const FormTime& form : measured.forms) {
    if (form.fault.empty()) continue;
    log(LogLevel::kWarn, "tuning", "layer '" + layer + "': " + form.key + " is left out: " + form.fault);
  }
  const FormTime& best = measured.forms[measured.best];
  const FormTime& first = measured.forms.front();
  // A default that gives wrong numbers has no time that could be stored.
  return {best.key, first.key, best.time_us, first.fault.empty() ? first.time_us : best.time_us};
}

// The table in its file. A user's own one that is damaged or cannot be written is a warning: the figures are still
// worth being shown. A file that was asked for by name is never replaced unless it is a table of this device.
class StoredTable {
 public:
  StoredTable(std::string path, bool is_named, const TuningTarget& target, const KernelSources& sources)
      : path_(std::move(path)), is_named_(is_named), sources_(sources) {
    auto found = is_named ? read_tuning(path_, target, sources) : find_tuning(path_, target, sources);
    if (found) file_ = std::move(*found);
    file_.target = target;
  }

  const TunedShape* find(const std::string& shape_class) const {
    const auto found = file_.shapes.find(shape_class);
    return found == file_.shapes.end() ? nullptr : &found->second;
  }

  // Throws kIo where a named file cannot be written.
  void store(const std::string& shape_class, const TunedShape& shape) {
    file_.set(shape_class, shape, sources_);
    try {
      check(!path_.empty(), ErrorCode::kIo, "there is no state folder (HEADRACE_STATE_DIR)");
      write_tuning(file_, path_);
    } catch (const Error& error) {
      if (is_named_) throw;
      if (!has_warned_) log(LogLevel::kWarn, "tuning", "the tuning table is not kept: " + std::string(error.what()));
      has_warned_ = true;
    }
  }

  bool is_kept() const { return !has_warned_; }

 private:
  std::string path_;
  bool is_named_;
  const KernelSources& sources_;
  TuningFile file_;
  bool has_warned_ = false;
};

std::shared_ptr<const Graph> prepared(const Model& model, const DeviceList& list) {
  const std::vector<Shape> shapes = wished_shapes(model.impl());
  return std::make_shared<const Graph>(
      prepare_graph(known_part(make_wished_graph(model.impl()), shapes), shapes, partition_devices(list)));
}

}  // namespace

Core::TuneReport Core::tune(const std::optional<Model>& model, std::string_view device_name, const TuneOptions& options,
                            const TuneProgress& progress) const {
  const std::string name = impl_->devices.opencl_name(device_name);
  const DeviceList list = impl_->devices.resolve(name).front();
  const Device& device = *list.devices[0];
  const KernelCaps caps = device.caps();
  const KernelSources sources(impl_->devices.opencl_options().kernel_dir);
  TuneReport report;
  report.device = name;
  report.path = options.table_path.empty() ? impl_->devices.tuning_path(name) : options.table_path;
  StoredTable table(report.path, !options.table_path.empty(), tuning_target(device.info(), caps), sources);

  const auto cases = model ? model_cases(prepared(*model, list), caps) : ordinary_cases(caps);
  report.shapes = static_cast<int>(cases.size());
  for (const TuneCase& tuned : cases) {
    const std::string& shape_class = tuned.choice.shape_class;
    const TunedShape* known = options.is_again ? nullptr : table.find(shape_class);
    if (known == nullptr) {
      if (!progress(static_cast<int>(report.rows.size()), report.shapes, shape_class)) break;
      const TunedShape measured = to_shape(measure_forms(device, tuned), tuned.layer);
      table.store(shape_class, measured);
      report.rows.push_back({tuned.layer, shape_class, measured.form, measured.default_form, measured.time_us,
                             measured.default_us, true});
      continue;
    }
    report.rows.push_back(
        {tuned.layer, shape_class, known->form, known->default_form, known->time_us, known->default_us, false});
  }
  if (!table.is_kept()) report.path.clear();
  impl_->devices.forget(name);
  return report;
}

}  // namespace headrace
