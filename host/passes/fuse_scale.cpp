// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse_scale.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "passes/channel_factors.hpp"
#include "passes/make_node.hpp"

namespace headrace {
namespace {

bool is_all_finite(const Tensor& tensor) {
  const auto values = to_doubles(tensor);
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

// Element by element over the broadcast shape of both; nothing where the result would not be finite (a division by
// zero or an overflow must keep its order of operations).
std::optional<Tensor> combine(const Tensor& a, const Tensor& b, const std::function<double(double, double)>& f) {
  const auto shape = broadcast_shapes(a.shape(), b.shape());
  if (!shape) return std::nullopt;
  const auto x = to_doubles(a);
  const auto y = to_doubles(b);
  const auto strides = row_major_strides(*shape);
  const auto index_in = [&](const Tensor& tensor, std::size_t flat) {
    const Shape& own = tensor.shape();
    const auto own_strides = row_major_strides(own);
    const std::size_t shift = shape->size() - own.size();
    std::int64_t index = 0;
    for (std::size_t i = 0; i < own.size(); ++i) {
      const std::int64_t at = static_cast<std::int64_t>(flat) / strides[i + shift] % (*shape)[i + shift];
      if (own[i] != 1) index += at * own_strides[i];
    }
    return static_cast<std::size_t>(index);
  };
  std::vector<double> values;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count_elems(*shape)); ++i) {
    values.push_back(f(x[index_in(a, i)], y[index_in(b, i)]));
  }
  Tensor result = make_f32(*shape, values);
  return is_all_finite(result) ? std::optional<Tensor>(std::move(result)) : std::nullopt;
}

// x - c is x + (-c), x / c is x * (1 / c).
void make_commutative(Rewriter& rewriter, NodeId id) {
  const Node node = rewriter.graph().at(id);
  const bool is_difference = is_numpy_binary(node, "Subtract");
  if (!is_difference && !is_numpy_binary(node, "Divide")) return;
  const auto operand = const_operand(rewriter.graph(), node);
  if (!operand) return;
  const Tensor zero_or_one = make_f32({}, {is_difference ? 0.0 : 1.0});
  const auto constant = combine(zero_or_one, *const_f32(rewriter.graph(), operand->constant),
                                [&](double a, double b) { return is_difference ? a - b : a / b; });
  // A denormal or zero reciprocal would lose digits.
  if (!constant || (!is_difference && combine(zero_or_one, *constant, std::divides<>()) == std::nullopt)) return;
  const PortRef c = rewriter.add_const(node.name + "/constant", *constant);
  const PortRef made = add_op(rewriter, is_difference ? "Add" : "Multiply", node.name, {operand->data, c});
  rewriter.take_over({id, 0}, made);
}

struct Link {
  NodeId id;
  ConstOperand operand;
};

// The Add or Multiply by a constant that makes the tensor, where nothing else reads it.
std::optional<Link> link_of(const Rewriter& rewriter, PortRef ref, std::string_view type) {
  const Node& node = rewriter.graph().at(ref);
  if (!is_numpy_binary(node, type) || rewriter.only_user(ref) == std::nullopt) return std::nullopt;
  const auto operand = const_operand(rewriter.graph(), node);
  return operand ? std::optional<Link>(Link{ref.node, *operand}) : std::nullopt;
}

// (x + a) + b, (x * a) * b: one node.
bool merge_equal(Rewriter& rewriter, NodeId id, std::string_view type) {
  const Node node = rewriter.graph().at(id);
  if (!is_numpy_binary(node, type)) return false;
  const auto outer = const_operand(rewriter.graph(), node);
  if (!outer) return false;
  const auto inner = link_of(rewriter, outer->data, type);
  if (!inner) return false;
  const Tensor& a = *const_f32(rewriter.graph(), inner->operand.constant);
  const Tensor& b = *const_f32(rewriter.graph(), outer->constant);
  const auto constant = type == "Add" ? combine(a, b, std::plus<>()) : combine(a, b, std::multiplies<>());
  if (!constant) return false;
  const Node first = rewriter.graph().at(inner->id);
  const PortRef c = rewriter.add_const(node.name + "/constant", *constant);
  const PortRef made = add_op(rewriter, type, node.name, {inner->operand.data, c});
  rewriter.at(made.node).fused_names = first.fused_names;
  rewriter.at(made.node).fused_names.push_back(first.name);
  rewriter.take_over({id, 0}, made);
  return true;
}

// (x + a) * b behind a convolution or MatMul is x * b + a * b: then the Multiply folds into weights.
bool move_multiply_first(Rewriter& rewriter, NodeId id) {
  const Node node = rewriter.graph().at(id);
  if (!is_numpy_binary(node, "Multiply")) return false;
  const auto outer = const_operand(rewriter.graph(), node);
  if (!outer) return false;
  const auto inner = link_of(rewriter, outer->data, "Add");
  if (!inner) return false;
  const Node& producer = rewriter.graph().at(inner->operand.data);
  const bool takes_scale = is_numpy_binary(producer, "Multiply") || is_weighted(rewriter.graph(), producer);
  if (!takes_scale) return false;
  const Tensor& a = *const_f32(rewriter.graph(), inner->operand.constant);
  const Tensor& b = *const_f32(rewriter.graph(), outer->constant);
  const auto shift = combine(a, b, std::multiplies<>());
  if (!shift || !is_all_finite(b)) return false;
  const Node first = rewriter.graph().at(inner->id);
  const PortRef d = rewriter.add_const(first.name + "/constant", *shift);
  // The layers change places and keep their names.
  const PortRef product = add_op(rewriter, "Multiply", node.name, {inner->operand.data, outer->constant});
  const PortRef sum = add_op(rewriter, "Add", first.name, {product, d});
  rewriter.at(product.node).fused_names = node.fused_names;
  rewriter.at(sum.node).fused_names = first.fused_names;
  rewriter.replace({id, 0}, sum);
  merge_equal(rewriter, product.node, "Multiply");
  return true;
}

}  // namespace

void fuse_scale(Graph& graph) {
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    const auto order = graph.topological_order();
    Rewriter rewriter(graph);
    for (const NodeId id : order) {
      if (!rewriter.is_removed(id)) make_commutative(rewriter, id);
    }
    for (const NodeId id : graph.topological_order()) {
      if (rewriter.is_removed(id)) continue;
      has_changed |= merge_equal(rewriter, id, "Add") || merge_equal(rewriter, id, "Multiply") ||
                     move_multiply_first(rewriter, id);
    }
    graph.remove_dead();
  }
}

}  // namespace headrace
