// SPDX-License-Identifier: Apache-2.0
// Boxes and how far they overlap, for detection operators.
#pragma once

#include <algorithm>

namespace headrace {

struct DetectionBox {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
};

// Intersection over union. `unit` is 1 where corners are pixels that belong to the box, 0 where they are places.
inline double box_overlap(const DetectionBox& a, const DetectionBox& b, double unit = 0) {
  const double width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1) + unit;
  const double height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1) + unit;
  if (!(width > 0 && height > 0)) return 0;
  const auto area = [unit](const DetectionBox& box) { return (box.x2 - box.x1 + unit) * (box.y2 - box.y1 + unit); };
  const double all = area(a) + area(b) - width * height;
  return all > 0 ? width * height / all : 0;
}

}  // namespace headrace
