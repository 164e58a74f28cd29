// SPDX-License-Identifier: Apache-2.0
// Layers of detectors and segmenters that forks of Caffe add: SSD, R-CNN, R-FCN, YOLO, DeepLab.
#include <limits>

#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/caffe/caffe_context.hpp"
#include "formats/import/layer_parts.hpp"
#include "formats/import/refusals.hpp"

namespace headrace::detail {
namespace {

std::string numbers(const std::vector<double>& values) { return to_string(AttributeValue(values)); }

// The picture's size: img_size, or img_h and img_w, or that of the second bottom.
PortRef picture_size(CaffeContext& c, const CaffeParams& params) {
  if (params.has("img_size")) {
    const std::int64_t size = params.get_int("img_size", 0);
    return c.constant_ints({size, size});
  }
  if (params.has("img_h") || params.has("img_w")) {
    return c.constant_ints({params.get_int("img_h", 0), params.get_int("img_w", 0)});
  }
  return height_and_width(c, c.input(1));
}

double step_of(const CaffeContext& c, const CaffeParams& params) {
  if (!params.has("step_h") && !params.has("step_w")) return params.get_float("step", 0);
  const double height = params.get_float("step_h", 0);
  if (height != params.get_float("step_w", 0)) c.refuse("step_h other than step_w");
  return height;
}

// SSD's default boxes and their variances: [1, 2, boxes * 4].
std::vector<PortRef> convert_prior_box(CaffeContext& c) {
  c.need_inputs(2);
  const CaffeParams& params = c.params("prior_box_param");
  std::vector<double> variances = params.floats("variance");
  if (variances.empty()) variances = {0.1};
  if (variances.size() == 1) variances.assign(4, variances[0]);
  const RawAttributes attributes = {{"min_size", numbers(params.floats("min_size"))},
                                    {"max_size", numbers(params.floats("max_size"))},
                                    {"aspect_ratio", numbers(params.floats("aspect_ratio"))},
                                    {"flip", text(params.get_bool("flip", true))},
                                    {"clip", text(params.get_bool("clip", false))},
                                    {"variance", numbers(variances)},
                                    {"step", text(step_of(c, params))},
                                    {"offset", text(params.get_float("offset", 0.5))},
                                    {"scale_all_sizes", "true"}};
  const PortRef boxes = c.add("PriorBox", 1, {height_and_width(c, c.input(0)), picture_size(c, params)}, attributes);
  return {c.unsqueeze(boxes, {0})};
}

// [1, 1, M, 7]; Caffe gives as many rows as there are boxes, IR ends them by a row that begins with -1.
std::vector<PortRef> convert_detection_output(CaffeContext& c) {
  c.need_inputs(3);
  const CaffeParams& params = c.params("detection_output_param");
  const CaffeParams nms = params.message("nms_param");
  if (nms.get_float("eta", 1) != 1) c.refuse("eta other than 1");
  const std::string code =
      params.get_enum("code_type", "CORNER", {{"CORNER", "1"}, {"CENTER_SIZE", "2"}, {"CORNER_SIZE", "3"}});
  if (code == "CORNER_SIZE") c.refuse("code_type CORNER_SIZE");
  // What is shown or saved on the way changes no result.
  for (const char* name : {"save_output_param", "visualize", "visualize_threshold", "save_file"}) params.has(name);
  const double lowest = -static_cast<double>(std::numeric_limits<float>::max());
  const RawAttributes attributes = {
      {"num_classes", text(params.get_int("num_classes", 0))},
      {"background_label_id", text(params.get_int("background_label_id", 0))},
      {"share_location", text(params.get_bool("share_location", true))},
      {"variance_encoded_in_target", text(params.get_bool("variance_encoded_in_target", false))},
      {"keep_top_k", text(params.get_int("keep_top_k", -1))},
      {"top_k", text(nms.get_int("top_k", -1))},
      {"nms_threshold", text(nms.get_float("nms_threshold", static_cast<double>(0.3F)))},
      {"confidence_threshold", text(params.get_float("confidence_threshold", lowest))},
      {"code_type", "caffe.PriorBoxParameter." + code},
      {"normalized", "true"},
      {"input_height", "1"},
      {"input_width", "1"}};
  nms.check_all_asked();
  return {c.add("DetectionOutput", 1, {c.input(0), c.input(1), c.input(2)}, attributes)};
}

std::vector<PortRef> convert_roi_pooling(CaffeContext& c) {
  c.need_inputs(2);
  const CaffeParams& params = c.params("roi_pooling_param");
  return {c.add("ROIPooling", 2, {c.input(0), c.input(1)},
                {{"pooled_h", text(params.get_int("pooled_h", 0))},
                 {"pooled_w", text(params.get_int("pooled_w", 0))},
                 {"spatial_scale", text(params.get_float("spatial_scale", 1))},
                 {"method", "max"}})};
}

std::vector<PortRef> convert_psroi_pooling(CaffeContext& c) {
  c.need_inputs(2);
  const CaffeParams& params = c.params("psroi_pooling_param");
  return {c.add("PSROIPooling", 1, {c.input(0), c.input(1)},
                {{"spatial_scale", text(params.get_float("spatial_scale", 1))},
                 {"output_dim", text(params.get_int("output_dim", 0))},
                 {"group_size", text(params.get_int("group_size", 0))},
                 {"mode", "average"}})};
}

// Bottoms: class probabilities, box deltas, the picture's size and scale.
std::vector<PortRef> convert_proposal(CaffeContext& c) {
  c.need_inputs(3);
  const CaffeParams& params = c.params("proposal_param");
  const bool has_scores = c.count_outputs() > 1;
  const PortRef y = c.add("Proposal", 4, {c.input(0), c.input(1), c.reshape(c.input(2), {-1})},
                          {{"feat_stride", text(params.get_int("feat_stride", 16))},
                           {"base_size", text(params.get_int("base_size", 16))},
                           {"min_size", text(params.get_int("min_size", 16))},
                           {"ratio", numbers(params.floats("ratio"))},
                           {"scale", numbers(params.floats("scale"))},
                           {"pre_nms_topn", text(params.get_int("pre_nms_topn", 6000))},
                           {"post_nms_topn", text(params.get_int("post_nms_topn", 300))},
                           {"nms_thresh", text(params.get_float("nms_thresh", static_cast<double>(0.7F)))}},
                          2);
  if (!has_scores) return {y};
  return {y, {y.node, 1}};
}

std::vector<PortRef> convert_region_yolo(CaffeContext& c) {
  const CaffeParams& params = c.params("region_yolo_param");
  const CaffeParams& flatten = c.params("flatten_param");
  return {c.add("RegionYolo", 1, {c.input()},
                {{"coords", text(params.get_int("coords", 4))},
                 {"classes", text(params.get_int("classes", 20))},
                 {"num", text(params.get_int("num", 1))},
                 {"do_softmax", text(params.get_bool("do_softmax", true))},
                 {"mask", text(params.ints("mask"))},
                 {"anchors", numbers(params.floats("anchors"))},
                 {"axis", text(flatten.get_int("axis", 1))},
                 {"end_axis", text(flatten.get_int("end_axis", -1))}})};
}

std::vector<PortRef> convert_reorg_yolo(CaffeContext& c) {
  return {c.add("ReorgYolo", 2, {c.input()}, {{"stride", text(c.params("reorg_yolo_param").get_int("stride", 1))}})};
}

// DeepLab's bilinear resampling with aligned corners. Pads are negative: they cut the border off.
std::vector<PortRef> convert_interp(CaffeContext& c) {
  const CaffeParams& params = c.params("interp_param");
  const std::int64_t begin = params.get_int("pad_beg", 0);
  const std::int64_t end = params.get_int("pad_end", 0);
  if (begin > 0 || end > 0) fail(ErrorCode::kBadModel, "its pads are positive, expected 0 or less");
  PortRef x = c.input();
  if (begin != 0 || end != 0) {
    const PortRef stops = c.constant_ints(Ints(2, end == 0 ? std::numeric_limits<std::int64_t>::max() : end));
    x = c.add("Slice", 8,
              {x, c.constant_ints({-begin, -begin}), stops, c.constant_ints({1, 1}), c.constant_ints({2, 3})});
  }
  const bool shrinks = params.has("shrink_factor");
  const bool zooms = params.has("zoom_factor");
  const bool has_size = params.has("height") || params.has("width");
  Ints size = {params.get_int("height", 0), params.get_int("width", 0)};
  if (shrinks || zooms) {
    const std::int64_t shrink = params.get_int("shrink_factor", 1);
    const std::int64_t zoom = params.get_int("zoom_factor", 1);
    if (shrink < 1 || zoom < 1 || has_size) fail(ErrorCode::kBadModel, "its factors and sizes contradict each other");
    for (std::size_t i = 0; i < 2; ++i) {
      const std::int64_t shrunk = (c.dim(x, i + 2) - 1) / shrink + 1;
      size[i] = shrunk + (shrunk - 1) * (zoom - 1);
    }
  } else if (!has_size) {
    if (c.count_inputs() < 2) fail(ErrorCode::kBadModel, "has neither factors nor a size");
    return {add_bilinear(c, x, height_and_width(c, c.input(1)))};
  }
  return {add_bilinear(c, x, c.constant_ints(size))};
}

// YOLO forks' nearest neighbour by a whole factor; SegNet's Upsample with places is another layer of the same name.
std::vector<PortRef> convert_upsample(CaffeContext& c) {
  if (c.count_inputs() != 1) c.refuse("places of maxima as a second bottom");
  const std::int64_t scale = c.params("upsample_param").get_int("scale", 0);
  if (scale < 1) fail(ErrorCode::kBadModel, "scale is " + text(scale));
  const PortRef factors = c.constant_floats({static_cast<float>(scale), static_cast<float>(scale)});
  return {c.add("Interpolate", 11, {c.input(), factors, c.constant_ints({2, 3})},
                {{"mode", "nearest"},
                 {"shape_calculation_mode", "scales"},
                 {"coordinate_transformation_mode", "asymmetric"},
                 {"nearest_mode", "floor"}})};
}

std::vector<PortRef> refuse_python(CaffeContext& c) {
  const CaffeParams& params = c.params("python_param");
  const std::string code = params.get_string("module", "?") + "." + params.get_string("layer", "?");
  c.refuse("code in Python (" + readable(code) + "), which has no meaning here: cut the network before it");
}

constexpr CaffeConverter kConverters[] = {
    {"PriorBox", convert_prior_box},     {"DetectionOutput", convert_detection_output},
    {"ROIPooling", convert_roi_pooling}, {"PSROIPooling", convert_psroi_pooling},
    {"Proposal", convert_proposal},      {"RegionYolo", convert_region_yolo},
    {"ReorgYolo", convert_reorg_yolo},   {"Interp", convert_interp},
    {"Upsample", convert_upsample},      {"Python", refuse_python},
};

}  // namespace

std::span<const CaffeConverter> detection_caffe() { return kConverters; }

}  // namespace headrace::detail
