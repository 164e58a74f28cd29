// SPDX-License-Identifier: Apache-2.0
// IDX files, in which MNIST and its kin are stored: bytes 0, 0, type, rank; the sizes, big-endian; the elements.
// Source: http://yann.lecun.com/exdb/mnist/
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "common/picture.hpp"

namespace headrace::samples {

struct IdxFile {
  std::array<std::size_t, 3> dims{1, 1, 1};
  std::size_t offset = 0;  // of the first element
  std::vector<unsigned char> bytes;
};

// Whether the file begins as an IDX file of bytes does, or a compressed one.
bool is_idx_file(const std::string& path);

// Reads an IDX file of bytes with so many dimensions, at most 3. Throws kIo, or kBadModel where it is compressed, of
// another type or rank, or shorter than its sizes say.
IdxFile read_idx_file(const std::string& path, std::size_t rank);

// The name of the labels' file that belongs to a file of pictures.
std::string idx_labels_beside(const std::string& path);

// One picture of a file of rank 3, its grey in every channel.
Picture idx_picture(const IdxFile& file, std::size_t index, int channels);

}  // namespace headrace::samples
