// SPDX-License-Identifier: Apache-2.0
// Loop (inputs 0 and 1: most iterations, -1 for no limit, and whether to start) and TensorIterator (as many iterations
// as its slices have parts): a body run again and again, with its back edges.
#include <algorithm>
#include <limits>
#include <optional>

#include "ops/body_slices.hpp"
#include "ops/checks.hpp"
#include "ops/infer_graph.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"
#include "ops/unknown_value.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"Loop", "TensorIterator"};
// No limit on the iterations: hostile models must end, and no network counts that far.
constexpr std::int64_t kMaxIterations = std::int64_t{1} << 24;

Attributes parse(std::string_view, std::int32_t, const RawAttributes&) { return {}; }

const Body& body_of(const Node& node) {
  if (node.bodies.size() != 1) fail_node(node, "needs one body, has " + std::to_string(node.bodies.size()));
  return node.bodies[0];
}

bool is_true(const Tensor& value) { return to_doubles(value).at(0) != 0; }

// Most iterations by the slices, or nothing where the node has none.
std::optional<std::int64_t> count_sliced(const Node& node, const Body& body, const std::vector<Shape>& shapes) {
  std::optional<std::int64_t> count;
  for (const BodyInput& input : body.inputs) {
    if (!input.slice) continue;
    const std::int64_t parts = count_parts(node, *input.slice, shapes.at(input.input));
    if (count && *count != parts) {
      fail_node(node, "has slices of " + std::to_string(*count) + " and of " + std::to_string(parts) + " parts");
    }
    count = parts;
  }
  return count;
}

// What each Parameter gets in the first iteration, as far as it is known.
std::vector<InferInput> first_parameters(const Node& node, const Body& body, std::span<const InferInput> inputs) {
  std::vector<InferInput> parameters(body.graph->parameters().size());
  for (const BodyInput& input : body.inputs) {
    InferInput& parameter = parameters.at(input.parameter);
    parameter = inputs[input.input];
    if (!input.slice) continue;
    parameter.value = nullptr;
    parameter.shape = part_shape(node, *input.slice, parameter.shape);
  }
  for (const BackEdge& edge : body.back_edges) parameters.at(edge.parameter).value = nullptr;  // changes in the loop
  if (body.iteration_parameter) {
    const Node& parameter = body.graph->at(body.graph->parameters().at(*body.iteration_parameter));
    const bool is_list = parameter.declared_shape.is_rank_known && parameter.declared_shape.dims.size() == 1;
    parameters[*body.iteration_parameter] = {parameter.outputs.at(0).type, is_list ? Shape{1} : Shape{}, nullptr};
  }
  return parameters;
}

class LoopRun {
 public:
  LoopRun(const Node& node, std::span<const Tensor> inputs) : node_(node), body_(body_of(node)), inputs_(inputs) {}

  std::vector<Tensor> run() {
    const std::int64_t limit = most_iterations();
    start();
    std::vector<Tensor> results;
    std::vector<std::vector<Tensor>> parts(body_.outputs.size());
    std::int64_t count = 0;
    for (bool goes_on = starts(); goes_on && count < limit; ++count) {
      if (count >= kMaxIterations) fail_node(node_, "does not end");
      set_iteration(count);
      results = run_graph(*body_.graph, parameters_);
      for (std::size_t i = 0; i < body_.outputs.size(); ++i) {
        if (body_.outputs[i].slice) parts[i].push_back(results.at(body_.outputs[i].result));
      }
      for (const BackEdge& edge : body_.back_edges) parameters_.at(edge.parameter) = results.at(edge.result);
      if (body_.condition_result) goes_on = is_true(results.at(*body_.condition_result));
    }
    return outputs(results, parts);
  }

 private:
  bool is_loop() const { return node_.type == "Loop"; }

  std::int64_t most_iterations() const {
    std::vector<Shape> shapes;
    for (const Tensor& input : inputs_) shapes.push_back(input.shape());
    const std::optional<std::int64_t> sliced = count_sliced(node_, body_, shapes);
    if (!is_loop()) return sliced.value_or(1);
    const std::int64_t trips = to_int64s(inputs_[0]).at(0);
    const std::int64_t limit = trips < 0 ? std::numeric_limits<std::int64_t>::max() : trips;
    return std::min(limit, sliced.value_or(limit));
  }

  bool starts() const { return !is_loop() || is_true(inputs_[1]); }

  void start() {
    parameters_.resize(body_.graph->parameters().size());
    for (const BodyInput& input : body_.inputs) {
      if (!input.slice) parameters_.at(input.parameter) = inputs_[input.input];
    }
  }

  void set_iteration(std::int64_t number) {
    for (const BodyInput& input : body_.inputs) {
      if (input.slice) parameters_[input.parameter] = part_of(node_, *input.slice, inputs_[input.input], number);
    }
    if (!body_.iteration_parameter) return;
    const Node& parameter = body_.graph->at(body_.graph->parameters()[*body_.iteration_parameter]);
    const bool is_list = parameter.declared_shape.is_rank_known && parameter.declared_shape.dims.size() == 1;
    const Tensor value = make_i64_tensor(is_list ? Shape{1} : Shape{}, std::vector<std::int64_t>{number});
    parameters_[*body_.iteration_parameter] = convert(value, parameter.outputs.at(0).type);
  }

