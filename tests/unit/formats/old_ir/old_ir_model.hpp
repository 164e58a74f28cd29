// SPDX-License-Identifier: Apache-2.0
// Small IR files of versions 2 to 7 for the tests of the reader.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/old_ir/old_ir_reader.hpp"
#include "unit/formats/onnx/onnx_bytes.hpp"

namespace headrace::test {

// One layer; `inside` stands between its ports and </layer> (<data .../>, <blobs>). Ports are numbered from 0, inputs
// first.
std::string old_layer(int id, std::string_view name, std::string_view type, const std::vector<Shape>& inputs,
                      const std::vector<Shape>& outputs, std::string_view inside = "",
                      std::string_view precision = "FP32");

struct OldEdge {
  int from_layer, from_port, to_layer, to_port;
};
std::string old_net(int version, const std::vector<std::string>& layers, const std::vector<OldEdge>& edges,
                    std::string_view more = "");

// The bytes of a .bin, and its blob.
std::string bytes_of(const std::vector<float>& values);
Graph parse_old(std::string_view xml, const std::string& bin = "");

// One layer "l" in a network of a version, on inputs "x0", "x1", ....
struct OldCase {
  std::string type;
  std::string inside;                  // <data .../>
  std::vector<Shape> outputs;          // as the file says
  std::vector<float> weights, biases;  // none where empty
  int version = 7;
};
std::vector<Tensor> run_old(const OldCase& old, const std::vector<Tensor>& inputs);

}  // namespace headrace::test
