// SPDX-License-Identifier: Apache-2.0
#include "validation_app/voc_annotation.hpp"

#include <cmath>
#include <filesystem>
#include <pugixml.hpp>

#include "validation_app/data_set.hpp"

namespace headrace::samples {
namespace {

constexpr std::uintmax_t kMaxFileBytes = 16U << 20U;
constexpr std::size_t kRowElems = 7;

double read_corner(const pugi::xml_node& box, const char* name, const std::string& path) {
  const double value = box.child(name).text().as_double(std::nan(""));
  if (!std::isfinite(value)) fail(ErrorCode::kBadModel, "annotation '" + path + "': an object has no <" + name + ">");
  return value;
}

TrueObject read_object(const pugi::xml_node& node, const std::string& path, const std::vector<std::string>& labels,
                       std::int64_t first_label) {
  TrueObject object;
  const std::string name = node.child("name").text().as_string();
  const std::int64_t label = find_label(name, labels);
  if (label < 0) {
    fail(ErrorCode::kBadModel, "annotation '" + path + "': '" + name + "' is no label" +
                                   (labels.empty() ? " number; name the classes with -l" : " of the list"));
  }
  const bool is_named =
      static_cast<std::size_t>(label) < labels.size() && labels[static_cast<std::size_t>(label)] == name;
  object.label = is_named ? label + first_label : label;
  object.is_difficult = node.child("difficult").text().as_int(0) != 0;
  const pugi::xml_node box = node.child("bndbox");
  object.box = {read_corner(box, "xmin", path) - 1.0, read_corner(box, "ymin", path) - 1.0,
                read_corner(box, "xmax", path), read_corner(box, "ymax", path)};
  return object;
}

}  // namespace

std::vector<TrueObject> read_voc_annotation(const std::string& path, const std::vector<std::string>& labels,
                                            std::int64_t first_label) {
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(path, failed);
  if (failed) fail(ErrorCode::kIo, "annotation '" + path + "': " + failed.message());
  if (size > kMaxFileBytes) fail(ErrorCode::kBadModel, "annotation '" + path + "': larger than 16 MiB");
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_file(path.c_str());
  const pugi::xml_node root = document.child("annotation");
  if (!parsed || !root) {
    fail(ErrorCode::kBadModel, "annotation '" + path + "': " + (parsed ? "no <annotation>" : parsed.description()));
  }
  std::vector<TrueObject> objects;
  for (const pugi::xml_node& node : root.children("object")) {
    objects.push_back(read_object(node, path, labels, first_label));
  }
  return objects;
}

std::vector<Detection> read_detections(const Tensor& output, int width, int height) {
  if (output.shape().empty() || output.shape().back() != static_cast<std::int64_t>(kRowElems)) {
    fail(ErrorCode::kUnsupported, "the network's output has the shape " + to_string(output.shape()) +
                                      "; detections are rows of 7 numbers, as DetectionOutput gives them");
  }
  const std::vector<double> values = to_doubles(output);
  std::vector<Detection> detections;
  for (std::size_t i = 0; i + kRowElems <= values.size(); i += kRowElems) {
    const double* row = values.data() + i;
    if (row[0] < 0.0) break;
    const bool is_label = row[1] >= 0.0 && row[1] < 1e9;  // false for NaN
    if (!is_label) continue;
    detections.push_back({static_cast<std::int64_t>(row[1]),
                          row[2],
                          {row[3] * width, row[4] * height, row[5] * width, row[6] * height}});
  }
  return detections;
}

}  // namespace headrace::samples
