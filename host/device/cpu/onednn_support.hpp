// SPDX-License-Identifier: Apache-2.0
// What the oneDNN files share. Includes oneDNN, so only onednn_*.cpp include it.
#pragma once

#include <cstddef>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <vector>

#include "device/cpu/onednn.hpp"

namespace headrace::detail {

// The process's CPU engine.
const dnnl::engine& onednn_engine();

// Dense row-major f32 of a shape, and f32 of which oneDNN may choose the order.
dnnl::memory::desc plain_desc(const Shape& shape);
dnnl::memory::desc any_desc(const Shape& shape);

// Attributes with scratch memory given by the caller, so that one primitive runs in several threads at once.
dnnl::primitive_attr caller_scratch_attr();

// Appends the node's activation as oneDNN computes it. False where it must be a plain pass: behind a residual, and
// for ReLU, Clamp and Sigmoid, whose NaN oneDNN turns into 0.
bool append_activation(const Epilogue& epilogue, dnnl::primitive_attr& attr);

// A node's operand: the descriptor of the caller's tensor and of what the primitive wants.
struct OperandDesc {
  int argument = 0;       // DNNL_ARG_SRC, ...
  std::size_t input = 0;  // of the node
  dnnl::memory::desc plain;
  dnnl::memory::desc chosen;
};

// A primitive with what it takes to run it on dense row-major tensors.
struct PrimitivePlan {
  dnnl::primitive primitive;
  dnnl::memory::desc scratch;
  std::vector<OperandDesc> operands;
  OperandDesc output;
  std::string label;
  bool is_activation_fused = false;
};

// Wraps the primitive: reorders operands where oneDNN chose another order (constants once, now), runs it, then adds the
// residual and the activation that are not fused.
HostFunction make_primitive_function(const HostNode& host, PrimitivePlan plan);

// Runs `make`; returns nothing where oneDNN says that it does not implement what was asked.
template <typename Make>
std::optional<HostFunction> if_implemented(Make make) {
  try {
    return make();
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_unimplemented || error.status == dnnl_invalid_arguments) return std::nullopt;
    throw;
  }
}

}  // namespace headrace::detail
