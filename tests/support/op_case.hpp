// SPDX-License-Identifier: Apache-2.0
// Runs one operator on every OpenCL device found, in every memory order that it takes, against its reference.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/tensor.hpp"
#include "device/device.hpp"
#include "graph/graph.hpp"
#include "ops/descriptor.hpp"

namespace headrace::test {

using LowerFunction =
    std::function<Lowered(const Node&, std::span<const LowerInput>, std::span<const TensorDesc>, const KernelCaps&)>;

struct OpCase {
  std::string type;  // IR type name
  RawAttributes attributes{};
  std::vector<Tensor> inputs{};          // dense row-major
  std::vector<std::size_t> constants{};  // which inputs are constants
  std::int32_t opset = 1;
  Epilogue epilogue{};      // its inputs are indices into `inputs`, behind the operator's own
  double tolerance = 1e-4;  // max |r - e| <= tolerance * max(1, max |e|); 0: bit for bit
  std::string label{};      // stands in failure messages
  LowerFunction lower{};    // instead of the operator's
};

// The node of the case with parsed attributes and inferred outputs.
Node make_node(const OpCase& op_case);

// Outputs by the operator's reference, epilogue included.
std::vector<Tensor> run_case_reference(const OpCase& op_case);

// Compares every OpenCL device and memory order (dense row-major, dense channels-last, views with gaps and an offset,
// as the operator's layout rules allow) with the reference, and checks that bytes between and behind the output's
// elements stay untouched. A refusal by `supports` is a failure.
void check_op(const OpCase& op_case);

// The same on every OpenCL CPU device as if it had other capabilities, so that kernels meant for other devices are run
// too; they have to give right numbers everywhere.
void check_op_as(const OpCase& op_case, const std::function<void(KernelCaps&)>& change);

// The devices that can run an instance: those that compile; GPUs leave the wide family out, which keeps panels of tens
// of kilobytes in private memory, and forms for VNNI need it.
std::vector<Device*> devices_for(const KernelInstance& instance);

// The same on all of them at once, in a thread each, as if a bitstream held nothing but these instances, of one family.
void check_op_with(const OpCase& op_case, const std::vector<KernelInstance>& instances);

// With the kernels of a GPU with work-groups of this size.
void check_op_tile_family(const OpCase& op_case, std::size_t max_work_group = 256);

// Expects `supports` to refuse on every device, with a reason that contains the text.
void check_op_refused(const OpCase& op_case, const std::string& reason_part);

// Fails the current test at the first element out of tolerance; NaN matches only NaN, infinities must be equal.
void expect_close(const Tensor& expected, const Tensor& actual, double tolerance, const std::string& what);

// Values in [low, high) from a fixed generator; the same seed gives the same tensor on every machine.
Tensor random_tensor(const Shape& shape, std::uint32_t seed, float low = -1.0F, float high = 1.0F);
Tensor random_ints(ElementType type, const Shape& shape, std::uint32_t seed, std::int64_t low, std::int64_t high);
Tensor floats(const Shape& shape, std::vector<float> values);
Tensor ints(const Shape& shape, std::vector<std::int64_t> values);  // i64

// Every usable OpenCL device, opened once per process. Devices that HEADRACE_REQUIRE_DEVICES names (pocl, intel_cpu,
// fpga_emu) and that are missing fail the test. HEADRACE_TEST_DEVICE=CL.n restricts to one.
const std::vector<Device*>& opencl_test_devices();

}  // namespace headrace::test
