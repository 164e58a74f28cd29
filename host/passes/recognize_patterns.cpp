// SPDX-License-Identifier: Apache-2.0
#include "passes/recognize_patterns.hpp"

#include <cmath>
#include <numbers>

#include "passes/make_node.hpp"

namespace headrace {
namespace {

constexpr double kTolerance = 1e-4;  // exporters round sqrt(2) and 1/6 in their own ways

bool is_near(double a, double b) { return std::abs(a - b) <= kTolerance * std::abs(b); }

// Matchers look at one node that gives the tensor; each returns the tensor inside or nothing. A tensor that something
// else reads too must stay, so the pattern would save nothing.
class Matcher {
 public:
  explicit Matcher(const Rewriter& rewriter) : rewriter_(rewriter) {}

  const Node* inner(PortRef ref, std::string_view type) const {
    const Node& node = rewriter_.graph().at(ref);
    return node.type == type && node.epilogue.is_empty() && rewriter_.only_user(ref) ? &node : nullptr;
  }

  // x of `x op value`, in either order where the operator commutes.
  std::optional<PortRef> with_scalar(const Node& node, std::string_view type, double value) const {
    if (!is_numpy_binary(node, type)) return std::nullopt;
    const bool is_ordered = type == "Divide" || type == "Subtract";
    for (std::size_t i = is_ordered ? 1 : 0; i < 2; ++i) {
      const auto scalar = const_scalar(rewriter_.graph(), node.inputs[i]);
      const PortRef other = node.inputs[1 - i];
      const bool keeps_shape = rewriter_.graph().info(other).shape == node.outputs[0].shape;
      if (scalar && is_near(*scalar, value) && keeps_shape) return other;
    }
    return std::nullopt;
  }

  std::optional<PortRef> inner_with_scalar(PortRef ref, std::string_view type, double value) const {
    const Node* node = inner(ref, type);
    return node == nullptr ? std::nullopt : with_scalar(*node, type, value);
  }

  // x of Clamp(x + 3, 0, 6).
  std::optional<PortRef> relu6_of_x_plus_3(PortRef ref) const {
    const Node* clamp = inner(ref, "Clamp");
    if (clamp == nullptr || clamp->attributes.get_double("min") != 0.0) return std::nullopt;
    if (clamp->attributes.get_double("max") != 6.0) return std::nullopt;
    return inner_with_scalar(clamp->inputs.at(0), "Add", 3.0);
  }

  // y of y / 6 or y * (1 / 6).
  std::optional<PortRef> sixth(const Node& node) const {
    const auto quotient = with_scalar(node, "Divide", 6.0);
    return quotient ? quotient : with_scalar(node, "Multiply", 1.0 / 6.0);
  }

  // x of 1 + Erf(x / sqrt(2)).
  std::optional<PortRef> one_plus_erf(PortRef ref) const {
    const auto erf_ref = inner_with_scalar(ref, "Add", 1.0);
    const Node* erf = erf_ref ? inner(*erf_ref, "Erf") : nullptr;
    if (erf == nullptr) return std::nullopt;
    const PortRef argument = erf->inputs.at(0);
    const auto quotient = inner_with_scalar(argument, "Divide", std::numbers::sqrt2);
    return quotient ? quotient : inner_with_scalar(argument, "Multiply", 1.0 / std::numbers::sqrt2);
  }

