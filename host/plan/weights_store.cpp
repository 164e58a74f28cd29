// SPDX-License-Identifier: Apache-2.0
#include "plan/weights_store.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <exception>
#include <filesystem>
#include <vector>

#include "core/file.hpp"
#include "core/log.hpp"

namespace headrace {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".packed";
// A file's time of change is its last use, to within this.
constexpr auto kUseResolution = std::chrono::hours(24);
// Temporary files of processes that were killed are older.
constexpr auto kMaxWriteTime = std::chrono::hours(1);
constexpr std::size_t kPieceBytes = std::size_t{4} << 20;  // written between two looks at the clock

constexpr std::size_t kMaxRank = 8;
constexpr std::size_t kPayloadOffset = 4096;  // a page: Intel's CPU runtime uses whole pages in place

// The start of a file, in the machine's byte order; zeros follow up to kPayloadOffset, then the elements.
struct Header {
  std::array<char, 8> magic{'H', 'R', 'P', 'A', 'C', 'K', 'E', 'D'};
  std::uint64_t version = 1;  // read in the other byte order it is another one
  Digest key;
  std::uint64_t type = 0, rank = 0;
  std::array<std::int64_t, kMaxRank> dims{};
  std::uint64_t payload_bytes = 0;
  Digest payload;
  Digest header;  // of everything above
};
static_assert(std::is_trivially_copyable_v<Header> && sizeof(Header) <= kPayloadOffset);
static_assert(std::has_unique_object_representations_v<Header>, "no byte of it is left to chance");

Digest digest_of_fields(const Header& header) {
  return digest_of(std::as_bytes(std::span(&header, 1)).first(offsetof(Header, header)));
}

Header make_header(const Digest& key, const Tensor& packed) {
  Header header;
  header.key = key;
  header.type = static_cast<std::uint64_t>(packed.type());
  header.rank = packed.shape().size();
  std::copy(packed.shape().begin(), packed.shape().end(), header.dims.begin());
  header.payload_bytes = packed.size_bytes();
  header.payload = digest_of({packed.data(), packed.size_bytes()});
  header.header = digest_of_fields(header);
  return header;
}

// The tensor of a file, or nothing where the file is not what was written under this key.
std::optional<Tensor> read_entry(const MappedFile& file, const Digest& key) {
  if (file.bytes.size() < kPayloadOffset) return std::nullopt;
  Header header;
  std::memcpy(&header, file.bytes.data(), sizeof(header));
  const auto payload = file.bytes.subspan(kPayloadOffset);
  const bool is_header_good = header.magic == Header{}.magic && header.version == Header{}.version &&
                              header.header == digest_of_fields(header) && header.key == key &&
                              header.rank <= kMaxRank && header.payload_bytes == payload.size();
  if (!is_header_good || header.payload != digest_of(payload)) return std::nullopt;
  Shape shape(header.dims.begin(), header.dims.begin() + static_cast<std::ptrdiff_t>(header.rank));
  Tensor packed(static_cast<ElementType>(header.type), std::move(shape), file.owner, payload.data());
  return packed.size_bytes() == payload.size() ? std::optional(packed) : std::nullopt;
}

struct Entry {
  fs::path path;
  std::uint64_t bytes = 0;
  fs::file_time_type used;
};

// The store's files; removes what killed processes have left.
std::vector<Entry> list_entries(const std::string& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error); !error && it != fs::directory_iterator(); it.increment(error)) {
    std::error_code gone;  // another process may remove it meanwhile
    const Entry entry{it->path(), it->file_size(gone), it->last_write_time(gone)};
    if (gone) continue;
    if (entry.path.extension() == kEnding) {
      entries.push_back(entry);
    } else if (entry.path.filename().string().find(std::string(kEnding) + ".tmp") != std::string::npos &&
               fs::file_time_type::clock::now() - entry.used > kMaxWriteTime) {
      fs::remove(entry.path, gone);
    }
  }
  return entries;
}

void mark_used(const std::string& path) {
  std::error_code error;  // a folder that cannot be written keeps its order
  const auto now = fs::file_time_type::clock::now();
  if (now - fs::last_write_time(path, error) > kUseResolution && !error) fs::last_write_time(path, now, error);
}

}  // namespace

