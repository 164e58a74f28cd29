// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/bitstream_build.hpp"

#include <ctime>
#include <map>
#include <random>

#include "device/opencl/cl_error.hpp"
#include "device/opencl/kernel_sources.hpp"
#include "device/opencl/opencl_context.hpp"
#include "device/opencl/program_table.hpp"
#include "device/opencl/self_test.hpp"

namespace headrace {
namespace {

constexpr const char* kTool = "headrace " HEADRACE_VERSION;

std::string make_uuid() {
  // Version 4: random but for the version and variant digits.
  std::random_device random;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string uuid = "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx";
  for (char& c : uuid) {
    const unsigned int value = random() & 15U;
    if (c == 'x') c = kDigits[value];
    if (c == 'y') c = kDigits[8U + (value & 3U)];
  }
  return uuid;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

int count_args(const OpenClContext& context, cl_program program, const KernelInstance& instance) {
  const std::string what = "device " + context.name() + ": kernel " + instance.key();
  cl_int code = CL_SUCCESS;
  const ClKernel kernel(clCreateKernel(program, instance.entry.c_str(), &code));
  check_cl(code, what);
  cl_uint count = 0;
  check_cl(clGetKernelInfo(kernel.get(), CL_KERNEL_NUM_ARGS, sizeof(count), &count, nullptr), what);
  return static_cast<int>(count);
}

// Instances of one program, all with the same file and macros.
BitstreamProgram build_program(const OpenClContext& context, const KernelSources& sources,
                               const std::vector<KernelInstance>& instances) {
  const KernelInstance& first = instances.front();
  const KernelSource& source = sources.at(first.file);
  const std::string options = build_options(context, first.macros);
  const ClProgram built = build_from_source(context, source.text, options, "program " + first.program_key());
  BitstreamProgram program{first.file, first.macros, source.sha256, {}, {}};
  for (const KernelInstance& instance : instances) {
    program.kernels.push_back({instance.entry, count_args(context, built.get(), instance)});
  }
  std::string binary = program_binary(built.get());
  if (!binary.empty()) program.images.push_back({ImageKind::kOpenClBinary, "", std::move(binary)});
  program.images.push_back({ImageKind::kSource, options, source.text});
  return program;
}

OpenClContext open_for_build(std::string_view device) {
  const std::vector<OpenClDeviceEntry> entries = list_opencl_devices();
  const OpenClDeviceName name = get_opencl_device(entries, device);
  OpenClContext context(entries[name.entry], name.part_count);
  if (!context.caps().has_compiler) {
    fail(ErrorCode::kUnsupported, "device " + context.name() + " (" + context.info().description +
                                      ") has no compiler; its bitstreams are built with the vendor's tools");
  }
  return context;
}

}  // namespace

Bitstream build_bitstream(std::string_view device, const Recipe& recipe, std::span<const OperatorKernels> candidates,
                          const OpenClOptions& options, const BuildProgress& progress) {
  const OpenClContext context = open_for_build(device);
  const KernelSources sources(options.kernel_dir);
  RecipeSelection selection = select_instances(recipe, candidates, context.caps());
  selection.instances.push_back(self_test_instance());
  std::map<std::string, std::vector<KernelInstance>> programs;
  for (const KernelInstance& instance : selection.instances) programs[instance.program_key()].push_back(instance);

  Bitstream bitstream{.name = recipe.name,
                      .uuid = make_uuid(),
                      .family = recipe.family,
                      .precision = recipe.precision,
                      .tool = kTool,
                      .built_at = utc_now(),
                      .vector_width = context.caps().vector_width,
                      .operators = selection.operators,
                      .target = {context.info().platform, context.info().description, context.info().driver},
                      .programs = {}};
  const int total = static_cast<int>(programs.size());
  int done = 0;
  for (const auto& [key, instances] : programs) {
    if (progress) progress(done++, total, key);
    bitstream.programs.push_back(build_program(context, sources, instances));
  }
  if (progress) progress(total, total, "");
  return bitstream;
}

}  // namespace headrace
