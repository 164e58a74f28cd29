// SPDX-License-Identifier: Apache-2.0
#include "support/op_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <thread>

#include "ops/strided.hpp"
#include "support/placed_case.hpp"

namespace headrace::test {
namespace {

// HEADRACE_QUICK_CASES=n, for devices that need seconds for one case (Oclgrind): the first n small cases of each test,
// in one memory order. What is left out is counted.
class QuickRun : public ::testing::Environment {
 public:
  bool takes(const OpCase& op_case) {
    if (most_ == 0) return true;
    std::int64_t elems = count_elems(make_node(op_case).outputs[0].shape);
    for (const Tensor& input : op_case.inputs) elems += input.count();
    const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
    int& taken = taken_[std::string(test.test_suite_name()) + test.name()];
    if (elems > kMostElems || taken >= most_) {
      ++left_out_;
      return false;
    }
    ++taken;
    return true;
  }
  std::vector<Order> orders() const {
    if (most_ == 0) return {Order::kRowMajor, Order::kChannelsLast, Order::kView};
    return {Order::kView};
  }
  void TearDown() override {
    if (most_ != 0) std::cout << "HEADRACE_QUICK_CASES: " << left_out_ << " cases were left out\n";
  }

 private:
  static constexpr std::int64_t kMostElems = 3000;
  static int most_cases() {
    const char* value = std::getenv("HEADRACE_QUICK_CASES");
    return value == nullptr ? 0 : std::stoi(value);
  }

