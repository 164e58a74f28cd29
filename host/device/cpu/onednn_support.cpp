// SPDX-License-Identifier: Apache-2.0
#ifdef HEADRACE_WITH_ONEDNN
#include "device/cpu/onednn_support.hpp"

#include <cmath>
#include <unordered_map>

#include "ops/strided.hpp"

namespace headrace::detail {
namespace {

using dnnl::algorithm;

// Memory of the calling thread, grown as needed and kept until the thread ends; slots are in use at the same time.
void* thread_scratch(std::size_t slot, std::size_t bytes) {
  thread_local std::vector<Tensor> buffers;
  if (buffers.size() <= slot) buffers.resize(slot + 1);
  if (buffers[slot].size_bytes() < bytes) {
    buffers[slot] = Tensor(ElementType::u8, {static_cast<std::int64_t>(bytes)});
  }
  return buffers[slot].mutable_data();
}

dnnl::memory wrap(const dnnl::memory::desc& desc, const void* data) {
  return {desc, onednn_engine(), const_cast<void*>(data)};
}

void reorder(dnnl::memory from, dnnl::memory to, const dnnl::stream& stream) {
  dnnl::reorder(from, to).execute(stream, from, to);
}

Tensor pack_constant(const OperandDesc& operand, const Tensor& constant) {
  Tensor packed(ElementType::u8, {static_cast<std::int64_t>(operand.chosen.get_size())});
  const Tensor aligned = constant.aligned_copy();
  dnnl::stream stream(onednn_engine());
  reorder(wrap(operand.plain, aligned.data()), wrap(operand.chosen, packed.data()), stream);
  stream.wait();
  return packed;
}

// The activation as float loops that compilers vectorize; comparisons keep NaN.
void apply_plain_activation(const Epilogue& epilogue, std::span<float> values) {
  const float alpha = epilogue.alpha;
  const float beta = epilogue.beta;
  switch (epilogue.activation) {
    case Activation::kNone: return;
    case Activation::kRelu:
      for (float& v : values) v = v < 0.0F ? 0.0F : v;
      return;
    case Activation::kClamp:
      for (float& v : values) {
        const float low = v < alpha ? alpha : v;
        v = low > beta ? beta : low;
      }
      return;
    default:
      for (float& v : values) v = static_cast<float>(apply_activation(epilogue.activation, alpha, beta, v));
  }
}

class PrimitiveCall {
 public:
  PrimitiveCall(const HostNode& host, PrimitivePlan plan)
      : plan_(std::move(plan)), epilogue_(host.node.epilogue), packed_(plan_.operands.size()) {
    for (std::size_t i = 0; i < plan_.operands.size(); ++i) {
      const OperandDesc& operand = plan_.operands[i];
      const Tensor* constant = host.inputs[operand.input].constant;
      if (constant != nullptr && operand.plain != operand.chosen) packed_[i] = pack_constant(operand, *constant);
    }
    if (plan_.is_activation_fused) epilogue_.activation = Activation::kNone;
  }

  void operator()(std::span<const Tensor> inputs, std::span<Tensor> outputs) const {
    try {
      run(inputs, outputs[0]);
    } catch (const dnnl::error& error) {
      fail(ErrorCode::kInternal, std::string("oneDNN: ") + error.what());
    }
    finish(inputs, outputs[0]);
  }

