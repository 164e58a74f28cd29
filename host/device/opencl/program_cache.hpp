// SPDX-License-Identifier: Apache-2.0
// Compiled programs on disk, shared by processes. Every fault costs a rebuild, never the run.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

namespace headrace {

// Everything that a compiled program depends on. Another value of any field is another entry.
struct ProgramCacheKey {
  std::string source_sha256;
  std::string options;  // build options, macros included
  std::string device;
  std::string driver;
  std::string platform;  // name and version

  std::string text() const;
};

// Thread-safe. Several processes may use one folder.
class ProgramCache {
 public:
  // An empty folder name switches the cache off.
  explicit ProgramCache(std::string folder) : folder_(std::move(folder)) {}

  bool is_on() const { return !folder_.empty(); }
  // Returns the stored bytes after a check of key and hash. A damaged entry is a miss; the first one is a warning.
  std::optional<std::string> find(const ProgramCacheKey& key) const;
  // Whether there is an entry, good or damaged.
  bool contains(const ProgramCacheKey& key) const;
  // Writes an entry in one step. A failure is a warning, once.
  void store(const ProgramCacheKey& key, std::string_view bytes) const noexcept;
  // The file of an entry, for messages and tests.
  std::string path_of(const ProgramCacheKey& key) const;

 private:
  void warn_once(const std::string& line) const noexcept;

  std::string folder_;
  mutable std::atomic<bool> has_warned_ = false;
};

}  // namespace headrace
