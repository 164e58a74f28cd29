// SPDX-License-Identifier: Apache-2.0
// Small IR texts for tests: layers and edges in, XML out.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "formats/ir/ir_reader.hpp"

namespace headrace {

// Layers, edges and constants of a small network. Layer ids are given by the caller; output ports follow the inputs.
class IrText {
 public:
  explicit IrText(std::string version = "11") : version_(std::move(version)) {}

  IrText& layer(const std::string& text) {
    layers_ += text;
    return *this;
  }
  // A layer with `inputs` input ports 0.. and one output port behind them.
  IrText& op(int id, const std::string& name, const std::string& type, int inputs, const std::string& data = "",
             const std::string& opset = "opset1") {
    std::string text = "<layer id='" + std::to_string(id) + "' name='" + name + "' type='" + type + "' version='" +
                       opset + "'>" + (data.empty() ? "" : "<data " + data + "/>");
    if (inputs > 0) text += "<input>";
    for (int i = 0; i < inputs; ++i) text += "<port id='" + std::to_string(i) + "'/>";
    if (inputs > 0) text += "</input>";
    if (type != "Result") {
      text += "<output><port id='" + std::to_string(inputs) + "' precision='FP32' names='" + name + "'/></output>";
    }
    return layer(text + "</layer>");
  }
  IrText& parameter(int id, const std::string& name, const std::string& shape) {
    return op(id, name, "Parameter", 0, "shape='" + shape + "' element_type='f32'");
  }
  IrText& constant(int id, const std::string& name, const std::string& type, const std::string& shape,
                   const std::string& offset, const std::string& size) {
    return op(id, name, "Const", 0,
              "element_type='" + type + "' shape='" + shape + "' offset='" + offset + "' size='" + size + "'");
  }
  IrText& result(int id, const std::string& name) { return op(id, name, "Result", 1); }
  IrText& edge(int from, int from_port, int to, int to_port) {
    edges_ += "<edge from-layer='" + std::to_string(from) + "' from-port='" + std::to_string(from_port) +
              "' to-layer='" + std::to_string(to) + "' to-port='" + std::to_string(to_port) + "'/>";
    return *this;
  }
  std::string xml() const {
    return "<?xml version='1.0'?><net name='n' version='" + version_ + "'><layers>" + layers_ + "</layers><edges>" +
           edges_ + "</edges></net>";
  }
  Graph parse(const WeightsBlob& weights = {}) const { return parse_ir(xml(), weights); }

 private:
  std::string version_;
  std::string layers_;
  std::string edges_;
};

// A blob that owns its bytes, at an address that is a multiple of 128 plus `misalignment`.
inline WeightsBlob make_blob(const std::string& bytes, std::size_t misalignment = 0) {
  const auto memory = std::make_shared<Tensor>(ElementType::u8, Shape{static_cast<std::int64_t>(bytes.size() + 256)});
  std::byte* data = memory->mutable_data() + misalignment;
  std::memcpy(data, bytes.data(), bytes.size());
  return {memory, {data, bytes.size()}, "net.bin", ""};
}

// The message with which the action fails, with its code; "no error" where it does not.
template <typename Action>
std::string error_of(Action action, ErrorCode code = ErrorCode::kBadModel) {
  try {
    action();
  } catch (const Error& error) {
    if (error.code() != code) return "code " + std::string(to_string(error.code())) + ": " + error.what();
    return error.what();
  }
  return "no error";
}

}  // namespace headrace
