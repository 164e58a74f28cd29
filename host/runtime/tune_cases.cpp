// SPDX-License-Identifier: Apache-2.0
#include "runtime/tune_cases.hpp"

#include <algorithm>
#include <set>

#include "ops/strided.hpp"
#include "partition/is_computed.hpp"
#include "runtime/ordinary_layers.hpp"

namespace headrace {
namespace {

TensorDesc row_major_desc(ElementType type, const Shape& shape) { return {type, shape, row_major_strides(shape), 0}; }

// The node's choice where the device has one.
std::optional<FormChoice> find_choice(const Node& node, std::span<const LowerInput> inputs, const KernelCaps& caps) {
  const OpDescriptor* op = find_op(node.type);
  if (op == nullptr || op->forms == nullptr) return std::nullopt;
  std::vector<TensorDesc> outputs;
  for (const OutputInfo& output : node.outputs) outputs.push_back(row_major_desc(output.type, output.shape));
  if (!op->supports(node, inputs, outputs, caps).ok || outputs[0].count() == 0) return std::nullopt;
  FormChoice choice = op->forms(node, inputs, outputs, caps);
  if (choice.forms.size() < 2) return std::nullopt;
  return choice;
}

PortRef add_parameter(Graph& graph, ElementType type, const Shape& shape) {
  Node parameter;
  parameter.name = "input" + std::to_string(graph.parameters().size());
  parameter.type = "Parameter";
  parameter.outputs = {{type, shape, true, {}}};
  return {graph.add(std::move(parameter)), 0};
}

LayerGraph finish(Graph graph, Node layer) {
  Node result;
  result.name = "result";
  result.type = "Result";
  const NodeId id = graph.add(std::move(layer));
  result.inputs = {{id, 0}};
  graph.add(std::move(result));
  return {std::move(graph), id};
}

// The layer alone.
LayerGraph cut_out(const Graph& graph, NodeId id) {
  Graph alone;
  Node layer = graph.at(id);
  for (PortRef& input : layer.inputs) {
    const Node& source = graph.at(input);
    const OutputInfo& info = graph.info(input);
    input = source.type == "Const" ? PortRef{alone.add_const(source.name, source.value), 0}
                                   : add_parameter(alone, info.type, info.shape);
  }
  return finish(std::move(alone), std::move(layer));
}

struct Operand {
  ElementType type = ElementType::f32;
  Shape shape;
  bool is_constant = true;
};

// A layer of the list: all but the values of its constants.
struct Layer {
  std::string type;
  RawAttributes attributes;
  std::vector<Operand> operands;  // the operator's own
  bool has_bias = true;
};

Node make_node(const Layer& layer) {
  const OpDescriptor& op = *find_op(layer.type);
  Node node;
  node.name = node.type = node.source_type = layer.type;
  node.attributes = op.parse(node.type, node.opset, layer.attributes);
  std::vector<InferInput> inputs;
  for (const Operand& operand : layer.operands) inputs.push_back({operand.type, operand.shape, nullptr});
  node.inputs.resize(inputs.size());
  for (const InferOutput& output : op.infer(node, inputs))
    node.outputs.push_back({output.type, output.shape, true, {}});
  return node;
}

LayerGraph make_graph(const Layer& layer) {
  Graph graph;
  Node node = make_node(layer);
  for (std::size_t i = 0; i < layer.operands.size(); ++i) {
    const Operand& operand = layer.operands[i];
    const std::string name = "constant" + std::to_string(i);
    node.inputs[i] = operand.is_constant
                         ? PortRef{graph.add_const(name, pseudo_random_tensor(operand.type, operand.shape)), 0}
                         : add_parameter(graph, operand.type, operand.shape);
  }
  if (layer.has_bias) {
    const bool is_matmul = layer.type.ends_with("MatMul");
    const Shape& output = node.outputs[0].shape;
    const Tensor bias = pseudo_random_tensor(ElementType::f32, {is_matmul ? output.back() : output[1]});
    node.epilogue.bias_input = static_cast<std::int32_t>(node.inputs.size());
    node.epilogue.activation = Activation::kRelu;
    node.inputs.push_back({graph.add_const("bias", bias), 0});
  }
  return finish(std::move(graph), std::move(node));
}

void add_case(const Layer& layer, const KernelCaps& caps, std::set<std::string>& seen, std::vector<TuneCase>& cases) {
  static const Tensor kAnyConstant;  // its value plays no part in the choice
  std::vector<LowerInput> inputs;
  for (const Operand& operand : layer.operands) {
    inputs.push_back({row_major_desc(operand.type, operand.shape), operand.is_constant ? &kAnyConstant : nullptr});
  }
  auto choice = find_choice(make_node(layer), inputs, caps);
  if (!choice || !seen.insert(choice->shape_class).second) return;
  cases.push_back({layer.type, std::move(*choice), [layer] { return make_graph(layer); }});
}

Layer convolution(const OrdinaryConvolution& s, bool is_int8) {
  const auto pair = [](std::int64_t h, std::int64_t w) { return std::to_string(h) + "," + std::to_string(w); };
  const auto pad = [&s](std::int64_t kernel) {
    return std::max<std::int64_t>(0, (s.out - 1) * s.stride + (kernel - 1) * s.dilation + 1 - s.in);
  };
  const std::int64_t h = pad(s.KH);
  const std::int64_t w = pad(s.KW);
  const bool is_group = s.G > 1;
  Layer layer;
  layer.type = is_int8 ? "QuantizedConvolution" : is_group ? "GroupConvolution" : "Convolution";
  layer.attributes = {{"strides", pair(s.stride, s.stride)},
                      {"dilations", pair(s.dilation, s.dilation)},
                      {"pads_begin", pair(h / 2, w / 2)},
                      {"pads_end", pair(h - h / 2, w - w / 2)}};
  const Shape wei = is_group ? Shape{s.G, s.OC, s.IC, s.KH, s.KW} : Shape{s.OC, s.IC, s.KH, s.KW};
  layer.operands = {{is_int8 ? ElementType::u8 : ElementType::f32, {1, s.G * s.IC, s.in, s.in}, false},
                    {is_int8 ? ElementType::i8 : ElementType::f32, wei}};
  return layer;
}

Layer matmul(const OrdinaryMatMul& s, bool is_int8) {
  const auto shape = [&s](std::int64_t rows, std::int64_t columns) {
    return s.batch == 1 ? Shape{rows, columns} : Shape{s.batch, rows, columns};
  };
  Layer layer;
  layer.type = is_int8 ? "QuantizedMatMul" : "MatMul";
  layer.operands = {{is_int8 ? ElementType::u8 : ElementType::f32, shape(s.M, s.K), false},
                    {is_int8 ? ElementType::i8 : ElementType::f32, shape(s.K, s.N), s.has_weights}};
  layer.has_bias = s.has_weights;
  return layer;
}

// Adds the scales and the zero point that the int8 operators have besides.
Layer with_scales(Layer layer, std::int64_t channels) {
  layer.attributes["zero_point"] = "128";
  layer.operands.push_back({ElementType::f32, {channels}});
  return layer;
}

}  // namespace

std::vector<TuneCase> model_cases(const std::shared_ptr<const Graph>& graph, const KernelCaps& caps) {
  std::set<std::string> seen;
  std::vector<TuneCase> cases;
  for (const NodeId id : graph->topological_order()) {
    const Node& node = graph->at(id);
    if (!is_computed(node)) continue;
    std::vector<LowerInput> inputs;
    for (const PortRef& ref : node.inputs) {
      const OutputInfo& info = graph->info(ref);
      inputs.push_back(
          {row_major_desc(info.type, info.shape), is_const(*graph, ref) ? &graph->at(ref).value : nullptr});
    }
    auto choice = find_choice(node, inputs, caps);
    if (!choice || !seen.insert(choice->shape_class).second) continue;
    cases.push_back({node.name, std::move(*choice), [graph, id] { return cut_out(*graph, id); }});
  }
  return cases;
}

std::vector<TuneCase> ordinary_cases(const KernelCaps& caps) {
  std::set<std::string> seen;
  std::vector<TuneCase> cases;
  for (const OrdinaryConvolution& size : ordinary_convolutions()) {
    add_case(convolution(size, false), caps, seen, cases);
  }
  for (const OrdinaryMatMul& size : ordinary_matmuls()) add_case(matmul(size, false), caps, seen, cases);
  if (!caps.has_vnni) return cases;  // elsewhere networks are not computed in int8
  for (const OrdinaryConvolution& size : ordinary_convolutions()) {
    if (size.G == 1) add_case(with_scales(convolution(size, true), size.OC), caps, seen, cases);
  }
  for (const OrdinaryMatMul& size : ordinary_matmuls()) {
    if (size.has_weights && size.K <= 32768) add_case(with_scales(matmul(size, true), size.N), caps, seen, cases);
  }
  return cases;
}

Tensor pseudo_random_tensor(ElementType type, const Shape& shape) {
  Tensor tensor(type, shape);
  std::uint32_t state = 1;
  const auto next = [&state] { return (state = state * 1664525U + 1013904223U) >> 8U; };  // 24 bits
  if (type == ElementType::f32) {
    for (float& value : tensor.mutable_values<float>()) value = static_cast<float>(next()) * 0x1p-23F - 1.0F;
  } else if (size_bytes(type) == 1 && type != ElementType::boolean) {
    for (std::size_t i = 0; i < tensor.size_bytes(); ++i) tensor.mutable_data()[i] = static_cast<std::byte>(next());
  }
  return tensor;
}

}  // namespace headrace
