// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/program_cache.hpp"

#include <cerrno>
#include <exception>
#include <filesystem>

#include "core/log.hpp"
#include "device/opencl/files.hpp"
#include "device/opencl/sha256.hpp"

namespace headrace {
namespace {

// The version is in front of everything, so that an update never reads what another version wrote (report #23).
// Entry: magic line, key text, a line with the SHA-256 of the bytes, the bytes. The key's own length is its first line.
constexpr std::string_view kMagic = "headrace " HEADRACE_VERSION " program cache 1\n";
constexpr std::size_t kHashChars = 64;
constexpr std::size_t kMaxEntryBytes = std::size_t{256} << 20;

std::string header(const std::string& key, std::string_view bytes) {
  return std::string(kMagic) + key + sha256_hex(bytes) + "\n";
}

}  // namespace

std::string ProgramCacheKey::text() const {
  // The lengths keep fields apart whatever they contain.
  std::string text;
  for (const std::string* field : {&source_sha256, &options, &device, &driver, &platform}) {
    text += std::to_string(field->size()) + ":" + *field + "\n";
  }
  return text;
}

std::string ProgramCache::path_of(const ProgramCacheKey& key) const {
  return folder_ + "/" + sha256_hex(std::string(kMagic) + key.text()).substr(0, 32) + ".clbin";
}

bool ProgramCache::contains(const ProgramCacheKey& key) const {
  std::error_code error;
  return is_on() && std::filesystem::exists(path_of(key), error);
}

std::optional<std::string> ProgramCache::find(const ProgramCacheKey& key) const {
  if (!is_on()) return std::nullopt;
  if (!contains(key)) return std::nullopt;
  const std::string path = path_of(key);
  try {
    std::string entry = read_file(path, kMaxEntryBytes);
    const std::string start = std::string(kMagic) + key.text();
    const std::size_t body = start.size() + kHashChars + 1;
    if (entry.size() > body && entry.starts_with(start)) {
      const std::string_view bytes = std::string_view(entry).substr(body);
      if (entry.compare(start.size(), kHashChars + 1, sha256_hex(bytes) + "\n") == 0) return entry.substr(body);
    }
    warn_once("cache entry " + path + " is damaged; the program is built from source again");
  } catch (const std::exception& problem) {
    warn_once("cache cannot be used: " + std::string(problem.what()));
  }
  return std::nullopt;
}

void ProgramCache::store(const ProgramCacheKey& key, std::string_view bytes) const noexcept {
  if (!is_on()) return;
  try {
    std::string entry = header(key.text(), bytes);
    entry += bytes;
    write_file_atomically(path_of(key), entry);
  } catch (const std::exception& problem) {
    warn_once("compiled programs are not kept: " + std::string(problem.what()));
  }
}

void ProgramCache::warn_once(const std::string& line) const noexcept {
  log(has_warned_.exchange(true) ? LogLevel::kDebug : LogLevel::kWarn, "cache", line);
}

}  // namespace headrace
