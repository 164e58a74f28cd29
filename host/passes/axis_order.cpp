// SPDX-License-Identifier: Apache-2.0
#include "passes/axis_order.hpp"

#include <algorithm>

#include "core/permute.hpp"

namespace headrace {
namespace {

// Below that, orders are those of matrices, which products and other patterns take as they are.
constexpr std::size_t kLeastRank = 4;

template <std::size_t N>
bool is_one_of(std::string_view type, const std::string_view (&list)[N]) {
  return std::find(std::begin(list), std::end(list), type) != std::end(list);
}

bool is_elementwise(std::string_view type) {
  constexpr std::string_view kTypes[] = {
      "ReLU",       "Clamp",       "Sigmoid",      "Swish",        "HSwish",
      "HSigmoid",   "HardSigmoid", "Abs",          "Negative",     "Sign",
      "Floor",      "Ceiling",     "Round",        "Sqrt",         "Exp",
      "SoftSign",   "Tanh",        "Elu",          "Gelu",         "Mish",
      "SoftPlus",   "Log",         "Erf",          "Selu",         "Sin",
      "Cos",        "Tan",         "Asin",         "Acos",         "Atan",
      "Sinh",       "Cosh",        "Asinh",        "Acosh",        "Atanh",
      "LogicalNot", "Convert",     "PReLU",        "FakeQuantize", "Add",
      "Subtract",   "Multiply",    "Divide",       "Maximum",      "Minimum",
      "Power",      "Mod",         "FloorMod",     "Equal",        "NotEqual",
      "Greater",    "Less",        "GreaterEqual", "LessEqual",    "SquaredDifference",
      "LogicalAnd", "LogicalOr",   "LogicalXor",   "Select",       "IsNaN",
      "IsInf",      "IsFinite"};
  return is_one_of(type, kTypes);
}

class Reorderer {
 public:
  Reorderer(Rewriter& rewriter, const Node& node) : rewriter_(rewriter), node_(node) {}

  std::optional<Reordered> run() {
    if (!node_.epilogue.is_empty() || !node_.bodies.empty() || !take_sources()) return std::nullopt;
    order_ = input_order_;
    if (!reorder()) return std::nullopt;
    add_constants();
    return Reordered{node_, order_};
  }

 private:
  const Graph& graph() const { return rewriter_.graph(); }
  bool is_constant(std::size_t i) const { return i < node_.inputs.size() && is_const(graph(), node_.inputs[i]); }
  std::vector<std::int64_t> ints(std::size_t i) const { return to_int64s(graph().at(node_.inputs[i]).value); }

  // Puts what the Transposes read in their places; false where an input is neither one of them nor a constant.
  bool take_sources() {
    for (PortRef& input : node_.inputs) {
      if (is_const(graph(), input)) continue;
      const auto order = transpose_order(graph(), graph().at(input));
      if (!order || order->size() < kLeastRank) return false;
      if (!input_order_.empty() && input_order_ != *order) return false;
      input_order_ = *order;
      input = graph().at(input).inputs[0];
    }
    return !input_order_.empty();
  }

  bool reorder() {
    const std::string& type = node_.type;
    if (is_elementwise(type)) return reorder_elementwise();
    if (type == "Concat" || type == "SoftMax" || type == "LogSoftmax") return reorder_axis_attribute();
    if (type == "Split" || type == "VariadicSplit") return reorder_axes_input(1);
    if (type == "MVN" || type == "NormalizeL2" || type == "LRN") return reorder_axes_input(1);
    if (type == "Squeeze") return drop_axes(false);
    if (type.starts_with("Reduce")) return drop_axes(node_.attributes.get_bool("keep_dims"));
    if (type == "Pad") return reorder_entries({1, 2});
    if (type == "Slice") return node_.inputs.size() > 4 && reorder_axes_input(4);
    if (type == "StridedSlice") return reorder_strided_slice();
    return false;
  }

  // Constants of several elements are broadcast from the right: they are permuted with ones in front.
  bool reorder_elementwise() {
    const std::size_t rank = input_order_.size();
    if (node_.attributes.has("auto_broadcast") && node_.attributes.get_string("auto_broadcast") == "pdpd") return false;
    AxisOrder inverse(rank);
    for (std::size_t k = 0; k < rank; ++k)
      inverse[static_cast<std::size_t>(input_order_[k])] = static_cast<std::int64_t>(k);
    for (std::size_t i = 0; i < node_.inputs.size(); ++i) {
      if (!is_constant(i)) continue;
      const Tensor& value = graph().at(node_.inputs[i]).value;
      if (value.shape().size() > rank) return false;
      if (value.count() == 1) continue;
      // IR gives a slope of one axis to the channels, whichever axis fits.
      if (node_.type == "PReLU" && value.shape().size() != rank) return false;
      Shape shape(rank - value.shape().size(), 1);
      shape.insert(shape.end(), value.shape().begin(), value.shape().end());
      constants_.push_back({i, permuted(value.reshaped(shape), inverse)});
    }
    return true;
  }

