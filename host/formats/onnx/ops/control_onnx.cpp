// SPDX-License-Identifier: Apache-2.0
// If, Loop and Scan: bodies are written out where conditions and counts are known, else they stay bodies.
#include "formats/onnx/onnx_context.hpp"
#include "formats/onnx/onnx_reader_impl.hpp"

namespace headrace::detail {
namespace {

// Few iterations are written out: their shapes are then known one by one. More stay a loop.
constexpr std::int64_t kMaxUnrolled = 16;
constexpr std::int64_t kMaxTrips = 1024;  // of scans with a batch, which IR has no loop for

// The bodies' captured tensors become inputs of the node, each once per body.
void add_captured(const OnnxBody& body, std::vector<PortRef>& inputs, Body& result) {
  result.graph = body.graph;
  for (std::size_t i = 0; i < body.captured.size(); ++i) {
    result.inputs.push_back({inputs.size(), body.own_parameters + i, std::nullopt});
    inputs.push_back(body.captured[i]);
  }
}

std::vector<PortRef> outputs_of(PortRef first, std::size_t count) {
  std::vector<PortRef> outputs;
  for (std::size_t i = 0; i < count; ++i) outputs.push_back({first.node, static_cast<std::int32_t>(i)});
  return outputs;
}

std::vector<PortRef> convert_if(OnnxContext& c) {
  if (const auto condition = c.scalar(c.input(0))) {
    return c.reader().inline_graph(c.attr_graph(*condition != 0 ? "then_branch" : "else_branch"), {});
  }
  std::vector<PortRef> inputs = {c.input(0)};
  std::vector<Body> bodies;
  for (const char* name : {"then_branch", "else_branch"}) {
    const OnnxBody branch = c.reader().read_body(c.attr_graph(name), {});
    Body body;
    add_captured(branch, inputs, body);
    for (std::size_t i = 0; i < branch.graph->results().size(); ++i) body.outputs.push_back({i, i, std::nullopt});
    bodies.push_back(std::move(body));
  }
  const std::size_t count = bodies[0].outputs.size();
  if (bodies[1].outputs.size() != count) fail(ErrorCode::kBadModel, "its branches have different numbers of outputs");
  return outputs_of(c.reader().builder().add_with_bodies("If", 8, inputs, std::move(bodies), count), count);
}

// A stack, along a new axis, of what the iterations gave.
PortRef stack(OnnxContext& c, const std::vector<PortRef>& parts, std::int64_t axis) {
  if (parts.empty()) c.refuse("an output that no iteration makes");
  std::vector<PortRef> rows;
  for (const PortRef& part : parts) rows.push_back(c.unsqueeze(part, {axis}));
  return c.concat(rows, axis);
}

std::vector<PortRef> states_of(const OnnxContext& c) {
  std::vector<PortRef> states;
  for (std::size_t i = 2; i < c.count_inputs(); ++i) states.push_back(c.input(i));
  return states;
}

// Writes the iterations out; nothing where their number or a condition is not known.
std::optional<std::vector<PortRef>> unroll_loop(OnnxContext& c, const OnnxGraph& body) {
  const auto trips = c.has_input(0) ? c.scalar(c.input(0)) : std::nullopt;
  if (!trips || *trips > static_cast<double>(kMaxUnrolled)) return std::nullopt;
  std::vector<PortRef> states = states_of(c);
  std::vector<std::vector<PortRef>> scans(body.outputs.size() - states.size() - 1);
  PortRef condition = c.has_input(1) ? c.input(1) : c.constant_scalar(1, ElementType::boolean);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(*trips); ++i) {
    const auto goes_on = c.scalar(condition);
    if (!goes_on) return std::nullopt;
    if (*goes_on == 0) break;
    std::vector<PortRef> inputs = {c.constant_int(i), condition};
    inputs.insert(inputs.end(), states.begin(), states.end());
    const std::vector<PortRef> outputs = c.reader().inline_graph(body, inputs);
    condition = outputs[0];
    for (std::size_t s = 0; s < states.size(); ++s) states[s] = outputs[s + 1];
    for (std::size_t s = 0; s < scans.size(); ++s) scans[s].push_back(outputs[states.size() + 1 + s]);
  }
  std::vector<PortRef> results = states;
  for (std::size_t s = 0; s < scans.size(); ++s) {
    if (scans[s].empty()) return std::nullopt;
    results.push_back(stack(c, scans[s], 0));
  }
  return results;
}

// What the body says of an input that changes in the loop; what it does not say may be anything.
OnnxBodyInput changing_input(const OnnxContext& c, const OnnxValueInfo& info, PortRef initial) {
  return {c.element_type(initial), declared_shape(info)};
}

// Inputs: trip count, condition, states. The body takes (iteration, condition, states) and gives (condition, states,
// scan outputs).
std::vector<PortRef> convert_loop(OnnxContext& c) {
  const OnnxGraph& graph = c.attr_graph("body");
  const std::vector<PortRef> states = states_of(c);
  if (graph.outputs.size() < states.size() + 1 || graph.inputs.size() < states.size() + 2) {
    fail(ErrorCode::kBadModel, "its body has " + std::to_string(graph.inputs.size()) + " inputs and " +
                                   std::to_string(graph.outputs.size()) + " outputs for " +
                                   std::to_string(states.size()) + " states");
  }
  if (const auto unrolled = unroll_loop(c, graph)) return *unrolled;
  const auto scalar = [&](std::size_t input, double fallback, ElementType type) {
    if (!c.has_input(input)) return c.constant_scalar(fallback, type);
    return c.maybe_rank(c.input(input)).value_or(0) == 0 ? c.input(input) : c.reshape(c.input(input), {});
  };
  std::vector<PortRef> inputs = {scalar(0, -1, ElementType::i64), scalar(1, 1, ElementType::boolean)};
  std::vector<OnnxBodyInput> known = {{ElementType::i64, PartialShape(Shape{})},
                                      {ElementType::boolean, PartialShape(Shape{})}};
  for (std::size_t i = 0; i < states.size(); ++i) {
    inputs.push_back(states[i]);
    known.push_back(changing_input(c, graph.inputs[i + 2], states[i]));
  }
  const auto add_axis = [&](std::vector<PortRef> outputs) {
    for (std::size_t i = states.size() + 1; i < outputs.size(); ++i) outputs[i] = c.unsqueeze(outputs[i], {0});
    return outputs;
  };
  const OnnxBody read = c.reader().read_body(graph, known, {}, add_axis);
  Body body;
  body.iteration_parameter = 0;
  body.condition_result = 0;
  body.back_edges.push_back({0, 1});
  for (std::size_t i = 1; i < inputs.size(); ++i) body.inputs.push_back({i, i, std::nullopt});
  add_captured(read, inputs, body);
  for (std::size_t i = 1; i < graph.outputs.size(); ++i) {
    const bool is_state = i <= states.size();
    if (is_state) body.back_edges.push_back({i, i + 1});
    body.outputs.push_back({i - 1, i, is_state ? std::nullopt : std::optional<BodySlice>(BodySlice{})});
  }
  const std::size_t count = body.outputs.size();
  return outputs_of(c.reader().builder().add_with_bodies("Loop", 5, inputs, {body}, count), count);
}

struct ScanAttributes {
  std::size_t scan_inputs = 0;
  Ints input_axes, input_directions, output_axes, output_directions;
};

std::int64_t entry(const Ints& list, std::size_t index) { return index < list.size() ? list[index] : 0; }

// The slice of a scan input in one iteration.
PortRef slice_of(OnnxContext& c, PortRef x, std::int64_t axis, std::int64_t at) {
  return c.gather(x, c.constant_int(at), axis);
}

// Writes every iteration out.
std::vector<PortRef> scan_once(OnnxContext& c, const std::vector<PortRef>& initial, const std::vector<PortRef>& inputs,
                               const ScanAttributes& scan) {
  const OnnxGraph& body = c.attr_graph("body");
  std::vector<PortRef> states = initial;
  if (body.outputs.size() < states.size() || inputs.empty()) fail(ErrorCode::kBadModel, "its body does not fit");
  std::vector<std::vector<PortRef>> outputs(body.outputs.size() - states.size());
  const auto axis_of = [&](std::size_t i) { return c.axis(entry(scan.input_axes, i), c.rank(inputs[i])); };
  const std::int64_t steps = c.dim(inputs[0], static_cast<std::size_t>(axis_of(0)));
  if (steps > kMaxTrips) c.refuse("more than " + text(kMaxTrips) + " iterations");
  for (std::int64_t step = 0; step < steps; ++step) {
    std::vector<PortRef> arguments = states;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const bool is_back = entry(scan.input_directions, i) != 0;
      arguments.push_back(slice_of(c, inputs[i], axis_of(i), is_back ? steps - 1 - step : step));
    }
    const std::vector<PortRef> results = c.reader().inline_graph(body, arguments);
    std::copy_n(results.begin(), states.size(), states.begin());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      auto& list = outputs[i];
      const bool is_back = entry(scan.output_directions, i) != 0;
      list.insert(is_back ? list.begin() : list.end(), results[states.size() + i]);
    }
  }
  std::vector<PortRef> all = states;
  for (std::size_t i = 0; i < outputs.size(); ++i) all.push_back(stack(c, outputs[i], entry(scan.output_axes, i)));
  return all;
}

