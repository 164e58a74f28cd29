// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/error.hpp"

namespace headrace {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { close(); }
  int get() const { return descriptor_; }
  // Returns whether closing worked: some file systems report a full disk only here.
  bool close() {
    const int descriptor = descriptor_;
    descriptor_ = -1;
    return descriptor < 0 || ::close(descriptor) == 0;
  }

 private:
  int descriptor_;
};

[[noreturn]] void fail_io(const std::string& path, std::string_view what, int error) {
  fail(ErrorCode::kIo, path + ": " + std::string(what) + ": " + std::strerror(error));
}

bool write_all(int descriptor, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = ::write(descriptor, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    contents.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

std::string read_file(const std::string& path, std::size_t max_bytes) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) fail_io(path, "cannot be opened", errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail_io(path, "cannot be read", errno);
  if (!S_ISREG(status.st_mode)) fail(ErrorCode::kIo, path + ": is not a regular file");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size > max_bytes) {
    fail(ErrorCode::kIo,
         path + ": has " + std::to_string(size) + " bytes, at most " + std::to_string(max_bytes) + " are allowed");
  }
  std::string contents(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(file.get(), contents.data() + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_io(path, "cannot be read", errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  contents.resize(done);
  return contents;
}

void write_file_atomically(const std::string& path, std::string_view contents) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) fail(ErrorCode::kIo, folder.string() + ": cannot be made: " + error.message());

  std::string temporary = path + ".XXXXXX";
  FileDescriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (file.get() < 0) fail_io(path, "cannot be written", errno);
  const bool is_written = write_all(file.get(), contents) && ::fchmod(file.get(), 0644) == 0;
  const int write_error = errno;
  if (!is_written || !file.close() || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = is_written ? errno : write_error;
    ::unlink(temporary.c_str());
    fail_io(path, "cannot be written", reason);
  }
}

}  // namespace headrace
