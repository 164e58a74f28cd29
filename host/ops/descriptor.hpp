// SPDX-License-Identifier: Apache-2.0
// The contract of an operator: plain data and pure functions, one descriptor per file in host/ops.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/tensor.hpp"
#include "device/caps.hpp"
#include "device/device.hpp"
#include "graph/graph.hpp"

namespace headrace {

// What is known of an operator's input when shapes are inferred.
struct InferInput {
  ElementType type = ElementType::f32;
  Shape shape;
  const Tensor* value = nullptr;  // non-null where the value is known before the run
};

struct InferOutput {
  ElementType type = ElementType::f32;
  Shape shape;
};

struct Cost {
  std::int64_t flops = 0;
  std::int64_t bytes = 0;
};

// An expected answer: can this device run this node, and if not, why not.
struct Support {
  bool ok = true;
  std::string reason;

  static Support yes() { return {}; }
  static Support no(std::string why) { return {false, std::move(why)}; }
};

// Which memory orders an operator's OpenCL form takes for an input or gives for its output.
enum class LayoutRule {
  kAny,           // any strides, views and permutations included
  kChannelsLast,  // rank >= 3, channel stride 1 (NWC, NHWC, NDHWC), dense but for the stride between pixels, rows
                  // (batch, depth) which are free: views of channels and of spatial boxes are fine
  kRowMajor,      // dense, row-major (NCHW), no view
};

struct LayoutRules {
  std::vector<LayoutRule> inputs;  // shorter than the inputs: the last one repeats; constants are always row-major
  // Order of freshly allocated outputs: kChannelsLast, kRowMajor, or kAny = follow the order of the first
  // non-constant input of the same rank. The operator must honour whatever strides the plan gives for kAny and
  // kChannelsLast (an output may be a view into a Concat's buffer); kRowMajor outputs are always dense.
  LayoutRule output = LayoutRule::kAny;
};

// A tensor as lowering sees it: logical shape, strides in elements per logical dimension.
struct TensorDesc {
  ElementType type = ElementType::f32;
  Shape shape;
  std::vector<std::int64_t> strides;
  // Elements from the operand's pointer to the tensor's first element: a channel slice of a Concat's buffer starts
  // where no cl_mem can (sub-buffers start at multiples of 128 bytes), so kernels take the offset as an int argument.
  std::int64_t offset = 0;

  std::int64_t count() const { return count_elems(shape); }
};

struct LowerInput {
  TensorDesc desc;
  const Tensor* constant = nullptr;  // row-major value where the input is a constant
};

// An operand of a launch before the plan has placed buffers.
struct Operand {
  enum class Kind { kNull, kInput, kOutput, kConstant, kScratch };
  Kind kind = Kind::kNull;
  std::int32_t index = 0;
  std::int64_t offset_bytes = 0;

  static Operand null() { return {}; }
  static Operand input(std::size_t i, std::int64_t offset_bytes = 0) {
    return {Kind::kInput, static_cast<std::int32_t>(i), offset_bytes};
  }
  static Operand output(std::size_t i, std::int64_t offset_bytes = 0) {
    return {Kind::kOutput, static_cast<std::int32_t>(i), offset_bytes};
  }
  static Operand constant(std::size_t i) { return {Kind::kConstant, static_cast<std::int32_t>(i), 0}; }
  static Operand scratch(std::size_t i) { return {Kind::kScratch, static_cast<std::int32_t>(i), 0}; }
};

using LowerArg = std::variant<Operand, std::int32_t, float, LocalBytes>;

struct KernelLaunch {
  KernelInstance instance;
  std::vector<LowerArg> args;
  std::array<std::size_t, 3> global{1, 1, 1};
  std::array<std::size_t, 3> local{1, 1, 1};  // always explicit
};

// A constant that a kernel reads in a form of its own (packed weights, tables). `make` runs once per key and network:
// plans for other shapes and other requests share the result.
struct PackedConstant {
  std::string key;               // names the form only ("conv_wide:VEC=16,TILE_N=2"); the plan adds the node
  std::function<Tensor()> make;  // row-major result of any type; captures shared tensors, not references
};

struct Lowered {
  std::vector<KernelLaunch> launches;      // run in order
  std::vector<PackedConstant> constants;   // Operand::constant(i)
  std::vector<std::size_t> scratch_bytes;  // Operand::scratch(i), live during this node only
};

// How a tensor lies in memory: strides per dimension and the place of element 0, in elements from the operand's
// pointer.
struct View {
  std::vector<std::int64_t> strides;
  std::int64_t offset_elems = 0;
  friend bool operator==(const View&, const View&) = default;
};

// A choice that lowering makes by speed alone. Tuning measures it.
struct FormChoice {
  struct Form {
    std::string key;    // what KernelCaps::tuning names it by: KernelInstance::key(), of several kernels joined by "+"
    double cost = 0.0;  // by the model, next to the others'
  };
  std::string shape_class;  // what KernelCaps::tuning is asked for
  std::vector<Form> forms;  // that the device offers; the first is the choice without a table
};

struct OpDescriptor {
  // IR names it answers to, canonical spelling.
  std::span<const std::string_view> types;