  std::optional<std::int64_t> source_axis(std::int64_t axis) const {
    const auto rank = static_cast<std::int64_t>(input_order_.size());
    if (axis < -rank || axis >= rank) return std::nullopt;
    return input_order_[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)];
  }

  bool reorder_axis_attribute() {
    if (std::any_of(node_.inputs.begin(), node_.inputs.end(), [&](PortRef ref) { return is_const(graph(), ref); })) {
      return false;
    }
    const auto axis = source_axis(node_.attributes.get_int("axis"));
    if (axis) node_.attributes.set("axis", *axis);
    return axis.has_value();
  }

  std::optional<std::vector<std::int64_t>> source_axes(std::size_t input) const {
    if (!is_constant(input)) return std::nullopt;
    std::vector<std::int64_t> axes = ints(input);
    for (std::int64_t& axis : axes) {
      const auto source = source_axis(axis);
      if (!source) return std::nullopt;
      axis = *source;
    }
    return axes;
  }

  bool reorder_axes_input(std::size_t input) {
    const auto axes = source_axes(input);
    if (!axes) return false;
    constants_.push_back({input, make_i64_tensor(graph().at(node_.inputs[input]).value.shape(), *axes)});
    return true;
  }

  // Axes that go take their places out of the order.
  bool drop_axes(bool keeps) {
    const auto axes = source_axes(1);
    if (!axes || node_.inputs.size() != 2 || !reorder_axes_input(1)) return false;
    if (keeps) return true;
    AxisOrder rest;
    for (const std::int64_t axis : input_order_) {
      if (std::find(axes->begin(), axes->end(), axis) == axes->end()) rest.push_back(axis);
    }
    order_.clear();
    for (const std::int64_t axis : rest)
      order_.push_back(std::count_if(rest.begin(), rest.end(), [&](std::int64_t other) { return other < axis; }));
    return true;
  }

  // Inputs with one entry for each axis.
  bool reorder_entries(std::initializer_list<std::size_t> inputs) {
    for (const std::size_t input : inputs) {
      if (!is_constant(input)) return false;
      const std::vector<std::int64_t> entries = ints(input);
      if (entries.size() != input_order_.size()) return false;
      std::vector<std::int64_t> result(entries.size());
      for (std::size_t k = 0; k < entries.size(); ++k) result[static_cast<std::size_t>(input_order_[k])] = entries[k];
      constants_.push_back({input, make_i64_tensor({static_cast<std::int64_t>(result.size())}, result)});
    }
    return true;
  }

  // Only where every entry cuts one axis: those behind the last one are whole.
  bool reorder_strided_slice() {
    const std::size_t rank = input_order_.size();
    for (const std::string_view mask : {"new_axis_mask", "shrink_axis_mask", "ellipsis_mask"}) {
      const auto& values = node_.attributes.get_ints(mask);
      if (std::any_of(values.begin(), values.end(), [](std::int64_t value) { return value != 0; })) return false;
    }
    for (std::size_t input = 1; input < node_.inputs.size(); ++input) {
      if (!is_constant(input) || ints(input).size() > rank) return false;
      std::vector<std::int64_t> result(rank, input == 3 ? 1 : 0);
      const std::vector<std::int64_t> entries = ints(input);
      for (std::size_t k = 0; k < entries.size(); ++k) result[static_cast<std::size_t>(input_order_[k])] = entries[k];
      constants_.push_back({input, make_i64_tensor({static_cast<std::int64_t>(rank)}, result)});
    }
    const std::size_t count = ints(1).size();
    for (const std::string_view mask : {"begin_mask", "end_mask"}) {
      const std::vector<std::int64_t> entries = node_.attributes.get_ints(mask);
      std::vector<std::int64_t> result(rank, 1);
      for (std::size_t k = 0; k < count; ++k) {
        result[static_cast<std::size_t>(input_order_[k])] = k < entries.size() ? entries[k] : 0;
      }
      node_.attributes.set(mask, result);
    }
    return true;
  }

  void add_constants() {
    for (const auto& [input, value] : constants_) {
      node_.inputs[input] = rewriter_.add_const(graph().at(node_.inputs[input]).name + "/reordered", value);
    }
  }

  Rewriter& rewriter_;
  Node node_;
  AxisOrder input_order_;
  AxisOrder order_;
  std::vector<std::pair<std::size_t, Tensor>> constants_;  // by input
};

}  // namespace

bool is_identity_order(const AxisOrder& order) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

std::optional<AxisOrder> transpose_order(const Graph& graph, const Node& node) {
  if (node.type != "Transpose") return std::nullopt;
  AxisOrder order;
  if (node.inputs.size() > 1) {
    if (!is_const(graph, node.inputs[1])) return std::nullopt;
    order = to_int64s(graph.at(node.inputs[1]).value);
  }
  if (!order.empty()) return order;
  // An absent or empty one reverses the dimensions.
  const OutputInfo& info = graph.info(node.inputs.at(0));
  if (!info.is_resolved) return std::nullopt;
  for (std::size_t i = info.shape.size(); i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
  return order;
}

std::optional<Reordered> reordered(Rewriter& rewriter, const Node& node) { return Reorderer(rewriter, node).run(); }

}  // namespace headrace
