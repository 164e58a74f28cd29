// SPDX-License-Identifier: Apache-2.0
// BatchToSpace and SpaceToBatch: blocks of the spatial dimensions go to the batch dimension and back.
//
// With r the place inside a block, batch r * N + n of the blocked tensor holds element d of batch n of the plain one:
// plain[n, d * block + r] = blocked[r * N + n, d], r counted over the dimensions in row-major order.
#include <algorithm>

#include "ops/checks.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"BatchToSpace", "SpaceToBatch"};

Attributes parse(std::string_view, std::int32_t, const RawAttributes&) { return {}; }

struct Blocks {
  std::vector<std::int64_t> block;
  std::vector<std::int64_t> begin;  // crops or pads
  std::vector<std::int64_t> end;
  std::int64_t product = 1;
};

Blocks blocks_of(const Node& node, const InputValues& values, const Shape& shape) {
  Blocks blocks{ints_at(values, 1), ints_at(values, 2), ints_at(values, 3)};
  const std::size_t rank = shape.size();
  if (rank < 2 || blocks.block.size() != rank || blocks.begin.size() != rank || blocks.end.size() != rank) {
    fail_node(node, "needs block shape, begins and ends with one value per dimension of " + to_string(shape));
  }
  constexpr std::int64_t kMaxPad = std::int64_t{1} << 31;
  for (std::size_t i = 0; i < rank; ++i) {
    const bool is_batch_ok = i > 0 || (blocks.block[0] == 1 && blocks.begin[0] == 0 && blocks.end[0] == 0);
    if (!is_batch_ok || blocks.block[i] < 1 || blocks.begin[i] < 0 || blocks.end[i] < 0 || blocks.begin[i] > kMaxPad ||
        blocks.end[i] > kMaxPad) {
      fail_node(node, "has block " + std::to_string(blocks.block[i]) + ", begin " + std::to_string(blocks.begin[i]) +
                          " and end " + std::to_string(blocks.end[i]) + " in dimension " + std::to_string(i));
    }
  }
  blocks.product = count_elems(blocks.block);
  return blocks;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 4, 4);
  Shape shape = inputs[0].shape;
  const Blocks blocks = blocks_of(node, values_of(inputs), shape);
  if (node.type == "BatchToSpace") {
    if (shape[0] % blocks.product != 0) {
      fail_node(node,
                "has a batch of " + std::to_string(shape[0]) + ", no multiple of " + std::to_string(blocks.product));
    }
    shape[0] /= blocks.product;
    for (std::size_t i = 1; i < shape.size(); ++i) {
      shape[i] = count_elems({shape[i], blocks.block[i]}) - blocks.begin[i] - blocks.end[i];
      if (shape[i] < 0) fail_node(node, "crops more than dimension " + std::to_string(i) + " has");
    }
  } else {
    shape[0] = count_elems({shape[0], blocks.product});
    for (std::size_t i = 1; i < shape.size(); ++i) {
      const std::int64_t padded = shape[i] + blocks.begin[i] + blocks.end[i];
      if (padded % blocks.block[i] != 0) {
        fail_node(node, "has " + std::to_string(padded) + " elements in dimension " + std::to_string(i) +
                            ", no multiple of " + std::to_string(blocks.block[i]));
      }
      shape[i] = padded / blocks.block[i];
    }
  }
  return {{inputs[0].type, shape}};
}

// Element of the plain tensor, or -1 in the padding, that the blocked tensor's element with this index holds.
std::int64_t plain_place(const Blocks& blocks, const Shape& plain, const std::vector<std::int64_t>& index) {
  std::int64_t block_place = index[0] / plain[0];
  std::int64_t place = 0;
  std::int64_t stride = 1;
  for (std::size_t d = plain.size(); d-- > 1;) {
    const std::int64_t at = index[d] * blocks.block[d] + block_place % blocks.block[d] - blocks.begin[d];
    block_place /= blocks.block[d];
    if (at < 0 || at >= plain[d]) return -1;
    place += at * stride;
    stride *= plain[d];
  }
  return place + index[0] % plain[0] * stride;
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const Blocks blocks = blocks_of(node, values_of(inputs), inputs[0].shape());
  const bool is_to_space = node.type == "BatchToSpace";
  const Shape& blocked = is_to_space ? inputs[0].shape() : outputs[0].shape();
  const Shape& plain = is_to_space ? outputs[0].shape() : inputs[0].shape();
  const std::vector<std::int64_t> strides = row_major_strides(blocked);
  const std::size_t bytes = size_bytes(inputs[0].type());
  const std::int64_t count = count_elems(blocked);
  std::fill_n(outputs[0].mutable_data(), outputs[0].size_bytes(), std::byte{0});
  std::vector<std::int64_t> index(blocked.size());
  for (std::int64_t i = 0; i < count && count_elems(plain) != 0; ++i) {
    for (std::size_t d = 0; d < blocked.size(); ++d) index[d] = i / strides[d] % blocked[d];
    const std::int64_t place = plain_place(blocks, plain, index);
    if (place < 0) continue;
    const std::int64_t from = is_to_space ? i : place;
    const std::int64_t to = is_to_space ? place : i;
    std::copy_n(inputs[0].data() + static_cast<std::size_t>(from) * bytes, bytes,
                outputs[0].mutable_data() + static_cast<std::size_t>(to) * bytes);
  }
}

}  // namespace

const OpDescriptor& batch_space_op() {
  static constexpr OpDescriptor op = {.types = kTypes, .parse = parse, .infer = infer, .reference = reference};
  return op;
}

}  // namespace headrace
