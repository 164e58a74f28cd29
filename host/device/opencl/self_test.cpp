// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/self_test.hpp"

#include <array>

#include "device/opencl/cl_error.hpp"

namespace headrace {

KernelInstance self_test_instance() { return {"self_test.cl", "", "self_test_f32"}; }

void run_self_test(const OpenClContext& context, cl_program program) {
  const std::string what = "device " + context.name() + ": self-test";
  constexpr std::size_t kCount = 33;  // no multiple of a vector
  std::array<float, kCount> values{};
  for (std::size_t i = 0; i < kCount; ++i) values[i] = 3.0F - static_cast<float>(i);
  const ClMemory src = context.make_buffer(sizeof(values), nullptr, "self-test input");
  const ClMemory dst = context.make_buffer(sizeof(values), nullptr, "self-test output");
  cl_int code = CL_SUCCESS;
  const ClQueue queue(clCreateCommandQueue(context.get(), context.device(), 0, &code));
  check_cl(code, what);
  const ClKernel kernel(clCreateKernel(program, self_test_instance().entry.c_str(), &code));
  check_cl(code, what);
  check_cl(clEnqueueWriteBuffer(queue.get(), src.get(), CL_TRUE, 0, sizeof(values), values.data(), 0, nullptr, nullptr),
           what);
  cl_mem src_memory = src.get();
  cl_mem dst_memory = dst.get();
  const cl_int count = kCount;
  check_cl(clSetKernelArg(kernel.get(), 0, sizeof(src_memory), &src_memory), what);
  check_cl(clSetKernelArg(kernel.get(), 1, sizeof(dst_memory), &dst_memory), what);
  check_cl(clSetKernelArg(kernel.get(), 2, sizeof(count), &count), what);
  constexpr std::array<std::size_t, 3> kOne = {1, 1, 1};
  check_cl(clEnqueueNDRangeKernel(queue.get(), kernel.get(), 3, nullptr, kOne.data(), kOne.data(), 0, nullptr, nullptr),
           what);
  std::array<float, kCount> result{};
  check_cl(clEnqueueReadBuffer(queue.get(), dst.get(), CL_TRUE, 0, sizeof(result), result.data(), 0, nullptr, nullptr),
           what);
  for (std::size_t i = 0; i < kCount; ++i) {
    const float expected = 2.0F * values[i] + static_cast<float>(i);
    if (result[i] != expected) {
      fail(ErrorCode::kDevice, what + ": element " + std::to_string(i) + " is " + std::to_string(result[i]) +
                                   ", expected " + std::to_string(expected));
    }
  }
}

}  // namespace headrace
