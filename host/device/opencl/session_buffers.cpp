// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/session_buffers.hpp"

#include <algorithm>

#include "device/opencl/cl_error.hpp"

namespace headrace {

SessionBuffers::SessionBuffers(std::shared_ptr<const LoadedPlan> loaded, cl_command_queue queue)
    : loaded_(std::move(loaded)) {
  const OpenClContext& context = *loaded_->context;
  const std::vector<PlanBuffer>& plan_buffers = loaded_->plan->buffers;
  for (std::size_t i = 0; i < plan_buffers.size(); ++i) {
    memory_.emplace_back();
    buffers_.emplace_back();
    if (loaded_->constants[i]) continue;
    const std::size_t size = plan_buffers[i].size_bytes;
    const std::size_t limit = context.caps().max_alloc_bytes;
    if (context.shares_host_memory()) {
      // The arena holds many tensors: where it is larger than one buffer may be, each place becomes a buffer of its
      // own.
      const bool is_carved = i == 0 && size > limit;
      if (size > limit && !is_carved) context.make_buffer(size, nullptr, plan_buffers[i].name);  // throws
      memory_[i] = make_aligned_memory(size + kBufferSlackBytes, plan_buffers[i].name);
      if (!is_carved) {
        const std::size_t shown = std::min(size + kBufferSlackBytes, std::max(size, limit));
        buffers_[i] = context.make_buffer(shown, memory_[i].get(), plan_buffers[i].name);
      }
      continue;
    }
    const std::size_t with_slack = std::min(size + kBufferSlackBytes, std::max(size, limit));
    buffers_[i] = context.make_buffer(with_slack, nullptr, plan_buffers[i].name);
    const cl_uint zero = 0;
    const std::size_t filled = with_slack / sizeof(zero) * sizeof(zero);
    check_cl(clEnqueueFillBuffer(queue, buffers_[i].get(), &zero, sizeof(zero), 0, filled, 0, nullptr, nullptr),
             "device " + context.name() + ": zero-filling " + plan_buffers[i].name);
  }
}

cl_mem SessionBuffers::at(const BufferRef& ref, const std::string& who) {
  if (ref.buffer < 0) return nullptr;
  const auto buffer = static_cast<std::size_t>(ref.buffer);
  HEADRACE_ASSERT(buffer < buffers_.size(), "buffer index outside the plan");
  if (ref.offset_bytes < 0 || ref.offset_bytes % static_cast<std::int64_t>(kMemoryAlignment) != 0) {
    fail(ErrorCode::kInternal, who + ": buffer offset " + std::to_string(ref.offset_bytes) + " is no multiple of " +
                                   std::to_string(kMemoryAlignment));
  }
  auto offset = static_cast<std::size_t>(ref.offset_bytes);
  // A tensor without elements may stand behind the last byte; nobody reads it, but kernels want a buffer.
  if (offset == loaded_->plan->buffers[buffer].size_bytes) offset = 0;
  const ClMemory& whole = loaded_->constants[buffer] ? loaded_->constants[buffer] : buffers_[buffer];
  if (offset == 0 && whole) return whole.get();
  ClMemory& part = parts_[{buffer, offset}];
  if (!part) part = make_part(buffer, offset, who);
  return part.get();
}

ClMemory SessionBuffers::make_part(std::size_t buffer, std::size_t offset, const std::string& who) const {
  const OpenClContext& context = *loaded_->context;
  const PlanBuffer& plan_buffer = loaded_->plan->buffers[buffer];
  if (offset >= plan_buffer.size_bytes) {
    fail(ErrorCode::kInternal, who + ": offset " + std::to_string(offset) + " lies outside " + plan_buffer.name);
  }
  const std::size_t rest = plan_buffer.size_bytes - offset;
  const ClMemory& whole = loaded_->constants[buffer] ? loaded_->constants[buffer] : buffers_[buffer];
  if (!whole) {
    void* host = static_cast<std::byte*>(memory_[buffer].get()) + offset;
    return context.make_buffer(std::min(rest, context.caps().max_alloc_bytes), host, plan_buffer.name);
  }
  const cl_buffer_region region = {offset, rest};
  cl_int code = CL_SUCCESS;
  ClMemory part(clCreateSubBuffer(whole.get(), loaded_->constants[buffer] ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE,
                                  CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
  check_cl(code, who + ": part of " + plan_buffer.name + " at " + std::to_string(offset));
  return part;
}

}  // namespace headrace
