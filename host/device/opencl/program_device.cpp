// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/program_device.hpp"

#include <chrono>

#include "device/opencl/bitstream_load.hpp"
#include "device/opencl/cl_error.hpp"
#include "device/opencl/opencl_context.hpp"
#include "device/opencl/program_state.hpp"
#include "device/opencl/self_test.hpp"

namespace headrace {
namespace {

// What the program really holds, from the runtime: "k1;k2".
std::string kernel_names(cl_program program) {
  std::size_t size = 0;
  if (clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 0, nullptr, &size) != CL_SUCCESS || size == 0) return "none";
  std::string names(size, '\0');
  if (clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, size, names.data(), nullptr) != CL_SUCCESS) return "none";
  names.resize(std::min(names.find('\0'), names.size()));
  std::string shown;
  for (char c : names) shown += c == ';' ? std::string(", ") : std::string(1, c);
  return shown.empty() ? "none" : shown;
}

void check_kernels(const OpenClContext& context, const BitstreamProgram& program, cl_program loaded,
                   const std::string& path) {
  for (const BitstreamKernel& expected : program.kernels) {
    cl_int code = CL_SUCCESS;
    const ClKernel kernel(clCreateKernel(loaded, expected.name.c_str(), &code));
    if (code == CL_INVALID_KERNEL_NAME) {
      fail(ErrorCode::kUnsupported, path + ": kernel " + expected.name + " is missing from the image of " +
                                        program.key() + ", which has " + kernel_names(loaded));
    }
    check_cl(code, "device " + context.name() + ": kernel " + expected.name);
    cl_uint args = 0;
    check_cl(clGetKernelInfo(kernel.get(), CL_KERNEL_NUM_ARGS, sizeof(args), &args, nullptr), path);
    if (static_cast<int>(args) != expected.arg_count) {
      fail(ErrorCode::kUnsupported, path + ": kernel " + expected.name + " has " + std::to_string(args) +
                                        " arguments, the manifest says " + std::to_string(expected.arg_count));
    }
  }
}

void load_and_test(const OpenClContext& context, const Bitstream& bitstream, const std::string& path) {
  if (!bitstream.has(self_test_instance())) {
    std::string held;
    for (const std::string& key : bitstream.instance_keys()) held += (held.empty() ? "" : ", ") + key;
    fail(ErrorCode::kUnsupported, path + ": kernel " + self_test_instance().entry + " is missing, the bitstream has " +
                                      (held.empty() ? "none" : held));
  }
  for (const BitstreamProgram& program : bitstream.programs) {
    const ImageLoad loaded = load_bitstream_program(context, program);
    if (!loaded.program) {
      fail(ErrorCode::kUnsupported,
           path + ": program " + program.key() + " cannot be loaded on " + context.name() + ": " + loaded.problem);
    }
    check_kernels(context, program, loaded.program.get(), path);
    if (program.key() == self_test_instance().program_key()) run_self_test(context, loaded.program.get());
  }
}

}  // namespace

ProgramResult program_device(std::string_view device, const std::string& bitstream_path, const OpenClOptions& options) {
  const std::vector<OpenClDeviceEntry> entries = list_opencl_devices();
  const OpenClDeviceName name = get_opencl_device(entries, device);
  const OpenClDeviceEntry& entry = entries[name.entry];
  const Bitstream bitstream = read_bitstream(bitstream_path);
  if (const auto mismatch = find_target_mismatch(bitstream, entry.info)) {
    fail(ErrorCode::kUnsupported, bitstream_path + ": " + *mismatch);
  }
  ProgramResult result{.device = name.canonical,
                       .bitstream = bitstream.name,
                       .uuid = bitstream.uuid,
                       .kernels = static_cast<int>(bitstream.instance_keys().size())};
  try {
    const auto programmed = read_programmed(entry, options.state_dir);
    result.was_programmed = programmed && programmed->uuid == bitstream.uuid;
  } catch (const Error&) {
    // A damaged copy is about to be replaced.
  }
  if (result.was_programmed) return result;
  const auto start = std::chrono::steady_clock::now();
  load_and_test(OpenClContext(entry, name.part_count), bitstream, bitstream_path);
  result.load_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  store_programmed(entry, options.state_dir, bitstream);
  return result;
}

std::string erase_device(std::string_view device, const OpenClOptions& options) {
  const std::vector<OpenClDeviceEntry> entries = list_opencl_devices();
  const OpenClDeviceEntry& entry = entries[get_opencl_device(entries, device).entry];
  std::string name = programmed_name(entry, options.state_dir);
  return erase_programmed(entry, options.state_dir) ? name : "";
}

std::string programmed_name(const OpenClDeviceEntry& entry, const std::string& state_dir) noexcept {
  try {
    const auto bitstream = read_programmed(entry, state_dir);
    return bitstream ? bitstream->name : "";
  } catch (const std::exception&) {
    return "(damaged)";
  }
}

}  // namespace headrace
