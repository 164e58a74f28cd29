// SPDX-License-Identifier: Apache-2.0
#include "unit/formats/old_ir/old_ir_model.hpp"

namespace headrace::test {
namespace {

std::string ports(const char* tag, const std::vector<Shape>& shapes, std::size_t first) {
  if (shapes.empty()) return "";
  std::string text = std::string("<") + tag + ">";
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    text += "<port id=\"" + std::to_string(first + i) + "\">";
    for (const std::int64_t dim : shapes[i]) text += "<dim>" + std::to_string(dim) + "</dim>";
    text += "</port>";
  }
  return text + "</" + tag + ">";
}

std::string blob_text(const char* tag, const std::vector<float>& values, std::string& bin) {
  if (values.empty()) return "";
  const std::string text = std::string("<") + tag + " offset=\"" + std::to_string(bin.size()) + "\" size=\"" +
                           std::to_string(values.size() * sizeof(float)) + "\"/>";
  bin += bytes_of(values);
  return text;
}

}  // namespace

std::string old_layer(int id, std::string_view name, std::string_view type, const std::vector<Shape>& inputs,
                      const std::vector<Shape>& outputs, std::string_view inside, std::string_view precision) {
  return "<layer id=\"" + std::to_string(id) + "\" name=\"" + std::string(name) + "\" precision=\"" +
         std::string(precision) + "\" type=\"" + std::string(type) + "\">" + ports("input", inputs, 0) +
         ports("output", outputs, inputs.size()) + std::string(inside) + "</layer>";
}

std::string old_net(int version, const std::vector<std::string>& layers, const std::vector<OldEdge>& edges,
                    std::string_view more) {
  std::string text =
      "<?xml version=\"1.0\"?><net batch=\"1\" name=\"n\" version=\"" + std::to_string(version) + "\"><layers>";
  for (const std::string& layer : layers) text += layer + "\n";
  text += "</layers><edges>";
  for (const OldEdge& edge : edges) {
    text += "<edge from-layer=\"" + std::to_string(edge.from_layer) + "\" from-port=\"" +
            std::to_string(edge.from_port) + "\" to-layer=\"" + std::to_string(edge.to_layer) + "\" to-port=\"" +
            std::to_string(edge.to_port) + "\"/>";
  }
  return text + "</edges>" + std::string(more) + "</net>";
}

std::string bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

Graph parse_old(std::string_view xml, const std::string& bin) {
  const std::shared_ptr<char[]> copy(new char[bin.size() + kMemoryAlignment]);
  std::memcpy(copy.get(), bin.data(), bin.size());
  WeightsBlob weights;
  weights.owner = copy;
  weights.bytes = {reinterpret_cast<const std::byte*>(copy.get()), bin.size()};
  return parse_old_ir(xml, weights);
}

std::vector<Tensor> run_old(const OldCase& old, const std::vector<Tensor>& inputs) {
  std::vector<std::string> layers;
  std::vector<OldEdge> edges;
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const int id = static_cast<int>(i);
    layers.push_back(old_layer(id, "x" + std::to_string(i), "Input", {}, {inputs[i].shape()}));
    edges.push_back({id, 0, 99, id});
    shapes.push_back(inputs[i].shape());
  }
  std::string bin = "??";  // so that no blob is aligned
  std::string blobs = blob_text("biases", old.biases, bin) + blob_text("weights", old.weights, bin);
  if (old.version > 2 && !blobs.empty()) blobs = "<blobs>" + blobs + "</blobs>";
  layers.push_back(old_layer(99, "l", old.type, shapes, old.outputs, old.inside + blobs));
  return run(parse_old(old_net(old.version, layers, edges), bin), inputs);
}

}  // namespace headrace::test
