// SPDX-License-Identifier: Apache-2.0
#include "runtime/device_string.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"

namespace headrace {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::vector<NamedDevice>& known() {
  static const std::vector<NamedDevice> devices{
      {"CPU", {}}, {"CL.0", {"POCL"}}, {"CL.1", {"FPGA"}}, {"CL.2", {"GPU"}}, {"CL.3", {"GPU.1"}}};
  return devices;
}

std::string canonical(std::string_view text) {
  std::string result;
  for (const DeviceRef& device : parse_device_string(text, known()).devices) result += device.canonical + " ";
  return result;
}

TEST(DeviceStringTest, ReadsEveryName) {
  EXPECT_EQ(canonical("CPU"), "CPU ");
  EXPECT_EQ(canonical("CL.1"), "CL.1 ");
  EXPECT_EQ(canonical("POCL"), "CL.0 ");
  EXPECT_EQ(canonical("pocl"), "CL.0 ");
  EXPECT_EQ(canonical("FPGA"), "CL.1 ");
  EXPECT_EQ(canonical("FPGA.0"), "CL.1 ");
  EXPECT_EQ(canonical("GPU.1"), "CL.3 ");
  EXPECT_EQ(canonical("POCL#0/2"), "CL.0#0/2 ");
  EXPECT_EQ(canonical("CL.0#1/2"), "CL.0#1/2 ");
  EXPECT_EQ(canonical("POCL#0/1"), "CL.0 ");
}

TEST(DeviceStringTest, ReadsLists) {
  const DeviceString hetero = parse_device_string("HETERO:FPGA,GPU,CPU", known());
  EXPECT_EQ(hetero.mode, DeviceMode::kHetero);
  EXPECT_EQ(canonical("HETERO:FPGA,GPU,CPU"), "CL.1 CL.2 CPU ");
  EXPECT_EQ(hetero.devices[0].written, "FPGA");
  EXPECT_EQ(parse_device_string("MULTI:CL.0,CL.1", known()).mode, DeviceMode::kMulti);
  EXPECT_EQ(canonical("MULTI:POCL#0/2,POCL#1/2"), "CL.0#0/2 CL.0#1/2 ");
  EXPECT_EQ(parse_device_string("AUTO", known()).mode, DeviceMode::kAuto);
  EXPECT_EQ(parse_device_string("CPU", known()).mode, DeviceMode::kSingle);
}

struct BadString {
  std::string text;
  std::string why;
};

class BadDeviceStringTest : public testing::TestWithParam<BadString> {};

// Report R14: each is one clear line that lists the devices.
TEST_P(BadDeviceStringTest, IsRefusedInOneLineThatListsTheDevices) {
  try {
    parse_device_string(GetParam().text, known());
    FAIL() << "no error for " << GetParam().text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'" + GetParam().text + "'"), HasSubstr(GetParam().why),
                                    HasSubstr("CPU, CL.0 (POCL), CL.1 (FPGA), CL.2 (GPU), CL.3 (GPU.1)")));
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BadDeviceStringTest,
    testing::Values(BadString{"", "no device ''"}, BadString{"HETERO", "needs a list"}, BadString{"HETERO:", "empty"},
                    BadString{"HETERO:CPU,", "empty entry"}, BadString{"HETERO:CPU,,GPU", "empty entry"},
                    BadString{"HETERO:,CPU", "empty entry"}, BadString{"MULTI", "needs a list"},
                    BadString{"MULTI:", "empty"}, BadString{"NPU", "no device 'NPU'"},
                    BadString{"HETERO:NPU,CPU", "no device 'NPU'"}, BadString{"FOO:CPU", "'FOO' is no list word"},
                    BadString{"CPU,GPU", "a list starts with"}, BadString{"CL", "needs a number"},
                    BadString{"CL.7", "no device 'CL.7'"}, BadString{"FPGA.1", "no device 'FPGA.1'"},
                    BadString{"HETERO:CPU,CPU", "same device"}, BadString{"HETERO:POCL,CL.0", "same device"},
                    BadString{"MULTI:GPU,GPU.0", "same device"}, BadString{"POCL#2/2", "a part"},
                    BadString{"POCL#-1/2", "a part"}, BadString{"POCL#0", "a part"}, BadString{"POCL#/2", "a part"},
                    BadString{"POCL#0/2x", "a part"}, BadString{"POCL#0/99999999999", "a part"},
                    BadString{"CPU#0/2", "no sub-devices"}, BadString{"HETERO:AUTO,CPU", "cannot stand inside"},
                    BadString{"HETERO:MULTI:CPU", "no device 'MULTI:CPU'"}, BadString{" CPU", "no device ' CPU'"}));

TEST(DeviceStringTest, RefusesPipelineWithAReason) {
  try {
    parse_device_string("PIPELINE:POCL#0/2,POCL#1/2", known());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_THAT(error.what(), HasSubstr("comes with the scheduler"));
  }
}

TEST(DeviceStringTest, WorksWhereOnlyTheCpuIsThere) {
  const std::vector<NamedDevice> only{{"CPU", {}}};
  EXPECT_EQ(parse_device_string("HETERO:CPU", only).devices.size(), 1U);
  EXPECT_THROW(parse_device_string("POCL", only), Error);
}

}  // namespace
}  // namespace headrace
