// SPDX-License-Identifier: Apache-2.0
// BatchNormInference: y = (x - mean) / sqrt(variance + epsilon) * gamma + beta per channel (axis 1). Passes fold most
// of them into weights; what is left runs as one multiplication and addition.
#include <cmath>

#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"BatchNormInference"};
constexpr std::size_t kInputs = 5;

Attributes parse(std::string_view, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  attributes.set("epsilon", parse_double(raw, "epsilon"));
  return attributes;
}

// Where the inputs stand: opset1 has the data behind gamma and beta, opset5 in front of them.
struct Places {
  std::size_t data = 0;
  std::size_t gamma = 1;
  std::size_t beta = 2;
  std::size_t mean = 3;
  std::size_t variance = 4;
};

Places places_of(const Node& node) { return node.opset >= 5 ? Places{} : Places{2, 0, 1, 3, 4}; }

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), kInputs, kInputs);
  const std::size_t data = places_of(node).data;
  const Shape& shape = inputs[data].shape;
  if (shape.size() < 2) fail_node(node, "expects data of rank 2 or more, got shape " + to_string(shape));
  for (std::size_t i = 0; i < kInputs; ++i) {
    if (i != data && inputs[i].shape != Shape{shape[1]}) {
      fail_node(node, "expects input " + std::to_string(i) + " of shape " + to_string(Shape{shape[1]}) +
                          ", one value per channel, got " + to_string(inputs[i].shape));
    }
  }
  return {{inputs[data].type, shape}};
}

Cost cost(const Node& node, std::span<const InferInput> inputs, std::span<const InferOutput> outputs) {
  const std::int64_t count = count_elems(outputs[0].shape);
  const auto bytes = static_cast<std::int64_t>(size_bytes(inputs[places_of(node).data].type));
  return {2 * count, 2 * count * bytes};
}

// Element c of the factors and terms of y = x * factor + term.
struct Affine {
  std::vector<double> factors;
  std::vector<double> terms;
};

Affine affine_of(const Places& places, double epsilon, std::span<const Tensor> inputs) {
  Affine affine;
  for (std::int64_t c = 0; c < inputs[places.gamma].count(); ++c) {
    const double factor = real_at(inputs[places.gamma], c) / std::sqrt(real_at(inputs[places.variance], c) + epsilon);
    affine.factors.push_back(factor);
    affine.terms.push_back(real_at(inputs[places.beta], c) - real_at(inputs[places.mean], c) * factor);
  }
  return affine;
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const Places places = places_of(node);
  const Affine affine = affine_of(places, node.attributes.get_double("epsilon"), inputs);
  const Tensor& data = inputs[places.data];
  const Shape& shape = data.shape();
  const std::int64_t inner = row_major_strides(shape)[1];
  for (std::int64_t i = 0; i < data.count(); ++i) {
    const auto channel = static_cast<std::size_t>(i / inner % shape[1]);
    set_real(outputs[0], i, real_at(data, i) * affine.factors[channel] + affine.terms[channel]);
  }
}

std::vector<std::int64_t> channel_strides(std::size_t rank) {
  std::vector<std::int64_t> strides(rank, 0);
  strides[1] = 1;
  return strides;
}

Walk walk_of(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs) {
  const std::size_t data = places_of(node).data;
  const std::vector<std::int64_t> channels = channel_strides(outputs[0].shape.size());
  return {outputs[0].shape,
          {{Operand::output(0), outputs[0].offset, outputs[0].strides},
           {Operand::input(data), inputs[data].desc.offset, inputs[data].desc.strides},
           {Operand::constant(0), 0, channels},
           {Operand::constant(1), 0, channels}}};
}

KernelInstance instance_of(const KernelCaps& caps) {
  return vector_instance("affine_wide", "", walk_vector_width(caps));
}

Support supports(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                 const KernelCaps& caps) {
  if (outputs[0].type != ElementType::f32) return Support::no("BatchNormInference needs f32");
  for (std::size_t i = 0; i < kInputs; ++i) {
    if (i != places_of(node).data && inputs[i].constant == nullptr) {
      return Support::no("input " + std::to_string(i) + " (statistics or weights) is not constant");
    }
  }
  if (const Support support = supports_int_index(inputs, outputs); !support.ok) return support;
  if (const Support support = supports_walk(walk_of(node, inputs, outputs)); !support.ok) return support;
  return supports_instance(instance_of(caps), caps);
}

PackedConstant packed(std::string key, const Node& node, std::span<const LowerInput> inputs,
                      std::vector<double> Affine::*member) {
  std::vector<Tensor> values(kInputs);
  const Places places = places_of(node);
  for (std::size_t i = 0; i < kInputs; ++i) {
    if (i != places.data) values[i] = *inputs[i].constant;
  }
  const double epsilon = node.attributes.get_double("epsilon");
  return {std::move(key), [=] {
            const std::vector<double> all = affine_of(places, epsilon, values).*member;
            return make_f32_tensor({static_cast<std::int64_t>(all.size())}, std::vector<float>(all.begin(), all.end()));
          }};
}

Lowered lower(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
              const KernelCaps& caps) {
  Lowered lowered;
  lowered.constants = {packed("batch_norm:factors", node, inputs, &Affine::factors),
                       packed("batch_norm:terms", node, inputs, &Affine::terms)};
  const Epilogue& epilogue = node.epilogue;
  const std::vector<LowerArg> extra = {static_cast<std::int32_t>(epilogue.activation), epilogue.alpha, epilogue.beta};
  append_walk(lowered, instance_of(caps), walk_of(node, inputs, outputs), extra, caps);
  return lowered;
}

bool fuses(const Node& node, const Epilogue& epilogue) {
  const bool is_f32 = !node.outputs.empty() && node.outputs[0].type == ElementType::f32;
  return is_f32 && epilogue.bias_input < 0 && epilogue.residual_input < 0 && is_light_activation(epilogue.activation);
}

std::vector<KernelInstance> instances() { return vector_instances("affine_wide", ""); }

}  // namespace

const OpDescriptor& batch_norm_op() {
  static constexpr OpDescriptor op = {
      .types = kTypes,
      .parse = parse,
      .infer = infer,
      .cost = cost,
      .reference = reference,
      .supports = supports,
      .lower = lower,
      .fuses = fuses,
      .instances = instances,
  };
  return op;
}

}  // namespace headrace
