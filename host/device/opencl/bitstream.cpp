// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/bitstream.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/error.hpp"
#include "device/opencl/files.hpp"
#include "device/opencl/sha256.hpp"

namespace headrace {
namespace {

using Json = nlohmann::ordered_json;

// The layout. A number at the end of a name is a byte offset.
constexpr std::string_view kMagic("\x89HRB\r\n\x1a\n", 8);  // like PNG's: text-mode copies and cut high bits show
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 64;
constexpr std::size_t kEntryBytes = 128;
constexpr std::size_t kNameBytes = 72;
constexpr std::size_t kSectionAlignment = 4096;  // what XRT and DMA engines want of host memory
constexpr std::size_t kHashBytes = 32;
constexpr std::uint32_t kManifestKind = 1;
// Far above what a real file needs; they bound what a hostile one can make us allocate.
constexpr std::size_t kMaxFileBytes = std::size_t{1} << 30;
constexpr std::uint32_t kMaxSections = 8192;
constexpr std::size_t kMaxNameChars = 120;  // PoCL 3.1 aborts on kernel names of more than some 200 characters

struct Section {
  std::uint32_t kind = 0;
  std::string name;
  std::string_view bytes;
};

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
}

std::uint64_t get(std::string_view bytes, std::size_t offset, int count) {
  std::uint64_t value = 0;
  for (int i = 0; i < count; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[offset + static_cast<std::size_t>(i)]);
    value |= static_cast<std::uint64_t>(byte) << (8 * i);
  }
  return value;
}

[[noreturn]] void fail_bad(const std::string& what, const std::string& problem) {
  fail(ErrorCode::kBadModel, what + ": " + problem);
}

bool is_zero(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == 0; });
}

std::string_view checked_table(std::string_view file, const std::string& what) {
  if (file.size() < kHeaderBytes || file.substr(0, kMagic.size()) != kMagic) {
    fail_bad(what, "is not a Headrace bitstream (" + std::to_string(file.size()) + " bytes, no .hrb header)");
  }
  const std::uint64_t version = get(file, 8, 4);
  if (version != kVersion) {
    fail_bad(what, "has bitstream format " + std::to_string(version) + ", this program reads format " +
                       std::to_string(kVersion));
  }
  const std::uint64_t count = get(file, 12, 4);
  const std::uint64_t size = get(file, 16, 8);
  const std::uint64_t table = get(file, 24, 8);
  if (size != file.size()) {
    fail_bad(what, "is cut or damaged: the header says " + std::to_string(size) + " bytes, the file has " +
                       std::to_string(file.size()));
  }
  if (count == 0 || count > kMaxSections || table != kHeaderBytes || count * kEntryBytes > size - kHeaderBytes) {
    fail_bad(what, "is damaged: the header's section table does not fit the file");
  }
  const std::string_view entries = file.substr(kHeaderBytes, count * kEntryBytes);
  if (sha256_bytes(entries) != file.substr(32, kHashBytes)) {
    fail_bad(what, "is damaged: the section table does not have the SHA-256 of the header");
  }
  return entries;
}

std::vector<Section> checked_sections(std::string_view file, const std::string& what) {
  const std::string_view table = checked_table(file, what);
  std::vector<Section> sections;
  std::size_t end = kHeaderBytes + table.size();
  for (std::size_t at = 0; at < table.size(); at += kEntryBytes) {
    Section section;
    section.kind = static_cast<std::uint32_t>(get(table, at, 4));
    const std::uint64_t offset = get(table, at + 8, 8);
    const std::uint64_t size = get(table, at + 16, 8);
    const std::string_view name = table.substr(at + 56, kNameBytes);
    section.name = std::string(name.substr(0, std::min(name.find('\0'), name.size())));
    const std::string shown = "section " + std::to_string(sections.size()) + " '" + section.name + "'";
    // In order and without overlap, so that every byte of the file belongs to one hash or must be zero.
    if (offset % kSectionAlignment != 0 || offset < end || offset > file.size() || size > file.size() - offset) {
      fail_bad(what, shown + " lies outside its place in the file");
    }
    section.bytes = file.substr(offset, size);
    if (sha256_bytes(section.bytes) != table.substr(at + 24, kHashBytes)) {
      fail_bad(what, shown + " is damaged: its SHA-256 does not match");
    }
    if (!is_zero(file.substr(end, offset - end))) fail_bad(what, "is damaged: bytes before " + shown + " are not zero");
    end = offset + size;
    sections.push_back(std::move(section));
  }
  if (end != file.size()) fail_bad(what, "is damaged: there are bytes behind the last section");
  return sections;
}

