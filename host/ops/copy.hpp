// SPDX-License-Identifier: Apache-2.0
// Strided copies on OpenCL devices: what layout conversions and every operator that only moves elements lower to.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/descriptor.hpp"

namespace headrace {

// Element i of `shape` goes from src[from.offset + i . from.strides] to dst[to.offset + i . to.strides].
// Source strides of 0 repeat, negative ones walk backwards; destination strides are positive and never overlap.
struct Move {
  Shape shape;
  View from;
  View to;
};

// Copies input 0, read as `from`, to output 0, written as `to`: equal shapes and types, any strides and offsets.
// An empty tensor needs no launch. Throws kInternal where shapes or types differ.
Lowered lower_copy(const TensorDesc& from, const TensorDesc& to, const KernelCaps& caps);

// Adds the launches of one movement of elements of `type` from operand `src` to operand `dst`.
void append_copy(Lowered& lowered, ElementType type, const Move& move, Operand src, Operand dst,
                 const KernelCaps& caps);

// Whether append_copy can express the movement in a sensible number of launches of kernels that the device offers.
Support supports_move(ElementType type, const Move& move, const KernelCaps& caps);

// The kernel instances of copies of elements of any size.
std::vector<KernelInstance> copy_instances();

}  // namespace headrace
