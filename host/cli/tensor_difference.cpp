// SPDX-License-Identifier: Apache-2.0
#include "cli/tensor_difference.hpp"

#include <algorithm>
#include <cmath>

namespace headrace {
namespace {

bool is_same_special(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

double cosine_of(double product, double square_a, double square_b) {
  if (square_a == 0.0 && square_b == 0.0) return 1.0;
  if (square_a == 0.0 || square_b == 0.0) return 0.0;
  return product / (std::sqrt(square_a) * std::sqrt(square_b));
}

}  // namespace

TensorDifference compare_tensors(const Tensor& actual, const Tensor& expected) {
  TensorDifference result;
  if (actual.shape() != expected.shape()) {
    result.problem = "shape " + to_string(actual.shape()) + ", expected " + to_string(expected.shape());
    return result;
  }
  const std::vector<double> a = to_doubles(actual);
  const std::vector<double> b = to_doubles(expected);
  double largest = 1.0;
  double product = 0.0;
  double square_a = 0.0;
  double square_b = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    result.nan_actual += std::isnan(a[i]) ? 1 : 0;
    result.nan_expected += std::isnan(b[i]) ? 1 : 0;
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) {
      result.mismatched += is_same_special(a[i], b[i]) ? 0 : 1;
      continue;
    }
    const double difference = std::abs(a[i] - b[i]);
    if (difference > result.max_abs) {
      result.max_abs = difference;
      result.worst = static_cast<std::int64_t>(i);
    }
    largest = std::max(largest, std::abs(b[i]));
    product += a[i] * b[i];
    square_a += a[i] * a[i];
    square_b += b[i] * b[i];
  }
  result.relative = result.max_abs / largest;
  result.cosine = cosine_of(product, square_a, square_b);
  return result;
}

}  // namespace headrace