  // Typed attributes with defaults from IR's text; throws kBadModel naming the attribute.
  Attributes (*parse)(std::string_view type, std::int32_t opset, const RawAttributes& raw) = nullptr;

  // Output types and shapes from concrete input shapes. Throws kBadModel where inputs do not fit the operator,
  // kUnsupported where an output's shape depends on a value that is not known.
  std::vector<InferOutput> (*infer)(const Node& node, std::span<const InferInput> inputs) = nullptr;

  // Arithmetic and memory traffic; null: 0 flops and all inputs and outputs once.
  Cost (*cost)(const Node& node, std::span<const InferInput> inputs, std::span<const InferOutput> outputs) = nullptr;

  // Plain loops over dense row-major tensors; outputs have their inferred types and shapes. The fallback and the
  // oracle: sums in double, no epilogue (the plan applies that behind it).
  void (*reference)(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) = nullptr;

  // Whether the OpenCL form can run the node on a device of these capabilities, with the reason if not.
  // Null: no OpenCL form (CPU only).
  Support (*supports)(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                      const KernelCaps& caps) = nullptr;

  // Orders that the OpenCL form takes and gives. Null: kAny everywhere.
  LayoutRules (*layouts)(const Node& node, const KernelCaps& caps) = nullptr;

  // OpenCL launches. Pure: no OpenCL call. Handles node.epilogue where it is set. Called only after supports said yes.
  Lowered (*lower)(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                   const KernelCaps& caps) = nullptr;

  // The choice among kernels that lower makes here. Depends on types, shapes and on which inputs are constants; strides
  // do not matter. Null: nothing to choose.
  FormChoice (*forms)(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                      const KernelCaps& caps) = nullptr;

  // Whether lower computes bias, residual and this activation (fusion passes ask).
  bool (*fuses)(const Node& node, const Epilogue& epilogue) = nullptr;

  // Every kernel instance that lower may choose, over all devices; recipes and `bitstream build` list from these.
  std::vector<KernelInstance> (*instances)() = nullptr;

  // Where an output could be read in input 0's memory without a copy, or nothing; ask through view_of (ops/view.hpp).
  std::optional<View> (*view)(const Node& node, std::span<const LowerInput> inputs, std::size_t output,
                              const Shape& output_shape) = nullptr;
};

// Finds the descriptor for a canonical type name; the table is written by the build from host/ops/*_op.cpp.
const OpDescriptor* find_op(std::string_view type);

// Returns the canonical spelling for a type name in any case ("convolution", "Relu" -> "ReLU"), or nothing.
std::optional<std::string> canonical_type(std::string_view type);

// All descriptors, in file name order.
std::span<const OpDescriptor* const> all_ops();

// Up to three known type names that look like the unknown one, for error messages.
std::vector<std::string> nearest_types(std::string_view type);

}  // namespace headrace
