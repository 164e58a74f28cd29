// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/program_table.hpp"

#include <algorithm>
#include <vector>

#include "core/log.hpp"
#include "device/opencl/bitstream_load.hpp"
#include "device/opencl/cl_error.hpp"
#include "device/opencl/parallel_build.hpp"

namespace headrace {
namespace {

constexpr std::size_t kMaxLogChars = 600;

// The compiler's log on one line, cut to a length that a message can carry: errors come first.
std::string build_log(cl_program program, cl_device_id device) {
  std::size_t size = 0;
  if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) != CL_SUCCESS || size <= 1) {
    return "no log";
  }
  std::string log(size, '\0');
  if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr) != CL_SUCCESS) {
    return "no log";
  }
  log.resize(std::min(log.find('\0'), log.size()));
  const std::size_t first_error = log.find("error:");
  if (first_error != std::string::npos) {
    const std::size_t line_start = log.rfind('\n', first_error);
    log.erase(0, line_start == std::string::npos ? 0 : line_start + 1);
  }
  if (log.size() > kMaxLogChars) log = log.substr(0, kMaxLogChars) + "...";
  while (!log.empty() && log.back() == '\n') log.pop_back();
  std::string line;
  for (char c : log) line += c == '\n' ? std::string(" | ") : std::string(1, c);
  return line;
}

bool is_macro_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '=' ||
         c == '.' || c == '-';
}

ProgramCacheKey make_key(const OpenClContext& context, const KernelSource& source, const std::string& options) {
  return {.source_sha256 = source.sha256,
          .options = options,
          .device = context.info().description,
          .driver = context.info().driver,
          .platform = context.info().platform + " " + platform_text(context.platform(), CL_PLATFORM_VERSION)};
}

// A program that was built for the first part, for all of them.
ClProgram give_to_parts(const OpenClContext& context, ClProgram program, const std::string& options,
                        const std::string& what) {
  cl_int code = CL_SUCCESS;
  const std::string bytes = program_binary(program.get());
  ClProgram shared = bytes.empty() ? ClProgram() : load_binary(context, bytes, &code);
  if (shared) return shared;
  const std::vector<cl_device_id>& devices = context.devices();
  check_cl(clBuildProgram(program.get(), static_cast<cl_uint>(devices.size()), devices.data(), options.c_str(), nullptr,
                          nullptr),
           "device " + context.name() + ": " + what);
  return program;
}

}  // namespace

KernelInstance instance_of(const std::string& program_key) {
  const std::size_t bar = std::min(program_key.find('|'), program_key.size());
  return {program_key.substr(0, bar), program_key.substr(std::min(bar + 1, program_key.size())), ""};
}

std::string build_options(const OpenClContext& context, std::string_view macros) {
  std::string options(context.language_option());
  while (!macros.empty()) {
    const std::size_t comma = std::min(macros.find(','), macros.size());
    const std::string_view macro = macros.substr(0, comma);
    macros.remove_prefix(std::min(comma + 1, macros.size()));
    // Macros reach a compiler's command line and come from files, so nothing but names and numbers passes.
    if (macro.empty() || macro.front() == '-' || macro.front() == '=' ||
        !std::all_of(macro.begin(), macro.end(), is_macro_char)) {
      fail(ErrorCode::kInvalidArgument, "kernel macro '" + std::string(macro) + "' is not NAME=VALUE");
    }
    if (!options.empty()) options += ' ';
    options += "-D" + std::string(macro);
  }
  return options;
}

ClProgram build_from_source(const OpenClContext& context, const std::string& text, const std::string& options,
                            const std::string& what) {
  if (!context.caps().has_compiler) {
    fail(ErrorCode::kBuild, "device " + context.name() + ": " + what +
                                " is not in the programmed bitstream and the device has no compiler; program a "
                                "bitstream that holds it (headrace bitstream list)");
  }
  const char* pointer = text.c_str();
  const std::size_t size = text.size();
  cl_int code = CL_SUCCESS;
  ClProgram program(clCreateProgramWithSource(context.get(), 1, &pointer, &size, &code));
  check_cl(code, "device " + context.name() + ": " + what);
  // Parts of a device are alike: one is compiled for, the others take its binary.
  code = clBuildProgram(program.get(), 1, context.devices().data(), options.c_str(), nullptr, nullptr);
  if (code != CL_SUCCESS) {
    fail(ErrorCode::kBuild, "device " + context.name() + ": " + what + " does not build: " + cl_code_name(code) + ": " +
                                build_log(program.get(), context.device()));
  }
  return context.devices().size() == 1 ? std::move(program) : give_to_parts(context, std::move(program), options, what);
}

