// SPDX-License-Identifier: Apache-2.0
#include "formats/ir/ir_weights.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>

namespace headrace::detail {
namespace {

constexpr std::array<std::byte, kMemoryAlignment> kPadding{};

std::string_view bytes_of(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.data()), tensor.size_bytes()};
}

}  // namespace

std::size_t IrWeights::add(const Tensor& tensor) {
  if (tensor.size_bytes() == 0) return 0;
  const std::string_view bytes = bytes_of(tensor);
  const std::size_t hash = std::hash<std::string_view>{}(bytes);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (bytes_of(blobs_[it->second].tensor) == bytes) return blobs_[it->second].offset;
  }
  const std::size_t offset = (size_bytes_ + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
  by_hash_.emplace(hash, blobs_.size());
  blobs_.push_back({tensor, offset});
  size_bytes_ = offset + tensor.size_bytes();
  return offset;
}

std::vector<std::span<const std::byte>> IrWeights::pieces() const {
  std::vector<std::span<const std::byte>> pieces;
  std::size_t end = 0;
  for (const Blob& blob : blobs_) {
    pieces.push_back(std::span(kPadding).first(blob.offset - end));
    pieces.emplace_back(blob.tensor.data(), blob.tensor.size_bytes());
    end = blob.offset + blob.tensor.size_bytes();
  }
  return pieces;
}

Tensor compress_to_f16(const Tensor& tensor, std::size_t& clamped_count) {
  constexpr float kLargestHalf = 65504.0F;
  constexpr float kFirstThatRoundsToInfinity = 65520.0F;
  Tensor result(ElementType::f16, tensor.shape());
  const Tensor source = tensor.aligned_copy();
  const std::span<std::uint16_t> halves = result.mutable_values<std::uint16_t>();
  std::transform(source.values<float>().begin(), source.values<float>().end(), halves.begin(), [&](float value) {
    if (std::isfinite(value) && std::abs(value) >= kFirstThatRoundsToInfinity) {
      ++clamped_count;
      value = std::copysign(kLargestHalf, value);
    }
    return float_to_half(value);
  });
  return result;
}

}  // namespace headrace::detail
