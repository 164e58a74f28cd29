// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs in the user's own cl_mem.
#include <CL/cl.h>

#include "device/device_fixture.hpp"

namespace headrace::test {
namespace {

constexpr std::size_t kCount = 300;
constexpr std::size_t kBytes = kCount * sizeof(float);

// A buffer and a queue of the device's own context, as a user makes them. Ends the queue after each transfer: Intel's
// FPGA emulator (2025.0.5) returns from a blocking write before other queues see what it wrote, in a third of all runs.
struct UserMemory {
  UserMemory(const Device& device, std::size_t size_bytes) {
    const auto context = static_cast<cl_context>(device.native_context());
    cl_int code = CL_SUCCESS;
    cl_device_id id = nullptr;
    clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof(id), static_cast<void*>(&id), nullptr);
    queue = clCreateCommandQueue(context, id, 0, &code);
    memory = clCreateBuffer(context, CL_MEM_READ_WRITE, size_bytes, nullptr, &code);
    EXPECT_EQ(code, CL_SUCCESS);
  }
  UserMemory(const UserMemory&) = delete;
  UserMemory& operator=(const UserMemory&) = delete;
  ~UserMemory() {
    clReleaseMemObject(memory);
    clReleaseCommandQueue(queue);
  }
  void write(const Tensor& tensor) const {
    EXPECT_EQ(clEnqueueWriteBuffer(queue, memory, CL_TRUE, 0, tensor.size_bytes(), tensor.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    clFinish(queue);
  }
  Tensor read() const {
    Tensor tensor(ElementType::f32, {static_cast<std::int64_t>(kCount)});
    EXPECT_EQ(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, kBytes, tensor.mutable_data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    clFinish(queue);
    return tensor;
  }

  cl_command_queue queue = nullptr;
  cl_mem memory = nullptr;
};

TEST(MemoryObjectsTest, TakesBuffersInPlaceOfHostMemory) {
  const TempFolder folder;
  write_test_kernels(folder.path());
  const Shape shape{static_cast<std::int64_t>(kCount)};
  for (const std::string& name : usable_device_names()) {
    SCOPED_TRACE(name);
    const auto device = make_opencl_device(name, {.cache_dir = "", .state_dir = "", .kernel_dir = folder.path()});
    const auto session = device->load(make_scale_plan(shape, 2.0F, 1.0F), {})->make_session();
    // Exactly the port's size (copied on the device) and with room behind it (used directly).
    for (const std::size_t size : {kBytes, kBytes + 4096}) {
      SCOPED_TRACE("buffers of " + std::to_string(size) + " bytes");
      const UserMemory input(*device, size);
      const UserMemory output(*device, size);
      input.write(counting_tensor(shape));
      session->set_input_buffer(0, input.memory);
      session->set_output_buffer(0, output.memory);
      session->start();
      session->finish();
      expect_scaled(output.read(), 2.0F, 1.0F);
    }
    SCOPED_TRACE("back to host memory");
    const Tensor result(ElementType::f32, shape);
    session->set_input(0, counting_tensor(shape));
    session->set_output(0, result);
    session->start();
    session->finish();
    expect_scaled(result, 2.0F, 1.0F);
  }
}

TEST(MemoryObjectsTest, RefusesBuffersThatDoNotFit) {
  const TempFolder folder;
  write_test_kernels(folder.path());
  const Shape shape{static_cast<std::int64_t>(kCount)};
  for (const std::string& name : usable_device_names()) {
    SCOPED_TRACE(name);
    const OpenClOptions options{.cache_dir = "", .state_dir = "", .kernel_dir = folder.path()};
    const auto device = make_opencl_device(name, options);
    const auto other = make_opencl_device(name, options);
    const auto session = device->load(make_scale_plan(shape, 2.0F, 1.0F), {})->make_session();
    const UserMemory small(*device, kBytes - 4);
    const UserMemory foreign(*other, kBytes);
    EXPECT_EQ(error_message([&] { session->set_input_buffer(0, small.memory); }, ErrorCode::kInvalidArgument),
              "device " + name + ": buffer for 'x' has 1196 bytes, 1200 are needed");
    EXPECT_EQ(error_message([&] { session->set_output_buffer(0, foreign.memory); }, ErrorCode::kInvalidArgument),
              "device " + name + ": buffer for 'y' is of another context");
    error_message([&] { session->set_input_buffer(0, nullptr); }, ErrorCode::kInvalidArgument);
    error_message([&] { session->set_input_buffer(7, small.memory); }, ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace headrace::test
