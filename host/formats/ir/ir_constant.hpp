// SPDX-License-Identifier: Apache-2.0
// The value of a Const layer, out of the .bin file.
#pragma once

#include "core/shape.hpp"
#include "core/tensor.hpp"
#include "formats/ir/ir_file.hpp"
#include "formats/ir/ir_reader.hpp"

namespace headrace::detail {

// The name of the type in which a layer's first output is declared: `element_type`, in early v10 files the port's or
// the layer's precision. Empty where the file does not say.
std::string declared_type(const IrLayer& layer);

// The declared shape of a Const or Parameter: `shape`, in early v10 files the port's dims. Throws kBadModel where a
// dimension or the element count is beyond reason.
PartialShape declared_shape(const IrLayer& layer);

// The constant's value: shares the blob's memory where the element type's alignment holds, else copies.
// Throws kBadModel naming offset, size and file length.
Tensor read_constant(const IrLayer& layer, const WeightsBlob& weights);

}  // namespace headrace::detail
