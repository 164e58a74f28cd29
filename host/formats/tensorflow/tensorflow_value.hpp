// SPDX-License-Identifier: Apache-2.0
// What a name of a TensorFlow graph stands for while it is read.
#pragma once

#include <memory>
#include <vector>

#include "graph/graph.hpp"

namespace headrace::detail {

struct TensorflowValue {
  enum class Kind {
    kTensor,
    kList,     // a TensorList: tensors that loops collect, known one by one
    kRefused,  // the node that should make it was refused
    kDead,     // of the branch that a Switch did not take
  };

  // NOLINTNEXTLINE(google-explicit-constructor): converters return tensors
  TensorflowValue(PortRef tensor) : ref(tensor) {}
  explicit TensorflowValue(Kind other) : kind(other) {}
  explicit TensorflowValue(std::shared_ptr<const std::vector<PortRef>> tensors)
      : kind(Kind::kList), list(std::move(tensors)) {}

  Kind kind = Kind::kTensor;
  PortRef ref;
  std::shared_ptr<const std::vector<PortRef>> list;  // an invalid node where nothing is set
};

using TensorflowValues = std::vector<TensorflowValue>;

}  // namespace headrace::detail
