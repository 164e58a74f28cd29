// SPDX-License-Identifier: Apache-2.0
// Lays the tensors of one operator out in memory and turns its lowering into a plan that a device can load.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "support/op_case.hpp"

namespace headrace::test {

// kView: channels-last or row-major with gaps and an offset.
enum class Order { kRowMajor, kChannelsLast, kView };

// A tensor at strided places of a poisoned byte buffer.
struct Placed {
  TensorDesc desc;
  Tensor bytes;
};

struct Placement {
  std::vector<Placed> inputs;
  std::vector<Placed> outputs;
  std::vector<LowerInput> lower_inputs;  // point into the case
  std::vector<TensorDesc> lower_outputs;
};

// Places the case's inputs and outputs in this order, as far as the operator's layout rules allow it.
Placement make_placement(const OpCase& op_case, const Node& node, const OpDescriptor& op, const KernelCaps& caps,
                         Order order);

// The tensor's elements, dense row-major.
Tensor gather(const Placed& placed);

// Counts poisoned bytes outside the tensor's elements that a kernel overwrote.
std::int64_t count_stray_writes(const Placed& placed);

// Buffers: arena, inputs, outputs, packed constants, scratch. Every output is a port both ways.
std::shared_ptr<DevicePlan> make_plan(const Node& node, const Lowered& lowered, const Placement& placement);

}  // namespace headrace::test
