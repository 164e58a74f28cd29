// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/bitstream_load.hpp"

#include "core/log.hpp"
#include "device/opencl/cl_error.hpp"
#include "device/opencl/program_table.hpp"

namespace headrace {

std::optional<std::string> find_target_mismatch(const Bitstream& bitstream, const DeviceInfo& device) {
  const BitstreamTarget& target = bitstream.target;
  if (!matches_pattern(target.platform, device.platform) || !matches_pattern(target.device, device.description)) {
    return "bitstream '" + bitstream.name + "' is for '" + target.device + "' on '" + target.platform + "', not for " +
           device.name + ", which is '" + device.description + "' on '" + device.platform + "'";
  }
  if (!matches_pattern(target.driver, device.driver)) {
    return "bitstream '" + bitstream.name + "' was built for driver '" + target.driver + "' of '" + target.device +
           "', " + device.name + " has driver '" + device.driver + "'; build it again (headrace bitstream build)";
  }
  return std::nullopt;
}

ClProgram load_bitstream_program(const OpenClContext& context, const Bitstream& bitstream,
                                 const BitstreamProgram& program) {
  std::string problem = "it has no image of a kind that OpenCL loads";
  for (const BitstreamImage& image : program.images) {
    if (image.kind == ImageKind::kSource) {
      if (!context.caps().has_compiler) continue;
      try {
        return build_from_source(context, image.bytes, image.options, "program " + program.key());
      } catch (const Error& error) {
        problem = error.what();
      }
    } else if (image.kind != ImageKind::kSpirv) {
      cl_int code = CL_SUCCESS;
      ClProgram loaded = load_binary(context, image.bytes, &code);
      if (loaded) return loaded;
      problem = "the device refuses its " + std::string(to_string(image.kind)) + " image: " + cl_code_name(code);
    }
  }
  log(LogLevel::kWarn, "bitstream",
      "device " + context.name() + ": program " + program.key() + " of bitstream '" + bitstream.name +
          "' cannot be loaded: " + problem);
  return {};
}

}  // namespace headrace