ClProgram load_binary(const OpenClContext& context, std::string_view bytes, cl_int* code) {
  const std::vector<cl_device_id>& devices = context.devices();
  const auto count = static_cast<cl_uint>(devices.size());
  const std::vector<std::size_t> sizes(devices.size(), bytes.size());
  std::vector<const unsigned char*> pointers(devices.size(), reinterpret_cast<const unsigned char*>(bytes.data()));
  std::vector<cl_int> status(devices.size(), CL_SUCCESS);
  ClProgram program(clCreateProgramWithBinary(context.get(), count, devices.data(), sizes.data(), pointers.data(),
                                              status.data(), code));
  for (const cl_int each : status) {
    if (*code == CL_SUCCESS) *code = each;
  }
  if (*code == CL_SUCCESS) *code = clBuildProgram(program.get(), count, devices.data(), "", nullptr, nullptr);
  if (*code != CL_SUCCESS) program.reset();
  return program;
}

std::string program_binary(cl_program program) {
  std::size_t list_bytes = 0;
  if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, 0, nullptr, &list_bytes) != CL_SUCCESS) return {};
  std::vector<std::size_t> sizes(list_bytes / sizeof(std::size_t), 0);
  if (sizes.empty()) return {};
  if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, list_bytes, sizes.data(), nullptr) != CL_SUCCESS) return {};
  // One binary for each device that the program was built for; all are wanted, as some drivers take no null pointers.
  std::vector<std::string> binaries;
  std::vector<unsigned char*> pointers;
  for (const std::size_t size : sizes) binaries.emplace_back(size, '\0');
  for (std::string& bytes : binaries) pointers.push_back(reinterpret_cast<unsigned char*>(bytes.data()));
  const std::size_t size = pointers.size() * sizeof(pointers[0]);
  if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, size, pointers.data(), nullptr) != CL_SUCCESS) return {};
  const auto built = std::find_if(binaries.begin(), binaries.end(), [](const auto& bytes) { return !bytes.empty(); });
  return built == binaries.end() ? std::string() : std::move(*built);
}

ProgramTable::ProgramTable(std::shared_ptr<const OpenClContext> context, OpenClOptions options,
                           std::shared_ptr<const Bitstream> bitstream)
    : context_(std::move(context)),
      options_(std::move(options)),
      sources_(options_.kernel_dir),
      cache_(options_.cache_dir),
      bitstream_(std::move(bitstream)) {}

std::vector<std::string> ProgramTable::missing_programs(std::span<const KernelInstance> instances) const {
  std::set<std::string> keys;
  std::vector<std::string> missing;  // in order of first use
  for (const KernelInstance& instance : instances) {
    const std::string key = instance.program_key();
    if (!keys.insert(key).second || from_source_.count(key) != 0) continue;
    if (bitstream_ != nullptr && bitstream_->has(instance)) continue;
    const std::string options = build_options(*context_, instance.macros);
    if (!cache_.contains(make_key(*context_, sources_.at(instance.file), options))) missing.push_back(key);
  }
  return missing;
}

std::size_t ProgramTable::count_unbuilt(std::span<const KernelInstance> instances) const {
  const std::lock_guard lock(mutex_);
  return missing_programs(instances).size();
}

