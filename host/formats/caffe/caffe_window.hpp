// SPDX-License-Identifier: Apache-2.0
// The windows of convolutions and pools: kernels, strides, pads.
#pragma once

#include "formats/caffe/caffe_context.hpp"

namespace headrace::detail {

struct CaffeWindow {
  Ints kernel, strides, dilations, pads;  // one number for each spatial axis
};

// kernel_size, stride, pad and dilation of a convolution_param: once for all axes or once for each, or with the ending
// _h and _w for two axes. Throws kBadModel where they are missing, in both spellings, or of no sense.
CaffeWindow caffe_conv_window(const CaffeContext& c, const CaffeParams& params);

// The same of a pooling_param, which has two axes and no dilation.
CaffeWindow caffe_pool_window(const CaffeParams& params);

// strides, dilations, pads_begin, pads_end and auto_pad as IR's text.
RawAttributes caffe_window_attributes(const CaffeWindow& window);

}  // namespace headrace::detail
