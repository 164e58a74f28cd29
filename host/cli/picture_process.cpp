// SPDX-License-Identifier: Apache-2.0
#include "cli/picture_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace headrace {
namespace {

constexpr const char* kProgram = "headrace-pictures";
constexpr std::uint64_t kMaxMessage = 1U << 16U;

std::string program_path() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string path = (self.parent_path() / kProgram).string();
  if (error || ::access(path.c_str(), X_OK) != 0) {
    fail(ErrorCode::kUnsupported, std::string("pictures need the program ") + kProgram +
                                      " beside headrace (built with HEADRACE_BUILD_SAMPLES); give .npy files");
  }
  return path;
}

}  // namespace

PictureProcess::PictureProcess(const PortInfo& input, const PictureOptions& options) {
  std::string path = program_path();
  std::string shape = to_string(input.shape);
  std::string name = input.name;
  std::string preprocess = options.preprocess;
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    fail(ErrorCode::kIo, std::string(kProgram) + ": " + std::strerror(errno));
  }
  socket_ = sockets[0];
  std::array<char*, 5> argv = {path.data(), shape.data(), name.data(), preprocess.data(), nullptr};
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, sockets[1], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, sockets[1], STDOUT_FILENO);
  // Decoders talk of profiles and other things that do not matter here.
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const int error = ::posix_spawn(&process_, path.c_str(), &files, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::close(sockets[1]);
  if (error == 0) return;
  ::close(socket_);
  fail(ErrorCode::kIo, std::string(kProgram) + " does not start: " + std::generic_category().message(error));
}

// It ends when nothing can ask it any more.
PictureProcess::~PictureProcess() {
  ::close(socket_);
  int status = 0;
  while (process_ > 0 && ::waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
}

void PictureProcess::write_all(const void* data, std::size_t size) {
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::send(socket_, bytes, size, MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(ErrorCode::kIo, std::string(kProgram) + " has ended");
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
}

void PictureProcess::read_all(void* data, std::size_t size) {
  auto* bytes = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = ::recv(socket_, bytes, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail(ErrorCode::kIo, std::string(kProgram) + " has ended");
    bytes += got;
    size -= static_cast<std::size_t>(got);
  }
}

// Asked: the path's length and bytes. Answered: the rank, the dimensions and f32 values; or rank 0, then the length
// and the bytes of a message. Numbers are 64 bits in the machine's order.
Tensor PictureProcess::read(const std::string& path) {
  const std::uint64_t length = path.size();
  write_all(&length, sizeof length);
  write_all(path.data(), path.size());
  std::uint64_t rank = 0;
  read_all(&rank, sizeof rank);
  if (rank == 0) {
    std::uint64_t size = 0;
    read_all(&size, sizeof size);
    std::string message(std::min(size, kMaxMessage), ' ');
    read_all(message.data(), message.size());
    fail(ErrorCode::kBadModel, message);
  }
  check(rank == 4, ErrorCode::kInternal, std::string(kProgram) + " answers with another rank than 4");
  Shape shape(rank);
  read_all(shape.data(), shape.size() * sizeof(std::int64_t));
  Tensor tensor(ElementType::f32, shape);
  read_all(tensor.mutable_data(), tensor.size_bytes());
  return tensor;
}

}  // namespace headrace
