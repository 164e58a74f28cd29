// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/opencl_executable.hpp"

#include <algorithm>
#include <map>

#include "device/opencl/cl_error.hpp"
#include "device/opencl/opencl_session.hpp"

namespace headrace {
namespace {

std::string sizes_text(const std::array<std::size_t, 3>& sizes) {
  return std::to_string(sizes[0]) + "x" + std::to_string(sizes[1]) + "x" + std::to_string(sizes[2]);
}

// Refuses a launch that the device would refuse with a bare CL_INVALID_WORK_GROUP_SIZE.
void check_work_group(const LoadedPlan& loaded, std::size_t step, std::size_t kernel_limit) {
  const Launch& launch = loaded.launch(step);
  const OpenClContext& context = *loaded.context;
  const std::size_t allowed = std::min(kernel_limit, context.caps().max_work_group);
  const std::size_t wanted = launch.local[0] * launch.local[1] * launch.local[2];
  bool fits = wanted >= 1 && wanted <= allowed;
  for (std::size_t d = 0; d < 3; ++d) {
    fits = fits && launch.local[d] <= context.caps().max_work_item_sizes[d];
    if (launch.local[d] == 0 || launch.global[d] % launch.local[d] != 0) {
      fail(ErrorCode::kInternal, loaded.where(step) + ": global size " + sizes_text(launch.global) +
                                     " is no multiple of the work-group " + sizes_text(launch.local));
    }
  }
  if (!fits) {
    fail(ErrorCode::kUnsupported, loaded.where(step) + ": wants a work-group of " + sizes_text(launch.local) +
                                      ", the device allows " + std::to_string(allowed) + " work-items, at most " +
                                      sizes_text(context.caps().max_work_item_sizes));
  }
}

std::size_t kernel_work_group_limit(const LoadedPlan& loaded, std::size_t step) {
  const Launch& launch = loaded.launch(step);
  cl_int code = CL_SUCCESS;
  const ClKernel kernel(
      clCreateKernel(loaded.step_programs[step]->program.get(), launch.instance.entry.c_str(), &code));
  check_cl(code, loaded.where(step) + ": kernel " + launch.instance.key());
  cl_uint args = 0;
  check_cl(clGetKernelInfo(kernel.get(), CL_KERNEL_NUM_ARGS, sizeof(args), &args, nullptr), loaded.where(step));
  const std::size_t given = launch.instance.is_wide() ? count_pointers(launch) + 2 : launch.args.size();
  if (args != given) {
    fail(ErrorCode::kInternal, loaded.where(step) + ": the kernel has " + std::to_string(args) +
                                   " arguments, the plan gives " + std::to_string(given));
  }
  std::size_t limit = 0;
  check_cl(clGetKernelWorkGroupInfo(kernel.get(), loaded.context->device(), CL_KERNEL_WORK_GROUP_SIZE, sizeof(limit),
                                    &limit, nullptr),
           loaded.where(step));
  return limit;
}

// Programs and limits for every step; a kernel used by many steps is looked at once.
void load_programs(LoadedPlan& loaded) {
  loaded.programs->build_ahead(instances_of(*loaded.plan));
  std::map<KernelInstance, std::size_t> limits;
  std::map<KernelInstance, std::size_t> args;
  for (std::size_t step = 0; step < loaded.plan->steps.size(); ++step) {
    const auto* launch = std::get_if<Launch>(&loaded.plan->steps[step].action);
    if (launch == nullptr) {
      fail(ErrorCode::kUnsupported, "device " + loaded.context->name() + ": layer '" + loaded.plan->steps[step].layer +
                                        "' is a host call, which only the CPU device runs");
    }
    try {
      loaded.step_programs.push_back(loaded.programs->get(launch->instance));
    } catch (const Error& error) {
      rethrow_with_prefix(error, "layer '" + loaded.plan->steps[step].layer + "'");
    }
    const auto [found, is_new] = limits.try_emplace(launch->instance, 0);
    if (is_new) {
      found->second = kernel_work_group_limit(loaded, step);
      args[launch->instance] = launch->args.size();
    }
    HEADRACE_ASSERT(args[launch->instance] == launch->args.size(), "one kernel, two argument counts");
    check_work_group(loaded, step, found->second);
  }
}

void upload_constant(LoadedPlan& loaded, const PlanBuffer& buffer) {
  const OpenClContext& context = *loaded.context;
  const std::size_t size = std::max(buffer.size_bytes, buffer.constant.size_bytes());
  // Kernels may read the slack: it belongs to the buffer where drivers or Oclgrind look for reads past its end.
  const std::size_t with_slack = std::min(size + kBufferSlackBytes, std::max(size, context.caps().max_alloc_bytes));
  const auto* data = buffer.constant.data();
  AlignedMemory copy;
  if (context.shares_host_memory()) {
    // The runtime only reads it, but USE_HOST_PTR has no const form.
    void* host = const_cast<std::byte*>(data);
    static_assert(kBufferSlackBytes <= kMemoryAlignment);
    const bool is_in_place = buffer.constant.has_slack()
                                 ? buffer.constant.is_aligned()
                                 : is_usable_in_place(data, size, kMemoryAlignment, kBufferSlackBytes);
    if (buffer.constant.size_bytes() != size || !is_in_place) {
      copy = make_aligned_memory(size + kBufferSlackBytes, buffer.name);
      std::memcpy(copy.get(), data, buffer.constant.size_bytes());
      host = copy.get();
    }
    loaded.constants.push_back(context.make_buffer(with_slack, host, buffer.name, true));
    loaded.constant_memory.push_back(std::move(copy));
    return;
  }
  ClMemory memory = context.make_buffer(with_slack, nullptr, buffer.name, true);
  cl_int code = CL_SUCCESS;
  const ClQueue queue(clCreateCommandQueue(context.get(), context.device(), 0, &code));
  check_cl(code, "device " + context.name() + ": making a queue");
  check_cl(clEnqueueWriteBuffer(queue.get(), memory.get(), CL_TRUE, 0, buffer.constant.size_bytes(), data, 0, nullptr,
                                nullptr),
           "device " + context.name() + ": uploading " + buffer.name);
  loaded.constants.push_back(std::move(memory));
}

class OpenClExecutable final : public Executable {
 public:
  OpenClExecutable(std::shared_ptr<const LoadedPlan> loaded, std::size_t first_part)
      : loaded_(std::move(loaded)), first_part_(first_part) {}

