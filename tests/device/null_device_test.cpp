// SPDX-License-Identifier: Apache-2.0
#include "device/null/null_device.hpp"

#include "device/device_fixture.hpp"

namespace headrace::test {
namespace {

TEST(NullDeviceTest, RecordsStepsAndComputesNothing) {
  const auto record = std::make_shared<NullRecord>();
  KernelCaps caps;
  caps.type = DeviceType::kAccelerator;
  const auto device = make_null_device("NULL.0", caps, record);
  EXPECT_EQ(device->info().type, DeviceType::kAccelerator);
  const Tensor output = run_once(*device, make_scale_plan({4}, 2.0F, 1.0F, 2), counting_tensor({4}));
  for (float value : output.values<float>()) EXPECT_EQ(value, 0.0F);
  EXPECT_EQ(record->lines(), (std::vector<std::string>{"load 2 steps", "session", "start", "step layer0 (scale_f32)",
                                                       "step layer1 (scale_f32)", "finish"}));
}

TEST(NullDeviceTest, RefusesWrongTensorsAndBuffers) {
  const auto device = make_null_device("NULL.0", KernelCaps{}, std::make_shared<NullRecord>());
  const auto session = device->load(make_scale_plan({4}, 2.0F, 1.0F), {})->make_session();
  EXPECT_THROW(session->set_input(0, counting_tensor({5})), Error);
  EXPECT_THROW(session->set_input(1, counting_tensor({4})), Error);
  EXPECT_THROW(session->start(), Error);
  error_message([&] { session->set_input_buffer(0, nullptr); }, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace headrace::test
