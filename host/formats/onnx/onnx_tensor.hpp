// SPDX-License-Identifier: Apache-2.0
// Values of TensorProtos: typed fields, raw bytes and files beside the model.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/file.hpp"
#include "core/tensor.hpp"
#include "formats/onnx/onnx_file.hpp"

namespace headrace::detail {

// Returns Headrace's type for a TensorProto.DataType; throws kUnsupported with ONNX's name for the type.
ElementType onnx_element_type(std::int32_t data_type);

// Reads the values of a model's tensors. Keeps the files of external data mapped. One thread at a time.
class OnnxTensors {
 public:
  explicit OnnxTensors(const OnnxModel& model) : model_(model) {}

  // The tensor's value: shares the file's memory where the alignment allows, else copies.
  // Throws kBadModel (sizes that don't fit, a path that leaves the model's folder, a file that is too short),
  // kUnsupported (an element type) or kIo, each naming the tensor.
  Tensor read(const OnnxTensor& tensor);

  // Reads the large ones on all cores and keeps them for read(): most files hold values at odd addresses, so all of
  // them are copied. What cannot be read is left for read() to say.
  void read_ahead(const std::vector<OnnxTensor>& tensors);

 private:
  Tensor read_value(const OnnxTensor& tensor);
  Tensor read_external(const OnnxTensor& tensor, ElementType type, const Shape& shape);
  const MappedFile& map_beside_model(std::string_view location);

  const OnnxModel& model_;
  std::map<std::string, MappedFile, std::less<>> files_;
  std::unordered_map<const OnnxTensor*, Tensor> read_ahead_;
};

}  // namespace headrace::detail
