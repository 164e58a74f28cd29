// SPDX-License-Identifier: Apache-2.0
#include "common/classification.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <numeric>

namespace headrace::samples {

std::vector<ClassScore> best_classes(const Tensor& scores, std::size_t count) {
  const std::vector<double> values = to_doubles(scores);
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&values](std::size_t a, std::size_t b) {
    return values[a] > values[b] || (!std::isnan(values[a]) && std::isnan(values[b]));
  });
  order.resize(std::min(count, order.size()));
  std::vector<ClassScore> classes;
  for (const std::size_t index : order) classes.push_back({index, values[index]});
  return classes;
}

std::vector<std::string> read_labels(const std::string& path) {
  std::ifstream file(path);
  if (!file) fail(ErrorCode::kIo, "labels '" + path + "': " + std::strerror(errno));
  std::vector<std::string> labels;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    labels.push_back(line);
  }
  if (file.bad()) fail(ErrorCode::kIo, "labels '" + path + "': cannot be read");
  return labels;
}

std::string classes_table(const std::vector<ClassScore>& classes, const std::vector<std::string>& labels) {
  std::string text = "  class   score  label\n";
  for (const ClassScore& row : classes) {
    std::array<char, 64> head{};
    std::snprintf(head.data(), head.size(), "  %5zu  %.4f  ", row.index, row.score);
    text += head.data() + (row.index < labels.size() ? labels[row.index] : "-") + '\n';
  }
  return text;
}

void print_error(const std::string& program, const std::string& message) {
  std::string line = message;
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20U; }, ' ');
  std::fprintf(stderr, "%s: error: %s\n", program.c_str(), line.c_str());
}

void warn_about_labels(const std::string& program, std::size_t labels, const std::vector<PortInfo>& outputs) {
  if (labels == 0 || outputs.empty() || !outputs[0].shape.is_static()) return;
  const auto classes = static_cast<std::size_t>(count_elems(outputs[0].shape.to_shape()));
  if (classes == labels) return;
  std::fprintf(stderr, "%s: warning: %zu labels for %zu classes%s\n", program.c_str(), labels, classes,
               classes == labels + 1 ? " (is class 0 the background?)" : "");
}

}  // namespace headrace::samples
