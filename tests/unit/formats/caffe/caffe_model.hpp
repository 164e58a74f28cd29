// SPDX-License-Identifier: Apache-2.0
// Small Caffe models for the tests of the reader.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/caffe/caffe_reader.hpp"
#include "unit/formats/onnx/onnx_bytes.hpp"

namespace headrace::test {

// A BlobProto with packed floats and a BlobShape.
Message blob(const std::vector<std::int64_t>& shape, const std::vector<float>& values);
// The same as files from before 2014 have it: num, channels, height, width.
Message legacy_blob(const std::vector<std::int64_t>& four, const std::vector<float>& values);

// A layer of a .caffemodel of version 2, and one of version 1.
struct Weights {
  std::string layer;
  std::vector<Message> blobs;
};
std::string caffemodel(const std::vector<Weights>& layers);
std::string v1_caffemodel(const std::vector<Weights>& layers);

// Reads a model from memory.
Graph parse_model(std::string_view prototxt, const std::string& weights = "");

// An Input layer "x" of the shape ("1, 2, 3"), then `layers`.
std::string with_input(std::string_view dims, std::string_view layers);

// Runs `layer` on the tensors; its type, parameters and so on are text, bottoms ("x", "x1", ...) and the tops "y0" to
// "y<tops - 1>" are added. Its name is "l".
std::vector<Tensor> run_layer(std::string_view layer, const std::vector<Tensor>& inputs,
                              const std::vector<Message>& blobs = {}, int tops = 1);

// The numbers first, first + 1, ... as a tensor; the values of one; a tensor of given values.
Tensor counting(const Shape& shape, float first = 0);
Tensor floats(const Shape& shape, const std::vector<float>& values);
std::vector<float> values_of(const Tensor& tensor);

}  // namespace headrace::test
