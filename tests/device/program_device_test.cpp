// SPDX-License-Identifier: Apache-2.0
// Building a bitstream, programming it, running from it, and the five ways in which it can be the wrong one.
#include "device/opencl/program_device.hpp"

#include <filesystem>

#include "device/device_fixture.hpp"
#include "device/opencl/bitstream_build.hpp"
#include "device/opencl/program_state.hpp"

namespace headrace::test {
namespace {

constexpr const char* kSelfTestKernel =
    "__kernel void self_test_f32(__global const float* src, __global float* dst, int count) {\n"
    "  for (int i = 0; i < count; ++i) dst[i] = 2.0f * src[i] + (float)i;\n}\n";
constexpr const char* kWrongSelfTestKernel =
    "__kernel void self_test_f32(__global const float* src, __global float* dst, int count) {\n"
    "  for (int i = 0; i < count; ++i) dst[i] = 2.0f * src[i];\n}\n";

class ProgramDeviceTest : public testing::Test {
 protected:
  ProgramDeviceTest() {
    write_test_kernels(folder_.path("kernels"));
    write_bytes(folder_.path("kernels/self_test.cl"), kSelfTestKernel);
  }

  OpenClOptions options() const {
    return {.cache_dir = "", .state_dir = folder_.path("state"), .kernel_dir = folder_.path("kernels")};
  }

  Bitstream build(const std::string& device) const {
    const Recipe recipe{
        .name = "scale-f32", .family = "test", .precision = "f32", .operators = {"*"}, .keep = {}, .drop = {}};
    KernelInstance scale = scale_instance();
    KernelInstance sum = sum_instance();
    // The recipe keeps the device's vector width only; here every device shall hold the test kernels.
    const std::string width = std::to_string(make_opencl_device(device, {})->caps().vector_width);
    scale.macros = sum.macros = "VEC=" + width;
    const std::vector<OperatorKernels> candidates = {{"Scale", {scale, sum}}};
    return build_bitstream(device, recipe, candidates, options());
  }

  // A plan whose instance is the one that `build` made.
  std::shared_ptr<const DevicePlan> plan_for(const Device& device) const {
    auto plan = std::make_shared<DevicePlan>(*make_scale_plan({64}, 2.0F, 1.0F));
    std::get<Launch>(plan->steps[0].action).instance.macros = "VEC=" + std::to_string(device.caps().vector_width);
    return plan;
  }

  std::string origin(const std::string& name) const {
    const auto device = make_opencl_device(name, options());
    const auto plan = plan_for(*device);
    expect_scaled(run_once(*device, plan, counting_tensor({64})), 2.0F, 1.0F);
    return device->load(plan, {})->step_origins().at(0);
  }

  std::string write(const Bitstream& bitstream, const std::string& name) const {
    write_bitstream(bitstream, folder_.path(name));
    return folder_.path(name);
  }

