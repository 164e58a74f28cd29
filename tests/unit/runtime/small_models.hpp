// SPDX-License-Identifier: Apache-2.0
// Networks of a few layers, built without a file.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "headrace/headrace.hpp"
#include "runtime/model_impl.hpp"

namespace headrace::test {

// Builds a graph as a reader would.
class NetBuilder {
 public:
  PortRef parameter(const std::string& name, std::string_view shape, ElementType type = ElementType::f32);
  PortRef constant(const Tensor& value);
  PortRef constant(const Shape& shape, std::initializer_list<float> values);
  // A layer with one output, whose tensor has the layer's name.
  PortRef layer(std::string_view type, const std::string& name, std::vector<PortRef> inputs,
                const RawAttributes& raw = {}, std::int32_t opset = 1);
  void result(PortRef source);
  Model finish();

 private:
  Graph graph_;
  int constants_ = 0;
};

// x [1,1,64,64] -> 1x1 convolution with weight 2, plus 1.
Model affine_model();
// x -> `layers` hyperbolic tangents of `count` elements: slow.
Model slow_model(int layers, std::int64_t count);
// x [4] and index [1] -> Gather: an index outside 0..3 fails while running.
Model gather_model();

Tensor filled(const Shape& shape, float value);
std::vector<float> floats(const Tensor& tensor);

}  // namespace headrace::test
