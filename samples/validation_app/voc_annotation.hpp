// SPDX-License-Identifier: Apache-2.0
// The objects in a picture as PASCAL VOC writes them down, and as a network finds them.
#pragma once

#include <string>
#include <vector>

#include "headrace/headrace.hpp"
#include "validation_app/average_precision.hpp"

namespace headrace::samples {

// Reads <annotation><object><name/><difficult/><bndbox><xmin/><ymin/><xmax/><ymax/></bndbox></object>...; corners count
// pixels from 1 and include the last one. A name is a line of `labels`, else a class number; `first_label` is the class
// number of line 0. Throws kIo or kBadModel with the file's name, also for an unknown name.
std::vector<TrueObject> read_voc_annotation(const std::string& path, const std::vector<std::string>& labels,
                                            std::int64_t first_label);

// The rows (picture, label, score, xmin, ymin, xmax, ymax) of a DetectionOutput layer, coordinates from 0 to 1, up to
// the first with a negative picture. Throws kUnsupported where the tensor's last dimension is not 7.
std::vector<Detection> read_detections(const Tensor& output, int width, int height);

}  // namespace headrace::samples
