// SPDX-License-Identifier: Apache-2.0
// A bitstream as a value, and its container on disk (bitstreams/README.md has the format, byte by byte).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "device/caps.hpp"

namespace headrace {

enum class ImageKind : std::uint32_t { kOpenClBinary = 2, kSource = 3, kAocx = 4, kXclbin = 5, kSpirv = 6 };

std::string_view to_string(ImageKind kind);

// One form of a program for the target device.
struct BitstreamImage {
  ImageKind kind = ImageKind::kSource;
  std::string options;  // build options of a source
  std::string bytes;
};

struct BitstreamKernel {
  std::string name;
  int arg_count = 0;
};

// The kernels of one file with one set of macros; images in the order in which they are tried.
struct BitstreamProgram {
  std::string file;
  std::string macros;
  std::string source_sha256;
  std::vector<BitstreamKernel> kernels;
  std::vector<BitstreamImage> images;

  std::string key() const { return file + "|" + macros; }
};

// Which device the images are for. Each text may hold '*' for any characters.
struct BitstreamTarget {
  std::string platform;
  std::string device;
  std::string driver;
};

struct Bitstream {
  std::string name;  // "resnet-f32"
  std::string uuid;  // new for every build
  std::string family;
  std::string precision;
  std::string tool;                    // "headrace 0.1.0"
  std::string built_at;                // UTC, "2026-12-02T06:00:00Z"
  int vector_width = 0;                // f32 lanes that the kernels were chosen for
  std::vector<std::string> operators;  // IR type names
  BitstreamTarget target;
  std::vector<BitstreamProgram> programs;

  // Null where there is none.
  const BitstreamProgram* find_program(std::string_view program_key) const;
  bool has(const KernelInstance& instance) const;
  // Keys of every instance that it holds.
  std::vector<std::string> instance_keys() const;
};

// Reads and checks a whole file: sizes, hashes, manifest. Throws kIo where it cannot be read and kBadModel naming the
// file and what is wrong. Makes no OpenCL call.
Bitstream read_bitstream(const std::string& path);

// The same from memory; `what` names the source in errors.
Bitstream parse_bitstream(std::string_view bytes, const std::string& what);

// The container's bytes, and the file written in one step. Throws kIo.
std::string serialize_bitstream(const Bitstream& bitstream);
void write_bitstream(const Bitstream& bitstream, const std::string& path);

// The manifest as JSON text of several lines, with the sizes of the images.
std::string show_bitstream(const Bitstream& bitstream);

// Whether text fits a pattern in which '*' stands for any characters.
bool matches_pattern(std::string_view pattern, std::string_view text);

}  // namespace headrace
