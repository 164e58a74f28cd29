// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/cl_handle.hpp"

namespace headrace {
namespace {

// Query is (size, data, size_out) -> cl_int, as every clGet*Info is once its object is bound.
template <typename Query>
std::string read_text(Query query) {
  std::size_t size = 0;
  if (query(std::size_t{0}, static_cast<void*>(nullptr), &size) != CL_SUCCESS || size == 0) return {};
  std::string text(size, '\0');
  if (query(size, static_cast<void*>(text.data()), &size) != CL_SUCCESS) return {};
  text.resize(text.find('\0') == std::string::npos ? text.size() : text.find('\0'));
  // Intel pads its device names with blanks.
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

}  // namespace

std::string device_text(cl_device_id device, cl_device_info what) {
  return read_text([=](std::size_t size, void* data, std::size_t* size_out) {
    return clGetDeviceInfo(device, what, size, data, size_out);
  });
}

std::string platform_text(cl_platform_id platform, cl_platform_info what) {
  return read_text([=](std::size_t size, void* data, std::size_t* size_out) {
    return clGetPlatformInfo(platform, what, size, data, size_out);
  });
}

}  // namespace headrace