  std::unique_ptr<Session> make_session(std::size_t part) const override {
    const std::size_t index = first_part_ + part;
    HEADRACE_ASSERT(index < loaded_->context->devices().size(), "session on a part that is not there");
    return make_opencl_session(loaded_, index);
  }

  std::vector<std::string> step_origins() const override {
    std::vector<std::string> origins;
    for (const auto& program : loaded_->step_programs) origins.push_back(program->origin);
    return origins;
  }

 private:
  std::shared_ptr<const LoadedPlan> loaded_;
  std::size_t first_part_;
};

}  // namespace

std::size_t count_pointers(const Launch& launch) {
  const auto is_scalar = [](const LaunchArg& arg) {
    return std::holds_alternative<std::int32_t>(arg) || std::holds_alternative<float>(arg);
  };
  const auto first = std::find_if(launch.args.begin(), launch.args.end(), is_scalar);
  return static_cast<std::size_t>(first - launch.args.begin());
}

std::vector<std::byte> pack_scalars(const Launch& launch) {
  static_assert(sizeof(std::int32_t) == sizeof(float));
  std::vector<std::byte> bytes;
  for (std::size_t arg = count_pointers(launch); arg < launch.args.size(); ++arg) {
    const auto* integer = std::get_if<std::int32_t>(&launch.args[arg]);
    const auto* real = std::get_if<float>(&launch.args[arg]);
    HEADRACE_ASSERT(integer != nullptr || real != nullptr, "a pointer behind the scalars of a launch");
    const auto* value =
        integer != nullptr ? reinterpret_cast<const std::byte*>(integer) : reinterpret_cast<const std::byte*>(real);
    bytes.insert(bytes.end(), value, value + sizeof(float));
  }
  return bytes;
}

std::vector<KernelInstance> instances_of(const DevicePlan& plan) {
  std::vector<KernelInstance> instances;
  for (const PlanStep& step : plan.steps) {
    if (const auto* launch = std::get_if<Launch>(&step.action)) instances.push_back(launch->instance);
  }
  return instances;
}

std::string LoadedPlan::where(std::size_t step) const {
  const PlanStep& plan_step = plan->steps[step];
  return "device " + context->name() + ", layer '" + plan_step.layer + "' (" + plan_step.kernel + ")";
}

std::shared_ptr<const LoadedPlan> load_plan(std::shared_ptr<const OpenClContext> context,
                                            std::shared_ptr<ProgramTable> programs,
                                            std::shared_ptr<const DevicePlan> plan, const LoadOptions& options) {
  auto loaded = std::make_shared<LoadedPlan>();
  loaded->context = std::move(context);
  loaded->programs = std::move(programs);
  loaded->plan = std::move(plan);
  loaded->is_profiling = options.is_profiling;
  load_programs(*loaded);
  for (const PlanBuffer& buffer : loaded->plan->buffers) {
    if (buffer.constant.count() > 0) {
      upload_constant(*loaded, buffer);
    } else {
      loaded->constants.emplace_back();
    }
  }
  return loaded;
}

std::unique_ptr<Executable> make_opencl_executable(std::shared_ptr<const LoadedPlan> loaded, std::size_t first_part) {
  return std::make_unique<OpenClExecutable>(std::move(loaded), first_part);
}

}  // namespace headrace
