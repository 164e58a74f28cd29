// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/kernel_sources.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/error.hpp"
#include "device/opencl/files.hpp"
#include "device/opencl/sha256.hpp"

namespace headrace {
namespace {

constexpr std::size_t kMaxKernelFileBytes = std::size_t{4} << 20;
constexpr int kMaxIncludeDepth = 8;

// The file's text with `#include "common/x.clh"` lines replaced by the files they name; #line keeps build logs right.
// The same rule as cmake/embed_kernels.cmake.
std::string inline_includes(const std::string& folder, const std::string& name, int depth) {
  if (depth > kMaxIncludeDepth) {
    fail(ErrorCode::kBuild,
         "kernels/" + name + ": includes are nested deeper than " + std::to_string(kMaxIncludeDepth));
  }
  const std::string text = read_file(folder + "/" + name, kMaxKernelFileBytes);
  std::string result = "#line 1 \"kernels/" + name + "\"\n";
  int line_number = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line_number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    constexpr std::string_view kDirective = "#include \"";
    if (line.starts_with(kDirective)) {
      const std::size_t quote = line.find('"', kDirective.size());
      result += inline_includes(folder, line.substr(kDirective.size(), quote - kDirective.size()), depth + 1);
      result += "#line " + std::to_string(line_number + 1) + " \"kernels/" + name + "\"\n";
    } else {
      result += line + "\n";
    }
  }
  return result;
}

std::vector<KernelSource> read_kernels(const std::string& folder) {
  std::error_code error;
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".cl") names.insert(entry.path().filename().string());
  }
  if (error) fail(ErrorCode::kIo, folder + ": kernel folder cannot be read: " + error.message());
  std::vector<KernelSource> sources;
  for (const std::string& name : names) {
    std::string text = inline_includes(folder, name, 0);
    std::string hash = sha256_hex(text);
    sources.push_back({name, std::move(hash), std::move(text)});
  }
  return sources;
}

}  // namespace

KernelSources::KernelSources(const std::string& kernel_dir) {
  for (KernelSource& source : kernel_dir.empty() ? detail::embedded_kernels() : read_kernels(kernel_dir)) {
    std::string name = source.name;
    sources_.emplace(std::move(name), std::move(source));
  }
}

const KernelSource& KernelSources::at(std::string_view file) const {
  const auto found = sources_.find(file);
  if (found != sources_.end()) return found->second;
  std::string known;
  for (const auto& [name, source] : sources_) known += (known.empty() ? "" : ", ") + name;
  fail(ErrorCode::kBuild, "kernel file '" + std::string(file) + "' does not exist; there is " + known);
}

}  // namespace headrace
