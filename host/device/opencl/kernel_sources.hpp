// SPDX-License-Identifier: Apache-2.0
// The texts of kernels/*.cl with their includes inlined: built in, or read from a folder.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

struct KernelSource {
  std::string name;    // "conv_wide.cl"
  std::string sha256;  // of text, lower-case hexadecimal
  std::string text;
};

// Immutable, thread-safe.
class KernelSources {
 public:
  // The built-in texts, or (kernel_dir not empty) those of a folder laid out like kernels/. Throws kIo.
  explicit KernelSources(const std::string& kernel_dir = "");

  // Throws kBuild listing the known files where there is none of that name.
  const KernelSource& at(std::string_view file) const;
  bool contains(std::string_view file) const { return sources_.find(file) != sources_.end(); }

 private:
  std::map<std::string, KernelSource, std::less<>> sources_;
};

namespace detail {
std::vector<KernelSource> embedded_kernels();  // written by cmake/embed_kernels.cmake
}

}  // namespace headrace
