// SPDX-License-Identifier: Apache-2.0
#include "validation_app/idx_file.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>

#include "common/file_bytes.hpp"

namespace headrace::samples {
namespace {

constexpr unsigned char kByteType = 0x08;
constexpr std::uintmax_t kMaxFileGib = 4;
constexpr std::size_t kMaxSide = 65536;

bool is_gzip(const std::array<unsigned char, 4>& head) { return head[0] == 0x1F && head[1] == 0x8B; }

std::array<unsigned char, 4> read_head(const std::string& path) {
  std::array<unsigned char, 4> head{1, 1, 1, 1};  // begins no file of a known kind
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(head.data()), head.size());
  return head;
}

}  // namespace

bool is_idx_file(const std::string& path) {
  const auto head = read_head(path);
  return is_gzip(head) || (head[0] == 0 && head[1] == 0 && head[2] == kByteType);
}

IdxFile read_idx_file(const std::string& path, std::size_t rank) {
  if (is_gzip(read_head(path))) fail(ErrorCode::kBadModel, "'" + path + "' is compressed; unpack it with gunzip");
  IdxFile file;
  file.bytes = read_file_bytes(path, "'" + path + "'", kMaxFileGib);
  const auto& bytes = file.bytes;
  const bool is_idx = bytes.size() >= 4 && bytes[0] == 0 && bytes[1] == 0 && bytes[2] == kByteType && bytes[3] == rank;
  if (!is_idx) fail(ErrorCode::kBadModel, "'" + path + "' is no IDX file of bytes of rank " + std::to_string(rank));
  file.offset = 4 + 4 * rank;
  std::size_t count = 1;
  for (std::size_t i = 0; i < rank && file.offset <= bytes.size(); ++i) {
    std::size_t value = 0;
    for (std::size_t k = 0; k < 4; ++k) value = value << 8U | bytes[4 + 4 * i + k];
    file.dims[i] = value;
    const bool fits = (i == 0 || (value > 0 && value <= kMaxSide)) && (value == 0 || count <= bytes.size() / value);
    count = fits ? count * value : bytes.size() + 1;
  }
  if (file.offset > bytes.size() || count > bytes.size() - file.offset) {
    fail(ErrorCode::kBadModel, "'" + path + "' is shorter than the sizes at its beginning say");
  }
  return file;
}

std::string idx_labels_beside(const std::string& path) {
  const std::filesystem::path whole(path);
  std::string name = whole.filename().string();
  for (const auto& [from, to] : {std::pair{"images", "labels"}, std::pair{"idx3", "idx1"}}) {
    const std::size_t at = name.find(from);
    if (at != std::string::npos) name.replace(at, std::strlen(from), to);
  }
  if (name == whole.filename().string()) {
    fail(ErrorCode::kInvalidArgument, "'" + path + "': give the file of its labels with --idx-labels");
  }
  return (whole.parent_path() / name).string();
}

Picture idx_picture(const IdxFile& file, std::size_t index, int channels) {
  const std::size_t pixels = file.dims[1] * file.dims[2];
  Picture picture{static_cast<int>(file.dims[2]), static_cast<int>(file.dims[1]), channels, {}};
  picture.values.reserve(pixels * static_cast<std::size_t>(channels));
  for (std::size_t i = 0; i < pixels; ++i) {
    const auto grey = static_cast<float>(file.bytes[file.offset + index * pixels + i]);
    picture.values.insert(picture.values.end(), static_cast<std::size_t>(channels), grey);
  }
  return picture;
}

}  // namespace headrace::samples