  std::vector<Tensor> outputs(const std::vector<Tensor>& results, const std::vector<std::vector<Tensor>>& parts) {
    std::vector<Tensor> made(body_.outputs.size());
    for (std::size_t i = 0; i < body_.outputs.size(); ++i) {
      const BodyOutput& output = body_.outputs[i];
      Tensor& to = made.at(output.output);
      if (output.slice) {
        to = parts[i].empty() ? empty_join(output) : joined(node_, *output.slice, parts[i]);
      } else if (!results.empty()) {
        to = results.at(output.result);
      } else {
        to = untouched(output);
      }
    }
    return made;
  }

  // Without an iteration a carried value is what it started from.
  Tensor untouched(const BodyOutput& output) const {
    for (const BackEdge& edge : body_.back_edges) {
      if (edge.result == output.result) return parameters_.at(edge.parameter);
    }
    fail_node(node_, "ran no iteration, so one of its outputs has no value");
  }

  Tensor empty_join(const BodyOutput& output) const {
    std::vector<InferInput> known;
    for (const Tensor& input : inputs_) known.push_back({input.type(), input.shape(), &input});
    const InferredBody body = infer_body(*body_.graph, first_parameters(node_, body_, known));
    const InferInput result = body.result(output.result);
    Shape shape = result.shape;
    shape.at(normalize_one_axis(node_, output.slice->axis, shape.size())) = 0;
    return Tensor(result.type, shape);
  }

  const Node& node_;
  const Body& body_;
  std::span<const Tensor> inputs_;
  std::vector<Tensor> parameters_;
};

// Iterations where they are known before the run. `body` was inferred for the first of them.
std::optional<std::int64_t> count_known(const Node& node, std::span<const InferInput> inputs,
                                        const InferredBody& body) {
  std::vector<Shape> shapes;
  for (const InferInput& input : inputs) shapes.push_back(input.shape);
  const std::optional<std::int64_t> sliced = count_sliced(node, node.bodies[0], shapes);
  if (node.type != "Loop") return sliced.value_or(1);
  const std::optional<std::size_t> condition = node.bodies[0].condition_result;
  const Tensor* goes_on = condition ? body.result(*condition).value : nullptr;
  const bool is_endless = !condition || (goes_on != nullptr && is_true(*goes_on));
  if (inputs[0].value == nullptr || inputs[1].value == nullptr) return std::nullopt;
  if (!is_true(*inputs[1].value)) return 0;
  const std::int64_t trips = to_int64s(*inputs[0].value).at(0);
  if (!is_endless || (trips < 0 && !sliced)) return std::nullopt;
  return trips < 0 ? *sliced : std::min(trips, sliced.value_or(trips));
}

// Shapes that hold for every iteration, or nothing where they depend on how the loop runs.
std::optional<std::vector<InferOutput>> infer_steady(const Node& node, std::span<const InferInput> inputs) {
  const Body& body = node.bodies[0];
  const std::vector<InferInput> parameters = first_parameters(node, body, inputs);
  const InferredBody inferred = infer_body(*body.graph, parameters);
  for (const BackEdge& edge : body.back_edges) {
    const InferInput result = inferred.result(edge.result);
    if (result.type != parameters.at(edge.parameter).type) fail_node(node, "has a back edge that changes the type");
    if (result.shape != parameters[edge.parameter].shape) return std::nullopt;
  }
  const std::optional<std::int64_t> count = count_known(node, inputs, inferred);
  std::vector<InferOutput> outputs(body.outputs.size());
  for (const BodyOutput& output : body.outputs) {
    if (output.output >= outputs.size()) fail_node(node, "has an output that the body does not give");
    const InferInput result = inferred.result(output.result);
    outputs[output.output] = {result.type, result.shape};
    if (!output.slice) continue;
    if (!count) return std::nullopt;
    std::int64_t& size =
        outputs[output.output].shape.at(normalize_one_axis(node, output.slice->axis, result.shape.size()));
    size = count_elems({size, *count});
  }
  return outputs;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  constexpr std::size_t kMaxInputs = 4096;
  const std::size_t least = node.type == "Loop" ? 2 : 1;
  check_input_count(node, inputs.size(), least, kMaxInputs);
  const Body& body = body_of(node);
  for (std::size_t i = 0; i < 2 && least == 2; ++i) {
    if (count_elems(inputs[i].shape) != 1) fail_node(node, "needs one value in input " + std::to_string(i));
  }
  HEADRACE_ASSERT(body.graph != nullptr, "a body has a graph");
  try {
    if (auto outputs = infer_steady(node, inputs)) return *outputs;
  } catch (const UnknownValue&) {
    // A shape in the body depends on the iteration; where all inputs are known the loop is run to see.
    if (std::any_of(inputs.begin(), inputs.end(), [](const InferInput& input) { return input.value == nullptr; }))
      throw;
  }
  std::vector<Tensor> values;
  for (const InferInput& input : inputs) {
    if (input.value == nullptr) {
      throw UnknownValue(std::nullopt, "output shape depends on how the loop runs, which is not known before the run");
    }
    values.push_back(*input.value);
  }
  std::vector<InferOutput> outputs;
  for (const Tensor& output : LoopRun(node, values).run()) outputs.push_back({output.type(), output.shape()});
  return outputs;
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const std::vector<Tensor> results = LoopRun(node, inputs).run();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    check_shape(node, results.at(i).shape(), outputs[i].shape(), "results");
    std::copy_n(results[i].data(), results[i].size_bytes(), outputs[i].mutable_data());
  }
}

}  // namespace

const OpDescriptor& loop_op() {
  static constexpr OpDescriptor op = {.types = kTypes, .parse = parse, .infer = infer, .reference = reference};
  return op;
}

}  // namespace headrace
