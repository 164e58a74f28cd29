// SPDX-License-Identifier: Apache-2.0
// Pictures with the class that is right for each: from a list, from folders named by class, from an IDX file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/picture.hpp"

namespace headrace::samples {

struct LabelledPicture {
  std::string name;                           // for messages: the file, or "FILE[7]" inside an IDX file
  std::int64_t label = -1;                    // class number, 0 first
  std::function<Picture(int channels)> read;  // throws as read_picture does
};

struct DataSet {
  std::vector<LabelledPicture> pictures;
  std::vector<std::string> problems;  // lines and folders that give no picture, each named
};

// `path` is an IDX file (recognized by its first bytes; labels in `idx_labels`, or in the file beside it whose name has
// "labels" for "images" and "idx1" for "idx3"), a folder of folders, or a text file with "PICTURE LABEL" lines whose
// paths are relative to it. A label is a number, or a line of `labels`. Folders are named by label; names that are none
// count in sorted order where `labels` is empty and not all are numbers.
// Throws kIo or kBadModel where nothing of it can be read.
DataSet read_data_set(const std::string& path, const std::string& idx_labels, const std::vector<std::string>& labels);

// Class numbers by name.
std::int64_t find_label(const std::string& text, const std::vector<std::string>& labels);  // -1: none

}  // namespace headrace::samples
