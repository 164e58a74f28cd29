// SPDX-License-Identifier: Apache-2.0
// Graphs inside a node: the branches of If, the body of Loop and TensorIterator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace headrace {

class Graph;

// The part of a tensor that an iteration reads or writes: part_size elements along the axis, from `start` towards
// `end`, one part per iteration. Negative places count from behind the last element (-1: behind the last); a negative
// stride starts there.
struct BodySlice {
  std::int64_t axis = 0;
  std::int64_t start = 0;
  std::int64_t end = -1;
  std::int64_t stride = 1;
  std::int64_t part_size = 1;
  friend bool operator==(const BodySlice&, const BodySlice&) = default;
};

// The node's input `input` is the body's Parameter number `parameter`: whole, or one slice per iteration.
struct BodyInput {
  std::size_t input = 0;
  std::size_t parameter = 0;
  std::optional<BodySlice> slice;
};

// The node's output `output` is the body's Result number `result`: of the last iteration, or of all of them, joined.
struct BodyOutput {
  std::size_t output = 0;
  std::size_t result = 0;
  std::optional<BodySlice> slice;
};

// The Result is the Parameter's value in the next iteration.
struct BackEdge {
  std::size_t result = 0;
  std::size_t parameter = 0;
};

// A body reads nothing of the graph around it but through its inputs. Bodies are shared by copies of the node and
// never changed: a pass puts another graph in their place.
struct Body {
  std::shared_ptr<const Graph> graph;
  std::vector<BodyInput> inputs;
  std::vector<BodyOutput> outputs;
  std::vector<BackEdge> back_edges;
  std::optional<std::size_t> iteration_parameter;  // Loop: the Parameter that gets the iteration's number
  std::optional<std::size_t> condition_result;     // Loop: the Result that says whether to go on
};

// Bodies inside bodies: more are refused, since each level is inferred and run by recursion.
inline constexpr int kMaxBodyDepth = 8;

}  // namespace headrace
