// SPDX-License-Identifier: Apache-2.0
#include "ops/copy.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::size_t kKernelOuterDims = 4;  // copy_wide.cl takes four outer dimensions and two inner ones
constexpr std::size_t kKernelDims = kKernelOuterDims + 2;
constexpr std::int64_t kMaxLaunches = 64;
// Elements that one work-item moves: enough to hide the 0.1 us of a work-group, few enough to share small tensors.
constexpr std::int64_t kElemsPerItem = 8192;
constexpr std::int64_t kTile = 16;        // elements on a side of a transposed tile
constexpr std::int64_t kTileBlock = 128;  // destination run of one work-item in transposing copies

enum class CopyKind { kRows, kTiles };

struct Offsets {
  std::int64_t from = 0;
  std::int64_t to = 0;
};

struct Axis {
  std::int64_t size = 1;
  std::int64_t src = 0;
  std::int64_t dst = 0;
};

// Dimensions of a copy, outermost first; the two last are the kernel's inner loops.
struct CopyNest {
  CopyKind kind = CopyKind::kRows;
  std::vector<Axis> axes;
};

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

KernelInstance copy_instance(CopyKind kind, std::size_t elem_bytes) {
  const std::string bytes = std::to_string(elem_bytes);
  const std::string name = kind == CopyKind::kRows ? "copy_wide_rows_b" : "copy_wide_tiles_b";
  return {"copy_wide.cl", "ELEM=" + bytes, name + bytes};
}

// Chooses the kernel: tiles where the source's unit stride is in another dimension than the destination's.
CopyNest make_nest(const Move& move) {
  const StridedLoop loop = coalesce(move.shape, {move.to.strides, move.from.strides});
  CopyNest nest;
  for (std::size_t i = 0; i < loop.dims.size(); ++i) {
    nest.axes.push_back({loop.dims[i], loop.strides[1][i], loop.strides[0][i]});
  }
  while (nest.axes.size() < 2) nest.axes.insert(nest.axes.begin(), Axis{});
  const Axis inner = nest.axes.back();
  if (inner.dst != 1 || inner.src == 1 || inner.src == 0) return nest;
  const auto unit = std::find_if(nest.axes.begin(), nest.axes.end() - 1,
                                 [](const Axis& axis) { return axis.src == 1 && axis.size > 1; });
  if (unit == nest.axes.end() - 1) return nest;
  nest.kind = CopyKind::kTiles;
  std::rotate(unit, unit + 1, nest.axes.end() - 1);  // the source's unit stride becomes the last but one
  return nest;
}

void append_launch(Lowered& lowered, const CopyNest& nest, std::size_t elem_bytes, std::pair<Operand, Operand> operands,
                   Offsets offsets) {
  const std::size_t rank = nest.axes.size();
  const Axis& row = nest.axes[rank - 2];
  const Axis& inner = nest.axes[rank - 1];
  std::int64_t inner_block = std::min(inner.size, kElemsPerItem);
  std::int64_t row_block = std::max<std::int64_t>(1, kElemsPerItem / inner_block);
  if (nest.kind == CopyKind::kTiles) {
    inner_block = std::min(inner.size, kTileBlock);
    row_block = ceil_div(kElemsPerItem / inner_block, kTile) * kTile;
  }
  std::array<Axis, kKernelOuterDims> outer{};
  std::copy(nest.axes.begin(), nest.axes.end() - 2, outer.end() - static_cast<std::ptrdiff_t>(rank - 2));
  std::int64_t outer_count = 1;
  for (const Axis& axis : outer) outer_count *= axis.size;

  KernelLaunch launch;
  launch.instance = copy_instance(nest.kind, elem_bytes);
  const auto add = [&launch](std::int64_t value) { launch.args.emplace_back(static_cast<std::int32_t>(value)); };
  launch.args.emplace_back(operands.first);
  launch.args.emplace_back(operands.second);
  for (const std::int64_t value : {offsets.from, offsets.to, row.size, inner.size, row_block, inner_block}) {
    add(value);
  }
  for (const std::int64_t value : {row.src, row.dst, inner.src, inner.dst}) add(value);
  for (std::size_t i = 1; i < kKernelOuterDims; ++i) add(outer[i].size);
  for (const Axis& axis : outer) add(axis.src);
  for (const Axis& axis : outer) add(axis.dst);
  launch.global = {static_cast<std::size_t>(ceil_div(row.size, row_block)), static_cast<std::size_t>(outer_count),
                   static_cast<std::size_t>(ceil_div(inner.size, inner_block))};
  lowered.launches.push_back(std::move(launch));
}

// Product of the dimensions that do not fit into one launch.
std::int64_t count_launches(const CopyNest& nest) {
  std::int64_t count = 1;
  for (std::size_t i = 0; i + kKernelDims < nest.axes.size(); ++i) count *= nest.axes[i].size;
  return count;
}

}  // namespace

void append_copy(Lowered& lowered, ElementType type, const Move& move, Operand src, Operand dst, const KernelCaps&) {
  if (count_elems(move.shape) == 0) return;
  CopyNest nest = make_nest(move);
  const std::int64_t launches = count_launches(nest);
  const std::size_t spare = nest.axes.size() > kKernelDims ? nest.axes.size() - kKernelDims : 0;
  const std::vector<Axis> extra(nest.axes.begin(), nest.axes.begin() + static_cast<std::ptrdiff_t>(spare));
  nest.axes.erase(nest.axes.begin(), nest.axes.begin() + static_cast<std::ptrdiff_t>(spare));
  for (std::int64_t i = 0; i < launches; ++i) {
    Offsets offsets{move.from.offset_elems, move.to.offset_elems};
    std::int64_t rest = i;
    for (const Axis& axis : extra) {
      offsets.from += rest % axis.size * axis.src;
      offsets.to += rest % axis.size * axis.dst;
      rest /= axis.size;
    }
    append_launch(lowered, nest, size_bytes(type), {src, dst}, offsets);
  }
}

Support supports_move(ElementType type, const Move& move, const KernelCaps& caps) {
  if (count_elems(move.shape) == 0) return Support::yes();
  const CopyNest nest = make_nest(move);
  const KernelInstance instance = copy_instance(nest.kind, size_bytes(type));
  if (!caps.offers(instance)) return Support::no("the programmed bitstream lacks " + instance.entry);
  const std::int64_t launches = count_launches(nest);
  if (launches <= kMaxLaunches) return Support::yes();
  return Support::no("a movement over shape " + to_string(move.shape) + " needs " + std::to_string(launches) +
                     " launches, at most " + std::to_string(kMaxLaunches) + " are sensible");
}

Lowered lower_copy(const TensorDesc& from, const TensorDesc& to, const KernelCaps& caps) {
  HEADRACE_ASSERT(from.shape == to.shape && from.type == to.type, "a copy needs equal shapes and types");
  Lowered lowered;
  const Move move{from.shape, {from.strides, from.offset}, {to.strides, to.offset}};
  append_copy(lowered, from.type, move, Operand::input(0), Operand::output(0), caps);
  return lowered;
}

std::vector<KernelInstance> copy_instances() {
  std::vector<KernelInstance> instances;
  for (const std::size_t bytes : {1U, 2U, 4U, 8U}) {
    instances.push_back(copy_instance(CopyKind::kRows, bytes));
    instances.push_back(copy_instance(CopyKind::kTiles, bytes));
  }
  return instances;
}

}  // namespace headrace