ImageKind parse_kind(const std::string& text) {
  for (const ImageKind kind :
       {ImageKind::kOpenClBinary, ImageKind::kSource, ImageKind::kAocx, ImageKind::kXclbin, ImageKind::kSpirv}) {
    if (to_string(kind) == text) return kind;
  }
  fail(ErrorCode::kBadModel, "image kind '" + text + "' is unknown");
}

// A whole number in range; a float would be cast without a check.
template <typename T>
T whole_number(const Json& json, std::string_view field) {
  const Json& value = json.at(std::string(field));
  if (!value.is_number_unsigned() ||
      value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<T>::max())) {
    fail(ErrorCode::kBadModel, "field '" + std::string(field) + "' is no whole number that fits");
  }
  return value.get<T>();
}

BitstreamImage parse_image(const Json& json, const std::vector<Section>& sections) {
  BitstreamImage image;
  image.kind = parse_kind(json.at("kind").get<std::string>());
  image.options = json.value("options", "");
  const auto index = whole_number<std::uint32_t>(json, "section");
  if (index >= sections.size() || sections[index].kind != static_cast<std::uint32_t>(image.kind)) {
    fail(ErrorCode::kBadModel, "image names section " + std::to_string(index) + ", which is not of its kind");
  }
  image.bytes = std::string(sections[index].bytes);
  return image;
}

bool is_plain_name(const std::string& name) {
  return !name.empty() && name.size() <= kMaxNameChars && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  });
}

BitstreamProgram parse_program(const Json& json, const std::vector<Section>& sections) {
  BitstreamProgram program;
  program.file = json.at("file").get<std::string>();
  program.macros = json.at("macros").get<std::string>();
  program.source_sha256 = json.at("source_sha256").get<std::string>();
  for (const Json& kernel : json.at("kernels")) {
    program.kernels.push_back({kernel.at("name").get<std::string>(), whole_number<std::int32_t>(kernel, "args")});
    if (!is_plain_name(program.kernels.back().name)) fail(ErrorCode::kBadModel, "a kernel's name is not a plain name");
  }
  if (!is_plain_name(program.file)) fail(ErrorCode::kBadModel, "a program's file is not a plain name");
  for (const Json& image : json.at("images")) program.images.push_back(parse_image(image, sections));
  if (program.images.empty()) fail(ErrorCode::kBadModel, "program '" + program.file + "' has no image");
  return program;
}

Bitstream parse_manifest(const Json& json, const std::vector<Section>& sections) {
  Bitstream bitstream;
  bitstream.name = json.at("name").get<std::string>();
  bitstream.uuid = json.at("uuid").get<std::string>();
  bitstream.family = json.at("family").get<std::string>();
  bitstream.precision = json.at("precision").get<std::string>();
  bitstream.tool = json.at("tool").get<std::string>();
  bitstream.built_at = json.at("built_at").get<std::string>();
  bitstream.vector_width = whole_number<std::int32_t>(json.at("parameters"), "vector_width");
  bitstream.operators = json.at("operators").get<std::vector<std::string>>();
  const Json& target = json.at("target");
  bitstream.target = {target.at("platform").get<std::string>(), target.at("device").get<std::string>(),
                      target.at("driver").get<std::string>()};
  for (const Json& program : json.at("programs")) bitstream.programs.push_back(parse_program(program, sections));
  return bitstream;
}

// section_of gives an image's section number, in the order of programs and images.
Json make_manifest(const Bitstream& bitstream) {
  Json json;
  json["format"] = kVersion;
  json["name"] = bitstream.name;
  json["uuid"] = bitstream.uuid;
  json["family"] = bitstream.family;
  json["precision"] = bitstream.precision;
  json["tool"] = bitstream.tool;
  json["built_at"] = bitstream.built_at;
  json["parameters"]["vector_width"] = bitstream.vector_width;
  json["operators"] = bitstream.operators;
  json["target"] = {{"platform", bitstream.target.platform},
                    {"device", bitstream.target.device},
                    {"driver", bitstream.target.driver}};
  json["programs"] = Json::array();
  std::size_t section = 1;
  for (const BitstreamProgram& program : bitstream.programs) {
    Json entry = {{"file", program.file}, {"macros", program.macros}, {"source_sha256", program.source_sha256}};
    entry["kernels"] = Json::array();
    for (const BitstreamKernel& kernel : program.kernels) {
      entry["kernels"].push_back({{"name", kernel.name}, {"args", kernel.arg_count}});
    }
    entry["images"] = Json::array();
    for (const BitstreamImage& image : program.images) {
      Json shown = {{"kind", to_string(image.kind)}, {"section", section++}, {"bytes", image.bytes.size()}};
      if (!image.options.empty()) shown["options"] = image.options;
      entry["images"].push_back(std::move(shown));
    }
    json["programs"].push_back(std::move(entry));
  }
  return json;
}

