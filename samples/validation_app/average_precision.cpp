// SPDX-License-Identifier: Apache-2.0
#include "validation_app/average_precision.hpp"

#include <algorithm>
#include <cmath>

namespace headrace::samples {
namespace {

constexpr int kRecallPoints = 11;

double area_of(const Box& box) { return std::max(0.0, box.right - box.left) * std::max(0.0, box.bottom - box.top); }

struct CurvePoint {
  double recall = 0.0;
  double precision = 0.0;
};

// Precisions are replaced by the best at the same recall or a higher one.
std::vector<CurvePoint> make_curve(const std::vector<bool>& is_right, std::size_t objects) {
  std::vector<CurvePoint> curve;
  double right = 0.0;
  for (std::size_t i = 0; i < is_right.size(); ++i) {
    right += is_right[i] ? 1.0 : 0.0;
    curve.push_back({right / static_cast<double>(objects), right / static_cast<double>(i + 1)});
  }
  for (std::size_t i = curve.size(); i-- > 1;) {
    curve[i - 1].precision = std::max(curve[i - 1].precision, curve[i].precision);
  }
  return curve;
}

double area_under(const std::vector<CurvePoint>& curve) {
  double area = 0.0;
  double recall = 0.0;
  for (const CurvePoint& point : curve) {
    area += (point.recall - recall) * point.precision;
    recall = point.recall;
  }
  return area;
}

double eleven_point_mean(const std::vector<CurvePoint>& curve) {
  double sum = 0.0;
  for (int i = 0; i < kRecallPoints; ++i) {
    const double recall = i / static_cast<double>(kRecallPoints - 1);
    // 3 of 10 objects are a recall of 0.3, whatever rounding makes of it.
    const auto found = std::find_if(curve.begin(), curve.end(),
                                    [&](const CurvePoint& point) { return point.recall >= recall - 1e-9; });
    sum += found == curve.end() ? 0.0 : found->precision;
  }
  return sum / kRecallPoints;
}

}  // namespace

double intersection_over_union(const Box& a, const Box& b) {
  const Box common{std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right),
                   std::min(a.bottom, b.bottom)};
  const double intersection = area_of(common);
  const double together = area_of(a) + area_of(b) - intersection;
  return together > 0.0 ? intersection / together : 0.0;
}

void PrecisionCounter::add_picture(const std::vector<TrueObject>& objects, std::vector<Detection> detections) {
  for (const TrueObject& object : objects) objects_[object.label] += object.is_difficult ? 0 : 1;
  std::erase_if(detections, [](const Detection& detection) { return std::isnan(detection.score); });
  std::stable_sort(detections.begin(), detections.end(),
                   [](const Detection& a, const Detection& b) { return a.score > b.score; });
  std::vector<bool> is_taken(objects.size(), false);
  for (const Detection& detection : detections) {
    std::size_t best = objects.size();
    double best_overlap = 0.0;
    for (std::size_t i = 0; i < objects.size(); ++i) {
      if (objects[i].label != detection.label) continue;
      const double overlap = intersection_over_union(objects[i].box, detection.box);
      if (overlap <= best_overlap) continue;
      best_overlap = overlap;
      best = i;
    }
    const bool is_hit = best < objects.size() && best_overlap >= min_overlap_;
    if (is_hit && objects[best].is_difficult) continue;
    detections_[detection.label].push_back({detection.score, is_hit && !is_taken[best]});
    if (is_hit) is_taken[best] = true;
  }
}

std::map<std::int64_t, AveragePrecision> PrecisionCounter::by_class() const {
  std::map<std::int64_t, AveragePrecision> result;
  for (const auto& [label, count] : objects_) {
    if (count == 0) continue;
    const auto found = detections_.find(label);
    std::vector<Judged> judged = found == detections_.end() ? std::vector<Judged>() : found->second;
    std::stable_sort(judged.begin(), judged.end(), [](const Judged& a, const Judged& b) { return a.score > b.score; });
    std::vector<bool> is_right;
    for (const Judged& detection : judged) is_right.push_back(detection.is_right);
    const auto curve = make_curve(is_right, count);
    result[label] = {area_under(curve), eleven_point_mean(curve), count, judged.size()};
  }
  return result;
}

}  // namespace headrace::samples
