// SPDX-License-Identifier: Apache-2.0
// TensorFlow's memory orders and windows: IR's operators take channels first.
#pragma once

#include "formats/tensorflow/tensorflow_context.hpp"

namespace headrace::detail {

// Where the node's data_format puts channels: the last axis, or axis 1. Throws kUnsupported for formats in blocks.
bool has_channels_last(const TensorflowContext& c);

// Transposes [N, spatial..., C] to [N, C, spatial...] and back where the node's data_format is the former.
PortRef to_channels_first(TensorflowContext& c, PortRef x, std::size_t spatial);
PortRef from_channels_first(TensorflowContext& c, PortRef x, std::size_t spatial);

// The entries of the spatial axes in a list of one entry per axis in the order of data_format; an empty list is all
// ones. Throws kUnsupported where the batch or the channels have an entry other than 1.
Ints spatial_entries(const TensorflowContext& c, std::string_view what, const Ints& all, std::size_t spatial);

// strides, dilations, padding and explicit_paddings as IR's attributes.
RawAttributes window_of(const TensorflowContext& c, const Ints& strides, const Ints& dilations);

// x with its axes in another order: a constant where x is one.
PortRef permuted(TensorflowContext& c, PortRef x, const Ints& order);

// The same elements under another shape: a constant where x is one.
PortRef reshaped(TensorflowContext& c, PortRef x, const Shape& shape);

// x as a scalar where it has one element in another shape.
PortRef as_scalar(TensorflowContext& c, PortRef x);

// The first `count` outputs of a node.
TensorflowValues outputs_of(PortRef first, std::size_t count);

}  // namespace headrace::detail
