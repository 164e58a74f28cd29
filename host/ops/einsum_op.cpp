// SPDX-License-Identifier: Apache-2.0
// Einsum: products of operands summed over the labels that the output does not name.
//
// out[o] = sum over s of the product of operand_k[labels_k(o, s)]; a label that an operand repeats takes its diagonal,
// "..." stands for leading dimensions that broadcast. Without "->" the output has the ellipsis and then, in alphabetic
// order, the labels that stand once.
#include <algorithm>
#include <cctype>
#include <map>

#include "ops/checks.hpp"
#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"Einsum"};
constexpr int kEllipsis = 0;  // in a list of labels; labels of its dimensions are negative

Attributes parse(std::string_view, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  attributes.set("equation", parse_string(raw, "equation", ""));
  return attributes;
}

using Labels = std::vector<int>;

struct Equation {
  std::vector<Labels> operands;
  Labels output;
};

[[noreturn]] void fail_equation(const Node& node, const std::string& why) {
  fail_node(node, "has the equation '" + node.attributes.get_string("equation") + "', which " + why);
}

Labels parse_labels(const Node& node, std::string_view text) {
  Labels labels;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text.substr(i, 3) == "...") {
      if (std::count(labels.begin(), labels.end(), kEllipsis) != 0) fail_equation(node, "has two ellipses in a term");
      labels.push_back(kEllipsis);
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(text[i])) != 0) {
      labels.push_back(text[i]);
    } else {
      fail_equation(node, "has an unknown sign at place " + std::to_string(i) + " of a term");
    }
  }
  return labels;
}

Labels implicit_output(const std::vector<Labels>& operands) {
  std::map<int, int> counts;
  for (const Labels& labels : operands) {
    for (const int label : labels) ++counts[label];
  }
  Labels output;
  for (const auto& [label, count] : counts) {
    if (count == 1 || label == kEllipsis) output.push_back(label);
  }
  return output;
}

Equation parse_equation(const Node& node) {
  const std::string& text = node.attributes.get_string("equation");
  const std::size_t arrow = text.find("->");
  const std::string_view left = std::string_view(text).substr(0, arrow);
  Equation equation;
  for (std::size_t start = 0; start <= left.size();) {
    const std::size_t comma = std::min(left.find(',', start), left.size());
    equation.operands.push_back(parse_labels(node, left.substr(start, comma - start)));
    start = comma + 1;
  }
  equation.output = arrow == std::string::npos ? implicit_output(equation.operands)
                                               : parse_labels(node, std::string_view(text).substr(arrow + 2));
  return equation;
}

// Replaces the ellipsis by one label per dimension: -1 for the last, -2 for the one before it, ...
Labels expanded(const Labels& labels, std::size_t ellipsis_rank) {
  Labels result;
  for (const int label : labels) {
    if (label != kEllipsis) result.push_back(label);
    for (std::size_t i = ellipsis_rank; label == kEllipsis && i > 0; --i) result.push_back(-static_cast<int>(i));
  }
  return result;
}

// One loop per label, the output's first.
struct EinsumForm {
  Shape dims;
  std::size_t output_rank = 0;
  std::vector<std::vector<std::int64_t>> strides;  // [operand][label]
};

class FormBuilder {
 public:
  FormBuilder(const Node& node, std::span<const Shape> shapes) : node_(node), shapes_(shapes) {}

  EinsumForm run() {
    const Equation equation = parse_equation(node_);
    if (equation.operands.size() != shapes_.size()) {
      fail_equation(node_, "has " + std::to_string(equation.operands.size()) + " terms for " +
                               std::to_string(shapes_.size()) + " inputs");
    }
    std::vector<Labels> operands;
    for (std::size_t k = 0; k < shapes_.size(); ++k) {
      const Labels& labels = equation.operands[k];
      operands.push_back(operand_labels(labels, shapes_[k]));
      if (has_ellipsis(labels) != 0)
        ellipsis_rank_ = std::max(ellipsis_rank_, operands.back().size() + 1 - labels.size());
    }
    for (std::size_t k = 0; k < shapes_.size(); ++k) collect_sizes(operands[k], shapes_[k]);
    add_loops(equation);
    for (std::size_t k = 0; k < shapes_.size(); ++k) add_strides(operands[k], shapes_[k]);
    return std::move(form_);
  }

 private:
  static std::size_t has_ellipsis(const Labels& labels) {
    return static_cast<std::size_t>(std::count(labels.begin(), labels.end(), kEllipsis));
  }

  Labels operand_labels(const Labels& labels, const Shape& shape) const {
    const std::size_t letters = labels.size() - has_ellipsis(labels);
    if (letters > shape.size() || (has_ellipsis(labels) == 0 && letters != shape.size())) {
      fail_equation(node_, "does not fit an input of shape " + to_string(shape));
    }
    return expanded(labels, shape.size() - letters);
  }

