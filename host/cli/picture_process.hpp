// SPDX-License-Identifier: Apache-2.0
// Pictures as tensors, from the program headrace-pictures: the libraries that decode them stay out of this process,
// where they would get into the way of OpenCL drivers.
#pragma once

#include <memory>
#include <string>

#include "headrace/headrace.hpp"

namespace headrace {

struct PictureOptions {
  std::string preprocess;  // JSON file; empty: values 0..255 in the order R, G, B
};

// One running headrace-pictures for one input. Not thread-safe.
class PictureProcess {
 public:
  // Starts the program, which stands beside the running one. Throws kUnsupported where it is missing.
  PictureProcess(const PortInfo& input, const PictureOptions& options);
  ~PictureProcess();
  PictureProcess(const PictureProcess&) = delete;
  PictureProcess& operator=(const PictureProcess&) = delete;

  // The picture resized to the input, [1,C,H,W] or [1,H,W,C]. Throws kBadModel naming the file, or what is wrong with
  // the input or the options.
  Tensor read(const std::string& path);

 private:
  void write_all(const void* data, std::size_t size);
  void read_all(void* data, std::size_t size);

  int socket_ = -1;
  int process_ = -1;
};

}  // namespace headrace
