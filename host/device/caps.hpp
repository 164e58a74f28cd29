// SPDX-License-Identifier: Apache-2.0
// What a device can do, as plain data: lowering and partition decide from it without touching the device.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "device/tuning_table.hpp"

namespace headrace {

enum class DeviceType { kCpuFallback, kCpu, kGpu, kAccelerator };  // kCpu: an OpenCL CPU device

std::string_view to_string(DeviceType type);

// One compiled form of a kernel file: macros change the code's shape (tile, vector width, data type), nothing else.
struct KernelInstance {
  std::string file;    // "conv_wide.cl", in kernels/
  std::string macros;  // "TILE_M=14,TILE_N=2,VEC=16", sorted as the file's header lists them; may be empty
  std::string entry;   // kernel function, "conv_wide_f32"

  // Kernels with equal file and macros come from one program.
  std::string program_key() const { return file + "|" + macros; }
  std::string key() const { return program_key() + "|" + entry; }
  // Of the wide family, whose kernels end with ARGS of kernels/common/items.clh: all scalars as one struct, and a
  // share.
  bool is_wide() const { return file.ends_with("_wide.cl") || file.ends_with("_int.cl"); }
  friend auto operator<=>(const KernelInstance&, const KernelInstance&) = default;
};

struct KernelCaps {
  DeviceType type = DeviceType::kCpuFallback;
  int vector_width = 1;  // f32 lanes of the native vector: 16, 8 or 4
  int compute_units = 1;
  std::size_t max_work_group = 1;
  // Of a work-group, per dimension; as good as no limit unless the device tells one.
  std::array<std::size_t, 3> max_work_item_sizes{SIZE_MAX, SIZE_MAX, SIZE_MAX};
  std::size_t local_bytes = 0;
  std::size_t max_alloc_bytes = 0;
  std::size_t global_bytes = 0;
  bool has_compiler = true;
  // The user's wish (EXACT_NAN): no form that spreads a NaN or an infinity to outputs that do not read it.
  bool exact_nan = false;
  bool has_vnni = false;  // the x86 instruction vpdpbusd on 512 bits (AVX512-VNNI), and a compiler that reaches it
  std::set<std::string, std::less<>> extensions;
  // The keys of the instances that the programmed bitstream holds; with a compiler every instance is offered too.
  std::set<std::string, std::less<>> programmed;
  // What was measured on the device; null: nothing. Forms that it does not name are chosen by a model of their cost.
  std::shared_ptr<const TuningTable> tuning;

  bool offers(const KernelInstance& instance) const { return has_compiler || programmed.count(instance.key()) != 0; }
  // Work-items that a work-group may have in one dimension.
  std::size_t max_group(std::size_t dimension) const {
    return std::min(max_work_group, max_work_item_sizes[dimension]);
  }
  bool is_wide() const { return type != DeviceType::kGpu; }  // wide family; tile family on GPUs
};

// What users see of a device.
struct DeviceInfo {
  std::string name;                  // "CPU", "CL.0"
  std::vector<std::string> aliases;  // "POCL", "GPU.1", "FPGA"
  DeviceType type = DeviceType::kCpuFallback;
  std::string description;  // the device's own name
  std::string platform;
  std::string vendor;
  std::string version;  // OpenCL version
  std::string driver;
};

}  // namespace headrace
