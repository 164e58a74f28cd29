// SPDX-License-Identifier: Apache-2.0
// Collects the bytes of a .bin file while an IR is written.
#pragma once

#include <cstddef>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/tensor.hpp"

namespace headrace::detail {

// Places blobs one behind the other; equal bytes are stored once.
class IrWeights {
 public:
  // Returns the offset of the tensor's bytes in the file. Keeps the tensor alive.
  std::size_t add(const Tensor& tensor);
  // The whole file, padding included. Valid while this object lives and nothing is added.
  std::vector<std::span<const std::byte>> pieces() const;

 private:
  struct Blob {
    Tensor tensor;
    std::size_t offset = 0;
  };

  std::vector<Blob> blobs_;
  std::unordered_multimap<std::size_t, std::size_t> by_hash_;  // hash of the bytes -> index into blobs_
  std::size_t size_bytes_ = 0;
};

// Returns the tensor in f16. Finite values beyond f16's range become its largest and are counted.
Tensor compress_to_f16(const Tensor& tensor, std::size_t& clamped_count);

}  // namespace headrace::detail
