// SPDX-License-Identifier: Apache-2.0
// The repository's files, for tests that read them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::structure {

struct SourceFile {
  std::string path;  // from the repository's root, with '/'
  std::vector<std::string> lines;
};

// Reads every file below the root's folders whose extension is one of these, sorted by path.
std::vector<SourceFile> read_sources(const std::vector<std::string>& folders,
                                     const std::vector<std::string>& extensions);

// The folder that the build was configured from.
std::filesystem::path repository_root();

// One include directive of a file.
struct Include {
  std::string name;
  bool is_quoted = false;
  std::size_t line = 0;  // from 1
};
std::vector<Include> find_includes(const SourceFile& file);

}  // namespace headrace::structure
