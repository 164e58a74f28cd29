// SPDX-License-Identifier: Apache-2.0
// NonMaxSuppression: of boxes that overlap too far the ones of the highest scores, per batch and class.
//
// boxes [N, B, 4], scores [N, C, B]; selected (batch, class, box) [S, 3], from opset 5 on also (batch, class, score)
// and the number S. How many are selected depends on values; before opset 5 the rest up to the most possible holds -1.
#include <algorithm>
#include <cmath>

#include "ops/box_overlap.hpp"
#include "ops/checks.hpp"
#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"NonMaxSuppression"};
constexpr std::int32_t kScoresOpset = 5;  // gives scores and their number as well

Attributes parse(std::string_view, std::int32_t opset, const RawAttributes& raw) {
  Attributes attributes;
  attributes.set("box_encoding", parse_enum(raw, "box_encoding", "corner", {"corner", "center"}));
  attributes.set("sort_result_descending", parse_bool(raw, "sort_result_descending", true));
  if (opset >= 3) attributes.set("output_type", parse_enum(raw, "output_type", "i64", {"i32", "i64"}));
  return attributes;
}

struct Selected {
  std::int64_t batch = 0, label = 0, box = 0;
  double score = 0;
};

struct Limits {
  std::int64_t most = 0;  // boxes per class
  double overlap = 0, score = 0, sigma = 0;
};

Limits limits_of(const Node& node, const InputValues& values) {
  const auto number = [&](std::size_t index) {
    if (!has_input(values, index)) return 0.0;
    if (values[index] == nullptr) ints_at(values, index);  // throws
    const std::vector<double> all = to_doubles(*values[index]);
    if (all.size() != 1) fail_node(node, "needs one value in input " + std::to_string(index));
    return all[0];
  };
  return {static_cast<std::int64_t>(std::clamp(number(2), 0.0, 9e15)), number(3), number(4), number(5)};
}

DetectionBox box_at(const Node& node, const Tensor& boxes, std::int64_t index) {
  const auto at = [&](std::int64_t k) { return real_at(boxes, index * 4 + k); };
  if (node.attributes.get_string("box_encoding") == "center") {
    return {at(0) - at(2) / 2, at(1) - at(3) / 2, at(0) + at(2) / 2, at(1) + at(3) / 2};
  }
  // Two opposite corners, as (y, x) pairs, in any order.
  return {std::min(at(1), at(3)), std::min(at(0), at(2)), std::max(at(1), at(3)), std::max(at(0), at(2))};
}

struct Candidate {
  std::int64_t box = 0;
  double score = 0;
  std::size_t compared = 0;  // how many of the selected have lowered the score already (soft suppression)
};

// Boxes of one class, best first; `boxes` are those of the batch.
std::vector<Candidate> select(const std::vector<DetectionBox>& boxes, std::vector<Candidate> candidates,
                              const Limits& limits) {
  const auto is_worse = [](const Candidate& a, const Candidate& b) {
    return a.score < b.score || (a.score == b.score && a.box > b.box);
  };
  std::make_heap(candidates.begin(), candidates.end(), is_worse);
  std::vector<Candidate> selected;
  while (!candidates.empty() && static_cast<std::int64_t>(selected.size()) < limits.most) {
    std::pop_heap(candidates.begin(), candidates.end(), is_worse);
    Candidate next = candidates.back();
    candidates.pop_back();
    const double before = next.score;
    bool is_kept = true;
    for (std::size_t i = selected.size(); i-- > next.compared && is_kept;) {
      const double overlap =
          box_overlap(boxes[static_cast<std::size_t>(next.box)], boxes[static_cast<std::size_t>(selected[i].box)]);
      if (limits.sigma > 0) next.score *= std::exp(-0.5 * overlap * overlap / limits.sigma);
      is_kept = limits.sigma > 0 ? next.score > limits.score : overlap <= limits.overlap;
      if (limits.sigma > 0 && overlap > limits.overlap) is_kept = false;
    }
    next.compared = selected.size();
    if (!is_kept) continue;
    if (next.score == before) {
      selected.push_back(next);
    } else {  // a lowered score may no longer be the best
      candidates.push_back(next);
      std::push_heap(candidates.begin(), candidates.end(), is_worse);
    }
  }
  return selected;
}

std::vector<Selected> run(const Node& node, const Tensor& boxes, const Tensor& scores, const Limits& limits) {
  const Shape& shape = scores.shape();
  std::vector<Selected> all;
  for (std::int64_t n = 0; n < shape[0]; ++n) {
    std::vector<DetectionBox> places;
    for (std::int64_t b = 0; b < shape[2]; ++b) places.push_back(box_at(node, boxes, n * shape[2] + b));
    for (std::int64_t c = 0; c < shape[1]; ++c) {
      std::vector<Candidate> candidates;
      for (std::int64_t b = 0; b < shape[2]; ++b) {
        const double score = real_at(scores, (n * shape[1] + c) * shape[2] + b);
        if (score > limits.score) candidates.push_back({b, score, 0});
      }
      for (const Candidate& one : select(places, std::move(candidates), limits)) {
        all.push_back({n, c, one.box, one.score});
      }
    }
  }
  if (node.attributes.get_bool("sort_result_descending")) {  // across the classes, ties in their order
    std::stable_sort(all.begin(), all.end(), [](const Selected& a, const Selected& b) { return a.score > b.score; });
  }
  return all;
}

ElementType index_type(const Node& node) {
  return node.attributes.has("output_type") ? *find_element_type(node.attributes.get_string("output_type"))
                                            : ElementType::i64;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 2, 6);
  check_rank(node, inputs[1].shape, 3, "scores");
  const Shape& scores = inputs[1].shape;
  check_shape(node, inputs[0].shape, {scores[0], scores[2], 4}, "boxes");
  check_float_type(node, inputs, 0, "boxes");
  check_same_types(node, inputs, {0, 1});
  const InputValues values = values_of(inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].value == nullptr) ints_at(values, i);  // throws
  }
  const auto count = static_cast<std::int64_t>(run(node, *values[0], *values[1], limits_of(node, values)).size());
  if (node.opset < kScoresOpset) return {{index_type(node), {count, 3}}};
  return {{index_type(node), {count, 3}}, {inputs[0].type, {count, 3}}, {index_type(node), {1}}};
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const std::vector<Selected> all = run(node, inputs[0], inputs[1], limits_of(node, values_of(inputs)));
  for (std::int64_t i = 0; i < outputs[0].shape()[0]; ++i) {
    const Selected& one = all.at(static_cast<std::size_t>(i));
    set_int(outputs[0], i * 3, one.batch);
    set_int(outputs[0], i * 3 + 1, one.label);
    set_int(outputs[0], i * 3 + 2, one.box);
    if (outputs.size() < 2) continue;
    set_real(outputs[1], i * 3, static_cast<double>(one.batch));
    set_real(outputs[1], i * 3 + 1, static_cast<double>(one.label));
    set_real(outputs[1], i * 3 + 2, one.score);
  }
  if (outputs.size() > 2) set_int(outputs[2], 0, static_cast<std::int64_t>(all.size()));
}

}  // namespace

const OpDescriptor& nms_op() {
  static constexpr OpDescriptor op = {.types = kTypes, .parse = parse, .infer = infer, .reference = reference};
  return op;
}

}  // namespace headrace
