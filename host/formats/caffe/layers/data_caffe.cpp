// SPDX-License-Identifier: Apache-2.0
// Where a network's blobs come from: inputs, data layers, constants.
#include <algorithm>

#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/caffe/caffe_context.hpp"

namespace headrace::detail {
namespace {

PartialShape checked_shape(const CaffeParams& shape, const CaffeContext& c, std::size_t top) {
  return PartialShape(checked_caffe_shape(shape.ints("dim"), "top " + quote(c.layer().tops[top])));
}

// One shape for all tops, or one for each.
std::vector<PortRef> convert_input(CaffeContext& c) {
  c.need_inputs(0);
  const std::vector<CaffeParams> shapes = c.params("input_param").messages("shape");
  if (shapes.size() > 1 && shapes.size() != c.count_outputs()) {
    fail(ErrorCode::kBadModel, "has " + std::to_string(c.count_outputs()) + " tops and " +
                                   std::to_string(shapes.size()) + " shapes, expected one shape or one for each");
  }
  std::vector<PortRef> outputs;
  for (std::size_t i = 0; i < c.count_outputs(); ++i) {
    PartialShape any;
    any.is_rank_known = false;
    outputs.push_back(c.add_input(i, shapes.empty() ? any : checked_shape(shapes[shapes.size() == 1 ? 0 : i], c, i)));
  }
  return outputs;
}

Dimension known(std::int64_t size) { return size > 0 ? Dimension{size, size} : Dimension{}; }

// Data that the file does not hold becomes an input [N, C, H, W], of which only a crop says the size; labels are one
// number for each picture.
std::vector<PortRef> convert_data(CaffeContext& c) {
  c.need_inputs(0);
  // Not c.params(): how pictures are stored and prepared says nothing more of the network.
  const CaffeParams layer("the layer", c.layer().text);
  const std::int64_t crop = layer.message("transform_param").get_int("crop_size", 0);
  PartialShape picture;
  picture.dims = {Dimension{}, Dimension{}, known(crop), known(crop)};
  if (c.layer().type == "MemoryData") {
    const CaffeParams memory = layer.message("memory_data_param");
    picture.dims = {known(memory.get_int("batch_size", 0)), known(memory.get_int("channels", 0)),
                    known(memory.get_int("height", 0)), known(memory.get_int("width", 0))};
  }
  PartialShape label;
  label.dims = {picture.dims[0]};
  std::vector<PortRef> outputs;
  for (std::size_t i = 0; i < c.count_outputs(); ++i) {
    outputs.push_back(c.is_read(i) ? c.add_input(i, i == 0 ? picture : label) : PortRef{});
  }
  return outputs;
}

// Constants: one filler and shape for all tops, or one for each.
std::vector<PortRef> convert_dummy_data(CaffeContext& c) {
  const CaffeParams& params = c.params("dummy_data_param");
  const std::vector<CaffeParams> fillers = params.messages("data_filler");
  const std::vector<CaffeParams> shapes = params.messages("shape");
  std::vector<PortRef> outputs;
  for (std::size_t i = 0; i < c.count_outputs(); ++i) {
    Ints dims;
    if (!shapes.empty()) {
      dims = shapes[std::min(i, shapes.size() - 1)].ints("dim");
    } else {
      for (const char* name : {"num", "channels", "height", "width"}) {
        const Ints sizes = params.ints(name);
        if (sizes.empty()) fail(ErrorCode::kBadModel, "has no shape");
        dims.push_back(sizes[std::min(i, sizes.size() - 1)]);
      }
    }
    double value = 0;
    if (!fillers.empty()) {
      const CaffeParams& filler = fillers[std::min(i, fillers.size() - 1)];
      const std::string type = filler.get_string("type", "constant");
      if (type != "constant") c.refuse("data of random numbers (filler " + quote(type) + ")");
      value = filler.get_float("value", 0);
    }
    outputs.push_back(c.filled(value, ElementType::f32, checked_caffe_shape(dims, "top " + quote(c.layer().tops[i]))));
  }
  return outputs;
}

std::vector<PortRef> convert_parameter(CaffeContext& c) {
  const CaffeParams shape = c.params("parameter_param").message("shape");
  return {c.blob_constant(0, checked_caffe_shape(shape.ints("dim"), "its shape"))};
}

constexpr CaffeConverter kConverters[] = {
    {"Input", convert_input},         {"Data", convert_data},
    {"ImageData", convert_data},      {"MemoryData", convert_data},
    {"HDF5Data", convert_data},       {"WindowData", convert_data},
    {"AnnotatedData", convert_data},  {"DummyData", convert_dummy_data},
    {"Parameter", convert_parameter},
};

}  // namespace

std::span<const CaffeConverter> data_caffe() { return kConverters; }

}  // namespace headrace::detail