  void collect_sizes(const Labels& labels, const Shape& shape) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto [entry, is_new] = sizes_.emplace(labels[i], shape[i]);
      if (is_new || entry->second == shape[i] || (labels[i] < 0 && shape[i] == 1)) continue;
      if (labels[i] >= 0 || entry->second != 1) {
        fail_equation(
            node_, "gives one label the sizes " + std::to_string(entry->second) + " and " + std::to_string(shape[i]));
      }
      entry->second = shape[i];
    }
  }

  void add_loops(const Equation& equation) {
    for (const int label : expanded(equation.output, ellipsis_rank_)) {
      if (sizes_.count(label) == 0) fail_equation(node_, "names an output label that no input has");
      if (!loops_.emplace(label, form_.dims.size()).second) fail_equation(node_, "repeats an output label");
      form_.dims.push_back(sizes_.at(label));
    }
    form_.output_rank = form_.dims.size();
    for (const auto& [label, size] : sizes_) {
      if (loops_.emplace(label, form_.dims.size()).second) form_.dims.push_back(size);
    }
  }

  void add_strides(const Labels& labels, const Shape& shape) {
    const std::vector<std::int64_t> dense = row_major_strides(shape);
    std::vector<std::int64_t> strides(form_.dims.size(), 0);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (shape[i] != 1) strides[loops_.at(labels[i])] += dense[i];  // a repeated label walks the diagonal
    }
    form_.strides.push_back(std::move(strides));
  }

  const Node& node_;
  std::span<const Shape> shapes_;
  std::size_t ellipsis_rank_ = 0;
  std::map<int, std::int64_t> sizes_;
  std::map<int, std::size_t> loops_;
  EinsumForm form_;
};

EinsumForm form_of(const Node& node, std::span<const Shape> shapes) { return FormBuilder(node, shapes).run(); }

Shape output_shape(const EinsumForm& form) {
  return {form.dims.begin(), form.dims.begin() + static_cast<std::ptrdiff_t>(form.output_rank)};
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  constexpr std::size_t kMaxInputs = 64;
  check_input_count(node, inputs.size(), 1, kMaxInputs);
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check_same_types(node, inputs, {0, i});
    shapes.push_back(inputs[i].shape);
  }
  return {{inputs[0].type, output_shape(form_of(node, shapes))}};
}

// `write(i, sum)` takes output element i.
template <typename T, typename Write>
void compute(const EinsumForm& form, const std::vector<std::vector<T>>& values, Write write) {
  const auto rank = static_cast<std::ptrdiff_t>(form.output_rank);
  const Shape summed(form.dims.begin() + rank, form.dims.end());
  std::vector<std::vector<std::int64_t>> outer;
  std::vector<std::vector<std::int64_t>> inner;
  for (const auto& strides : form.strides) {
    outer.emplace_back(strides.begin(), strides.begin() + rank);
    inner.emplace_back(strides.begin() + rank, strides.end());
  }
  std::int64_t i = 0;
  walk_elements(output_shape(form), outer, [&](const std::vector<std::int64_t>& starts) {
    T sum = 0;
    walk_elements(summed, inner, [&](const std::vector<std::int64_t>& at) {
      T product = 1;
      for (std::size_t k = 0; k < values.size(); ++k) product *= values[k][static_cast<std::size_t>(starts[k] + at[k])];
      sum += product;
    });
    write(i++, sum);
  });
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  std::vector<Shape> shapes;
  for (const Tensor& input : inputs) shapes.push_back(input.shape());
  const EinsumForm form = form_of(node, shapes);
  if (is_floating(inputs[0].type())) {
    std::vector<std::vector<double>> values;
    for (const Tensor& input : inputs) values.push_back(to_doubles(input));
    compute(form, values, [&](std::int64_t i, double sum) { set_real(outputs[0], i, sum); });
  } else {
    std::vector<std::vector<std::uint64_t>> values;  // wraps without undefined behaviour
    for (const Tensor& input : inputs) {
      const std::vector<std::int64_t> ints = to_int64s(input);
      values.emplace_back(ints.begin(), ints.end());
    }
    compute(form, values,
            [&](std::int64_t i, std::uint64_t sum) { set_int(outputs[0], i, static_cast<std::int64_t>(sum)); });
  }
}

Cost cost(const Node& node, std::span<const InferInput> inputs, std::span<const InferOutput> outputs) {
  std::vector<Shape> shapes;
  Cost result;
  for (const InferInput& input : inputs) {
    shapes.push_back(input.shape);
    result.bytes += count_elems(input.shape) * static_cast<std::int64_t>(size_bytes(input.type));
  }
  result.bytes += count_elems(outputs[0].shape) * static_cast<std::int64_t>(size_bytes(outputs[0].type));
  result.flops = count_elems(form_of(node, shapes).dims) * static_cast<std::int64_t>(inputs.size());
  return result;
}

}  // namespace

const OpDescriptor& einsum_op() {
  static constexpr OpDescriptor op = {
      .types = kTypes, .parse = parse, .infer = infer, .cost = cost, .reference = reference};
  return op;
}

}  // namespace headrace
