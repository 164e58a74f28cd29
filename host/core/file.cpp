// SPDX-License-Identifier: Apache-2.0
#include "core/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>

#include "core/error.hpp"
#include "core/tensor.hpp"

namespace headrace {
namespace {

[[noreturn]] void fail_errno(std::string_view action, const std::string& path) {
  const int error = errno;
  fail(ErrorCode::kIo, "cannot " + std::string(action) + " " + quote(path) + ": " + std::strerror(error));
}

// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  // Closes and reports what a delayed write may still say.
  bool close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0;
  }

 private:
  int fd_;
};

// Opens without blocking, so that a named pipe is an error and not a hang.
int open_regular(const std::string& path, std::size_t& size_bytes) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) fail_errno("open", path);
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    fail(ErrorCode::kIo, "cannot read " + quote(path) + ": not a regular file");
  }
  size_bytes = static_cast<std::size_t>(info.st_size);
  return fd;
}

// Returns whether everything was written.
bool write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

bool write_pieces(int fd, const std::vector<std::span<const std::byte>>& pieces, const std::function<bool()>& go_on) {
  return std::all_of(pieces.begin(), pieces.end(), [&](const auto& piece) {
    if (go_on == nullptr || go_on()) return write_all(fd, piece);
    errno = ECANCELED;
    return false;
  });
}

}  // namespace

std::string quote(std::string_view text) {
  constexpr std::size_t kMaxShown = 100;
  std::string shown = "'";
  for (const char c : text.substr(0, kMaxShown)) {
    const bool is_control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    shown += is_control ? '?' : c;
  }
  // A cut inside a UTF-8 sequence would leave an invalid byte at the end.
  while (text.size() > kMaxShown && shown.size() > 1 && (static_cast<unsigned char>(shown.back()) & 0x80u) != 0) {
    shown.pop_back();
  }
  return shown + (text.size() > kMaxShown ? "...'" : "'");
}

std::string read_file(const std::string& path, std::size_t max_bytes, std::string_view what) {
  std::size_t size_bytes = 0;
  const Descriptor file(open_regular(path, size_bytes));
  if (size_bytes > max_bytes) {
    fail(ErrorCode::kIo, "cannot read " + quote(path) + ": " + std::string(what) + " of " + std::to_string(size_bytes) +
                             " bytes, the limit is " + std::to_string(max_bytes));
  }
  std::string text(size_bytes, '\0');
  std::size_t done = 0;
  while (done < size_bytes) {
    const ssize_t count = ::read(file.get(), text.data() + done, size_bytes - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_errno("read", path);
    if (count == 0) break;  // the file shrank meanwhile: the format's own checks decide
    done += static_cast<std::size_t>(count);
  }
  text.resize(done);
  return text;
}

namespace {

// The mappings that live: first byte to number of bytes.
class MappingTable {
 public:
  void add(const void* base, std::size_t size_bytes) {
    const std::scoped_lock lock(mutex_);
    sizes_[address(base)] = size_bytes;
  }
  void remove(const void* base) {
    const std::scoped_lock lock(mutex_);
    sizes_.erase(address(base));
  }
  // Runs under the lock, so that the mapping does not go away meanwhile.
  void drop(std::span<const std::byte> bytes) {
    const std::scoped_lock lock(mutex_);
    const std::uintptr_t begin = address(bytes.data());
    auto found = sizes_.upper_bound(begin);
    if (found == sizes_.begin()) return;
    --found;
    if (begin + bytes.size() > found->first + found->second) return;
    const auto page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const std::uintptr_t first = (begin + page_bytes - 1) / page_bytes * page_bytes;
    const std::uintptr_t end = (begin + bytes.size()) / page_bytes * page_bytes;
    if (first < end) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
  }

 private:
  static std::uintptr_t address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

  std::mutex mutex_;
  std::map<std::uintptr_t, std::size_t> sizes_;
};

// Never destroyed: mappings may outlive static objects.
MappingTable& mappings() {
  static MappingTable* const table = new MappingTable;
  return *table;
}

}  // namespace

void drop_file_pages(std::span<const std::byte> bytes) { mappings().drop(bytes); }

MappedFile map_file(const std::string& path) {
  std::size_t size_bytes = 0;
  const Descriptor file(open_regular(path, size_bytes));
  if (size_bytes == 0) return {};
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t reserved_bytes = (size_bytes / page_bytes + 2) * page_bytes;
  static_assert(kMemoryAlignment <= 4096, "one page of slack is enough");
  // Zero pages first, then the file over all but the last of them.
  void* base = ::mmap(nullptr, reserved_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) fail_errno("map", path);
  const std::shared_ptr<const void> owner(base, [reserved_bytes](const void* p) {
    mappings().remove(p);
    ::munmap(const_cast<void*>(p), reserved_bytes);
  });
  if (::mmap(base, size_bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, file.get(), 0) == MAP_FAILED) {
    fail_errno("map", path);
  }
  mappings().add(base, size_bytes);
  return {owner, {static_cast<const std::byte*>(base), size_bytes}};
}

void write_file(const std::string& path, const std::vector<std::span<const std::byte>>& pieces, Durability durability,
                const std::function<bool()>& go_on) {
  static std::atomic<unsigned> counter{0};
  const std::string temporary = path + ".tmp" + std::to_string(::getpid()) + "." + std::to_string(counter.fetch_add(1));
  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.get() < 0) fail_errno("write", path);
  const bool is_written =
      write_pieces(file.get(), pieces, go_on) && (durability == Durability::kCache || ::fsync(file.get()) == 0);
  const int error = errno;
  const bool is_closed = file.close();
  if (!is_written || !is_closed || std::rename(temporary.c_str(), path.c_str()) != 0) {
    if (!is_written) errno = error;
    const int shown = errno;
    ::unlink(temporary.c_str());
    errno = shown;
    fail_errno("write", path);
  }
}

std::span<const std::byte> as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace headrace
