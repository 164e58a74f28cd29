// SPDX-License-Identifier: Apache-2.0
// What operators that work element by element share: broadcasting, the launch of a strided walk, plain loops.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/descriptor.hpp"

namespace headrace {

// Sets "auto_broadcast" (numpy, none or pdpd) and "axis" (pdpd only) from IR's text.
void set_broadcast(Attributes& attributes, const RawAttributes& raw);

// The shape of a binary operator's output. Throws kBadModel naming both shapes where they do not fit.
Shape infer_broadcast(const Node& node, const Shape& a, const Shape& b);

// Strides by which input `index` (0 or 1) of a binary operator is read over the output's shape.
std::vector<std::int64_t> aligned_strides(const Node& node, std::size_t index, const TensorDesc& desc,
                                          const Shape& shape);

// An operand of a walk: where it starts and how it steps along each dimension of the walk's shape.
struct WalkOperand {
  Operand operand;
  std::int64_t offset = 0;
  std::vector<std::int64_t> strides;
};

// One pass over all index tuples of a shape; the written operand stands first. Kernels: common/walk.clh.
struct Walk {
  Shape shape;
  std::vector<WalkOperand> operands;
  std::int64_t weight = 1;  // how much more work an index tuple is than one element: work-items take fewer then
};

// Refuses walks of so many unmergeable dimensions that they would need hundreds of launches.
Support supports_walk(const Walk& walk);

// Adds the launches of a walk: arguments are the operands, sizes and places as in common/walk.clh, then `extra`.
void append_walk(Lowered& lowered, const KernelInstance& instance, const Walk& walk, std::span<const LowerArg> extra,
                 const KernelCaps& caps);

// Vector width of wide kernels on the device: 16, 8 or 4.
int walk_vector_width(const KernelCaps& caps);

// One instance of a float kernel: `entry` is the file's name without ".cl" and the suffix "_f32" unless given.
KernelInstance vector_instance(std::string_view file, std::string_view other_macros, int vector_width,
                               std::string_view entry = {});
// vector_instance for each vector width.
std::vector<KernelInstance> vector_instances(std::string_view file, std::string_view other_macros,
                                             std::string_view entry = {});

// "DTYPE=i32" and entry "<file>_i32": kernels whose element type is a macro.
KernelInstance typed_instance(std::string_view file, ElementType type);

// Whether the device offers the instance, with a reason that names it if not.
Support supports_instance(const KernelInstance& instance, const KernelCaps& caps);

// The cheap activations, which element-wise kernels fuse; the others would make their programs slow to build.
bool is_light_activation(Activation activation);

// 64-bit bounds travel as two ints: kernels take int and float only.
void append_long(std::vector<LowerArg>& args, std::int64_t value);

// Calls visit(offsets) for every index tuple of the shape in row-major order; offsets[k] is operand k's element.
template <typename Visit>
void walk_elements(const Shape& shape, const std::vector<std::vector<std::int64_t>>& strides, Visit visit) {
  const std::int64_t count = count_elems(shape);
  std::vector<std::int64_t> index(shape.size(), 0);
  std::vector<std::int64_t> offsets(strides.size(), 0);
  for (std::int64_t done = 0; done < count; ++done) {
    visit(offsets);
    for (std::size_t i = shape.size(); i-- > 0;) {
      const bool is_wrapped = ++index[i] == shape[i];
      for (std::size_t k = 0; k < strides.size(); ++k) {
        offsets[k] += is_wrapped ? -(shape[i] - 1) * strides[k][i] : strides[k][i];
      }
      if (!is_wrapped) break;
      index[i] = 0;
    }
  }
}

// Element access whatever the stored type: the plain loops of references.
double real_at(const Tensor& tensor, std::int64_t index);
void set_real(Tensor& tensor, std::int64_t index, double value);
std::int64_t int_value_at(const Tensor& tensor, std::int64_t index);
void set_int(Tensor& tensor, std::int64_t index, std::int64_t value);  // wraps to the tensor's width

// The one value of a constant input, or `fallback` where the node has no such input.
double scalar_input(std::span<const Tensor> inputs, std::size_t index, double fallback);
// Whether every input from `first` on is a one-element constant; the reason names the first that is not.
Support supports_scalar_constants(std::span<const LowerInput> inputs, std::size_t first);

}  // namespace headrace