// The number of slices, where it is known.
std::optional<std::int64_t> count_steps(OnnxContext& c, const std::vector<PortRef>& inputs,
                                        const ScanAttributes& scan) {
  if (inputs.empty() || !c.maybe_rank(inputs[0])) return std::nullopt;
  return c.static_dim(inputs[0], static_cast<std::size_t>(c.axis(entry(scan.input_axes, 0), c.rank(inputs[0]))));
}

BodySlice slice_along(std::int64_t axis, bool is_back) {
  if (is_back) return {axis, -1, 0, -1, 1};
  return {axis, 0, -1, 1, 1};
}

// IR's iterator cuts parts of size 1 and joins along an axis that is there, so the body drops and adds that axis.
std::vector<PortRef> iterate_scan(OnnxContext& c, const std::vector<PortRef>& initial,
                                  const std::vector<PortRef>& inputs, const ScanAttributes& scan) {
  const OnnxGraph& graph = c.attr_graph("body");
  const std::size_t states = initial.size();
  if (graph.inputs.size() < states + inputs.size() || graph.outputs.size() < states) {
    fail(ErrorCode::kBadModel, "its body does not fit its inputs");
  }
  std::vector<PortRef> all = initial;
  all.insert(all.end(), inputs.begin(), inputs.end());
  std::vector<OnnxBodyInput> known;
  Body body;
  const auto axis_of = [&](std::size_t i) { return c.axis(entry(scan.input_axes, i), c.rank(inputs[i])); };
  for (std::size_t i = 0; i < states; ++i) {
    known.push_back(changing_input(c, graph.inputs[i], initial[i]));
    body.inputs.push_back({i, i, std::nullopt});
    body.back_edges.push_back({i, i});
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    PartialShape part = c.partial_shape(inputs[i]);
    part.dims[static_cast<std::size_t>(axis_of(i))] = {1, 1};
    known.push_back({c.element_type(inputs[i]), part});
    body.inputs.push_back({states + i, states + i, slice_along(axis_of(i), entry(scan.input_directions, i) != 0)});
  }
  const auto drop_axes = [&](std::vector<PortRef> parameters) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      parameters[states + i] = c.squeeze(parameters[states + i], {entry(scan.input_axes, i)});
    }
    return parameters;
  };
  const auto add_axes = [&](std::vector<PortRef> outputs) {
    for (std::size_t i = states; i < outputs.size(); ++i) {
      outputs[i] = c.unsqueeze(outputs[i], {entry(scan.output_axes, i - states)});
    }
    return outputs;
  };
  const OnnxBody read = c.reader().read_body(graph, known, drop_axes, add_axes);
  add_captured(read, all, body);
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    std::optional<BodySlice> slice;
    if (i >= states) {
      slice = slice_along(entry(scan.output_axes, i - states), entry(scan.output_directions, i - states) != 0);
    }
    body.outputs.push_back({i, i, slice});
  }
  const std::size_t count = body.outputs.size();
  return outputs_of(c.reader().builder().add_with_bodies("TensorIterator", 1, all, {body}, count), count);
}

