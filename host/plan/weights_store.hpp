// SPDX-License-Identifier: Apache-2.0
// Packed weights on disk, shared by processes and mapped where they are found. Every fault costs the packing, never
// the run.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/tensor.hpp"
#include "plan/digest.hpp"

namespace headrace {

// One file per packed tensor in a folder, named by the digest of everything that the tensor was made from. Thread-safe;
// several processes may use one folder.
class WeightsStore {
 public:
  static constexpr std::uint64_t kDefaultMaxBytes = std::uint64_t{4} << 30;
  // What a program's end may take longer because of the store.
  static constexpr std::chrono::milliseconds kMaxClosingTime{200};

  // An empty folder name switches the store off. The folder is made when the first tensor is kept.
  explicit WeightsStore(std::string folder, std::uint64_t max_bytes = kDefaultMaxBytes);
  // Goes on writing for a moment (kMaxClosingTime); what is not done then is left to the next process.
  ~WeightsStore();
  WeightsStore(const WeightsStore&) = delete;
  WeightsStore& operator=(const WeightsStore&) = delete;

  bool is_on() const { return !folder_.empty(); }

  // The tensor in its file's memory, read-only, aligned to a page and with slack, after a check of sizes and digests.
  // A damaged file is a miss; the first one is a warning.
  std::optional<Tensor> find(const Digest& key) const;

  // Writes the tensor in the background if is_true() still holds then: it tells that what the tensor was made from
  // has not changed meanwhile. Files that were not used for longest go where all together would exceed max_bytes.
  // What cannot be written is a warning, once, and ends the writing.
  void keep(const Digest& key, const Tensor& packed, std::function<bool()> is_true);

  // Returns when everything is written.
  void wait();

  // The file of a tensor, for messages and tests.
  std::string path_of(const Digest& key) const;

 private:
  struct Job {
    Digest key;
    Tensor packed;
    std::function<bool()> is_true;
  };

  void write_jobs();
  bool is_late();
  void write(const Job& job);
  void make_room(std::uint64_t wanted_bytes);
  void warn_once(const std::string& line) const noexcept;

  const std::string folder_;
  const std::uint64_t max_bytes_;
  std::optional<std::uint64_t> used_bytes_;  // by the files; the writer's only
  std::atomic<bool> is_broken_{false};
  mutable std::atomic<bool> has_warned_{false};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;                                      // the first one is being written
  std::optional<std::chrono::steady_clock::time_point> end_;  // of writing, once the store closes
  std::jthread writer_;                                       // runs from the first keep on
};

}  // namespace headrace
