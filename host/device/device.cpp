// SPDX-License-Identifier: Apache-2.0
#include "device/device.hpp"

#include "core/error.hpp"

namespace headrace {

void Session::set_input_buffer(std::size_t /*index*/, void* /*memory_object*/) {
  fail(ErrorCode::kUnsupported, "this device takes host memory only, no OpenCL buffers");
}

void Session::set_output_buffer(std::size_t /*index*/, void* /*memory_object*/) {
  fail(ErrorCode::kUnsupported, "this device takes host memory only, no OpenCL buffers");
}

}  // namespace headrace
