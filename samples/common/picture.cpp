// SPDX-License-Identifier: Apache-2.0
#include "common/picture.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "common/file_bytes.hpp"
#include "common/picture_file_check.hpp"

namespace headrace::samples {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxFileGib = 1;

cv::Mat decode(const std::string& path, int flags) {
  const std::vector<unsigned char> bytes = read_file_bytes(path, "picture '" + path + "'", kMaxFileGib);
  const std::string damage = find_damage(bytes);
  if (!damage.empty()) fail(ErrorCode::kBadModel, "picture '" + path + "': " + damage);
  cv::Mat image;
  try {
    image = cv::imdecode(bytes, flags);
  } catch (const cv::Exception&) {  // treated like any other file that does not decode
    image.release();
  }
  if (image.empty()) fail(ErrorCode::kBadModel, "picture '" + path + "': not a picture that can be decoded");
  return image;
}

double to_8bit_scale(const cv::Mat& image, const std::string& path) {
  if (image.depth() == CV_8U) return 1.0;
  if (image.depth() == CV_16U) return 1.0 / 257.0;  // 65535 -> 255
  fail(ErrorCode::kUnsupported, "picture '" + path + "': floating-point pictures are not supported, use 8 or 16 bits");
}

}  // namespace

Picture read_picture(const std::string& path, int channels) {
  // Asking for colour makes the decoder expand grey and palettes and drop alpha.
  cv::Mat image = decode(path, cv::IMREAD_COLOR | cv::IMREAD_ANYDEPTH);
  const double scale = to_8bit_scale(image, path);
  cv::cvtColor(image, image, channels == 1 ? cv::COLOR_BGR2GRAY : cv::COLOR_BGR2RGB);
  Picture picture{image.cols, image.rows, channels, {}};
  picture.values.resize(static_cast<std::size_t>(image.rows) * static_cast<std::size_t>(image.cols * channels));
  cv::Mat target(image.rows, image.cols, CV_32FC(channels), picture.values.data());
  image.convertTo(target, CV_32F, scale);
  return picture;
}

std::vector<std::string> expand_paths(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code failed;
    if (!fs::is_directory(path, failed)) {
      files.push_back(path);  // one that does not exist is told when it is read, like every other bad picture
      continue;
    }
    const std::size_t first = files.size();
    for (const auto& entry : fs::directory_iterator(path, failed)) {
      if (entry.is_regular_file()) files.push_back(entry.path().string());
    }
    if (failed) fail(ErrorCode::kIo, "folder '" + path + "': " + failed.message());
    if (files.size() == first) fail(ErrorCode::kInvalidArgument, "folder '" + path + "' holds no files");
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(first), files.end());
  }
  return files;
}

ImageInput image_input_of(const PartialShape& dims, const std::string& what, const Preprocess& preprocess) {
  const auto is_channel_count = [&](std::size_t axis) {
    return dims.dims[axis].is_static() && (dims.dims[axis].min == 1 || dims.dims[axis].min == 3);
  };
  const bool is_rank4 = dims.is_rank_known && dims.dims.size() == 4;
  if (!is_rank4 || (!is_channel_count(1) && !is_channel_count(3))) {
    fail(ErrorCode::kUnsupported, what + " is no picture of 1 or 3 channels");
  }
  ImageInput input;
  input.is_channels_last = !is_channel_count(1);
  const std::size_t channel_axis = input.is_channels_last ? 3 : 1;
  const std::size_t height_axis = input.is_channels_last ? 1 : 2;
  const auto size = [&](std::size_t axis, int fallback) {
    const std::int64_t value = dims.dims[axis].is_static() ? dims.dims[axis].min : fallback;
    if (value <= 0 || value > 65536) {
      fail(ErrorCode::kUnsupported, what + " leaves its size open: give \"size\" in the preprocess file");
    }
    return static_cast<int>(value);
  };
  input.channels = static_cast<int>(dims.dims[channel_axis].min);
  if (preprocess.is_bgr && input.channels != 3) {
    fail(ErrorCode::kInvalidArgument,
         what + ": channels BGR needs 3 channels, it has " + std::to_string(input.channels));
  }
  input.height = size(height_axis, preprocess.height);
  input.width = size(height_axis + 1, preprocess.width);
  input.shape = input.is_channels_last ? Shape{1, input.height, input.width, input.channels}
                                       : Shape{1, input.channels, input.height, input.width};
  return input;
}

ImageInput find_image_input(Model& model, const Preprocess& preprocess) {
  const std::vector<PortInfo> inputs = model.inputs();
  const std::string what = "network '" + model.name() + "'";
  if (inputs.size() != 1) {
    fail(ErrorCode::kUnsupported,
         what + " has " + std::to_string(inputs.size()) + " inputs, the sample feeds one picture");
  }
  const ImageInput input = image_input_of(inputs[0].shape, what + ": input '" + inputs[0].name + "'", preprocess);
  model.set_input_shape("", input.shape);
  model.set_input_type("", ElementType::f32);
  return input;
}

Tensor to_tensor(const Picture& picture, const ImageInput& input, const Preprocess& preprocess) {
  const cv::Mat source(picture.height, picture.width, CV_32FC(picture.channels),
                       const_cast<float*>(picture.values.data()));  // OpenCV has no read-only view
  cv::Mat resized;
  cv::resize(source, resized, cv::Size(input.width, input.height), 0, 0, cv::INTER_LINEAR);
  Tensor tensor(ElementType::f32, input.shape);
  const auto values = tensor.mutable_values<float>();
  const auto pixels = static_cast<std::size_t>(input.width) * static_cast<std::size_t>(input.height);
  const auto channels = static_cast<std::size_t>(input.channels);
  const float* from = resized.ptr<float>();
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const std::size_t place = preprocess.is_bgr ? channels - 1 - channel : channel;
    const std::size_t start = input.is_channels_last ? place : place * pixels;
    const std::size_t step = input.is_channels_last ? channels : 1;
    const double mean = preprocess.mean[channel];
    const double scale = preprocess.scale[channel];
    for (std::size_t i = 0; i < pixels; ++i) {
      values[start + i * step] = static_cast<float>((from[i * channels + channel] - mean) / scale);
    }
  }
  return tensor;
}

}  // namespace headrace::samples
