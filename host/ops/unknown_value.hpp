// SPDX-License-Identifier: Apache-2.0
// The error of a shape that depends on a value which is not known yet.
#pragma once

#include <string>

#include "core/error.hpp"
#include "graph/graph.hpp"

namespace headrace {

// An operator's `infer` throws it for the input by number; infer_shapes adds whose input that is. Who knows the values
// of the network's inputs can try again with them as constants.
class UnknownValue : public Error {
 public:
  UnknownValue(std::size_t input, const std::string& message)
      : Error(ErrorCode::kUnsupported, message), input_(input) {}

  UnknownValue(const UnknownValue& error, PortRef source, const std::string& prefix)
      : Error(ErrorCode::kUnsupported, prefix + ": " + error.what()), input_(error.input_), source_(source) {}

  std::size_t input() const { return input_; }
  // The tensor whose value is wanted; invalid before infer_shapes has set it.
  PortRef source() const { return source_; }

 private:
  std::size_t input_;
  PortRef source_;
};

}  // namespace headrace