void ProgramTable::build_ahead(std::span<const KernelInstance> instances) {
  if (!context_->compiles_at_launch() || options_.builder.empty() || !cache_.is_on()) return;
  try {
    std::vector<std::string> missing;
    {
      const std::lock_guard lock(mutex_);
      missing = missing_programs(instances);
    }
    const std::size_t count = builder_count(missing.size());
    if (count < 2) return;
    // Programs go round, so that neighbours, which are often of one kind and cost the same, are shared out.
    std::vector<std::vector<std::string>> shares(count);
    for (std::size_t i = 0; i < missing.size(); ++i) shares[i % count].push_back(missing[i]);
    const std::vector<std::string> own = std::move(shares.back());
    shares.pop_back();
    log(LogLevel::kInfo, "cache",
        "compiling," + std::to_string(missing.size()) + " programs in " + std::to_string(count) + " processes");
    build_in_processes(context_->info().name, options_, shares, [&] {
      for (const std::string& key : own) get(instance_of(key));
    });
    const std::lock_guard lock(mutex_);
    for (const auto& keys : shares) built_ahead_.insert(keys.begin(), keys.end());
  } catch (const std::exception& problem) {
    log(LogLevel::kDebug, "cache", "building ahead stopped: " + std::string(problem.what()));
  }
}

std::shared_ptr<const LoadedProgram> ProgramTable::get(const KernelInstance& instance) {
  const std::string key = instance.program_key();
  const std::lock_guard lock(mutex_);
  if (bitstream_ != nullptr && bitstream_->has(instance)) {
    auto& slot = from_bitstream_[key];
    if (slot == nullptr) slot = load_from_bitstream(instance);
    if (slot != nullptr) return slot;
  }
  auto& slot = from_source_[key];
  if (slot == nullptr) slot = load_or_build(instance);
  return slot;
}

std::shared_ptr<const LoadedProgram> ProgramTable::load_from_bitstream(const KernelInstance& instance) const {
  ImageLoad load = load_bitstream_program(*context_, *bitstream_->find_program(instance.program_key()));
  if (!load.program) {
    log(LogLevel::kWarn, "bitstream",
        "device " + context_->name() + ": program " + instance.program_key() + " of bitstream '" + bitstream_->name +
            "' is not used: " + load.problem);
    return nullptr;
  }
  auto loaded = std::make_shared<LoadedProgram>();
  loaded->program = std::move(load.program);
  loaded->origin = "bitstream " + bitstream_->name;
  return loaded;
}

std::shared_ptr<const LoadedProgram> ProgramTable::load_or_build(const KernelInstance& instance) const {
  const KernelSource& source = sources_.at(instance.file);
  const std::string options = build_options(*context_, instance.macros);
  auto loaded = std::make_shared<LoadedProgram>();
  const ProgramCacheKey cache_key = make_key(*context_, source, options);
  if (const auto bytes = cache_.find(cache_key)) {
    cl_int code = CL_SUCCESS;
    loaded->program = load_binary(*context_, *bytes, &code);
    loaded->origin = built_ahead_.count(instance.program_key()) != 0 ? "source" : "cache";
    log(LogLevel::kInfo, "cache", "hit," + instance.program_key());
    if (loaded->program) return loaded;
    log(LogLevel::kWarn, "cache",
        "device " + context_->name() + " refuses the cached program " + instance.program_key() + " (" +
            cl_code_name(code) + "); it is built from source again");
  } else {
    log(LogLevel::kInfo, "cache", "miss," + instance.program_key());
  }
  loaded->program = build_and_store(source, options, instance.program_key(), cache_key);
  loaded->origin = "source";
  return loaded;
}

ClProgram ProgramTable::build_and_store(const KernelSource& source, const std::string& options, const std::string& key,
                                        const ProgramCacheKey& cache_key) const {
  ClProgram program = build_from_source(*context_, source.text, options, "program " + key);
  if (!cache_.is_on() && !context_->compiles_at_launch()) return program;
  const std::string bytes = program_binary(program.get());
  if (bytes.empty()) {
    log(LogLevel::kDebug, "cache", "program " + key + " is not kept: the runtime gives no binary");
    return program;
  }
  cache_.store(cache_key, bytes);
  if (!context_->compiles_at_launch()) return program;
  cl_int code = CL_SUCCESS;
  ClProgram compiled = load_binary(*context_, bytes, &code);
  return compiled ? std::move(compiled) : std::move(program);
}

}  // namespace headrace
