// SPDX-License-Identifier: Apache-2.0
// A plan on an OpenCL device: programs, constants and checked launches.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "device/opencl/aligned_memory.hpp"
#include "device/opencl/opencl_context.hpp"
#include "device/opencl/program_table.hpp"

namespace headrace {

// What the sessions of one executable share. Immutable after load.
struct LoadedPlan {
  std::shared_ptr<const OpenClContext> context;
  std::shared_ptr<ProgramTable> programs;
  std::shared_ptr<const DevicePlan> plan;
  bool is_profiling = false;
  std::vector<std::shared_ptr<const LoadedProgram>> step_programs;  // per step
  std::vector<ClMemory> constants;                                  // per buffer; empty where it is none
  std::vector<AlignedMemory> constant_memory;                       // copies with slack, where the device works in them

  const Launch& launch(std::size_t step) const { return std::get<Launch>(plan->steps[step].action); }
  // "device CL.0, layer 'conv1' (conv_wide_f32)", for errors.
  std::string where(std::size_t step) const;
};

// The arguments of a launch that stand before its first int or float.
std::size_t count_pointers(const Launch& launch);
// The ints and floats of a launch of the wide family, as the kernel's struct has them. They stand behind all pointers.
std::vector<std::byte> pack_scalars(const Launch& launch);

// The kernels of the plan's launches, in order.
std::vector<KernelInstance> instances_of(const DevicePlan& plan);

// Builds or loads the programs, uploads the constants and checks every launch against the device's limits.
// Throws kBuild, kDevice, kOutOfMemory or kUnsupported naming the layer.
std::shared_ptr<const LoadedPlan> load_plan(std::shared_ptr<const OpenClContext> context,
                                            std::shared_ptr<ProgramTable> programs,
                                            std::shared_ptr<const DevicePlan> plan, const LoadOptions& options);

// Sessions run on the parts from first_part on.
std::unique_ptr<Executable> make_opencl_executable(std::shared_ptr<const LoadedPlan> loaded, std::size_t first_part);

}  // namespace headrace
