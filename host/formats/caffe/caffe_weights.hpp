// SPDX-License-Identifier: Apache-2.0
// The weights of a .caffemodel, by the names of their layers.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor.hpp"

namespace headrace::detail {

// One BlobProto as it lies in the file.
struct CaffeBlob {
  std::span<const std::byte> message;  // the whole of it
  std::span<const std::byte> floats;   // field `data` in its packed form
  bool is_packed = false;              // all values are in `floats`
  std::string unsupported;             // a form of values that only forks know; empty: none
  // BlobShape, or num, channels, height, width in files from before 2014. Absent: not given.
  std::optional<std::vector<std::int64_t>> shape;
};

// A NetParameter in its binary form, as far as weights are concerned.
struct CaffeWeights {
  std::string file = "the weights";  // for messages
  std::string problem;               // why there are none; reported by the first layer that needs some
  std::map<std::string, std::vector<CaffeBlob>, std::less<>> layers;
  std::shared_ptr<const void> owner;  // keeps the bytes alive
};

// Reads a NetParameter of version 1 (`layers`) or 2 (`layer`); whether its values fit is asked when they are read.
// Throws kBadModel (damaged, two layers of one name with weights) or kUnsupported (version 0, HDF5).
// Source: the field numbers of Caffe's published caffe.proto.
CaffeWeights parse_caffe_weights(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

// The number of values of a blob. Throws kBadModel or kUnsupported.
std::size_t count_values(const CaffeBlob& blob);

// The blob's values as f32 under another shape of as many elements: shares the file's memory where it is aligned.
// Throws kBadModel where the count does not fit.
Tensor read_blob(const CaffeBlob& blob, const Shape& shape, const std::shared_ptr<const void>& owner);

}  // namespace headrace::detail