std::size_t aligned(std::size_t offset) {
  return (offset + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
}

}  // namespace

std::string_view to_string(ImageKind kind) {
  switch (kind) {
    case ImageKind::kOpenClBinary: return "opencl-binary";
    case ImageKind::kSource: return "source";
    case ImageKind::kAocx: return "aocx";
    case ImageKind::kXclbin: return "xclbin";
    case ImageKind::kSpirv: return "spirv";
  }
  return "unknown";
}

const BitstreamProgram* Bitstream::find_program(std::string_view program_key) const {
  for (const BitstreamProgram& program : programs) {
    if (program.key() == program_key) return &program;
  }
  return nullptr;
}

bool Bitstream::has(const KernelInstance& instance) const {
  const BitstreamProgram* program = find_program(instance.program_key());
  return program != nullptr &&
         std::any_of(program->kernels.begin(), program->kernels.end(),
                     [&](const BitstreamKernel& kernel) { return kernel.name == instance.entry; });
}

std::vector<std::string> Bitstream::instance_keys() const {
  std::vector<std::string> keys;
  for (const BitstreamProgram& program : programs) {
    for (const BitstreamKernel& kernel : program.kernels) keys.push_back(program.key() + "|" + kernel.name);
  }
  return keys;
}

Bitstream parse_bitstream(std::string_view bytes, const std::string& what) {
  const std::vector<Section> sections = checked_sections(bytes, what);
  if (sections.front().kind != kManifestKind) fail_bad(what, "section 0 is not the manifest");
  try {
    return parse_manifest(Json::parse(sections.front().bytes), sections);
  } catch (const nlohmann::json::exception& error) {
    fail_bad(what, std::string("manifest cannot be read: ") + error.what());
  } catch (const Error& error) {
    rethrow_with_prefix(error, what + ": manifest");
  }
}

Bitstream read_bitstream(const std::string& path) { return parse_bitstream(read_file(path, kMaxFileBytes), path); }

std::string serialize_bitstream(const Bitstream& bitstream) {
  const std::string manifest = make_manifest(bitstream).dump();
  std::vector<Section> sections = {{kManifestKind, "manifest", manifest}};
  for (const BitstreamProgram& program : bitstream.programs) {
    for (const BitstreamImage& image : program.images) {
      sections.push_back({static_cast<std::uint32_t>(image.kind), program.key(), image.bytes});
    }
  }
  std::string table;
  std::size_t offset = aligned(kHeaderBytes + sections.size() * kEntryBytes);
  std::size_t end = offset;
  for (const Section& section : sections) {
    put(table, section.kind, 4);
    put(table, 0, 4);
    put(table, offset, 8);
    put(table, section.bytes.size(), 8);
    table += sha256_bytes(section.bytes);
    std::string name = section.name.substr(0, kNameBytes - 1);
    name.resize(kNameBytes, '\0');
    table += name;
    end = offset + section.bytes.size();
    offset = aligned(end);
  }
  std::string file(kMagic);
  put(file, kVersion, 4);
  put(file, sections.size(), 4);
  put(file, end, 8);
  put(file, kHeaderBytes, 8);
  file += sha256_bytes(table) + table;
  for (const Section& section : sections) {
    file.resize(aligned(file.size()), '\0');
    file += section.bytes;
  }
  return file;
}

void write_bitstream(const Bitstream& bitstream, const std::string& path) {
  write_file_atomically(path, serialize_bitstream(bitstream));
}

std::string show_bitstream(const Bitstream& bitstream) { return make_manifest(bitstream).dump(2); }

bool matches_pattern(std::string_view pattern, std::string_view text) {
  // The usual two-pointer form: on a mismatch, let the last '*' swallow one more character.
  std::size_t p = 0;
  std::size_t t = 0;
  std::optional<std::size_t> star;
  std::size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star) {
      p = *star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace headrace
