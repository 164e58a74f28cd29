// SPDX-License-Identifier: Apache-2.0
// Tuning tables as files: what `headrace tune` measured on a device, kept per user; and those that Headrace brings.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/opencl/kernel_sources.hpp"
#include "device/opencl/opencl_devices.hpp"

namespace headrace {

// What was measured for one shape class.
struct TunedShape {
  std::string form;          // the fastest: FormChoice::Form::key
  std::string default_form;  // what the model of costs chose
  double time_us = 0.0;
  double default_us = 0.0;
};

// The device that the figures are from.
struct TuningTarget {
  std::string platform;
  std::string device;
  std::string driver;
  std::string type;  // to_string(DeviceType)
  int vector_width = 1;
  int compute_units = 1;
  bool has_vnni = false;
};

struct TuningFile {
  TuningTarget target;
  std::map<std::string, std::string> kernels;  // file -> SHA-256 of its text, of every form that `shapes` names
  std::map<std::string, TunedShape, std::less<>> shapes;

  // Replaces the entry of that class. Throws kBuild where a form's kernel file does not exist.
  void set(const std::string& shape_class, const TunedShape& shape, const KernelSources& sources);
};

TuningTarget tuning_target(const DeviceInfo& info, const KernelCaps& caps);

// JSON with one line per shape class; the format is described in tuning/README.md.
std::string serialize_tuning(const TuningFile& file);
// Throws kBadModel naming `what` and the fault.
TuningFile parse_tuning(std::string_view text, const std::string& what);

// The file of a user's table, named as what is programmed is; parts of equal size share one. Empty without a state
// folder.
std::string tuning_path(const OpenClDeviceEntry& entry, int part_count, const std::string& state_dir);

// Reads a table that was measured on this device, with this driver and these kernels; nothing where there is no file.
// Throws kIo, or kBadModel naming the file and why it is of no use.
std::optional<TuningFile> read_tuning(const std::string& path, const TuningTarget& target,
                                      const KernelSources& sources);

// The same; a file that is of no use is a warning and counts as none.
std::optional<TuningFile> find_tuning(const std::string& path, const TuningTarget& target,
                                      const KernelSources& sources);

// Writes the table in one step. Throws kIo.
void write_tuning(const TuningFile& file, const std::string& path);

// What lowering shall use on a device: the tables that Headrace brings for devices of its kind, and before them the
// user's at `path`. Null where there is nothing. A user's table that is of no use is one warning.
std::shared_ptr<const TuningTable> load_tuning(const std::string& path, const TuningTarget& target,
                                               const KernelSources& sources);

namespace detail {
struct EmbeddedText {
  std::string name;                 // "tuning/pocl-avx512.json"
  std::vector<std::string> pieces;  // of the text, in order
};
std::vector<EmbeddedText> embedded_tuning();  // written by cmake/embed_tuning.cmake
}  // namespace detail

}  // namespace headrace
