// SPDX-License-Identifier: Apache-2.0
#include "cli/run_dot.hpp"

#include <fmt/core.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "core/error.hpp"

extern char** environ;

namespace headrace {
namespace {

constexpr std::chrono::milliseconds kPollInterval{5};

// A file in memory: neither side can block on it, whatever the other does.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name) : fd_(memfd_create(name, MFD_CLOEXEC)) {
    if (fd_ < 0) fail(ErrorCode::kIo, fmt::format("cannot make a file in memory: {}", std::strerror(errno)));
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int fd() const { return fd_; }

  void write_all(const std::string& text) const {
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t count = write(fd_, text.data() + done, text.size() - done);
      if (count <= 0) fail(ErrorCode::kIo, fmt::format("cannot write the drawing: {}", std::strerror(errno)));
      done += static_cast<std::size_t>(count);
    }
    lseek(fd_, 0, SEEK_SET);
  }

  std::string read_all() const {
    std::string text;
    std::array<char, 65536> piece{};
    lseek(fd_, 0, SEEK_SET);
    for (ssize_t count = 0; (count = read(fd_, piece.data(), piece.size())) > 0;) {
      text.append(piece.data(), static_cast<std::size_t>(count));
    }
    return text;
  }

 private:
  int fd_;
};

pid_t start_dot(const MemoryFile& input, const MemoryFile& output, const MemoryFile& errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.fd(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.fd(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.fd(), STDERR_FILENO);
  std::string program = "dot";
  std::string format = "-Tsvg";
  std::array<char*, 3> arguments = {program.data(), format.data(), nullptr};
  pid_t pid = -1;
  const int code = posix_spawnp(&pid, "dot", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) {
    fail(ErrorCode::kUnsupported,
         fmt::format("drawings need the program 'dot' of Graphviz, which cannot be started ({}); install it with "
                     "apt-get install graphviz",
                     std::strerror(code)));
  }
  return pid;
}

// The exit status, or nothing where the time ran out and the program was stopped.
std::optional<int> wait_for_exit(pid_t pid, std::chrono::steady_clock::time_point end) {
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) {
      kill(pid, SIGKILL);
      waitpid(pid, &status, 0);
      return std::nullopt;
    }
    std::this_thread::sleep_for(kPollInterval);
  }
  return status;
}

}  // namespace

std::string run_dot(const std::string& text, int limit_seconds) {
  const MemoryFile input("network.dot");
  const MemoryFile output("network.svg");
  const MemoryFile errors("errors");
  input.write_all(text);
  const pid_t pid = start_dot(input, output, errors);
  const auto status = wait_for_exit(pid, std::chrono::steady_clock::now() + std::chrono::seconds(limit_seconds));
  if (!status) {
    fail(ErrorCode::kIo,
         fmt::format("dot has not drawn the network in {} s; draw a part of it (headrace convert --output)",
                     limit_seconds));
  }
  const std::string svg = output.read_all();
  const bool is_done = WIFEXITED(*status) && WEXITSTATUS(*status) == 0 && svg.find("<svg") != std::string::npos;
  if (!is_done)
    fail(ErrorCode::kIo, fmt::format("dot could not draw the network: {}", errors.read_all().substr(0, 300)));
  return svg;
}

}  // namespace headrace
