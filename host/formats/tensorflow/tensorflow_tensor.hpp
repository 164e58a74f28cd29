// SPDX-License-Identifier: Apache-2.0
// Values of TensorProtos, in every encoding that TensorFlow writes.
#pragma once

#include <cstdint>
#include <memory>

#include "core/tensor.hpp"
#include "formats/tensorflow/tensorflow_file.hpp"

namespace headrace::detail {

// Returns Headrace's type for a DataType; throws kUnsupported with TensorFlow's name for the type.
ElementType tensorflow_element_type(std::int32_t type);

// The tensor's value: tensor_content (shared with the file where the alignment allows, else copied), or the repeated
// field of its type, whose last value fills what is left of the shape, or zeros where there is none.
// `fillable` is how many elements a few bytes may still grow to in this model; what is read is taken off.
// Throws kBadModel (sizes that do not fit) or kUnsupported (an element type, more filled elements than are left).
Tensor read_tensorflow_tensor(const TensorflowTensor& tensor, const std::shared_ptr<const void>& owner,
                              std::int64_t& fillable);

}  // namespace headrace::detail
