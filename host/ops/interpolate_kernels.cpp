// SPDX-License-Identifier: Apache-2.0
#include "ops/interpolate_kernels.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "core/error.hpp"

namespace headrace {
namespace {

constexpr std::size_t kResizedDims = 3;    // the kernel resamples along d, h and w
constexpr std::size_t kMaxRank = 5;        // and walks n and c besides
constexpr std::int64_t kItemsWanted = 16;  // work-items below which channels are shared out too
constexpr int kVectorWidths[] = {16, 8, 4};

KernelInstance interpolate_instance(int width) {
  return {"interpolate_wide.cl", "VEC=" + std::to_string(width), "interpolate_wide_f32"};
}

std::optional<int> choose_width(const KernelCaps& caps) {
  for (const int width : kVectorWidths) {
    if (width <= std::max(caps.vector_width, 4) && caps.offers(interpolate_instance(width))) return width;
  }
  return std::nullopt;
}

// One dimension of the kernel's index space; a missing one has size 1.
struct KernelDim {
  std::int64_t size = 1;
  std::int64_t src = 0;
  std::int64_t dst = 0;
  const InterpolateAxis* axis = nullptr;  // null: keeps its size
};

struct KernelDims {
  std::array<KernelDim, kResizedDims> resized;  // d, h, w
  KernelDim batch;
  KernelDim channel;
};

KernelDim make_dim(std::size_t i, const std::vector<InterpolateAxis>& axes, const TensorDesc& input,
                   const TensorDesc& output) {
  KernelDim dim{output.shape[i], input.strides[i], output.strides[i], nullptr};
  for (const InterpolateAxis& axis : axes) {
    if (axis.axis == i) dim.axis = &axis;
  }
  return dim;
}

// Gives each dimension a role: channel is one that keeps its size, of unit stride where there is such a one. Dimensions
// of size 1 that stay so need no role.
KernelDims assign_dims(const std::vector<InterpolateAxis>& axes, const TensorDesc& input, const TensorDesc& output) {
  std::vector<KernelDim> kept;
  std::vector<KernelDim> inner;
  for (std::size_t i = 0; i < output.shape.size(); ++i) {
    const KernelDim dim = make_dim(i, axes, input, output);
    if (dim.axis != nullptr) {
      inner.push_back(dim);
    } else if (dim.size != 1) {
      kept.push_back(dim);
    }
  }
  KernelDims dims;
  std::stable_sort(kept.begin(), kept.end(), [](const KernelDim& a, const KernelDim& b) {
    return std::max(a.src, a.dst) < std::max(b.src, b.dst);
  });
  if (!kept.empty()) {
    dims.channel = kept.front();
    kept.erase(kept.begin());
  }
  if (!kept.empty()) {
    dims.batch = kept.back();
    kept.pop_back();
  }
  inner.insert(inner.begin(), kept.rbegin(), kept.rend());
  HEADRACE_ASSERT(inner.size() <= kResizedDims, "interpolation of more axes than supports allows");
  std::copy(inner.begin(), inner.end(), dims.resized.end() - static_cast<std::ptrdiff_t>(inner.size()));
  return dims;
}

struct Tables {
  std::vector<std::int32_t> indices;  // d's, then h's, then w's: [output coordinate][tap]
  std::vector<float> weights;
};

Tables make_tables(const KernelDims& dims) {
  Tables tables;
  for (const KernelDim& dim : dims.resized) {
    if (dim.axis == nullptr) {
      for (std::int64_t i = 0; i < dim.size; ++i) {
        tables.indices.push_back(static_cast<std::int32_t>(i));
        tables.weights.push_back(1.0F);
      }
      continue;
    }
    for (const InterpolateTap& tap : dim.axis->table) {
      tables.indices.push_back(static_cast<std::int32_t>(tap.index));
      tables.weights.push_back(static_cast<float>(tap.weight));
    }
  }
  return tables;
}

std::int64_t taps_of(const KernelDim& dim) { return dim.axis == nullptr ? 1 : dim.axis->taps; }

void add_tables(Lowered& lowered, const KernelDims& dims, const std::string& key) {
  const Tables tables = make_tables(dims);
  lowered.constants.push_back({"interpolate_indices:" + key, [values = tables.indices] {
                                 Tensor tensor(ElementType::i32, {static_cast<std::int64_t>(values.size())});
                                 std::copy(values.begin(), values.end(), tensor.mutable_values<std::int32_t>().begin());
                                 return tensor;
                               }});
  lowered.constants.push_back({"interpolate_weights:" + key, [values = tables.weights] {
                                 return make_f32_tensor({static_cast<std::int64_t>(values.size())}, values);
                               }});
}

}  // namespace

Support interpolate_supports(const std::vector<InterpolateAxis>& axes, const TensorDesc& input,
                             const KernelCaps& caps) {
  if (input.type != ElementType::f32) {
    return Support::no("interpolation of " + std::string(to_string(input.type)) + " has no kernel, only of f32");
  }
  if (axes.size() > kResizedDims || input.shape.size() > kMaxRank) {
    return Support::no("resampling " + std::to_string(axes.size()) + " axes of a tensor of rank " +
                       std::to_string(input.shape.size()) + ", the kernel takes 3 axes and rank 5 at most");
  }
  if (!choose_width(caps)) return Support::no("the programmed bitstream lacks interpolate_wide_f32");
  return Support::yes();
}

Lowered interpolate_lower(const std::vector<InterpolateAxis>& axes, const TensorDesc& input, const TensorDesc& output,
                          const KernelCaps& caps) {
  Lowered lowered;
  if (output.count() == 0) return lowered;
  const KernelDims dims = assign_dims(axes, input, output);
  // The order of the dimensions follows from the strides, so they belong to the key.
  add_tables(lowered, dims,
             to_string(input.shape) + to_string(output.shape) + to_string(Shape(input.strides)) +
                 to_string(Shape(output.strides)));
  const int width = *choose_width(caps);
  const std::array<KernelDim, kResizedDims>& inner = dims.resized;
  const std::int64_t rows = dims.batch.size * inner[0].size * inner[1].size;
  const std::int64_t parts = std::max<std::int64_t>(1, (kItemsWanted + rows - 1) / rows);
  const std::int64_t vectors = (dims.channel.size + width - 1) / width;
  const std::int64_t block = (vectors + parts - 1) / parts * width;

  KernelLaunch launch;
  launch.instance = interpolate_instance(width);
  launch.args = {Operand::input(0), Operand::output(0), Operand::constant(0), Operand::constant(1)};
  const auto add = [&launch](std::int64_t value) { launch.args.emplace_back(static_cast<std::int32_t>(value)); };
  for (const std::int64_t value : {input.offset, output.offset, dims.channel.size, block}) add(value);
  for (const KernelDim& dim : inner) add(dim.size);
  for (const KernelDim& dim : inner) add(taps_of(dim));
  for (const std::int64_t value : {dims.batch.src, inner[0].src, inner[1].src, inner[2].src, dims.channel.src}) {
    add(value);
  }
  for (const std::int64_t value : {dims.batch.dst, inner[0].dst, inner[1].dst, inner[2].dst, dims.channel.dst}) {
    add(value);
  }
  launch.global = {static_cast<std::size_t>((dims.channel.size + block - 1) / block),
                   static_cast<std::size_t>(inner[1].size), static_cast<std::size_t>(dims.batch.size * inner[0].size)};
  lowered.launches.push_back(std::move(launch));
  return lowered;
}

std::vector<KernelInstance> interpolate_instances() {
  std::vector<KernelInstance> instances;
  for (const int width : kVectorWidths) instances.push_back(interpolate_instance(width));
  return instances;
}

}  // namespace headrace
