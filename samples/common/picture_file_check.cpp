// SPDX-License-Identifier: Apache-2.0
#include "common/picture_file_check.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace headrace::samples {
namespace {

using Bytes = std::span<const unsigned char>;

constexpr std::array<unsigned char, 8> kPngSignature = {0x89, 'P', 'N', 'G', 0x0D, 0x0A, 0x1A, 0x0A};
constexpr unsigned char kJpegStart = 0xD8, kJpegEnd = 0xD9, kJpegScan = 0xDA;

bool starts_with(Bytes file, Bytes prefix) {
  return file.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), file.begin());
}

// Markers that stand alone, without a length: TEM and RST0..RST7.
bool is_bare_marker(unsigned char marker) { return marker == 0x01 || (marker >= 0xD0 && marker <= 0xD7); }

// Returns the position of the next marker byte after coded data, or the file's size. In coded data 0xFF is followed by
// 0x00 (stuffing) or a restart marker.
std::size_t skip_coded_data(Bytes file, std::size_t position) {
  while (position + 1 < file.size()) {
    const unsigned char next = file[position + 1];
    if (file[position] == 0xFF && next != 0x00 && next != 0xFF && !is_bare_marker(next)) return position;
    ++position;
  }
  return file.size();
}

std::string find_jpeg_damage(Bytes file) {
  std::size_t position = 2;
  bool has_scan = false;
  while (position + 1 < file.size()) {
    if (file[position] != 0xFF) {  // stray bytes between segments, which decoders skip
      position = skip_coded_data(file, position);
      continue;
    }
    const unsigned char marker = file[position + 1];
    if (marker == 0xFF) {  // fill byte
      ++position;
      continue;
    }
    if (marker == kJpegEnd) return has_scan ? "" : "the JPEG holds no picture data";
    position += 2;
    if (is_bare_marker(marker)) continue;
    if (position + 2 > file.size()) break;
    const std::size_t length = static_cast<std::size_t>(file[position]) << 8 | file[position + 1];
    if (length < 2) return "the JPEG's segments are damaged";
    position += length;
    if (marker == kJpegScan) {
      has_scan = true;
      position = skip_coded_data(file, position);
    }
  }
  return "the JPEG is cut short: its end marker is missing";
}

std::string find_png_damage(Bytes file) {
  constexpr std::size_t kChunkOverhead = 12;  // length, name, checksum
  std::size_t position = kPngSignature.size();
  while (file.size() - position >= kChunkOverhead) {
    const unsigned char* chunk = file.data() + position;
    const std::uint64_t length = static_cast<std::uint64_t>(chunk[0]) << 24 |
                                 static_cast<std::uint64_t>(chunk[1]) << 16 |
                                 static_cast<std::uint64_t>(chunk[2]) << 8 | chunk[3];
    if (std::equal(chunk + 4, chunk + 8, "IEND")) return "";
    if (length > file.size() - position - kChunkOverhead) break;
    position += kChunkOverhead + length;
  }
  return "the PNG is cut short: its end chunk is missing";
}

}  // namespace

std::string find_damage(Bytes file) {
  if (file.empty()) return "the file is empty";
  if (file.size() >= 2 && file[0] == 0xFF && file[1] == kJpegStart) return find_jpeg_damage(file);
  if (starts_with(file, kPngSignature)) return find_png_damage(file);
  return "";
}

}  // namespace headrace::samples