 private:
  const Rewriter& rewriter_;
};

// For both orders of a product's factors.
template <typename Match>
std::optional<PortRef> match_product(const Node& node, Match match) {
  if (!is_numpy_binary(node, "Multiply")) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i) {
    if (const auto x = match(node.inputs[i], node.inputs[1 - i])) return x;
  }
  return std::nullopt;
}

std::optional<PortRef> match_swish(const Matcher& matcher, const Node& node) {
  return match_product(node, [&](PortRef x, PortRef gate) -> std::optional<PortRef> {
    const Node* sigmoid = matcher.inner(gate, "Sigmoid");
    return sigmoid != nullptr && sigmoid->inputs.at(0) == x ? std::optional(x) : std::nullopt;
  });
}

std::optional<PortRef> match_hsigmoid(const Matcher& matcher, const Node& node) {
  const auto clamped = matcher.sixth(node);
  return clamped ? matcher.relu6_of_x_plus_3(*clamped) : std::nullopt;
}

std::optional<PortRef> match_hswish(const Rewriter& rewriter, const Matcher& matcher, const Node& node) {
  // (x * relu6(x + 3)) / 6
  if (const auto product = matcher.sixth(node)) {
    if (const Node* inner = matcher.inner(*product, "Multiply")) {
      return match_product(*inner, [&](PortRef x, PortRef gate) -> std::optional<PortRef> {
        return matcher.relu6_of_x_plus_3(gate) == x ? std::optional(x) : std::nullopt;
      });
    }
    return std::nullopt;
  }
  // x * (relu6(x + 3) / 6), or x * HSigmoid(x) where the inner part was recognized before
  return match_product(node, [&](PortRef x, PortRef gate) -> std::optional<PortRef> {
    if (const Node* hsigmoid = matcher.inner(gate, "HSigmoid")) {
      return hsigmoid->inputs.at(0) == x ? std::optional(x) : std::nullopt;
    }
    if (!rewriter.only_user(gate)) return std::nullopt;
    return match_hsigmoid(matcher, rewriter.graph().at(gate)) == x ? std::optional(x) : std::nullopt;
  });
}

// 0.5 * (x * (1 + erf)), (0.5 * x) * (1 + erf), x * (0.5 * (1 + erf))
std::optional<PortRef> match_gelu(const Matcher& matcher, const Node& node) {
  if (const auto product = matcher.with_scalar(node, "Multiply", 0.5)) {
    if (const Node* inner = matcher.inner(*product, "Multiply")) {
      return match_product(*inner, [&](PortRef x, PortRef gate) -> std::optional<PortRef> {
        return matcher.one_plus_erf(gate) == x ? std::optional(x) : std::nullopt;
      });
    }
    return std::nullopt;
  }
  return match_product(node, [&](PortRef a, PortRef b) -> std::optional<PortRef> {
    const auto half = matcher.inner_with_scalar(a, "Multiply", 0.5);
    if (!half) return std::nullopt;
    const auto direct = matcher.one_plus_erf(b);
    if (direct && *direct == *half) return direct;
    const auto gate = matcher.one_plus_erf(*half);
    return gate && *gate == b ? gate : std::nullopt;
  });
}

void recognize(Rewriter& rewriter, NodeId id) {
  const Node& node = rewriter.graph().at(id);
  if (node.outputs.size() != 1 || node.outputs[0].type != ElementType::f32 || node.inputs.size() != 2) return;
  const Matcher matcher(rewriter);
  const std::string name = node.name;
  if (const auto x = match_swish(matcher, node)) {
    rewriter.take_over({id, 0}, add_op(rewriter, "Swish", name, {*x}, {}, 4));
  } else if (const auto gated = match_hswish(rewriter, matcher, node)) {
    rewriter.take_over({id, 0}, add_op(rewriter, "HSwish", name, {*gated}, {}, 4));
  } else if (const auto gelu = match_gelu(matcher, node)) {
    rewriter.take_over({id, 0}, add_op(rewriter, "Gelu", name, {*gelu}, {{"approximation_mode", "ERF"}}, 7));
  }
}

}  // namespace

void recognize_patterns(Graph& graph) {
  const auto order = graph.topological_order();
  Rewriter rewriter(graph);
  for (const NodeId id : order) {
    if (!rewriter.is_removed(id)) recognize(rewriter, id);
  }
  graph.remove_dead();
  Rewriter second(graph);
  // What is left after HSwish has taken its share.
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.at(id);
    if (node.inputs.size() != 2 || node.outputs.size() != 1) continue;
    const std::string name = node.name;
    if (const auto x = match_hsigmoid(Matcher(second), node)) {
      second.take_over({id, 0}, add_op(second, "HSigmoid", name, {*x}, {}, 5));
    }
  }
  graph.remove_dead();
}

}  // namespace headrace
