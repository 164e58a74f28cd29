// SPDX-License-Identifier: Apache-2.0
// Pictures from files, and their way into a network's input tensor.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "headrace/headrace.hpp"

namespace headrace::samples {

// A decoded picture: float values 0..255, channels interleaved in the order R, G, B, or one channel of luma.
struct Picture {
  int width = 0;
  int height = 0;
  int channels = 3;
  std::vector<float> values;  // [height, width, channels]
};

// How pictures become the network's input. Mean and scale are in the order R, G, B, whatever order the network wants
// its channels in, so that swapping channels cannot attach them to the wrong one.
struct Preprocess {
  std::array<double, 3> mean{0.0, 0.0, 0.0};
  std::array<double, 3> scale{1.0, 1.0, 1.0};
  bool is_bgr = false;        // channel order of the network
  int width = 0, height = 0;  // used where the network leaves its size open; 0: not known
};

// Reads and decodes a picture file with 1 or 3 channels wanted. Alpha is dropped without premultiplying, 16-bit values
// are scaled to 0..255, grey becomes three equal channels, colour becomes luma (rounded) where one channel is wanted.
// Throws kIo or kBadModel naming the file, also for one that is cut short and would decode with a part missing.
Picture read_picture(const std::string& path, int channels);

// Every file of each path that is a folder (sorted by name, one level deep), and the other paths as they are.
// Throws kIo for a path that does not exist, kInvalidArgument for a folder without files.
std::vector<std::string> expand_paths(const std::vector<std::string>& paths);

// Where pictures go in the network's only image input.
struct ImageInput {
  std::size_t index = 0;
  Shape shape;  // with batch 1
  bool is_channels_last = false;
  int channels = 3, width = 0, height = 0;
};

// The same for an input of that shape; `what` begins the messages.
ImageInput image_input_of(const PartialShape& dims, const std::string& what, const Preprocess& preprocess);

// Finds the input and fixes its type to f32 and its shape to one picture. Throws kUnsupported where the network has not
// exactly one input of rank 4 with 1 or 3 channels, or leaves its size open and preprocess has none.
ImageInput find_image_input(Model& model, const Preprocess& preprocess);

// Resizes in float (linear, pixel centres at half integers), then (x - mean) / scale, into the tensor of input.shape.
Tensor to_tensor(const Picture& picture, const ImageInput& input, const Preprocess& preprocess);

}  // namespace headrace::samples
