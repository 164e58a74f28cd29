// SPDX-License-Identifier: Apache-2.0
// The device memory of one session.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "device/opencl/aligned_memory.hpp"
#include "device/opencl/opencl_executable.hpp"

namespace headrace {

// Owns the buffers that a session writes, and hands out what kernel arguments point to. One thread at a time.
class SessionBuffers {
 public:
  // Zero-fills through the queue where the device does not work in host memory. Throws kOutOfMemory naming the buffer.
  SessionBuffers(std::shared_ptr<const LoadedPlan> loaded, cl_command_queue queue);

  // Returns the memory at a place; null for buffer -1. `who` names the kernel in errors.
  cl_mem at(const BufferRef& ref, const std::string& who);

 private:
  ClMemory make_part(std::size_t buffer, std::size_t offset, const std::string& who) const;

  std::shared_ptr<const LoadedPlan> loaded_;
  std::vector<AlignedMemory> memory_;  // per plan buffer, before the buffers that use it
  std::vector<ClMemory> buffers_;      // per plan buffer; empty for constants and for carved ones
  std::map<std::pair<std::size_t, std::size_t>, ClMemory> parts_;  // by buffer and offset
};

}  // namespace headrace