// Opset 8 had a batch axis and sequence lengths in front.
std::vector<PortRef> convert_scan(OnnxContext& c) {
  ScanAttributes scan;
  scan.scan_inputs = static_cast<std::size_t>(c.attr_int("num_scan_inputs", 1));
  const std::size_t first = c.opset() < 9 ? 1 : 0;
  if (scan.scan_inputs == 0 || scan.scan_inputs + first > c.count_inputs()) {
    fail(ErrorCode::kBadModel, "num_scan_inputs is " + std::to_string(scan.scan_inputs));
  }
  scan.input_axes = c.attr_ints("scan_input_axes").value_or(Ints{});
  scan.input_directions = c.attr_ints(c.opset() < 9 ? "directions" : "scan_input_directions").value_or(Ints{});
  scan.output_axes = c.attr_ints("scan_output_axes").value_or(Ints{});
  scan.output_directions = c.attr_ints("scan_output_directions").value_or(Ints{});
  const std::size_t states = c.count_inputs() - scan.scan_inputs - first;
  std::vector<PortRef> initial;
  std::vector<PortRef> inputs;
  for (std::size_t i = first; i < c.count_inputs(); ++i) (i < first + states ? initial : inputs).push_back(c.input(i));
  if (first == 0) {
    const auto steps = count_steps(c, inputs, scan);
    const bool is_short = steps && *steps > 0 && *steps <= kMaxUnrolled;
    return is_short ? scan_once(c, initial, inputs, scan) : iterate_scan(c, initial, inputs, scan);
  }
  if (c.has_input(0)) c.refuse("sequence_lens");
  const std::int64_t batch = c.dim(inputs[0], 0);
  std::vector<std::vector<PortRef>> results;
  for (std::int64_t n = 0; n < batch; ++n) {
    std::vector<PortRef> own_initial;
    std::vector<PortRef> own_inputs;
    for (const PortRef& x : initial) own_initial.push_back(slice_of(c, x, 0, n));
    for (const PortRef& x : inputs) own_inputs.push_back(slice_of(c, x, 0, n));
    const std::vector<PortRef> own = scan_once(c, own_initial, own_inputs, scan);
    results.resize(own.size());
    for (std::size_t i = 0; i < own.size(); ++i) results[i].push_back(own[i]);
  }
  std::vector<PortRef> all;
  for (const std::vector<PortRef>& parts : results) all.push_back(stack(c, parts, 0));
  return all;
}

constexpr OnnxConverter kConverters[] = {
    {"If", convert_if},
    {"Loop", convert_loop},
    {"Scan", convert_scan},
};

}  // namespace

std::span<const OnnxConverter> control_onnx() { return kConverters; }

}  // namespace headrace::detail