WeightsStore::WeightsStore(std::string folder, std::uint64_t max_bytes)
    : folder_(std::move(folder)), max_bytes_(max_bytes) {}

WeightsStore::~WeightsStore() {
  const std::lock_guard lock(mutex_);
  end_ = std::chrono::steady_clock::now() + kMaxClosingTime;
  changed_.notify_all();
}

std::string WeightsStore::path_of(const Digest& key) const {
  return folder_ + "/" + to_hex(key) + std::string(kEnding);
}

std::optional<Tensor> WeightsStore::find(const Digest& key) const {
  const std::string path = path_of(key);
  std::error_code error;
  if (!is_on() || !fs::exists(path, error)) return std::nullopt;
  try {
    const std::optional<Tensor> packed = read_entry(map_file(path), key);
    if (packed) {
      mark_used(path);
    } else {
      warn_once("packed weights in " + path + " are damaged; they are packed again");
    }
    return packed;
  } catch (const std::exception& problem) {
    warn_once("packed weights cannot be used: " + std::string(problem.what()));
    return std::nullopt;
  }
}

void WeightsStore::keep(const Digest& key, const Tensor& packed, std::function<bool()> is_true) {
  const bool fits = packed.shape().size() <= kMaxRank && packed.size_bytes() <= max_bytes_;
  if (!is_on() || is_broken_ || !fits) return;
  const std::lock_guard lock(mutex_);
  jobs_.push_back({key, packed, std::move(is_true)});
  changed_.notify_all();
  if (writer_.joinable()) return;
  try {
    writer_ = std::jthread([this] { write_jobs(); });
  } catch (const std::system_error& problem) {
    jobs_.clear();
    is_broken_ = true;
    warn_once("packed weights are not kept: " + std::string(problem.what()));
  }
}

void WeightsStore::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return jobs_.empty(); });
}

void WeightsStore::write_jobs() {
  // What the process does meanwhile goes first. On Linux 0 is the calling thread.
  ::setpriority(PRIO_PROCESS, 0, 10);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return end_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const Job job = jobs_.front();
    lock.unlock();
    try {
      if (!is_broken_ && !is_late()) write(job);
    } catch (const std::exception& problem) {
      if (!is_late()) {
        is_broken_ = true;
        warn_once("packed weights are not kept: " + std::string(problem.what()));
      }
    }
    lock.lock();
    jobs_.pop_front();
    changed_.notify_all();
  }
}

bool WeightsStore::is_late() {
  const std::lock_guard lock(mutex_);
  return end_ && std::chrono::steady_clock::now() > *end_;
}

void WeightsStore::write(const Job& job) {
  if (!job.is_true()) return;
  fs::create_directories(folder_);
  const Header header = make_header(job.key, job.packed);
  static constexpr std::array<std::byte, kPayloadOffset - sizeof(Header)> kPadding{};
  make_room(kPayloadOffset + header.payload_bytes);
  std::vector<std::span<const std::byte>> pieces = {std::as_bytes(std::span(&header, 1)), kPadding};
  const std::span<const std::byte> payload(job.packed.data(), job.packed.size_bytes());
  for (std::size_t done = 0; done < payload.size(); done += kPieceBytes) {
    pieces.push_back(payload.subspan(done, std::min(kPieceBytes, payload.size() - done)));
  }
  write_file(path_of(job.key), pieces, Durability::kCache, [this] { return !is_late(); });
}

void WeightsStore::make_room(std::uint64_t wanted_bytes) {
  if (!used_bytes_ || *used_bytes_ + wanted_bytes > max_bytes_) {
    std::vector<Entry> entries = list_entries(folder_);
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
    std::uint64_t used = 0;
    for (const Entry& entry : entries) used += entry.bytes;
    for (const Entry& entry : entries) {
      if (used + wanted_bytes <= max_bytes_) break;
      std::error_code error;
      if (fs::remove(entry.path, error)) used -= entry.bytes;
    }
    used_bytes_ = used;
  }
  *used_bytes_ += wanted_bytes;
}

void WeightsStore::warn_once(const std::string& line) const noexcept {
  log(has_warned_.exchange(true) ? LogLevel::kDebug : LogLevel::kWarn, "cache", line);
}

}  // namespace headrace
