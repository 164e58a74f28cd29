// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/parallel_build.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>

#include "core/log.hpp"
#include "device/opencl/opencl_context.hpp"
#include "device/opencl/program_table.hpp"

namespace headrace {
namespace {

constexpr std::size_t kMaxBuilders = 8;  // each takes about 150 MiB while it compiles
constexpr const char* kBuilderName = "headrace-builder";

bool is_program(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

// Waits for its process at the latest when it goes.
class Builder {
 public:
  Builder(const std::string& path, const std::string& device, const OpenClOptions& options,
          const std::vector<std::string>& keys) {
    std::vector<std::string> words = {path, device, options.cache_dir, options.kernel_dir};
    words.insert(words.end(), keys.begin(), keys.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      ::posix_spawn_file_actions_addopen(&files, descriptor, "/dev/null", O_RDWR, 0);
    }
    const int error = ::posix_spawn(&process_, path.c_str(), &files, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&files);
    if (error == 0) return;
    process_ = -1;
    log(LogLevel::kDebug, "cache", path + " does not start: " + std::generic_category().message(error));
  }
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;
  ~Builder() {
    int status = 0;
    while (process_ > 0 && ::waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
  }

 private:
  pid_t process_ = -1;
};

}  // namespace

std::string find_builder() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string neighbour = (self.parent_path() / kBuilderName).string();
  if (!error && is_program(neighbour)) return neighbour;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (folder.starts_with("/") && is_program(folder + "/" + kBuilderName)) return folder + "/" + kBuilderName;
  }
  return "";
}

std::size_t builder_count(std::size_t programs) {
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  return std::min({cores, programs, kMaxBuilders});
}

void build_in_processes(const std::string& device, const OpenClOptions& options,
                        const std::vector<std::vector<std::string>>& shares, const std::function<void()>& own_share) {
  std::vector<std::unique_ptr<Builder>> builders;
  for (const auto& keys : shares) {
    builders.push_back(std::make_unique<Builder>(options.builder, device, options, keys));
  }
  own_share();
}

void build_into_cache(const std::string& device, const OpenClOptions& options, const std::vector<std::string>& keys) {
  const std::vector<OpenClDeviceEntry> entries = list_opencl_devices();
  const OpenClDeviceName name = get_opencl_device(entries, device);
  ProgramTable programs(std::make_shared<const OpenClContext>(entries[name.entry]), options, nullptr);
  for (const std::string& key : keys) programs.get(instance_of(key));
}

}  // namespace headrace
