// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/bitstream_load.hpp"

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

ImageLoad load_bitstream_program(const OpenClContext& context, const BitstreamProgram& program) {
  ImageLoad load;
  load.problem = "it has no image of a kind that OpenCL loads";
  for (const BitstreamImage& image : program.images) {
    if (image.kind == ImageKind::kSource) {
      if (!context.caps().has_compiler) continue;
      try {
        load.program = build_from_source(context, image.bytes, image.options, "program " + program.key());
        return load;
      } catch (const Error& error) {
        load.problem = error.what();
      }
    } else if (image.kind != ImageKind::kSpirv) {
      cl_int code = CL_SUCCESS;
      load.program = load_binary(context, image.bytes, &code);
      if (load.program) return load;
      load.problem = "the device refuses its " + std::string(to_string(image.kind)) + " image: " + cl_code_name(code);
    }
  }
  return load;
}

}  // namespace headrace
