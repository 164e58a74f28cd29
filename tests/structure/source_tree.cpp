// SPDX-License-Identifier: Apache-2.0
#include "structure/source_tree.hpp"

#include <algorithm>
#include <fstream>

namespace headrace::structure {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> read_lines(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

}  // namespace

fs::path repository_root() { return HEADRACE_SOURCE_DIR; }

std::vector<SourceFile> read_sources(const std::vector<std::string>& folders,
                                     const std::vector<std::string>& extensions) {
  std::vector<SourceFile> files;
  for (const std::string& folder : folders) {
    if (!fs::exists(repository_root() / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(repository_root() / folder)) {
      const std::string extension = entry.path().extension().string();
      if (!entry.is_regular_file() || std::find(extensions.begin(), extensions.end(), extension) == extensions.end()) {
        continue;
      }
      files.push_back({fs::relative(entry.path(), repository_root()).generic_string(), read_lines(entry.path())});
    }
  }
  std::sort(files.begin(), files.end(), [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

std::vector<Include> find_includes(const SourceFile& file) {
  constexpr std::string_view kDirective = "#include ";
  std::vector<Include> includes;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::string& line = file.lines[i];
    if (line.compare(0, kDirective.size(), kDirective) != 0) continue;
    const char open = line.size() > kDirective.size() ? line[kDirective.size()] : ' ';
    const std::size_t start = kDirective.size() + 1;
    const std::size_t end = line.find(open == '"' ? '"' : '>', start);
    if ((open != '"' && open != '<') || end == std::string::npos) continue;
    includes.push_back({line.substr(start, end - start), open == '"', i + 1});
  }
  return includes;
}

}  // namespace headrace::structure
