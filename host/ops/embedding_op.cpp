// SPDX-License-Identifier: Apache-2.0
// EmbeddingBag*, EmbeddingSegmentsSum: sums or means of a table's rows, picked by the indices of each bag.
#include <algorithm>

#include "ops/checks.hpp"
#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"EmbeddingBagOffsetsSum", "EmbeddingBagPackedSum", "EmbeddingSegmentsSum",
                                       "EmbeddingBagOffsets", "EmbeddingBagPacked"};

Attributes parse(std::string_view type, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  if (!type.ends_with("Sum")) attributes.set("reduction", parse_enum(raw, "reduction", "sum", {"sum", "mean"}));
  return attributes;
}

// Which of a node's inputs is what; 0 where the operator has no such input (input 0 is the table).
struct BagInputs {
  std::size_t fallback = 0;  // the row of an empty bag
  std::size_t weights = 0;
  std::size_t most = 0;
};

BagInputs inputs_of(std::string_view type) {
  if (type.starts_with("EmbeddingBagPacked")) return {0, 2, 3};
  if (type.starts_with("EmbeddingBagOffsets")) return {3, 4, 5};
  return {4, 5, 6};
}

std::int64_t count_bags(const Node& node, std::span<const InferInput> inputs) {
  if (node.type.starts_with("EmbeddingBagPacked")) {
    check_rank(node, inputs[1].shape, 2, "indices");
    return inputs[1].shape[0];
  }
  check_rank(node, inputs[1].shape, 1, "indices");
  check_rank(node, inputs[2].shape, 1, node.type == "EmbeddingSegmentsSum" ? "segment ids" : "offsets");
  if (node.type != "EmbeddingSegmentsSum") return inputs[2].shape[0];
  check_shape(node, inputs[2].shape, inputs[1].shape, "segment ids");
  const std::int64_t count = int_at(values_of(inputs), 3);
  constexpr std::int64_t kMostSegments = std::int64_t{1} << 24;  // each costs memory, whatever the file's size
  if (count < 0 || count > kMostSegments) fail_node(node, "has " + std::to_string(count) + " segments");
  return count;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  const BagInputs places = inputs_of(node.type);
  check_input_count(node, inputs.size(), places.fallback == 0 ? 2 : places.fallback, places.most);
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    if (i != places.weights) check_index_type(node, inputs, i, "indices");
  }
  if (inputs.size() == places.most) {
    check_same_types(node, inputs, {0, places.weights});
    check_shape(node, inputs[places.weights].shape, inputs[1].shape, "weights");
  }
  if (inputs[0].shape.empty()) fail_node(node, "needs a table of rank 1 or more");
  Shape shape = inputs[0].shape;
  shape[0] = count_bags(node, inputs);
  return {{inputs[0].type, shape}};
}

// The places in the list of indices that make up each bag.
std::vector<std::vector<std::int64_t>> bags_of(const Node& node, std::span<const Tensor> inputs, std::int64_t count) {
  std::vector<std::vector<std::int64_t>> bags(static_cast<std::size_t>(count));
  const std::int64_t indices = inputs[1].count();
  if (node.type.starts_with("EmbeddingBagPacked")) {
    for (std::int64_t i = 0; i < indices; ++i) bags[static_cast<std::size_t>(i / inputs[1].shape()[1])].push_back(i);
    return bags;
  }
  const std::vector<std::int64_t> marks = to_int64s(inputs[2]);
  if (node.type == "EmbeddingSegmentsSum") {
    for (std::int64_t i = 0; i < indices; ++i) {
      const std::int64_t segment = marks[static_cast<std::size_t>(i)];
      if (segment >= 0 && segment < count) bags[static_cast<std::size_t>(segment)].push_back(i);
    }
    return bags;
  }
  for (std::size_t b = 0; b < bags.size(); ++b) {
    const std::int64_t end = b + 1 < marks.size() ? marks[b + 1] : indices;
    if (marks[b] < 0 || end > indices || marks[b] > end) {
      fail(ErrorCode::kInvalidArgument,
           node.type + " has offsets that do not rise from 0 to " + std::to_string(indices));
    }
    for (std::int64_t i = marks[b]; i < end; ++i) bags[b].push_back(i);
  }
  return bags;
}

void add_row(const Tensor& table, std::int64_t row, double weight, std::vector<double>& sums) {
  const auto width = static_cast<std::int64_t>(sums.size());
  for (std::int64_t i = 0; i < width; ++i)
    sums[static_cast<std::size_t>(i)] += weight * real_at(table, row * width + i);
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const BagInputs places = inputs_of(node.type);
  const Shape& table = inputs[0].shape();
  const std::vector<std::int64_t> indices = to_int64s(inputs[1]);
  const bool has_weights = inputs.size() == places.most;
  // -1 (and no such input) leaves an empty bag at zero.
  const bool has_fallback = places.fallback != 0 && places.fallback < inputs.size();
  const std::int64_t fallback = has_fallback ? int_at(values_of(inputs), places.fallback) : -1;
  const bool is_mean = node.attributes.has("reduction") && node.attributes.get_string("reduction") == "mean";
  const auto width = static_cast<std::size_t>(count_between(table, 1, table.size()));
  std::int64_t at = 0;
  for (const std::vector<std::int64_t>& bag : bags_of(node, inputs, outputs[0].shape()[0])) {
    std::vector<double> sums(width, 0.0);
    for (const std::int64_t place : bag) {
      const std::int64_t row = checked_index(node, indices[static_cast<std::size_t>(place)], table[0], place);
      add_row(inputs[0], row, has_weights ? real_at(inputs[places.weights], place) : 1, sums);
    }
    if (bag.empty() && fallback != -1) add_row(inputs[0], checked_index(node, fallback, table[0], 0), 1, sums);
    for (const double sum : sums) {
      const double divisor = is_mean && !bag.empty() ? static_cast<double>(bag.size()) : 1;
      set_real(outputs[0], at++, sum / divisor);
    }
  }
}

}  // namespace

const OpDescriptor& embedding_op() {
  static constexpr OpDescriptor op = {.types = kTypes, .parse = parse, .infer = infer, .reference = reference};
  return op;
}

}  // namespace headrace
