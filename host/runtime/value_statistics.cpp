// SPDX-License-Identifier: Apache-2.0
#include "runtime/value_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headrace {
namespace {

constexpr std::size_t kHalf = ValueStatistics::kBins / 2;
constexpr double kSteps = 255;
constexpr int kSmallestExponent = -126;  // below lie f32's denormals
constexpr int kLargestExponent = 128;
constexpr int kCandidates = 64;  // of each end of a range

// Counts, sums and squares of the bins' centres up to a bin, so that the error of any range costs the same.
class ErrorTable {
 public:
  ErrorTable(std::span<const std::uint64_t> counts, double width) : width_(width) {
    rows_.resize(counts.size() + 1);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const double x = (static_cast<double>(i) - static_cast<double>(kHalf) + 0.5) * width;
      const auto count = static_cast<double>(counts[i]);
      rows_[i + 1] = {rows_[i].count + count, rows_[i].sum + count * x, rows_[i].squares + count * x * x};
    }
  }

  // Sum of squares: within the range step^2 / 12 per value, beyond it the square of the distance.
  double error(double low, double high) const {
    const std::size_t first = bin_of(low);
    const std::size_t last = bin_of(high);
    const double step = (high - low) / kSteps;
    const Sums below = rows_[first];
    const Sums above = minus(rows_.back(), rows_[last]);
    return minus(rows_[last], below).count * step * step / 12 + distance(below, low) + distance(above, high);
  }

 private:
  struct Sums {
    double count = 0.0, sum = 0.0, squares = 0.0;
  };
  static Sums minus(const Sums& a, const Sums& b) { return {a.count - b.count, a.sum - b.sum, a.squares - b.squares}; }
  static double distance(const Sums& s, double x) { return std::max(0.0, s.squares - 2 * x * s.sum + s.count * x * x); }

  std::size_t bin_of(double x) const {
    const double place = std::nearbyint(x / width_) + static_cast<double>(kHalf);
    return static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(2 * kHalf)));
  }

  double width_;
  std::vector<Sums> rows_;
};

}  // namespace

bool ValueStatistics::add(std::span<const float> values) {
  if (values.empty()) return true;
  float low = values.front();
  float high = values.front();
  bool is_finite = true;
  for (const float value : values) {
    is_finite = is_finite && std::isfinite(value);
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (!is_finite) return false;
  const bool is_first = is_empty();
  min_ = is_first ? static_cast<double>(low) : std::min(min_, static_cast<double>(low));
  max_ = is_first ? static_cast<double>(high) : std::max(max_, static_cast<double>(high));
  const double largest = std::max(std::fabs(static_cast<double>(low)), std::fabs(static_cast<double>(high)));
  if (largest > 0.0) widen_to(largest);
  // The limit is a power of two: this is exact.
  const double per_unit = limit_ > 0.0 ? static_cast<double>(kHalf) / limit_ : 0.0;
  for (const float value : values) {
    if (value == 0.0F) {
      ++zeros_;
    } else {
      const double place = std::floor(static_cast<double>(value) * per_unit) + static_cast<double>(kHalf);
      ++counts_[static_cast<std::size_t>(place)];
    }
  }
  return true;
}

void ValueStatistics::widen_to(double largest) {
  if (counts_.empty()) {
    counts_.resize(kBins);
    limit_ = std::ldexp(1.0, std::max(std::ilogb(largest) + 1, kSmallestExponent));
  }
  while (largest >= limit_) {
    std::vector<std::uint64_t> wider(kBins);
    for (std::size_t i = 0; i < kBins; ++i) wider[kHalf / 2 + i / 2] += counts_[i];
    counts_ = std::move(wider);
    limit_ *= 2;
  }
}

ValueStatistics::Range ValueStatistics::percentile_range(double percent) const {
  double total = static_cast<double>(zeros_);
  for (const std::uint64_t count : counts_) total += static_cast<double>(count);
  const double cut = total * (100.0 - percent) / 100.0;
  const double width = limit_ / static_cast<double>(kHalf);
  // Walks from one end over whole bins; zeros lie between the two halves.
  const auto walk = [&](bool is_upward) {
    double seen = 0.0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const std::size_t bin = is_upward ? i : kBins - 1 - i;
      if (i == kHalf && (seen += static_cast<double>(zeros_)) > cut) return 0.0;
      seen += static_cast<double>(counts_[bin]);
      if (seen > cut) {
        return (static_cast<double>(bin + (is_upward ? 0 : 1)) - static_cast<double>(kHalf)) * width;
      }
    }
    return 0.0;
  };
  const double low = std::clamp(walk(true), min_, max_);
  return {low, std::max(low, std::clamp(walk(false), min_, max_))};
}

ValueStatistics::Range ValueStatistics::least_error_range(bool is_symmetric) const {
  if (counts_.empty()) return full_range();
  const ErrorTable table(counts_, limit_ / static_cast<double>(kHalf));
  const double low = std::min(min_, 0.0);
  const double high = std::max(max_, 0.0);
  const double largest = std::max(-low, high);
  Range best{low, high};
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](double from, double to) {
    const double error = table.error(from, to);
    if (error < least) {
      least = error;
      best = {from, to};
    }
  };
  // The full range first: of equal ones the widest wins.
  for (int i = kCandidates; i > 0; --i) {
    const double share = static_cast<double>(i) / kCandidates;
    if (low == 0.0 || is_symmetric) {
      consider(low == 0.0 ? 0.0 : -share * largest, low == 0.0 ? share * high : share * largest);
      continue;
    }
    for (int j = kCandidates; j >= 0; --j) consider(share * low, static_cast<double>(j) / kCandidates * high);
  }
  return best;
}

ValueStatistics::Stored ValueStatistics::store() const {
  Stored stored{min_, max_, limit_, zeros_, {}};
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] != 0) stored.counts.emplace_back(static_cast<std::uint32_t>(i), counts_[i]);
  }
  return stored;
}

bool ValueStatistics::restore(const Stored& stored) {
  int exponent = 0;
  const bool is_power = stored.limit == 0.0 || std::frexp(stored.limit, &exponent) == 0.5;
  const bool has_limit = (stored.limit > 0.0) == !stored.counts.empty();
  const bool is_range = std::isfinite(stored.min) && std::isfinite(stored.max) && stored.min <= stored.max;
  if (!is_power || !has_limit || !is_range || exponent > kLargestExponent + 1) return false;
  if (std::max(-stored.min, stored.max) >= stored.limit && !stored.counts.empty()) return false;
  std::vector<std::uint64_t> counts(stored.counts.empty() ? 0 : kBins);
  for (const auto& [bin, count] : stored.counts) {
    if (bin >= kBins || count == 0) return false;
    counts[bin] = count;
  }
  min_ = stored.min;
  max_ = stored.max;
  limit_ = stored.limit;
  zeros_ = stored.zeros;
  counts_ = std::move(counts);
  return true;
}

}  // namespace headrace
