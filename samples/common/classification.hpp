// SPDX-License-Identifier: Apache-2.0
// Class scores as text: the best classes with their labels.
#pragma once

#include <string>
#include <vector>

#include "headrace/headrace.hpp"

namespace headrace::samples {

struct ClassScore {
  std::size_t index = 0;
  double score = 0.0;
};

// The `count` best classes of a tensor of scores, best first; equal scores in the order of their classes, NaN last.
std::vector<ClassScore> best_classes(const Tensor& scores, std::size_t count);

// One label per line; a line ending of CRLF is taken too. Throws kIo.
std::vector<std::string> read_labels(const std::string& path);

// "285  0.7890  Egyptian cat" lines under a head; a class without a label gets "-".
std::string classes_table(const std::vector<ClassScore>& classes, const std::vector<std::string>& labels);

// Prints "NAME: error: MESSAGE" on stderr, as one line.
void print_error(const std::string& program, const std::string& message);

// Prints "NAME: warning: ..." where the labels do not match the number of classes.
void warn_about_labels(const std::string& program, std::size_t labels, const std::vector<PortInfo>& outputs);

}  // namespace headrace::samples
