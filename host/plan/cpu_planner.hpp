// SPDX-License-Identifier: Apache-2.0
// Plans a subgraph for the CPU fallback: host calls on dense row-major tensors.
#pragma once

#include <memory>

#include "plan/plan.hpp"

namespace headrace::detail {

std::shared_ptr<const DevicePlan> plan_for_cpu(const PlanRequest& request, PlanStats* stats);

}  // namespace headrace::detail