 private:
  void run(std::span<const Tensor> inputs, Tensor& output) const {
    dnnl::stream stream(onednn_engine());
    std::unordered_map<int, dnnl::memory> args;
    std::size_t slot = 0;
    for (std::size_t i = 0; i < plan_.operands.size(); ++i) {
      const OperandDesc& operand = plan_.operands[i];
      const Tensor& tensor = inputs[operand.input];
      if (packed_[i].count() > 0) {
        args[operand.argument] = wrap(operand.chosen, packed_[i].data());
      } else if (operand.plain == operand.chosen) {
        args[operand.argument] = wrap(operand.plain, tensor.data());
      } else {
        args[operand.argument] = wrap(operand.chosen, thread_scratch(++slot, operand.chosen.get_size()));
        reorder(wrap(operand.plain, tensor.data()), args[operand.argument], stream);
      }
    }
    const OperandDesc& out = plan_.output;
    const bool is_direct = out.plain == out.chosen;
    const dnnl::memory result =
        wrap(out.chosen, is_direct ? output.mutable_data() : thread_scratch(++slot, out.chosen.get_size()));
    args[DNNL_ARG_DST] = result;
    args[DNNL_ARG_SCRATCHPAD] = wrap(plan_.scratch, thread_scratch(0, plan_.scratch.get_size()));
    plan_.primitive.execute(stream, args);
    if (!is_direct) reorder(result, wrap(out.plain, output.mutable_data()), stream);
    stream.wait();
  }

  void finish(std::span<const Tensor> inputs, Tensor& output) const {
    const auto values = output.mutable_values<float>();
    if (epilogue_.residual_input >= 0) {
      const auto residual = inputs[static_cast<std::size_t>(epilogue_.residual_input)].values<float>();
      for (std::size_t i = 0; i < values.size(); ++i) values[i] += residual[i];
    }
    apply_plain_activation(epilogue_, values);
  }

  PrimitivePlan plan_;
  Epilogue epilogue_;
  std::vector<Tensor> packed_;  // per operand; empty where the caller's tensor is read
};

struct FusedActivation {
  algorithm kind;
  float alpha;
  float beta;
};

std::optional<FusedActivation> find_fused(const Epilogue& epilogue) {
  const float alpha = epilogue.alpha;
  switch (epilogue.activation) {
    case Activation::kLeakyRelu: return FusedActivation{algorithm::eltwise_relu, alpha, 0};
    case Activation::kSwish: return FusedActivation{algorithm::eltwise_swish, alpha, 0};
    case Activation::kHSwish: return FusedActivation{algorithm::eltwise_hardswish, 0, 0};
    case Activation::kTanh: return FusedActivation{algorithm::eltwise_tanh, 0, 0};
    case Activation::kElu: return FusedActivation{algorithm::eltwise_elu, alpha, 0};
    case Activation::kGeluErf: return FusedActivation{algorithm::eltwise_gelu_erf, 0, 0};
    case Activation::kGeluTanh: return FusedActivation{algorithm::eltwise_gelu_tanh, 0, 0};
    case Activation::kMish: return FusedActivation{algorithm::eltwise_mish, 0, 0};
    case Activation::kSoftPlus: return FusedActivation{algorithm::eltwise_soft_relu, 0, 0};
    default: return std::nullopt;
  }
}

}  // namespace

const dnnl::engine& onednn_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::memory::desc plain_desc(const Shape& shape) {
  return {shape, dnnl::memory::data_type::f32, row_major_strides(shape)};
}

dnnl::memory::desc any_desc(const Shape& shape) {
  return {shape, dnnl::memory::data_type::f32, dnnl::memory::format_tag::any};
}

dnnl::primitive_attr caller_scratch_attr() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

bool append_activation(const Epilogue& epilogue, dnnl::primitive_attr& attr) {
  if (epilogue.residual_input >= 0) return false;
  const auto fused = find_fused(epilogue);
  // elu and leaky ReLU of oneDNN need alpha as it is; every factor is 1.
  if (!fused) return false;
  dnnl::post_ops ops;
  ops.append_eltwise(1.0F, fused->kind, fused->alpha, fused->beta);
  attr.set_post_ops(ops);
  return true;
}

HostFunction make_primitive_function(const HostNode& host, PrimitivePlan plan) {
  std::string label = plan.label;
  return {[call = std::make_shared<const PrimitiveCall>(host, std::move(plan))](
              std::span<const Tensor> inputs, std::span<Tensor> outputs) { (*call)(inputs, outputs); },
          std::move(label)};
}

}  // namespace headrace::detail
#endif
