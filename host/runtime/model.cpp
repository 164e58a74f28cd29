// SPDX-License-Identifier: Apache-2.0
// The public class Model.
#include "runtime/model_impl.hpp"

namespace headrace {
namespace {

bool parse_layout(std::string_view layout, std::string_view port) {
  if (layout == "NCHW") return false;
  if (layout == "NHWC") return true;
  fail(ErrorCode::kInvalidArgument,
       "layout of '" + std::string(port) + "': expected NCHW or NHWC, got '" + std::string(layout) + "'");
}

void check_rank4(const PartialShape& shape, const std::string& port) {
  if (shape.is_rank_known && shape.dims.size() == 4) return;
  fail(ErrorCode::kInvalidArgument, "layout of '" + port + "': only rank 4 has one, the shape is " + to_string(shape));
}

// Files often fix the batch, the first dimension, to 1; another one is the user's choice.
bool accepts_but_for_batch(PartialShape declared, const Shape& shape) {
  const bool has_fixed_batch = declared.is_rank_known && declared.dims.size() > 1 && declared.dims[0].is_static();
  if (has_fixed_batch && !shape.empty()) declared.dims[0] = {shape[0], shape[0]};
  return declared.accepts(shape);
}

std::size_t find_input(const Model::Impl& model, std::string_view name) {
  return find_port(input_ports(model), input_layers(*model.graph), name, "input");
}

std::size_t find_output(const Model::Impl& model, std::string_view name) {
  return find_port(output_ports(model), output_layers(*model.graph), name, "output");
}

}  // namespace

Model::Model(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

const std::string& Model::name() const { return impl_->graph->name; }
std::vector<PortInfo> Model::inputs() const { return input_ports(*impl_); }
std::vector<PortInfo> Model::outputs() const { return output_ports(*impl_); }

void Model::set_input_shape(std::string_view input, const Shape& shape) {
  const std::size_t index = find_input(*impl_, input);
  auto changed = std::make_shared<Impl>(*impl_);
  changed->inputs[index].shape.reset();
  const PortInfo port = input_ports(*changed)[index];
  for (const std::int64_t dim : shape) {
    if (dim < 0)
      fail(ErrorCode::kInvalidArgument, "input '" + port.name + "': shape " + to_string(shape) + " is negative");
  }
  if (!accepts_but_for_batch(port.shape, shape)) {
    fail(ErrorCode::kInvalidArgument,
         "input '" + port.name + "': the model takes " + to_string(port.shape) + ", not " + to_string(shape));
  }
  changed->inputs[index].shape = shape;
  impl_ = std::move(changed);
}

void Model::set_input_type(std::string_view input, ElementType type) {
  auto changed = std::make_shared<Impl>(*impl_);
  changed->inputs[find_input(*impl_, input)].type = type;
  impl_ = std::move(changed);
}

void Model::set_output_type(std::string_view output, ElementType type) {
  auto changed = std::make_shared<Impl>(*impl_);
  changed->outputs[find_output(*impl_, output)].type = type;
  impl_ = std::move(changed);
}

void Model::set_input_layout(std::string_view input, std::string_view layout) {
  auto changed = std::make_shared<Impl>(*impl_);
  const std::size_t index = find_input(*impl_, input);
  PortWishes& wishes = changed->inputs[index];
  const bool is_nhwc = parse_layout(layout, input);
  check_rank4(input_ports(*impl_)[index].shape, input_ports(*impl_)[index].name);
  // A shape set before this call is in the order that held then.
  if (wishes.shape && wishes.is_nhwc != is_nhwc) {
    const Shape s = *wishes.shape;
    wishes.shape = is_nhwc ? Shape{s[0], s[2], s[3], s[1]} : Shape{s[0], s[3], s[1], s[2]};
  }
  wishes.is_nhwc = is_nhwc;
  impl_ = std::move(changed);
}

void Model::set_output_layout(std::string_view output, std::string_view layout) {
  auto changed = std::make_shared<Impl>(*impl_);
  const std::size_t index = find_output(*impl_, output);
  const PortInfo port = output_ports(*impl_)[index];
  if (port.shape.is_rank_known) check_rank4(port.shape, port.name);
  changed->outputs[index].is_nhwc = parse_layout(layout, output);
  impl_ = std::move(changed);
}

}  // namespace headrace
