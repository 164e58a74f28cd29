// SPDX-License-Identifier: Apache-2.0
#include "ops/conv_winograd_tile.hpp"

#include <algorithm>
#include <limits>

#include "ops/conv_args.hpp"

namespace headrace {
namespace {

// Room for transformed source and sums, at most a quarter of the device's largest buffer. Larger pictures go through in
// parts: their layers are large enough to fill a GPU with each.
constexpr std::int64_t kWorkspaceElems = 16 * 1024 * 1024;
constexpr std::int64_t kBufferShare = 4;
// More parts would mean that a part is a single block: a picture of 4096 x 4096 has 64 with 16 channels.
constexpr std::int64_t kMaxParts = 256;
// A float to or from memory in multiply-adds: GPUs have 20 to 160 per float at their peaks and reach half of both.
constexpr double kMoveElem = 40;

// Tiles of the image, and how many of them go through at a time: all, or whole blocks of the products' rows.
struct Parts {
  std::int64_t tiles_h, tiles_w, tiles, tiles_per_part;

  std::int64_t count() const { return divide_up(tiles, tiles_per_part); }
};

Parts make_parts(std::int64_t N, const Triple& out, std::int64_t channels, const WinogradForm& form,
                 const KernelCaps& caps) {
  Parts parts{divide_up(out[1], form.out), divide_up(out[2], form.out), 0, 0};
  parts.tiles = N * parts.tiles_h * parts.tiles_w;
  const std::int64_t share = static_cast<std::int64_t>(caps.max_alloc_bytes / sizeof(float)) / kBufferShare;
  const std::int64_t most = std::min(kWorkspaceElems, share) / (form.products() * channels);
  const std::int64_t block = form.tile.tile_m;
  parts.tiles_per_part = std::min(parts.tiles, std::max(most / block, std::int64_t{1}) * block);
  return parts;
}

KernelInstance transform_instance(const WinogradForm& form, std::string_view stage) {
  return {"winograd_tile.cl", "OUT=" + std::to_string(form.out), "winograd_tile_" + std::string(stage) + "_f32"};
}

// A work-item for each of `count` elements.
KernelLaunch make_transform_launch(const KernelInstance& instance, std::int64_t count, ArgList args,
                                   const KernelCaps& caps) {
  constexpr std::size_t kItems = 64;
  KernelLaunch launch;
  launch.instance = instance;
  launch.args = args.take();
  launch.local[0] = std::min(kItems, caps.max_group(0));
  const auto local = static_cast<std::int64_t>(launch.local[0]);
  launch.global[0] = static_cast<std::size_t>(divide_up(count, local) * local);
  return launch;
}

void add_image_strides(ArgList& args, const ConvTensor& tensor) {
  for (const std::int64_t stride : {tensor.strides.n, tensor.strides.h, tensor.strides.w}) args.add(stride);
}

KernelLaunch make_source_launch(const ConvProblem& problem, const WinogradForm& form, const Parts& parts,
                                std::int64_t first, std::int64_t count, const KernelCaps& caps) {
  ArgList args;
  args.add(problem.src.operand);
  args.add(Operand::scratch(0));
  for (const std::int64_t value :
       {problem.src.offset, problem.IC, problem.in[1], problem.in[2], problem.pad[1], problem.pad[2]}) {
    args.add(value);
  }
  add_image_strides(args, problem.src);
  for (const std::int64_t value : {parts.tiles_h, parts.tiles_w, first, count}) args.add(value);
  return make_transform_launch(transform_instance(form, "source"), count * problem.IC, std::move(args), caps);
}

// Products as the groups of a matrix product [count, IC] x [IC, OC].
KernelLaunch make_products_launch(const ConvProblem& problem, const WinogradForm& form, std::int64_t count,
                                  const KernelCaps& caps) {
  ConvProblem products;
  products.G = form.products();
  products.IC = problem.IC;
  products.OC = problem.OC;
  products.in = products.out = {1, 1, count};
  products.src.operand = Operand::scratch(0);
  products.src.strides.w = problem.IC;
  products.src.strides.g = count * problem.IC;
  products.dst.operand = Operand::scratch(1);
  products.dst.strides.w = problem.OC;
  products.dst.strides.g = count * problem.OC;
  products.wei = Operand::constant(0);
  products.wei_g = form.tile.packed_elems(problem.IC, problem.OC);
  return make_conv_launch(products, form.tile, caps);
}

KernelLaunch make_sums_launch(const ConvProblem& problem, const WinogradForm& form, const Parts& parts,
                              std::int64_t first, std::int64_t count, const KernelCaps& caps) {
  ArgList args;
  args.add(Operand::scratch(1));
  args.add(problem.bias);
  args.add(problem.residual.operand);
  args.add(problem.dst.operand);
  args.add_flags(problem.bias, problem.residual.operand);
  for (const std::int64_t value :
       {problem.dst.offset, problem.residual.offset, problem.OC, problem.out[1], problem.out[2]}) {
    args.add(value);
  }
  add_image_strides(args, problem.dst);
  add_image_strides(args, problem.residual);
  for (const std::int64_t value : {parts.tiles_h, parts.tiles_w, first, count}) args.add(value);
  args.add(static_cast<std::int64_t>(problem.activation));
  args.add(problem.alpha);
  args.add(problem.beta);
  return make_transform_launch(transform_instance(form, "sums"), count * problem.OC, std::move(args), caps);
}

}  // namespace

std::vector<KernelInstance> winograd_tile_instances(const WinogradForm& form) {
  return {transform_instance(form, "source"), form.tile.instance(), transform_instance(form, "sums")};
}

double direct_tile_moves(const ConvShape& shape) {
  const std::int64_t pixels = shape.N * shape.out[0] * shape.out[1] * shape.out[2];
  return kMoveElem * static_cast<double>(pixels * shape.G * (shape.IC + shape.OC));
}

std::optional<double> winograd_tile_cost(const ConvShape& shape, const WinogradForm& form, double product_cost,
                                         const KernelCaps& caps) {
  const std::int64_t channels = shape.IC + shape.OC;
  const Parts parts = make_parts(shape.N, shape.out, channels, form, caps);
  const bool is_indexable =
      form.products() * parts.tiles_per_part * channels <= std::numeric_limits<std::int32_t>::max();
  if (parts.count() > kMaxParts || !is_indexable) return std::nullopt;
  const std::int64_t pixels = shape.N * shape.out[1] * shape.out[2];
  // Written by one launch, read by the next.
  const std::int64_t moved = (pixels + 2 * form.products() * parts.tiles) * channels;
  return static_cast<double>(form.products() * shape.IC) * product_cost + kMoveElem * static_cast<double>(moved);
}

void add_winograd_tile_launches(const ConvProblem& problem, const WinogradForm& form, const KernelCaps& caps,
                                Lowered& lowered) {
  const Parts parts = make_parts(problem.N, problem.out, problem.IC + problem.OC, form, caps);
  for (const std::int64_t channels : {problem.IC, problem.OC}) {
    lowered.scratch_bytes.push_back(static_cast<std::size_t>(form.products() * parts.tiles_per_part * channels) *
                                    sizeof(float));
  }
  for (std::int64_t first = 0; first < parts.tiles; first += parts.tiles_per_part) {
    const std::int64_t count = std::min(parts.tiles_per_part, parts.tiles - first);
    lowered.launches.push_back(make_source_launch(problem, form, parts, first, count, caps));
    lowered.launches.push_back(make_products_launch(problem, form, count, caps));
    lowered.launches.push_back(make_sums_launch(problem, form, parts, first, count, caps));
  }
}

}  // namespace headrace