  TempFolder folder_;
};

TEST_F(ProgramDeviceTest, RunsFromTheBitstreamUntilItIsErased) {
  for (const std::string& name : usable_device_names()) {
    SCOPED_TRACE(name);
    const std::string path = write(build(name), "scale.hrb");
    EXPECT_EQ(origin(name), "source");
    const ProgramResult first = program_device(name, path, options());
    EXPECT_EQ(first.bitstream, "scale-f32");
    EXPECT_EQ(first.kernels, 3);
    EXPECT_FALSE(first.was_programmed);
    EXPECT_EQ(origin(name), "bitstream scale-f32");
    EXPECT_EQ(make_opencl_device(name, options())->caps().programmed.size(), 3U);
    EXPECT_TRUE(program_device(name, path, options()).was_programmed) << "the same UUID is a no-op";
    // The file may go: the state folder has a copy.
    std::filesystem::remove(path);
    EXPECT_EQ(origin(name), "bitstream scale-f32");
    EXPECT_EQ(erase_device(name, options()), "scale-f32");
    EXPECT_EQ(erase_device(name, options()), "");
    EXPECT_EQ(origin(name), "source");
  }
}

TEST_F(ProgramDeviceTest, SwapsBitstreams) {
  const std::string name = usable_device_names().at(0);
  const Bitstream a = build(name);
  Bitstream b = a;
  b.name = "other-f32";
  b.uuid = "00000000-0000-4000-8000-000000000002";
  EXPECT_FALSE(program_device(name, write(a, "a.hrb"), options()).was_programmed);
  EXPECT_FALSE(program_device(name, write(b, "b.hrb"), options()).was_programmed);
  EXPECT_EQ(origin(name), "bitstream other-f32");
  EXPECT_FALSE(program_device(name, write(a, "a.hrb"), options()).was_programmed);
  EXPECT_EQ(origin(name), "bitstream scale-f32");
}

TEST_F(ProgramDeviceTest, RefusesTheWrongBitstreamAndLeavesTheDeviceUsable) {
  for (const std::string& name : usable_device_names()) {
    SCOPED_TRACE(name);
    const Bitstream good = build(name);
    program_device(name, write(good, "good.hrb"), options());
    const auto refusal = [&](const std::string& path, ErrorCode code) {
      std::string message = error_message([&] { program_device(name, path, options()); }, code);
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
      EXPECT_EQ(origin(name), "bitstream scale-f32") << "what was programmed before must stay";
      return message;
    };
    const auto expect_part = [](const std::string& message, const std::string& part) {
      EXPECT_NE(message.find(part), std::string::npos) << message;
    };
    // Unreadable: nothing, random bytes.
    write_bytes(folder_.path("bad.hrb"), "");
    expect_part(refusal(folder_.path("bad.hrb"), ErrorCode::kBadModel), "is not a Headrace bitstream (0 bytes");
    write_bytes(folder_.path("bad.hrb"), std::string(9000, '\x7f'));
    expect_part(refusal(folder_.path("bad.hrb"), ErrorCode::kBadModel), "is not a Headrace bitstream");
    // A damaged image.
    std::string bytes = serialize_bitstream(good);
    bytes[bytes.size() - 3] = static_cast<char>(bytes[bytes.size() - 3] ^ 1);
    write_bytes(folder_.path("bad.hrb"), bytes);
    expect_part(refusal(folder_.path("bad.hrb"), ErrorCode::kBadModel), "is damaged: its SHA-256 does not match");
    // For another device; both are named.
    Bitstream other = good;
    other.uuid = "other";
    other.target.device = "some board";
    std::string message = refusal(write(other, "bad.hrb"), ErrorCode::kUnsupported);
    expect_part(message, "is for 'some board'");
    expect_part(message, "not for " + name + ", which is '" + make_opencl_device(name, {})->info().description + "'");
    // For another driver.
    other = good;
    other.uuid = "other";
    other.target.driver = "0.0";
    expect_part(refusal(write(other, "bad.hrb"), ErrorCode::kUnsupported), "was built for driver '0.0'");
    // A kernel that the manifest promises and the image lacks.
    other = good;
    other.uuid = "other";
    for (BitstreamProgram& program : other.programs) {
      if (program.file == "scale.cl") program.kernels.push_back({"missing_f32", 2});
    }
    message = refusal(write(other, "bad.hrb"), ErrorCode::kUnsupported);
    expect_part(message, "kernel missing_f32 is missing");
    expect_part(message, "scale_f32");
    expect_part(message, "sum_f32");
    // A number of arguments that is not the image's.
    other = good;
    other.uuid = "other";
    for (BitstreamProgram& program : other.programs) program.kernels[0].arg_count += 1;
    expect_part(refusal(write(other, "bad.hrb"), ErrorCode::kUnsupported), "arguments, the manifest says");
    erase_device(name, options());
  }
}

TEST_F(ProgramDeviceTest, RefusesTheBinaryOfAnotherRuntime) {
  // The manifest claims this device, but the binary is another runtime's and there is no source to fall back to.
  const std::vector<std::string> names = usable_device_names();
  if (names.size() < 2) GTEST_SKIP() << "needs two devices";
  for (std::size_t i = 0; i < names.size(); ++i) {
    SCOPED_TRACE(names[i]);
    const Bitstream own = build(names[i]);
    Bitstream foreign = build(names[(i + 1) % names.size()]);
    foreign.target = own.target;
    for (BitstreamProgram& program : foreign.programs) program.images.resize(1);
    const std::string path = write(foreign, "foreign.hrb");
    const std::string message =
        error_message([&] { program_device(names[i], path, options()); }, ErrorCode::kUnsupported);
    EXPECT_NE(message.find("cannot be loaded on " + names[i]), std::string::npos) << message;
    EXPECT_EQ(origin(names[i]), "source");
  }
}

TEST_F(ProgramDeviceTest, FailsTheSelfTestOnAWrongAnswer) {
  write_bytes(folder_.path("kernels/self_test.cl"), kWrongSelfTestKernel);
  const std::string name = usable_device_names().at(0);
  const std::string path = write(build(name), "wrong.hrb");
  const std::string message = error_message([&] { program_device(name, path, options()); }, ErrorCode::kDevice);
  EXPECT_NE(message.find("self-test: element 1 is 4"), std::string::npos) << message;
}

TEST_F(ProgramDeviceTest, UsesSourceWhereTheStateIsDamaged) {
  const std::string name = usable_device_names().at(0);
  const auto entries = list_opencl_devices();
  const OpenClDeviceEntry& entry = entries[find_opencl_device(entries, name)->entry];
  program_device(name, write(build(name), "good.hrb"), options());
  EXPECT_EQ(programmed_name(entry, options().state_dir), "scale-f32");
  write_bytes(programmed_path(entry, options().state_dir), "cut");
  {
    const LogCollector log;
    EXPECT_EQ(origin(name), "source");
    ASSERT_FALSE(log.warnings().empty());
    EXPECT_NE(log.warnings().front().find("is not used"), std::string::npos);
  }
  EXPECT_EQ(programmed_name(entry, options().state_dir), "(damaged)");
  EXPECT_EQ(erase_device(name, options()), "(damaged)");
  EXPECT_EQ(programmed_name(entry, options().state_dir), "");
}

TEST_F(ProgramDeviceTest, SaysWhereStateCannotBeKept) {
  const std::string name = usable_device_names().at(0);
  const std::string path = write(build(name), "good.hrb");
  OpenClOptions bad = options();
  bad.state_dir = "/proc/nope";
  EXPECT_NE(error_message([&] { program_device(name, path, bad); }, ErrorCode::kIo).find("/proc/nope"),
            std::string::npos);
  EXPECT_EQ(error_message([&] { program_device("CL.77", path, options()); }, ErrorCode::kInvalidArgument)
                .rfind("device 'CL.77' does not exist", 0),
            0U);
}

}  // namespace
}  // namespace headrace::test
