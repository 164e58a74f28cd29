// SPDX-License-Identifier: Apache-2.0
// Whole networks of make_networks.py on the device of HEADRACE_TEST_DEVICE, against ONNX Runtime's stored answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <numeric>

#include "formats/npy/npy.hpp"
#include "golden/golden.hpp"

namespace headrace::test {
namespace {

std::vector<std::size_t> top5(const Tensor& scores) {
  const std::vector<double> values = to_doubles(scores);
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::partial_sort(order.begin(), order.begin() + 5, order.end(),
                    [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  order.resize(5);
  return order;
}

// No network needs much more memory than what is live at once.
void check_arena(const CompiledModel& compiled) {
  for (const CompiledModel::MemoryUse& use : compiled.memory_use()) {
    EXPECT_LE(static_cast<double>(use.arena_bytes), 1.05 * static_cast<double>(use.lower_bound_bytes)) << use.device;
    if (use.arena_bytes != use.lower_bound_bytes) {
      std::cout << "golden: arena of " << use.arena_bytes << " bytes, the lower bound is " << use.lower_bound_bytes
                << "\n";
    }
  }
}

void check_network(const Core& core, const std::string& device, const GoldenCase& golden) {
  const Model model = core.read_model(golden.model);
  const CompiledModel compiled = core.compile_model(model, device);
  check_arena(compiled);
  InferRequest request = compiled.create_infer_request();
  const Tensor input = read_npy(golden.inputs.at(0));
  request.set_input_tensor(input);
  request.infer();
  const Tensor expected = read_npy(golden.outputs.at(0));
  const Tensor first = request.get_output_tensor().clone();
  EXPECT_EQ(difference(expected, first, golden.tolerance), "");
  EXPECT_EQ(top5(first), top5(expected));
  // The same request gives the same bits every time.
  request.infer();
  const Tensor second = request.get_output_tensor();
  EXPECT_TRUE(std::equal(first.data(), first.data() + first.size_bytes(), second.data())) << "second run differs";
}

TEST(GoldenNetworksTest, AgreeWithOnnxRuntime) {
  const Core core;
  const std::optional<std::string> device = test_device(core);
  if (!device) GTEST_SKIP() << "no device " << environment("HEADRACE_TEST_DEVICE");
  const std::string only = environment("HEADRACE_GOLDEN_ONLY");
  int count = 0;
  for (const GoldenCase& golden : read_index(environment("HEADRACE_GOLDEN_NETWORKS", "build/golden/networks"))) {
    if (golden.name.find(only) == std::string::npos) continue;
    SCOPED_TRACE(golden.name + " on " + *device);
    ++count;
    try {
      check_network(core, *device, golden);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
  std::cout << "golden: " << *device << ": " << count << " networks compared\n";
  EXPECT_GT(count, 0) << "no network's name contains '" << only << "'";
}

}  // namespace
}  // namespace headrace::test
