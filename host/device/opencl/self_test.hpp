// SPDX-License-Identifier: Apache-2.0
// One kernel with a known answer, in every bitstream.
#pragma once

#include "device/caps.hpp"
#include "device/opencl/opencl_context.hpp"

namespace headrace {

KernelInstance self_test_instance();

// Runs the kernel and compares. Throws kDevice where an OpenCL call fails or the answer is wrong.
void run_self_test(const OpenClContext& context, cl_program program);

}  // namespace headrace
