// SPDX-License-Identifier: Apache-2.0
// Owners of OpenCL objects and readers of their properties.
#pragma once

#include <CL/cl.h>

#include <string>
#include <utility>
#include <vector>

namespace headrace {

// Owns one reference to an OpenCL object. Move-only. A failed release is ignored: there is nobody to tell.
template <typename T, cl_int(CL_API_CALL* Release)(T)>
class ClHandle {
 public:
  ClHandle() = default;
  explicit ClHandle(T object) : object_(object) {}
  ClHandle(ClHandle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  ClHandle& operator=(ClHandle&& other) noexcept {
    if (this != &other) {
      reset();
      object_ = std::exchange(other.object_, nullptr);
    }
    return *this;
  }
  ClHandle(const ClHandle&) = delete;
  ClHandle& operator=(const ClHandle&) = delete;
  ~ClHandle() { reset(); }

  T get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  void reset() noexcept {
    if (object_ != nullptr) Release(object_);
    object_ = nullptr;
  }

 private:
  T object_ = nullptr;
};

using ClContext = ClHandle<cl_context, clReleaseContext>;
using ClQueue = ClHandle<cl_command_queue, clReleaseCommandQueue>;
using ClProgram = ClHandle<cl_program, clReleaseProgram>;
using ClKernel = ClHandle<cl_kernel, clReleaseKernel>;
using ClMemory = ClHandle<cl_mem, clReleaseMemObject>;
using ClEvent = ClHandle<cl_event, clReleaseEvent>;

// Reads a property of fixed size; a default value where the runtime does not answer.
template <typename T>
T device_value(cl_device_id device, cl_device_info what) {
  T value{};
  if (clGetDeviceInfo(device, what, sizeof(value), &value, nullptr) != CL_SUCCESS) return T{};
  return value;
}

// Read a text property; empty where the runtime does not answer.
std::string device_text(cl_device_id device, cl_device_info what);
std::string platform_text(cl_platform_id platform, cl_platform_info what);

}  // namespace headrace
