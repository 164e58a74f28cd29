// SPDX-License-Identifier: Apache-2.0
// The error of a shape that depends on a value which is not known yet.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "graph/graph.hpp"

namespace headrace {

// The error's message with the layer before it, unless an inner layer stands there.
inline std::string message_with_layer(const Error& error, const Node& node) {
  if (std::string_view(error.what()).starts_with("layer '")) return error.what();
  return "layer '" + node.name + "' (" + node.source_type + "): " + error.what();
}

// An operator's `infer` throws it for one input by number, or for all of them; infer_node adds whose inputs these are.
// Who knows the values of the network's inputs can try again with them as constants.
class UnknownValue : public Error {
 public:
  UnknownValue(std::optional<std::size_t> input, const std::string& message)
      : Error(ErrorCode::kUnsupported, message), input_(input) {}

  // The same error with the tensors whose values are wanted and the layer's name.
  UnknownValue(const UnknownValue& error, const Node& node)
      : Error(ErrorCode::kUnsupported, message_with_layer(error, node)), input_(error.input_), node_(node.id) {
    // What came out of a body was wanted of tensors inside it; here it may be any input of the node.
    const bool is_one = input_ && error.sources_.empty() && *input_ < node.inputs.size();
    sources_ = is_one ? std::vector<PortRef>{node.inputs[*input_]} : node.inputs;
  }

  // The tensors, in the graph that was inferred; empty before infer_node has set them.
  const std::vector<PortRef>& sources() const { return sources_; }
  // The layer of that graph whose output shapes need them.
  NodeId node() const { return node_; }

 private:
  std::optional<std::size_t> input_;
  std::vector<PortRef> sources_;
  NodeId node_;
};

}  // namespace headrace
