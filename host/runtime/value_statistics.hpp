// SPDX-License-Identifier: Apache-2.0
// What is kept of the values that a tensor had over many runs, and the ranges that follow from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace headrace {

// Smallest and largest value, and a histogram whose range doubles where a value lies outside of it, so that one pass
// over the data is enough. 64 KiB per tensor, whatever the number of values. Not thread-safe.
class ValueStatistics {
 public:
  static constexpr std::size_t kBins = 8192;  // over [-limit, limit), a whole power of two; zeros are counted apart

  // Returns false and takes nothing where a value is NaN or infinite.
  bool add(std::span<const float> values);

  bool is_empty() const { return zeros_ == 0 && counts_.empty(); }
  double min() const { return min_; }
  double max() const { return max_; }

  struct Range {
    double low = 0.0;
    double high = 0.0;
  };
  Range full_range() const { return {min_, max_}; }
  // Without the values beyond that quantile on each side, 50 < percent <= 100. Zeros count.
  Range percentile_range(double percent) const;
  // The range whose 256 even levels (zero among them) have the least mean square error, by search on a grid. Symmetric:
  // among those that byte_range_for makes symmetric.
  Range least_error_range(bool is_symmetric) const;

  // All of it as numbers, and back. restore returns false and changes nothing where they are no statistics.
  struct Stored {
    double min = 0.0, max = 0.0, limit = 0.0;
    std::uint64_t zeros = 0;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> counts;  // bin, count; those that are not empty
  };
  Stored store() const;
  bool restore(const Stored& stored);

 private:
  void widen_to(double largest);

  double min_ = 0.0;
  double max_ = 0.0;
  double limit_ = 0.0;
  std::uint64_t zeros_ = 0;
  std::vector<std::uint64_t> counts_;  // kBins, or empty before the first value that is not zero
};

}  // namespace headrace
