// SPDX-License-Identifier: Apache-2.0
// Mean average precision of detections, as PASCAL VOC counts it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace headrace::samples {

// Corners in pixels of the picture, right and bottom beyond the last one.
struct Box {
  double left = 0.0, top = 0.0, right = 0.0, bottom = 0.0;
};

// The area of the intersection over that of the union; 0 for boxes without area.
double intersection_over_union(const Box& a, const Box& b);

struct TrueObject {
  std::int64_t label = 0;
  Box box;
  bool is_difficult = false;  // neither wanted nor wrong
};

struct Detection {
  std::int64_t label = 0;
  double score = 0.0;
  Box box;
};

struct AveragePrecision {
  double area = 0.0;  // under the curve of precision over recall, each precision the best at that recall or more
  double eleven_points = 0.0;  // the mean of that curve at recalls 0, 0.1, ..., 1 (VOC 2007)
  std::size_t objects = 0;     // difficult ones left out
  std::size_t detections = 0;
};

// Collects pictures one after the other. A detection is right where the object of its class that it overlaps most has
// an intersection over union of at least `min_overlap` and no detection with a higher score has taken it. Of equal
// scores the one that was added first comes first; a score of NaN is no detection.
class PrecisionCounter {
 public:
  explicit PrecisionCounter(double min_overlap = 0.5) : min_overlap_(min_overlap) {}

  void add_picture(const std::vector<TrueObject>& objects, std::vector<Detection> detections);

  // By class, those alone that have objects.
  std::map<std::int64_t, AveragePrecision> by_class() const;

 private:
  struct Judged {
    double score = 0.0;
    bool is_right = false;
  };

  double min_overlap_;
  std::map<std::int64_t, std::size_t> objects_;
  std::map<std::int64_t, std::vector<Judged>> detections_;
};

}  // namespace headrace::samples
