// SPDX-License-Identifier: Apache-2.0
// Rules that every file of the repository keeps: licence line, length, a test for each operator, a README per folder.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "ops/descriptor.hpp"
#include "structure/source_tree.hpp"

namespace headrace::structure {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kFolders = {"host", "scheduler", "samples", "tests", "kernels", "cmake"};

TEST(FileRulesTest, FirstLineNamesTheLicence) {
  const auto files = read_sources(kFolders, {".cpp", ".hpp", ".cl", ".clh", ".py", ".sh"});
  ASSERT_GT(files.size(), 50U) << "the tree was not found";
  for (const SourceFile& file : files) {
    const std::size_t line = !file.lines.empty() && file.lines[0].starts_with("#!") ? 1 : 0;
    ASSERT_GT(file.lines.size(), line) << file.path << " is empty";
    EXPECT_NE(file.lines[line].find("SPDX-License-Identifier: Apache-2.0"), std::string::npos) << file.path;
  }
}

TEST(FileRulesTest, FilesStayShort) {
  constexpr std::size_t kMaxLines = 600;
  constexpr std::size_t kMaxKernelLines = 300;
  constexpr std::size_t kMaxSampleMainLines = 150;
  for (const SourceFile& file : read_sources(kFolders, {".cpp", ".hpp", ".cl", ".clh", ".py", ".sh"})) {
    std::size_t limit = file.path.starts_with("kernels/") ? kMaxKernelLines : kMaxLines;
    if (file.path.starts_with("samples/") && file.path.ends_with("/main.cpp")) limit = kMaxSampleMainLines;
    EXPECT_LE(file.lines.size(), limit) << file.path;
  }
}

TEST(FileRulesTest, EveryOperatorHasATest) {
  const auto tests = read_sources({"tests/ops", "tests/unit/ops", "tests/golden"}, {".cpp", ".py"});
  ASSERT_FALSE(all_ops().empty());
  for (const OpDescriptor* op : all_ops()) {
    for (const std::string_view type : op->types) {
      const std::string quoted = '"' + std::string(type) + '"';
      const bool is_tested = std::any_of(tests.begin(), tests.end(), [&quoted](const SourceFile& file) {
        return std::any_of(file.lines.begin(), file.lines.end(),
                           [&quoted](const std::string& line) { return line.find(quoted) != std::string::npos; });
      });
      EXPECT_TRUE(is_tested) << "no test names operator " << type;
    }
  }
}

TEST(FileRulesTest, EveryKernelInstanceNamesAKernelFile) {
  for (const OpDescriptor* op : all_ops()) {
    if (op->instances == nullptr) continue;
    for (const KernelInstance& instance : op->instances()) {
      const fs::path path = repository_root() / "kernels" / instance.file;
      EXPECT_TRUE(fs::exists(path)) << op->types[0] << " names " << path;
    }
  }
}

// What Intel's runtimes make of a kernel of vectors without the hint (kernels/common/items.clh): minutes of compiling.
TEST(FileRulesTest, KernelsOfVectorsSayThatTheyAre) {
  const std::regex plain_kernel(R"(\b__kernel\b)");
  for (const SourceFile& file : read_sources({"kernels"}, {".cl"})) {
    const std::string name = fs::path(file.path).stem().string();
    if (!name.ends_with("_wide") && !name.ends_with("_int")) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      EXPECT_FALSE(std::regex_search(file.lines[i], plain_kernel))
          << file.path << ":" << i + 1 << ": VECTOR_KERNEL or WIDE_KERNEL instead";
    }
  }
}

// Devices without doubles build every kernel: no double, and no literal without f that would make one.
TEST(FileRulesTest, KernelsAreWithoutDoubles) {
  const std::regex literal(R"((^|[^\w.])(\d+\.\d*|\.\d+|\d+[eE][-+]?\d+|\d+\.\d*[eE][-+]?\d+)($|[^\w.]))");
  const std::regex type(R"(\bdouble\d*\b)");
  for (const SourceFile& file : read_sources({"kernels"}, {".cl", ".clh"})) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string code = file.lines[i].substr(0, file.lines[i].find("//"));
      EXPECT_FALSE(std::regex_search(code, literal)) << file.path << ":" << i + 1 << ": " << code;
      EXPECT_FALSE(std::regex_search(code, type)) << file.path << ":" << i + 1 << ": " << code;
    }
  }
}

TEST(FileRulesTest, EveryFolderHasAShortReadme) {
  constexpr std::size_t kMaxReadmeLines = 60;
  std::vector<std::string> folders = {"host",
                                      "kernels",
                                      "bitstreams",
                                      "samples",
                                      "tests",
                                      "cmake",
                                      "host/device/opencl",
                                      "host/device/cpu",
                                      "host/formats/import",
                                      "host/formats/ir",
                                      "host/formats/npy",
                                      "host/formats/onnx",
                                      "host/formats/tensorflow"};
  for (const auto& entry : fs::directory_iterator(repository_root() / "host")) {
    if (entry.is_directory()) folders.push_back("host/" + entry.path().filename().string());
  }
  for (const std::string& folder : folders) {
    const auto readmes = read_sources({folder}, {".md"});
    const auto readme = std::find_if(readmes.begin(), readmes.end(),
                                     [&folder](const SourceFile& file) { return file.path == folder + "/README.md"; });
    if (readme == readmes.end()) {
      ADD_FAILURE() << folder << " has no README.md";
    } else if (folder != "host/device/opencl" && folder != "bitstreams") {  // they hold format descriptions
      EXPECT_LE(readme->lines.size(), kMaxReadmeLines) << folder;
    }
  }
}

}  // namespace
}  // namespace headrace::structure
