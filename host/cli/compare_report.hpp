// SPDX-License-Identifier: Apache-2.0
// What `headrace compare` tells.
#pragma once

#include <string>
#include <vector>

#include "cli/tensor_difference.hpp"
#include "headrace/headrace.hpp"

namespace headrace {

struct ComparedTensor {
  InnerTensor tensor;
  TensorDifference difference;
};

struct CompareReport {
  std::string devices;
  std::string reference;  // devices, or the folder of a stored run
  double tolerance = 0.0;
  std::vector<ComparedTensor> tensors;  // in running order
  std::vector<std::string> missing;     // tensors of which the stored run has no file
  std::vector<std::string> refused;     // layers whose fusion the extra outputs have changed
};

// The first tensor that is not close, or null.
const ComparedTensor* first_divergence(const CompareReport& report);

void print_report(const CompareReport& report);
std::string report_json(const CompareReport& report);

// "layer 'conv1' (Convolution, with 'bn1', 'relu1')".
std::string layer_text(const InnerTensor& tensor);

}  // namespace headrace
