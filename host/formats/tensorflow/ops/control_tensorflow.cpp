// SPDX-License-Identifier: Apache-2.0
// Constants, nodes that pass their input on, conditions and calls of functions.
#include <algorithm>

#include "core/file.hpp"
#include "formats/tensorflow/tensorflow_layout.hpp"
#include "formats/tensorflow/tensorflow_reader_impl.hpp"

namespace headrace::detail {
namespace {

// Loops whose conditions are known are unrolled; longer ones would be networks of their own size.
constexpr int kMaxIterations = 10'000;

TensorflowValues convert_const(TensorflowContext& c) {
  const TensorflowAttribute* value = c.find_attribute("value");
  if (value == nullptr) fail(ErrorCode::kBadModel, "has no value");
  return {c.constant(c.reader().read_tensor(parse_tensorflow_tensor(value->tensor)))};
}

TensorflowValues convert_identity(TensorflowContext& c) {
  if (c.count_inputs() == 0) fail(ErrorCode::kBadModel, "has no input");
  return {c.values()[0]};
}

TensorflowValues convert_identity_n(TensorflowContext& c) { return c.values(); }

// Keras's learning phase is the only Placeholder that comes here: it is false.
TensorflowValues convert_placeholder(TensorflowContext& c) { return {c.constant_scalar(0, ElementType::boolean)}; }

TensorflowValues convert_no_op(TensorflowContext&) { return {}; }

TensorflowValues convert_variable(TensorflowContext& c) {
  c.refuse("variables (freeze the graph: samples/tensorflow/freeze.py)");
}

// A condition that is known before the run, or nothing.
std::optional<bool> known_condition(TensorflowContext& c, PortRef condition) {
  const auto value = c.scalar(condition);
  if (!value) return std::nullopt;
  return *value != 0;
}

// Outputs: the data where the condition is false, and where it is true.
TensorflowValues convert_switch(TensorflowContext& c) {
  const auto condition = known_condition(c, c.input(1));
  if (!condition) c.refuse("a condition that is computed in the run");
  const TensorflowValue dead(TensorflowValue::Kind::kDead);
  const TensorflowValue& data = c.values()[0];
  return *condition ? TensorflowValues{dead, data} : TensorflowValues{data, dead};
}

// Outputs: the input that came, and its index.
TensorflowValues convert_merge(TensorflowContext& c) {
  TensorflowValues outputs;
  for (std::size_t i = 0; i < c.count_inputs(); ++i) {
    const TensorflowValue& value = c.values()[i];
    if (value.kind == TensorflowValue::Kind::kDead) continue;
    if (!outputs.empty()) fail(ErrorCode::kBadModel, "two of its inputs come");
    outputs = {value, c.constant_scalar(static_cast<double>(i), ElementType::i32)};
  }
  if (outputs.empty()) outputs.emplace_back(TensorflowValue::Kind::kDead);
  return outputs;
}

TensorflowValues convert_loop(TensorflowContext& c) {
  c.refuse("loops of TensorFlow 1 (freeze the graph with control flow of version 2)");
}

TensorflowValues convert_call(TensorflowContext& c) { return c.reader().call(c.attr_function("f"), c.values()); }

TensorflowValues without_first(const TensorflowValues& values) { return {values.begin() + 1, values.end()}; }

TensorflowValues convert_if(TensorflowContext& c) {
  const auto condition = known_condition(c, c.input(0));
  if (!condition) c.refuse("a condition that is computed in the run");
  return c.reader().call(c.attr_function(*condition ? "then_branch" : "else_branch"), without_first(c.values()));
}

TensorflowValues convert_case(TensorflowContext& c) {
  const auto index = c.scalar(c.input(0));
  if (!index) c.refuse("a branch that is chosen in the run");
  const TensorflowAttribute* attribute = c.find_attribute("branches");
  const auto branches =
      tensorflow_list_functions(attribute == nullptr ? std::span<const std::byte>{} : attribute->list);
  if (branches.empty()) fail(ErrorCode::kBadModel, "has no branches");
  const bool is_inside = *index >= 0 && *index < static_cast<double>(branches.size());
  const std::size_t branch = is_inside ? static_cast<std::size_t>(*index) : branches.size() - 1;
  return c.reader().call(branches[branch], without_first(c.values()));
}

TensorflowValues convert_while(TensorflowContext& c) {
  TensorflowValues state = c.values();
  for (int i = 0; i < kMaxIterations; ++i) {
    const TensorflowValues going = c.reader().call(c.attr_function("cond"), state);
    const bool is_tensor = going.size() == 1 && going[0].kind == TensorflowValue::Kind::kTensor;
    if (!is_tensor) fail(ErrorCode::kBadModel, "its condition gives no tensor");
    const auto condition = known_condition(c, going[0].ref);
    if (!condition) c.refuse("a condition that is computed in the run");
    if (!*condition) return state;
    TensorflowValues next = c.reader().call(c.attr_function("body"), state);
    if (next.size() != state.size()) fail(ErrorCode::kBadModel, "its body gives another number of values");
    state = std::move(next);
  }
  c.refuse("more than " + std::to_string(kMaxIterations) + " iterations");
}

constexpr TensorflowConverter kConverters[] = {
    {"Const", convert_const},
    {"Identity", convert_identity},
    {"_Retval", convert_identity},
    {"StopGradient", convert_identity},
    {"PreventGradient", convert_identity},
    {"Snapshot", convert_identity},
    {"CheckNumerics", convert_identity},
    {"CheckNumericsV2", convert_identity},
    {"EnsureShape", convert_identity},
    {"PlaceholderWithDefault", convert_identity},
    {"Print", convert_identity},
    {"IdentityN", convert_identity_n},
    {"Placeholder", convert_placeholder},
    {"NoOp", convert_no_op},
    {"Assert", convert_no_op},
    {"VariableV2", convert_variable},
    {"Variable", convert_variable},
    {"VarHandleOp", convert_variable},
    {"Switch", convert_switch},
    {"Merge", convert_merge},
    {"Enter", convert_loop},
    {"Exit", convert_loop},
    {"NextIteration", convert_loop},
    {"LoopCond", convert_loop},
    {"PartitionedCall", convert_call},
    {"StatefulPartitionedCall", convert_call},
    {"If", convert_if},
    {"StatelessIf", convert_if},
    {"Case", convert_case},
    {"StatelessCase", convert_case},
    {"While", convert_while},
    {"StatelessWhile", convert_while},
};

}  // namespace

std::span<const TensorflowConverter> control_tensorflow() { return kConverters; }

}  // namespace headrace::detail
