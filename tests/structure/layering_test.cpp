// SPDX-License-Identifier: Apache-2.0
// Who may include whom: style.md section 2, read off every #include "..." of the tree.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>

#include "structure/source_tree.hpp"

namespace headrace::structure {
namespace {

struct Library {
  std::string_view folder;   // from the repository's root
  std::string_view include;  // how others spell it
  int level;
};

// Longer folders first: host/device/opencl is not host/device.
constexpr std::array<Library, 23> kLibraries = {{
    {"host/device/opencl/", "device/opencl/", 3},
    {"host/device/cpu/", "device/cpu/", 3},
    {"host/device/null/", "device/null/", 3},
    {"host/formats/ir/", "formats/ir/", 3},
    {"host/formats/import/", "formats/import/", 3},
    {"host/formats/onnx/", "formats/onnx/", 4},
    {"host/formats/caffe/", "formats/caffe/", 4},
    {"host/formats/old_ir/", "formats/old_ir/", 4},
    {"host/formats/tensorflow/", "formats/tensorflow/", 4},
    {"host/formats/npy/", "formats/npy/", 3},
    {"host/runtime/include/headrace/", "headrace/", 6},
    {"host/core/", "core/", 0},
    {"host/graph/", "graph/", 1},
    {"host/device/", "device/", 1},
    {"host/ops/", "ops/", 2},
    {"host/passes/", "passes/", 3},
    {"host/partition/", "partition/", 4},
    {"host/plan/", "plan/", 5},
    {"host/runtime/", "runtime/", 6},
    {"scheduler/", "scheduler/", 7},
    {"host/cli/", "cli/", 8},
    {"samples/common/", "common/", 8},
    {"samples/validation_app/", "validation_app/", 8},
}};

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

const Library* library_of_file(std::string_view path) {
  const auto found = std::find_if(kLibraries.begin(), kLibraries.end(),
                                  [path](const Library& library) { return starts_with(path, library.folder); });
  return found == kLibraries.end() ? nullptr : &*found;
}

const Library* library_of_include(std::string_view name) {
  const auto found = std::find_if(kLibraries.begin(), kLibraries.end(),
                                  [name](const Library& library) { return starts_with(name, library.include); });
  return found == kLibraries.end() ? nullptr : &*found;
}

// Two spellings of one library, or a program with the folder that its programs share.
bool is_same_library(std::string_view path, const Library& from, const Library& to) {
  const bool is_runtime = from.level == 6 && to.level == 6;
  const bool is_sample = starts_with(path, "samples/") && starts_with(to.folder, "samples/");
  return from.folder == to.folder || is_runtime || is_sample;
}

// Why a file may not include this name, or nothing.
std::optional<std::string> find_fault(std::string_view path, std::string_view include) {
  constexpr Library kSample = {"samples/", "samples/", 8};
  const Library* from = starts_with(path, "samples/") ? &kSample : library_of_file(path);
  const Library* to = library_of_include(include);
  if (from == nullptr) return "stands in no folder of the layering table";
  if (to == nullptr) return "names a header of no known folder (write the path from host/)";
  if (is_same_library(path, *from, *to) || to->level < from->level) return std::nullopt;
  return "goes from level " + std::to_string(from->level) + " to level " + std::to_string(to->level);
}

TEST(LayeringTest, IncludesGoOnlyToLowerLevels) {
  const auto files = read_sources({"host", "scheduler", "samples"}, {".cpp", ".hpp"});
  ASSERT_GT(files.size(), 50U) << "the tree was not found";
  for (const SourceFile& file : files) {
    for (const Include& include : find_includes(file)) {
      if (!include.is_quoted) continue;
      const auto fault = find_fault(file.path, include.name);
      EXPECT_FALSE(fault) << file.path << ":" << include.line << ": #include \"" << include.name << "\" " << *fault;
    }
  }
}

TEST(LayeringTest, FindsFaults) {
  EXPECT_TRUE(find_fault("host/core/shape.cpp", "graph/graph.hpp"));
  EXPECT_TRUE(find_fault("host/graph/graph.cpp", "device/caps.hpp"));
  EXPECT_TRUE(find_fault("host/passes/fuse_bias.cpp", "device/opencl/sha256.hpp"));
  EXPECT_TRUE(find_fault("host/plan/plan.cpp", "headrace/headrace.hpp"));
  EXPECT_TRUE(find_fault("samples/common/picture.cpp", "cli/text.hpp"));
  EXPECT_TRUE(find_fault("host/ops/relu_op.cpp", "relu.hpp"));
  EXPECT_FALSE(find_fault("host/plan/plan.cpp", "device/cpu/cpu_device.hpp"));
  EXPECT_FALSE(find_fault("host/device/device.hpp", "device/caps.hpp"));
  EXPECT_FALSE(find_fault("host/runtime/core.cpp", "headrace/headrace.hpp"));
  EXPECT_FALSE(find_fault("samples/classification_sample/main.cpp", "common/picture.hpp"));
}

struct ThirdParty {
  std::string_view include;
  std::vector<std::string_view> folders;  // where its headers may be used
  bool is_allowed_in_headers;
};

// A header of another project costs every file that sees it, and ties our contracts to theirs.
TEST(LayeringTest, OtherProjectsStayWhereTheyBelong) {
  const std::vector<ThirdParty> rules = {
      {"CL/", {"host/device/opencl/"}, true},
      {"boost/compute", {"host/device/opencl/"}, true},
      {"oneapi/dnnl", {"host/device/cpu/"}, true},
      {"dnnl", {"host/device/cpu/"}, true},
      {"pugixml", {"host/formats/ir/", "host/formats/old_ir/", "samples/validation_app/"}, false},
      {"google/protobuf", {"host/formats/import/"}, true},
      {"opencv2/", {"samples/common/"}, false},
      {"CLI/", {"host/cli/", "samples/common/", "samples/validation_app/"}, false},
      {"fmt/", {"host/", "samples/"}, false},
      {"nlohmann/", {"host/", "samples/"}, false},
      {"xxhash", {"host/plan/"}, false},
      {"openssl/", {"host/device/opencl/"}, false},
  };
  for (const SourceFile& file : read_sources({"host", "scheduler", "samples"}, {".cpp", ".hpp"})) {
    const bool is_header = file.path.ends_with(".hpp");
    for (const Include& include : find_includes(file)) {
      for (const ThirdParty& rule : rules) {
        if (include.is_quoted || !starts_with(include.name, rule.include)) continue;
        const bool is_here = std::any_of(rule.folders.begin(), rule.folders.end(),
                                         [&file](std::string_view folder) { return starts_with(file.path, folder); });
        EXPECT_TRUE(is_here && (!is_header || rule.is_allowed_in_headers))
            << file.path << ":" << include.line << ": <" << include.name << "> does not belong here";
      }
    }
  }
}

}  // namespace
}  // namespace headrace::structure
