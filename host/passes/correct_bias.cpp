// SPDX-License-Identifier: Apache-2.0
#include "passes/correct_bias.hpp"

#include "ops/descriptor.hpp"
#include "passes/make_node.hpp"

namespace headrace {
namespace {

// The shape of a constant that runs along the channels: [C] of a MatMul, [C,1,1] of a convolution of two dimensions.
Shape bias_shape(const Graph& graph, const Node& layer, std::size_t channels) {
  Shape shape = {static_cast<std::int64_t>(channels)};
  if (layer.type == "MatMul") return shape;
  const std::size_t weights_rank = graph.info(layer.inputs.at(1)).shape.size();
  shape.resize(weights_rank - (layer.type == "GroupConvolution" ? 2 : 1), 1);
  return shape;
}

// Whether the constant is of that shape, but for ones in front.
bool is_bias(const Shape& shape, const Shape& wanted) {
  if (shape.size() < wanted.size()) return false;
  const std::size_t front = shape.size() - wanted.size();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != (i < front ? 1 : wanted[i - front])) return false;
  }
  return true;
}

class BiasCorrector {
 public:
  explicit BiasCorrector(Graph& graph) : graph_(graph), rewriter_(graph) {}

  void correct(NodeId id, const std::vector<double>& shift) {
    const Shape shape = bias_shape(graph_, graph_.at(id), shift.size());
    if (!change_add(id, shape, shift)) insert_add(id, make_f32(shape, shift));
  }

 private:
  bool change_add(NodeId id, const Shape& shape, const std::vector<double>& shift) {
    const auto user = rewriter_.only_user({id, 0});
    if (!user || !is_numpy_binary(graph_.at(user->node), "Add")) return false;
    const std::size_t other = user->input == 0 ? 1 : 0;
    const PortRef constant = graph_.at(user->node).inputs.at(other);
    const Tensor* old = const_f32(graph_, constant);
    if (old == nullptr || !is_bias(old->shape(), shape)) return false;
    std::vector<double> values = to_doubles(*old);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += shift[i];
    const std::string name = graph_.at(constant).name;
    rewriter_.set_input(user->node, other, rewriter_.add_const(name, make_f32(old->shape(), values)));
    return true;
  }

  void insert_add(NodeId id, Tensor bias) {
    const PortRef result{id, 0};
    const std::string name = graph_.at(id).name + "/correction";
    const OpDescriptor* op = find_op("Add");
    HEADRACE_ASSERT(op != nullptr, "Add is not built in");
    Node node;
    node.name = name;
    node.type = "Add";
    node.attributes = op->parse(node.type, node.opset, {});
    node.inputs = {result, rewriter_.add_const(name + "/bias", std::move(bias))};
    const OutputInfo& info = graph_.info(result);
    node.outputs.push_back({info.type, info.shape, info.is_resolved, {}});
    rewriter_.replace(result, rewriter_.add(std::move(node)));
  }

  Graph& graph_;
  Rewriter rewriter_;
};

}  // namespace

void correct_bias(Graph& graph, const std::map<NodeId, std::vector<double>>& shifts) {
  BiasCorrector corrector(graph);
  for (const auto& [id, shift] : shifts) corrector.correct(id, shift);
  graph.remove_dead();
}

}  // namespace headrace