  int most_ = most_cases();
  int left_out_ = 0;
  std::map<std::string, int> taken_;
};
// Owned by googletest.
QuickRun& quick_run() {
  static QuickRun* const run =
      static_cast<QuickRun*>(::testing::AddGlobalTestEnvironment(new QuickRun));  // NOLINT(*-owning-memory)
  return *run;
}
[[maybe_unused]] const QuickRun& registered_quick_run = quick_run();

void run_and_compare(const OpCase& op_case, const Node& node, Device& device, const KernelCaps& caps, Order order,
                     const std::vector<Tensor>& expected) {
  const OpDescriptor& op = *find_op(node.type);
  Placement placement = make_placement(op_case, node, op, caps, order);
  const std::string where = op_case.label + " " + node.type + " on " + device.info().name + " (" +
                            device.info().description + ") order " + std::to_string(static_cast<int>(order));
  const Support support = op.supports(node, placement.lower_inputs, placement.lower_outputs, caps);
  ASSERT_TRUE(support.ok) << where << ": " << support.reason;
  const LowerFunction lower = op_case.lower ? op_case.lower : op.lower;
  const Lowered lowered = lower(node, placement.lower_inputs, placement.lower_outputs, caps);
  for (const KernelLaunch& launch : lowered.launches) {
    const std::vector<KernelInstance> all = find_op(node.type)->instances();
    // Kernels of other operators (copies) are listed by their own operator.
    EXPECT_FALSE(all.empty()) << where;
    EXPECT_NE(launch.local[0] * launch.local[1] * launch.local[2], 0U) << where;
  }
  const auto executable = device.load(make_plan(node, lowered, placement), {});
  const auto session = executable->make_session();
  for (std::size_t i = 0; i < placement.outputs.size(); ++i) {
    session->set_input(i, placement.outputs[i].bytes);
    session->set_output(i, placement.outputs[i].bytes);
  }
  session->start();
  session->finish();
  for (std::size_t i = 0; i < placement.outputs.size(); ++i) {
    const std::string what = where + " output " + std::to_string(i);
    expect_close(expected[i], gather(placement.outputs[i]), op_case.tolerance, what);
    EXPECT_EQ(count_stray_writes(placement.outputs[i]), 0) << what << ": bytes outside the tensor were written";
  }
}

}  // namespace

Node make_node(const OpCase& op_case) {
  const OpDescriptor* op = find_op(op_case.type);
  if (op == nullptr) fail(ErrorCode::kInternal, "no operator " + op_case.type);
  Node node;
  node.id = NodeId{0};
  node.name = "tested";
  node.type = op_case.type;
  node.source_type = op_case.type;
  node.opset = op_case.opset;
  node.attributes = op->parse(op_case.type, op_case.opset, op_case.attributes);
  node.inputs.resize(op_case.inputs.size());
  node.epilogue = op_case.epilogue;
  std::vector<InferInput> infer_inputs;
  for (std::size_t i = 0; i < count_op_inputs(node); ++i) {
    const Tensor& input = op_case.inputs[i];
    const bool is_constant =
        std::find(op_case.constants.begin(), op_case.constants.end(), i) != op_case.constants.end();
    infer_inputs.push_back({input.type(), input.shape(), is_constant ? &input : nullptr});
  }
  for (const InferOutput& output : op->infer(node, infer_inputs)) {
    node.outputs.push_back({output.type, output.shape, true, {}});
  }
  return node;
}

std::vector<Tensor> run_case_reference(const OpCase& op_case) {
  const Node node = make_node(op_case);
  std::vector<Tensor> outputs;
  for (const OutputInfo& output : node.outputs) outputs.emplace_back(output.type, output.shape);
  run_reference(node, op_case.inputs, outputs);
  return outputs;
}

void check_op(const OpCase& op_case) {
  if (!quick_run().takes(op_case)) return;
  const Node node = make_node(op_case);
  const std::vector<Tensor> expected = run_case_reference(op_case);
  for (Device* device : opencl_test_devices()) {
    for (const Order order : quick_run().orders()) {
      run_and_compare(op_case, node, *device, device->caps(), order, expected);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

void check_op_as(const OpCase& op_case, const std::function<void(KernelCaps&)>& change) {
  if (!quick_run().takes(op_case)) return;
  const Node node = make_node(op_case);
  const std::vector<Tensor> expected = run_case_reference(op_case);
  for (Device* device : opencl_test_devices()) {
    KernelCaps caps = device->caps();
    if (caps.type != DeviceType::kCpu) continue;
    change(caps);
    for (const Order order : quick_run().orders()) {
      run_and_compare(op_case, node, *device, caps, order, expected);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

namespace {

bool is_wide(const KernelInstance& instance) { return instance.file.ends_with("_wide.cl"); }
bool needs_vnni(const KernelInstance& instance) { return instance.macros.find("VNNI=1") != std::string::npos; }

// What `device` offers where it is programmed with the instances and cannot compile.
KernelCaps caps_with(const Device& device, const std::vector<KernelInstance>& instances) {
  KernelCaps caps = device.caps();
  if (is_wide(instances[0])) {
    caps.vector_width = 16;
  } else {
    caps.type = DeviceType::kGpu;
  }
  caps.has_vnni = needs_vnni(instances[0]);
  caps.has_compiler = false;
  caps.programmed.clear();
  for (const KernelInstance& instance : instances) caps.programmed.insert(instance.key());
  return caps;
}

}  // namespace

std::vector<Device*> devices_for(const KernelInstance& instance) {
  std::vector<Device*> devices;
  for (Device* device : opencl_test_devices()) {
    const KernelCaps caps = device->caps();
    if (!caps.has_compiler || (is_wide(instance) && caps.type == DeviceType::kGpu)) continue;
    if (needs_vnni(instance) && !caps.has_vnni) continue;
    devices.push_back(device);
  }
  return devices;
}

void check_op_with(const OpCase& op_case, const std::vector<KernelInstance>& instances) {
  if (!quick_run().takes(op_case)) return;
  const Node node = make_node(op_case);
  const std::vector<Tensor> expected = run_case_reference(op_case);
  std::vector<std::jthread> threads;
  for (Device* device : devices_for(instances[0])) {
    threads.emplace_back([&, device] {
      try {
        const KernelCaps caps = caps_with(*device, instances);
        for (const Order order : quick_run().orders()) {
          run_and_compare(op_case, node, *device, caps, order, expected);
        }
      } catch (const std::exception& error) {
        ADD_FAILURE() << op_case.label << " on " << device->info().name << ": " << error.what();
      }
    });
  }
}

void check_op_tile_family(const OpCase& op_case, std::size_t max_work_group) {
  check_op_as(op_case, [max_work_group](KernelCaps& caps) {
    caps.type = DeviceType::kGpu;
    caps.max_work_group = std::min(caps.max_work_group, max_work_group);
  });
}

void check_op_refused(const OpCase& op_case, const std::string& reason_part) {
  const Node node = make_node(op_case);
  const OpDescriptor& op = *find_op(node.type);
  for (Device* device : opencl_test_devices()) {
    const KernelCaps caps = device->caps();
    const Placement placement = make_placement(op_case, node, op, caps, Order::kRowMajor);
    const Support support = op.supports(node, placement.lower_inputs, placement.lower_outputs, caps);
    EXPECT_FALSE(support.ok) << node.type;
    EXPECT_NE(support.reason.find(reason_part), std::string::npos) << support.reason;
  }
}

void expect_close(const Tensor& expected, const Tensor& actual, double tolerance, const std::string& what) {
  ASSERT_EQ(to_string(expected.type()), to_string(actual.type())) << what;
  ASSERT_EQ(expected.shape(), actual.shape()) << what;
  const std::vector<double> e = to_doubles(expected);
  const std::vector<double> a = to_doubles(actual);
  double scale = 1.0;
  for (const double value : e) {
    if (std::isfinite(value)) scale = std::max(scale, std::fabs(value));
  }
  for (std::size_t i = 0; i < e.size(); ++i) {
    const bool is_nan_pair = std::isnan(e[i]) && std::isnan(a[i]);
    const bool is_ok = is_nan_pair || e[i] == a[i] || std::fabs(e[i] - a[i]) <= tolerance * scale;
    ASSERT_TRUE(is_ok) << what << ": element " << i << " of shape " << to_string(expected.shape()) << ": expected "
                       << e[i] << ", got " << a[i];
  }
}

Tensor random_tensor(const Shape& shape, std::uint32_t seed, float low, float high) {
  std::mt19937 generator(seed);
  Tensor tensor(ElementType::f32, shape);
  for (float& value : tensor.mutable_values<float>()) {
    value = low + (high - low) * static_cast<float>(generator() >> 8) * 0x1p-24F;
  }
  return tensor;
}

Tensor random_ints(ElementType type, const Shape& shape, std::uint32_t seed, std::int64_t low, std::int64_t high) {
  std::mt19937 generator(seed);
  Tensor wide(ElementType::i64, shape);
  for (std::int64_t& value : wide.mutable_values<std::int64_t>()) {
    value = low + static_cast<std::int64_t>(generator()) % (high - low);
  }
  return convert(wide, type);
}

Tensor floats(const Shape& shape, std::vector<float> values) { return make_f32_tensor(shape, values); }
Tensor ints(const Shape& shape, std::vector<std::int64_t> values) { return make_i64_tensor(shape, values); }

}  // namespace headrace::test
