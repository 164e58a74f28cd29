// SPDX-License-Identifier: Apache-2.0
// What Core does with bitstreams: build, show, program, erase.
#include <chrono>

#include "device/opencl/bitstream_build.hpp"
#include "device/opencl/program_device.hpp"
#include "ops/descriptor.hpp"
#include "runtime/core_impl.hpp"

namespace headrace {
namespace {

std::vector<OperatorKernels> all_operator_kernels() {
  std::vector<OperatorKernels> kernels;
  for (const OpDescriptor* op : all_ops()) {
    if (op->instances == nullptr) continue;
    for (const std::string_view type : op->types) kernels.push_back({std::string(type), op->instances()});
  }
  return kernels;
}

}  // namespace

Core::ProgramReport Core::program(std::string_view device, const std::string& bitstream_path) const {
  const std::string name = impl_->devices.opencl_name(device);
  const ProgramResult result = program_device(name, bitstream_path, impl_->devices.opencl_options());
  impl_->devices.forget(name);
  return {result.device, result.bitstream, result.uuid, result.was_programmed, result.load_ms, result.kernels};
}

std::string Core::erase(std::string_view device) const {
  const std::string name = impl_->devices.opencl_name(device);
  const std::string erased = erase_device(name, impl_->devices.opencl_options());
  impl_->devices.forget(name);
  return erased;
}

Core::BuildReport Core::build_bitstream(const std::string& recipe_path, std::string_view device,
                                        const std::string& output_path, const Progress& progress) const {
  const auto begin = std::chrono::steady_clock::now();
  const Recipe recipe = read_recipe(recipe_path);
  const Bitstream bitstream = headrace::build_bitstream(
      impl_->devices.opencl_name(device), recipe, all_operator_kernels(), impl_->devices.opencl_options(), progress);
  write_bitstream(bitstream, output_path);
  BuildReport report{output_path, bitstream.name, bitstream.uuid, 0, serialize_bitstream(bitstream).size(), 0.0};
  report.kernels = static_cast<int>(bitstream.instance_keys().size());
  report.build_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

std::string Core::show_bitstream(const std::string& path) const {
  return headrace::show_bitstream(read_bitstream(path));
}

}  // namespace headrace
