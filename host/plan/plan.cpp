// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.hpp"

#include "plan/cpu_planner.hpp"
#include "plan/opencl_planner.hpp"

namespace headrace {
namespace {

std::string shown(const BufferRef& ref) {
  return ref.buffer < 0 ? "null" : "b" + std::to_string(ref.buffer) + "+" + std::to_string(ref.offset_bytes);
}

std::string shown(const Launch& launch) {
  std::string text = launch.instance.key() + "(";
  for (const LaunchArg& arg : launch.args) {
    if (const auto* ref = std::get_if<BufferRef>(&arg)) text += shown(*ref) + " ";
    if (const auto* integer = std::get_if<std::int32_t>(&arg)) text += std::to_string(*integer) + " ";
    if (const auto* number = std::get_if<float>(&arg)) text += std::to_string(*number) + "f ";
    if (const auto* local = std::get_if<LocalBytes>(&arg)) text += "local" + std::to_string(local->bytes) + " ";
  }
  if (text.back() == ' ') text.pop_back();
  text += ") global " + std::to_string(launch.global[0]);
  for (std::size_t i = 1; i < launch.global.size(); ++i) text += "x" + std::to_string(launch.global[i]);
  return text;
}

std::string shown(const HostCall& call) {
  std::string text;
  for (const HostOperand& operand : call.inputs) text += shown(operand.ref) + to_string(operand.shape) + " ";
  text += "->";
  for (const HostOperand& operand : call.outputs) text += " " + shown(operand.ref) + to_string(operand.shape);
  return text;
}

}  // namespace

std::shared_ptr<const DevicePlan> make_device_plan(const PlanRequest& request, WeightsCache& weights,
                                                   PlanStats* stats) {
  if (request.caps.type == DeviceType::kCpuFallback) return detail::plan_for_cpu(request, stats);
  return detail::OpenclPlanner(request, weights).run(stats);
}

std::string dump(const DevicePlan& plan) {
  std::string text;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const PlanBuffer& buffer = plan.buffers[i];
    text += "b" + std::to_string(i) + " = " + buffer.name + ", " + std::to_string(buffer.size_bytes) + " bytes" +
            (buffer.constant.count() > 0 ? ", constant\n" : "\n");
  }
  for (const PlanStep& step : plan.steps) {
    text += "'" + step.layer + "' " + step.type + " " + step.kernel + " ";
    text += std::visit([](const auto& action) { return shown(action); }, step.action);
    text += "\n";
  }
  return text;
}

}  // namespace headrace
