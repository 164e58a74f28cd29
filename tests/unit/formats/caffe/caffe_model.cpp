// SPDX-License-Identifier: Apache-2.0
#include "unit/formats/caffe/caffe_model.hpp"

#include <numeric>

namespace headrace::test {
namespace {

Message& add_floats(Message& message, const std::vector<float>& values) {
  return message.text(5, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
}

std::string model(const std::vector<Weights>& layers, int layer_field, int name_field, int blobs_field) {
  Message net;
  for (const Weights& layer : layers) {
    Message message = Message().text(name_field, layer.layer);
    for (const Message& entry : layer.blobs) message.message(blobs_field, entry);
    net.message(layer_field, message);
  }
  return net.bytes();
}

}  // namespace

Message blob(const std::vector<std::int64_t>& shape, const std::vector<float>& values) {
  Message dims;
  for (const std::int64_t dim : shape) dims.number(1, dim);
  Message message = Message().message(7, dims);
  return add_floats(message, values);
}

Message legacy_blob(const std::vector<std::int64_t>& four, const std::vector<float>& values) {
  Message message;
  for (std::size_t i = 0; i < four.size(); ++i) message.number(static_cast<int>(i) + 1, four[i]);
  return add_floats(message, values);
}

std::string caffemodel(const std::vector<Weights>& layers) { return model(layers, 100, 1, 7); }

std::string v1_caffemodel(const std::vector<Weights>& layers) { return model(layers, 2, 4, 6); }

Graph parse_model(std::string_view prototxt, const std::string& weights) {
  const std::shared_ptr<char[]> copy(new char[weights.size() + kMemoryAlignment]);
  std::memcpy(copy.get(), weights.data(), weights.size());
  return parse_caffe(prototxt, {reinterpret_cast<const std::byte*>(copy.get()), weights.size()}, copy);
}

std::string with_input(std::string_view dims, std::string_view layers) {
  return "layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: [" + std::string(dims) + "] } } }\n" +
         std::string(layers);
}

std::vector<Tensor> run_layer(std::string_view layer, const std::vector<Tensor>& inputs,
                              const std::vector<Message>& blobs, int tops) {
  std::string prototxt;
  std::string names;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = i == 0 ? "x" : "x" + std::to_string(i);
    prototxt += "input: '" + name + "' input_shape {";
    for (const std::int64_t dim : inputs[i].shape()) prototxt += " dim: " + std::to_string(dim);
    prototxt += " }\n";
    names += " bottom: '" + name + "'";
  }
  for (int i = 0; i < tops; ++i) names += " top: 'y" + std::to_string(i) + "'";
  prototxt += "layer { name: 'l' " + names + " " + std::string(layer) + " }";
  return run(parse_model(prototxt, caffemodel({{"l", blobs}})), inputs);
}

Tensor counting(const Shape& shape, float first) {
  std::vector<float> values(static_cast<std::size_t>(count_elems(shape)));
  std::iota(values.begin(), values.end(), first);
  return make_f32_tensor(shape, values);
}

Tensor floats(const Shape& shape, const std::vector<float>& values) { return make_f32_tensor(shape, values); }

std::vector<float> values_of(const Tensor& tensor) {
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

}  // namespace headrace::test
