// SPDX-License-Identifier: Apache-2.0
// The programs of one context: each is made once, from the programmed bitstream, the cache or its source.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "device/caps.hpp"
#include "device/opencl/bitstream.hpp"
#include "device/opencl/kernel_sources.hpp"
#include "device/opencl/opencl_context.hpp"
#include "device/opencl/opencl_device.hpp"
#include "device/opencl/program_cache.hpp"

namespace headrace {

struct LoadedProgram {
  ClProgram program;
  std::string origin;  // "bitstream NAME", "cache", "source"
};

// Thread-safe; get() builds one after the other.
class ProgramTable {
 public:
  // bitstream may be null: nothing is programmed. Throws what KernelSources throws.
  ProgramTable(std::shared_ptr<const OpenClContext> context, OpenClOptions options,
               std::shared_ptr<const Bitstream> bitstream);
  ProgramTable(const ProgramTable&) = delete;
  ProgramTable& operator=(const ProgramTable&) = delete;
  ~ProgramTable() = default;

  // Compiles the programs of the instances that are neither programmed nor cached, in several processes where the
  // runtime compiles one at a time. Never throws: get() makes what is still missing, and tells of faults.
  void build_ahead(std::span<const KernelInstance> instances);

  const KernelSources& sources() const { return sources_; }

  // How many of the instances' programs get() would have to compile. Throws what KernelSources throws.
  std::size_t count_unbuilt(std::span<const KernelInstance> instances) const;

  // Returns the program that holds the instance, building it at first use. Throws kBuild with the compiler's log.
  std::shared_ptr<const LoadedProgram> get(const KernelInstance& instance);

 private:
  std::vector<std::string> missing_programs(std::span<const KernelInstance> instances) const;
  std::shared_ptr<const LoadedProgram> load_from_bitstream(const KernelInstance& instance) const;
  std::shared_ptr<const LoadedProgram> load_or_build(const KernelInstance& instance) const;
  ClProgram build_and_store(const KernelSource& source, const std::string& options, const std::string& key,
                            const ProgramCacheKey& cache_key) const;

  std::shared_ptr<const OpenClContext> context_;
  OpenClOptions options_;
  KernelSources sources_;
  ProgramCache cache_;
  std::shared_ptr<const Bitstream> bitstream_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const LoadedProgram>, std::less<>> from_bitstream_;  // by program_key
  std::map<std::string, std::shared_ptr<const LoadedProgram>, std::less<>> from_source_;     // by program_key
  std::set<std::string, std::less<>> built_ahead_;  // by program_key: in the cache since build_ahead
};

// The program of a key ("FILE|MACROS"), with no kernel of it named.
KernelInstance instance_of(const std::string& program_key);

// "-cl-std=CL1.2 -DVEC=16" for "VEC=16". Throws kInvalidArgument on macros that are not NAME=VALUE,...
std::string build_options(const OpenClContext& context, std::string_view macros);

// Compiles a source. `what` names it in errors. Throws kBuild with the start of the compiler's log.
ClProgram build_from_source(const OpenClContext& context, const std::string& text, const std::string& options,
                            const std::string& what);

// Loads a binary that was checked by the caller (a damaged one can crash the runtime). Null where the runtime refuses.
ClProgram load_binary(const OpenClContext& context, std::string_view bytes, cl_int* code);

// Returns the compiled form of a program; empty where the runtime has none.
std::string program_binary(cl_program program);

}  // namespace headrace
