// SPDX-License-Identifier: Apache-2.0
// If, Loop and Scan whose conditions and counts are known before the run: their bodies are written out.
#include "formats/onnx/onnx_context.hpp"
#include "formats/onnx/onnx_reader_impl.hpp"

namespace headrace::detail {
namespace {

// Unrolling multiplies nodes; longer loops belong to a recurrent operator.
constexpr std::int64_t kMaxTrips = 1024;

std::vector<PortRef> convert_if(OnnxContext& c) {
  const auto condition = c.scalar(c.input(0));
  if (!condition) c.refuse("a condition that is computed in the run");
  const OnnxGraph& branch = c.attr_graph(*condition != 0 ? "then_branch" : "else_branch");
  return c.reader().inline_graph(branch, {});
}

bool is_true(OnnxContext& c, PortRef condition) {
  const auto value = c.scalar(condition);
  if (!value) c.refuse("a condition that is computed in the run");
  return *value != 0;
}

// One axis-0 (or other axis) stack of what the iterations gave.
PortRef stack(OnnxContext& c, const std::vector<PortRef>& parts, std::int64_t axis) {
  if (parts.empty()) c.refuse("an output that no iteration makes");
  std::vector<PortRef> rows;
  for (const PortRef& part : parts) rows.push_back(c.unsqueeze(part, {axis}));
  return c.concat(rows, axis);
}

// Inputs: trip count, condition, states. The body takes (iteration, condition, states) and gives (condition, states,
// scan outputs).
std::vector<PortRef> convert_loop(OnnxContext& c) {
  const OnnxGraph& body = c.attr_graph("body");
  std::optional<double> trips;
  if (c.has_input(0)) {
    trips = c.scalar(c.input(0));
    if (!trips) c.refuse("a trip count that is computed in the run");
    if (*trips > static_cast<double>(kMaxTrips)) c.refuse("more than " + text(kMaxTrips) + " iterations");
  }
  std::vector<PortRef> states;
  for (std::size_t i = 2; i < c.count_inputs(); ++i) states.push_back(c.input(i));
  if (body.outputs.size() < states.size() + 1) {
    fail(ErrorCode::kBadModel, "its body has " + std::to_string(body.outputs.size()) + " outputs for " +
                                   std::to_string(states.size()) + " states");
  }
  std::vector<std::vector<PortRef>> scans(body.outputs.size() - states.size() - 1);
  PortRef condition = c.has_input(1) ? c.input(1) : c.constant_scalar(1, ElementType::boolean);
  for (std::int64_t i = 0; !trips || i < static_cast<std::int64_t>(*trips); ++i) {
    if (i > kMaxTrips) c.refuse("more than " + text(kMaxTrips) + " iterations");
    if (!is_true(c, condition)) break;
    std::vector<PortRef> inputs = {c.constant_int(i), condition};
    inputs.insert(inputs.end(), states.begin(), states.end());
    const std::vector<PortRef> outputs = c.reader().inline_graph(body, inputs);
    condition = outputs[0];
    for (std::size_t s = 0; s < states.size(); ++s) states[s] = outputs[s + 1];
    for (std::size_t s = 0; s < scans.size(); ++s) scans[s].push_back(outputs[states.size() + 1 + s]);
  }
  std::vector<PortRef> results = states;
  for (std::size_t s = 0; s < scans.size(); ++s) {
    if (c.wants_output(states.size() + s)) {
      results.push_back(stack(c, scans[s], 0));
    } else {
      results.push_back(c.constant_int(0));  // nobody reads it
    }
  }
  return results;
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

// Opset 8 had a batch axis and sequence lengths in front.
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
  if (first == 0) return scan_once(c, initial, inputs, scan);
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
