// SPDX-License-Identifier: Apache-2.0
// Operators of detectors.
#include <limits>

#include "formats/tensorflow/tensorflow_layout.hpp"

namespace headrace::detail {
namespace {

// Boxes [boxes, 4] as two corners, scores [boxes]; the result lists boxes by descending score.
TensorflowValues convert_nms(TensorflowContext& c) {
  const PortRef boxes = c.unsqueeze(c.input(0), {0});
  const PortRef scores = c.unsqueeze(c.input(1), {0, 1});
  const PortRef count = as_scalar(c, c.convert(c.input(2), ElementType::i64));
  const PortRef overlap = as_scalar(c, c.input(3));
  const PortRef least = c.node().op == "NonMaxSuppressionV3"
                            ? as_scalar(c, c.input(4))
                            : c.constant_scalar(-std::numeric_limits<float>::infinity(), ElementType::f32);
  const PortRef nms =
      c.add("NonMaxSuppression", 9, {boxes, scores, count, overlap, least},
            {{"box_encoding", "corner"}, {"sort_result_descending", "false"}, {"output_type", "i32"}}, 3);
  // Rows of [batch, class, box]; the third output counts them, what stands behind is padding.
  const PortRef rows = c.convert(c.reshape({nms.node, 2}, {1}), ElementType::i64);
  const PortRef listed =
      c.add("Slice", 8, {nms, c.constant_ints({0}), rows, c.constant_ints({1}), c.constant_ints({0})});
  return {c.gather(listed, c.constant_int(2), 1)};
}

constexpr TensorflowConverter kConverters[] = {
    {"NonMaxSuppressionV2", convert_nms},
    {"NonMaxSuppressionV3", convert_nms},
};

}  // namespace

std::span<const TensorflowConverter> detection_tensorflow() { return kConverters; }

}  // namespace headrace::detail
