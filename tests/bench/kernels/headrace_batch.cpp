// SPDX-License-Identifier: Apache-2.0
#include "bench/kernels/headrace_batch.hpp"

#include <utility>

#include "core/error.hpp"

namespace headrace::bench {

BatchMaker make_plan_batches(const Device& device, std::shared_ptr<const DevicePlan> plan) {
  return [&device, plan = std::move(plan)](int launches) -> Batch {
    auto repeated = std::make_shared<DevicePlan>(*plan);
    for (int i = 1; i < launches; ++i) {
      repeated->steps.insert(repeated->steps.end(), plan->steps.begin(), plan->steps.end());
    }
    const std::shared_ptr<const Executable> executable = device.load(repeated, {});
    return [executable, session = std::shared_ptr<Session>(executable->make_session())] {
      session->start();
      session->finish();
    };
  };
}

BatchMaker make_headrace_batches(const Device& device, const BenchCase& bench_case) {
  const test::OpCase op_case = bench_case.make();
  const Node node = test::make_node(op_case);
  const OpDescriptor& op = *find_op(node.type);
  const KernelCaps caps = device.caps();
  const test::Placement placement = test::make_placement(op_case, node, op, caps, bench_case.order);
  const Support support = op.supports(node, placement.lower_inputs, placement.lower_outputs, caps);
  check(support.ok, ErrorCode::kUnsupported, support.reason);
  const Lowered lowered = op.lower(node, placement.lower_inputs, placement.lower_outputs, caps);
  const std::shared_ptr<DevicePlan> plan = test::make_plan(node, lowered, placement);
  // The data is there already, and nobody reads the result.
  plan->inputs.clear();
  plan->outputs.clear();
  return make_plan_batches(device, plan);
}

}  // namespace headrace::bench
