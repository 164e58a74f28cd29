// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse_activation.hpp"

#include "ops/descriptor.hpp"
#include "passes/make_node.hpp"

namespace headrace {
namespace {

std::optional<Fusable> plain_activation(const std::string& type) {
  if (type == "ReLU") return Fusable{Activation::kRelu};
  if (type == "Sigmoid") return Fusable{Activation::kSigmoid};
  if (type == "HSwish") return Fusable{Activation::kHSwish};
  if (type == "HSigmoid") return Fusable{Activation::kHSigmoid};
  if (type == "Tanh") return Fusable{Activation::kTanh};
  if (type == "Mish") return Fusable{Activation::kMish};
  if (type == "SoftPlus") return Fusable{Activation::kSoftPlus};
  return std::nullopt;
}

// Activations with parameters; an input that is no constant is no epilogue.
std::optional<Fusable> activation_of(const Graph& graph, const Node& node) {
  if (!node.epilogue.is_empty()) return std::nullopt;
  if (const auto plain = plain_activation(node.type)) return plain;
  const auto scalar = [&](std::size_t index) { return const_scalar(graph, node.inputs.at(index)); };
  if (node.type == "Clamp") {
    return Fusable{Activation::kClamp, node.attributes.get_double("min"), node.attributes.get_double("max")};
  }
  if (node.type == "Elu") return Fusable{Activation::kElu, node.attributes.get_double("alpha")};
  if (node.type == "Gelu") {
    const bool is_tanh =
        node.attributes.has("approximation_mode") && node.attributes.get_string("approximation_mode") == "TANH";
    return Fusable{is_tanh ? Activation::kGeluTanh : Activation::kGeluErf};
  }
  if (node.type == "Swish") {
    if (node.inputs.size() == 1) return Fusable{Activation::kSwish, 1.0};
    const auto beta = scalar(1);
    return beta ? std::optional(Fusable{Activation::kSwish, *beta}) : std::nullopt;
  }
  if (node.type == "PReLU") {
    const auto slope = scalar(1);
    return slope ? std::optional(Fusable{Activation::kLeakyRelu, *slope}) : std::nullopt;
  }
  if (node.type == "HardSigmoid") {
    const auto alpha = scalar(1);
    const auto beta = scalar(2);
    if (alpha && beta) return Fusable{Activation::kHardSigmoid, *alpha, *beta};
  }
  return std::nullopt;
}

void fuse(Rewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.graph();
  const Node& node = graph.at(id);
  if (node.inputs.empty() || node.outputs.size() != 1 || node.outputs[0].type != ElementType::f32) return;
  const auto fusable = activation_of(graph, node);
  if (!fusable) return;
  if (graph.at(node.inputs[0]).epilogue.activation == Activation::kNone) move_into_epilogue(rewriter, id, *fusable);
}

}  // namespace

void move_into_epilogue(Rewriter& rewriter, NodeId id, const Fusable& fusable) {
  const Graph& graph = rewriter.graph();
  const PortRef source = graph.at(id).inputs[0];
  const Node& producer = graph.at(source);
  if (producer.outputs.size() != 1 || producer.outputs[0].shape != graph.at(id).outputs[0].shape) return;
  if (!rewriter.only_user(source)) return;
  Epilogue epilogue = producer.epilogue;
  epilogue.activation = fusable.activation;
  epilogue.alpha = static_cast<float>(fusable.alpha);
  epilogue.beta = static_cast<float>(fusable.beta);
  const OpDescriptor* op = find_op(producer.type);
  if (op == nullptr || op->fuses == nullptr || !op->fuses(producer, epilogue)) return;
  rewriter.at(source.node).epilogue = epilogue;
  rewriter.take_over({id, 0}, source);
}

void fuse_activation(Graph& graph) { rewrite_each(graph, fuse); }

}  // namespace headrace
