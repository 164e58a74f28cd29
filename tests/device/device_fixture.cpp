// SPDX-License-Identifier: Apache-2.0
#include "device/device_fixture.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace headrace::test {
namespace {

constexpr const char* kScaleKernels = R"(// SPDX-License-Identifier: Apache-2.0
#include "common/types.clh"
__kernel void scale_f32(__global const real* src, __global real* dst, float a, float b, int count) {
  for (int i = (int)get_global_id(0); i < count; i += (int)get_global_size(0)) dst[i] = a * src[i] + b;
}
__kernel void sum_f32(__global const real* src, __global const real* other, __global real* dst, int count) {
  for (int i = (int)get_global_id(0); i < count; i += (int)get_global_size(0)) dst[i] = src[i] + other[i];
}
)";

constexpr const char* kGroupKernel = R"(// SPDX-License-Identifier: Apache-2.0
__kernel void group_f32(__global const float* src, __global float* dst, int count, __local float* scratch) {
  const int local_id = (int)get_local_id(0);
  const int i = (int)get_global_id(0);
  scratch[local_id] = i < count ? src[i] : 0.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < count) dst[i] = scratch[local_id] + 1.0f;
}
)";

}  // namespace

TempFolder::TempFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "headrace-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

LogCollector::LogCollector() {
  set_log_sink([lines = warnings_](LogLevel level, std::string_view component, std::string_view line) {
    if (level <= LogLevel::kWarn) lines->push_back(std::string(component) + ": " + std::string(line));
  });
}

LogCollector::~LogCollector() {
  set_log_sink([](LogLevel, std::string_view, std::string_view) {});
}

void write_test_kernels(const std::string& folder) {
  std::filesystem::create_directories(folder + "/common");
  write_bytes(folder + "/common/types.clh", "typedef float real;\n");
  write_bytes(folder + "/scale.cl", kScaleKernels);
  write_bytes(folder + "/group.cl", kGroupKernel);
}

KernelInstance scale_instance() { return {"scale.cl", "VEC=16", "scale_f32"}; }
KernelInstance sum_instance() { return {"scale.cl", "VEC=16", "sum_f32"}; }

std::shared_ptr<const DevicePlan> make_scale_plan(const Shape& shape, float scale, float offset, int layer_count) {
  auto plan = std::make_shared<DevicePlan>();
  const std::int64_t count = count_elems(shape);
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(float);
  // The arena's parts start at multiples of 1024, so that two layers use different places.
  const std::size_t part = (bytes + 1023) / 1024 * 1024;
  plan->buffers.push_back({layer_count > 1 ? 2 * part : 0, {}, "arena"});
  plan->buffers.push_back({bytes, {}, "tensor 'x'"});
  plan->buffers.push_back({bytes, {}, "tensor 'y'"});
  for (int layer = 0; layer < layer_count; ++layer) {
    const bool is_last = layer + 1 == layer_count;
    const auto place = [&](int index) { return BufferRef{0, static_cast<std::int64_t>(part) * (index % 2)}; };
    Launch launch;
    launch.instance = scale_instance();
    launch.args = {layer == 0 ? BufferRef{1, 0} : place(layer - 1), is_last ? BufferRef{2, 0} : place(layer),
                   is_last ? scale : 1.0F, is_last ? offset : 1.0F, static_cast<std::int32_t>(count)};
    launch.global[0] = count == 0 ? 0 : 3;
    plan->steps.push_back({"layer" + std::to_string(layer), "Scale", "scale_f32", launch, 2 * count, 0});
  }
  plan->inputs.push_back({"x", {1, 0}, ElementType::f32, shape});
  plan->outputs.push_back({"y", {2, 0}, ElementType::f32, shape});
  return plan;
}

std::vector<std::string> usable_device_names() {
  const char* only = std::getenv("HEADRACE_TEST_DEVICE");
  std::vector<std::string> names;
  for (const OpenClDeviceEntry& entry : list_opencl_devices()) {
    if (entry.problem.empty() && (only == nullptr || entry.info.name == only)) names.push_back(entry.info.name);
  }
  return names;
}

Tensor run_once(const Device& device, const std::shared_ptr<const DevicePlan>& plan, const Tensor& input) {
  const auto executable = device.load(plan, {});
  const auto session = executable->make_session();
  Tensor output(plan->outputs.at(0).type, plan->outputs.at(0).shape);
  session->set_input(0, input);
  session->set_output(0, output);
  session->start();
  session->finish();
  return output;
}

Tensor counting_tensor(const Shape& shape) {
  Tensor tensor(ElementType::f32, shape);
  float value = 0.0F;
  for (float& element : tensor.mutable_values<float>()) element = value++;
  return tensor;
}

void expect_scaled(const Tensor& actual, float scale, float offset) {
  const auto values = actual.values<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(values[i], scale * static_cast<float>(i) + offset) << "at element " << i;
  }
}

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << bytes;
}

}  // namespace headrace::test
