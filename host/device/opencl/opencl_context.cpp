// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/opencl_context.hpp"

#include <algorithm>
#include <sstream>

#include "device/opencl/cl_error.hpp"
#include "device/opencl/sub_devices.hpp"

namespace headrace {
namespace {

int vector_width(cl_device_id device) {
  const auto native = device_value<cl_uint>(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT);
  const auto preferred = device_value<cl_uint>(device, CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT);
  const cl_uint width = std::max(native, preferred);
  if (width >= 16) return 16;
  return width >= 8 ? 8 : 4;
}

// Whether the cores of this machine multiply bytes by vpdpbusd on 512 bits.
bool host_has_vnni() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512vnni") != 0;
#else
  return false;
#endif
}

KernelCaps read_caps(cl_device_id device, DeviceType type) {
  KernelCaps caps;
  caps.type = type;
  caps.vector_width = vector_width(device);
  caps.compute_units = static_cast<int>(std::max(1U, device_value<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS)));
  caps.max_work_group = std::max(std::size_t{1}, device_value<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE));
  // Some drivers have more dimensions than OpenCL asks for.
  const auto dimensions = device_value<cl_uint>(device, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS);
  std::vector<std::size_t> sizes(std::max(3U, dimensions), 1);
  clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizes.size() * sizeof(std::size_t), sizes.data(), nullptr);
  std::copy_n(sizes.begin(), 3, caps.max_work_item_sizes.begin());
  caps.local_bytes = static_cast<std::size_t>(device_value<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE));
  caps.max_alloc_bytes = static_cast<std::size_t>(device_value<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE));
  caps.global_bytes = static_cast<std::size_t>(device_value<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE));
  caps.has_compiler = device_value<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE) != CL_FALSE;
  std::istringstream words(device_text(device, CL_DEVICE_EXTENSIONS));
  for (std::string word; words >> word;) caps.extensions.insert(word);
  return caps;
}

// "OpenCL C 1.1 ..." and older do not know the option.
bool knows_language_1_2(cl_device_id device) {
  const std::string version = device_text(device, CL_DEVICE_OPENCL_C_VERSION);
  return !version.starts_with("OpenCL C 1.0") && !version.starts_with("OpenCL C 1.1");
}

}  // namespace

OpenClContext::OpenClContext(const OpenClDeviceEntry& entry, int parts)
    : name_(entry.info.name), info_(entry.info), platform_(static_cast<cl_platform_id>(entry.platform_id)) {
  if (!entry.problem.empty()) fail(ErrorCode::kDevice, "device " + name_ + ": " + entry.problem);
  if (parts > 1) {
    devices_ = sub_devices(entry, parts);
    name_ += " (" + std::to_string(parts) + " parts)";
  } else {
    devices_.push_back(static_cast<cl_device_id>(entry.device_id));
  }
  cl_int code = CL_SUCCESS;
  context_ = ClContext(
      clCreateContext(nullptr, static_cast<cl_uint>(devices_.size()), devices_.data(), nullptr, nullptr, &code));
  check_cl(code, "device " + name_ + ": opening it");
  caps_ = read_caps(device(), info_.type);
  // PoCL compiles for the host's own cores, by clang, whose builtins its kernels can use.
  caps_.has_vnni = info_.type == DeviceType::kCpu && info_.platform == kPoclPlatform && host_has_vnni();
  // Accelerators with unified memory are emulators, which run on the host's cores. Integrated GPUs stay out: their
  // drivers want page alignment and whole cache lines, which callers do not promise.
  const bool is_unified = device_value<cl_bool>(device(), CL_DEVICE_HOST_UNIFIED_MEMORY) != CL_FALSE;
  shares_host_memory_ = info_.type == DeviceType::kCpu || (info_.type == DeviceType::kAccelerator && is_unified);
  language_option_ = knows_language_1_2(device()) ? "-cl-std=CL1.2" : "";
}

ClMemory OpenClContext::make_buffer(std::size_t size_bytes, void* host, std::string_view what,
                                    bool is_read_only) const {
  if (size_bytes > caps_.max_alloc_bytes) {
    fail(ErrorCode::kOutOfMemory, "device " + name_ + ": " + std::string(what) + " needs one buffer of " +
                                      std::to_string(size_bytes) + " bytes, the device allows " +
                                      std::to_string(caps_.max_alloc_bytes));
  }
  cl_mem_flags flags = is_read_only ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE;
  if (host != nullptr) flags |= CL_MEM_USE_HOST_PTR;
  cl_int code = CL_SUCCESS;
  ClMemory buffer(clCreateBuffer(get(), flags, std::max(size_bytes, std::size_t{1}), host, &code));
  if (code != CL_SUCCESS) {
    fail_cl(code, "device " + name_ + ": " + std::string(what) + ": making a buffer of " + std::to_string(size_bytes) +
                      " bytes");
  }
  return buffer;
}

}  // namespace headrace
