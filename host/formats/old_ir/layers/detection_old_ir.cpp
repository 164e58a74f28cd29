// SPDX-License-Identifier: Apache-2.0
// Layers of detectors and of text recognizers.
#include "core/error.hpp"
#include "formats/import/layer_parts.hpp"
#include "formats/old_ir/old_ir_context.hpp"

namespace headrace::detail {
namespace {

std::string numbers(const std::vector<double>& values) { return to_string(AttributeValue(values)); }

// The picture's size: img_size, or img_h and img_w, or that of the second input.
PortRef picture_size(OldIrContext& c) {
  const std::int64_t size = c.get_int({"img_size"}, 0);
  const std::int64_t height = c.get_int({"img_h"}, size);
  const std::int64_t width = c.get_int({"img_w"}, size);
  return height > 0 && width > 0 ? c.constant_ints({height, width}) : height_and_width(c, c.input(1));
}

std::vector<double> variances(const OldIrContext& c) {
  std::vector<double> values = c.get_floats({"variance"});
  if (values.empty()) values = {0.1};
  if (values.size() == 1) values.assign(4, values[0]);
  return values;
}

// [2, boxes * 4] as [1, 2, boxes * 4].
std::vector<PortRef> boxes_of(OldIrContext& c, std::string_view type, const RawAttributes& attributes) {
  const PortRef boxes = c.add(type, 1, {height_and_width(c, c.input(0)), picture_size(c)}, attributes);
  return {c.unsqueeze(boxes, {0})};
}

std::vector<PortRef> convert_prior_box(OldIrContext& c) {
  double step = c.get_float({"step"}, 0);
  if (step == 0 && c.get_float({"step_h"}, 0) != 0) {
    step = c.get_float({"step_h"}, 0);
    if (step != c.get_float({"step_w"}, 0)) c.refuse("step_h other than step_w");
  }
  RawAttributes attributes = {{"flip", text(c.get_bool({"flip"}, false))},
                              {"clip", text(c.get_bool({"clip"}, false))},
                              {"variance", numbers(variances(c))},
                              {"step", text(step)},
                              {"offset", text(c.get_float({"offset"}, 0.5))},
                              {"scale_all_sizes", text(c.get_bool({"scale_all_sizes"}, true))}};
  for (const char* name : {"min_size", "max_size", "aspect_ratio", "density", "fixed_ratio", "fixed_size"}) {
    attributes[name] = numbers(c.get_floats({name}));
  }
  return boxes_of(c, "PriorBox", attributes);
}

std::vector<PortRef> convert_prior_box_clustered(OldIrContext& c) {
  const double step = c.get_float({"step"}, 0);
  return boxes_of(c, "PriorBoxClustered",
                  {{"width", numbers(c.get_floats({"width"}))},
                   {"height", numbers(c.get_floats({"height"}))},
                   {"clip", text(c.get_bool({"clip"}, false))},
                   {"step", text(step)},
                   {"step_h", text(c.get_float({"step_h"}, step))},
                   {"step_w", text(c.get_float({"step_w"}, step))},
                   {"variance", numbers(variances(c))},
                   {"offset", text(c.get_float({"offset"}, 0))}});
}

std::vector<PortRef> convert_detection_output(OldIrContext& c) {
  if (c.count_inputs() != 3 && c.count_inputs() != 5) {
    fail(ErrorCode::kBadModel, "has " + std::to_string(c.count_inputs()) + " inputs, expected 3 or 5");
  }
  if (c.get_float({"eta"}, 1) != 1) c.refuse("eta other than 1");
  const std::string code = c.get_string({"code_type"}, "caffe.priorboxparameter.corner");
  const bool is_center = code.ends_with("center_size");
  if (!is_center && !code.ends_with(".corner") && code != "corner") c.refuse("code_type " + code);
  RawAttributes attributes = {
      {"num_classes", text(c.get_int({"num_classes"}, 0))},
      {"background_label_id", text(c.get_int({"background_label_id"}, 0))},
      {"top_k", text(c.get_int({"top_k"}, -1))},
      {"keep_top_k", text(c.get_int({"keep_top_k"}, -1))},
      {"code_type", is_center ? "caffe.PriorBoxParameter.CENTER_SIZE" : "caffe.PriorBoxParameter.CORNER"},
      {"nms_threshold", text(c.get_float({"nms_threshold"}, 0))},
      {"confidence_threshold", text(c.get_float({"confidence_threshold"}, -1e30))},
      {"share_location", text(c.get_bool({"share_location"}, true))},
      {"variance_encoded_in_target", text(c.get_bool({"variance_encoded_in_target"}, false))},
      {"normalized", text(c.get_bool({"normalized"}, true))},
      {"input_height", text(c.get_int({"input_height"}, 1))},
      {"input_width", text(c.get_int({"input_width"}, 1))},
      {"objectness_score", text(c.get_float({"objectness_score"}, 0))}};
  attributes["clip_before_nms"] = text(c.get_bool({"clip_before_nms", "clip"}, false));
  attributes["clip_after_nms"] = text(c.get_bool({"clip_after_nms"}, false));
  attributes["decrease_label_id"] = text(c.get_bool({"decrease_label_id"}, false));
  return {c.add("DetectionOutput", 1, c.inputs(), attributes)};
}

std::vector<PortRef> convert_proposal(OldIrContext& c) {
  RawAttributes attributes = {{"nms_thresh", text(c.get_float({"nms_thresh"}, static_cast<double>(0.7F)))},
                              {"ratio", numbers(c.get_floats({"ratio"}))},
                              {"scale", numbers(c.get_floats({"scale"}))},
                              {"framework", c.get_string({"framework"}, "")}};
  constexpr std::pair<const char*, std::int64_t> kNumbers[] = {
      {"feat_stride", 16}, {"base_size", 16}, {"min_size", 16}, {"pre_nms_topn", 6000}, {"post_nms_topn", 300}};
  for (const auto& [name, usual] : kNumbers) attributes[name] = text(c.get_int({name}, usual));
  for (const char* name : {"clip_after_nms", "normalize"}) attributes[name] = text(c.get_bool({name}, false));
  attributes["clip_before_nms"] = text(c.get_bool({"clip_before_nms"}, true));
  for (const char* name : {"box_size_scale", "box_coordinate_scale"}) attributes[name] = text(c.get_float({name}, 1));
  const PortRef size = c.reshape(c.input(2), {-1});
  const PortRef y = c.add("Proposal", 4, {c.input(0), c.input(1), size}, attributes, 2);
  return {y, {y.node, 1}};
}

std::vector<PortRef> convert_region_yolo(OldIrContext& c) {
  return {c.add("RegionYolo", 1, {c.input()},
                {{"coords", text(c.get_int({"coords"}, 4))},
                 {"classes", text(c.get_int({"classes"}, 20))},
                 {"num", text(c.get_int({"num"}, 1))},
                 {"do_softmax", text(c.get_bool({"do_softmax"}, true))},
                 {"mask", text(c.get_ints({"mask"}).value_or(Ints{}))},
                 {"anchors", numbers(c.get_floats({"anchors"}))},
                 {"axis", text(c.get_int({"axis"}, 1))},
                 {"end_axis", text(c.get_int({"end_axis"}, 3))}})};
}

std::vector<PortRef> convert_reorg_yolo(OldIrContext& c) {
  return {c.add("ReorgYolo", 2, {c.input()}, {{"stride", text(c.get_int({"stride"}, 1))}})};
}

// Inputs: probabilities [T, N, C] and what goes on [T, N]; the result was [N, T, 1, 1].
std::vector<PortRef> convert_ctc_greedy_decoder(OldIrContext& c) {
  return {c.add("CTCGreedyDecoder", 1, {c.input(0), c.input(1)},
                {{"ctc_merge_repeated", text(c.get_bool({"ctc_merge_repeated"}, true))}})};
}

constexpr OldIrConverter kConverters[] = {
    {"PriorBox", convert_prior_box},
    {"PriorBoxClustered", convert_prior_box_clustered},
    {"DetectionOutput", convert_detection_output},
    {"Proposal", convert_proposal},
    {"RegionYolo", convert_region_yolo},
    {"ReorgYolo", convert_reorg_yolo},
    {"CTCGreedyDecoder", convert_ctc_greedy_decoder},
};

}  // namespace

std::span<const OldIrConverter> detection_old_ir() { return kConverters; }

}  // namespace headrace::detail
