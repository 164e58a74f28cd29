// SPDX-License-Identifier: Apache-2.0
// The public class InferRequest.
#include "runtime/infer_request_impl.hpp"

namespace headrace {
namespace {

std::string describe(ElementType type, const std::string& shape) { return std::string(to_string(type)) + shape; }

void check_index(std::size_t index, const std::vector<PortInfo>& ports, const char* what) {
  if (index < ports.size()) return;
  fail(ErrorCode::kInvalidArgument, std::string(what) + " " + std::to_string(index) +
                                        " does not exist; the model has " + std::to_string(ports.size()));
}

void check_only(const std::vector<PortInfo>& ports, const char* what) {
  if (ports.size() == 1) return;
  fail(ErrorCode::kInvalidArgument,
       "the model has " + std::to_string(ports.size()) + " " + what + "s; say which by position or name");
}

// The shape of the file is checked here, what the network makes of it when it is compiled.
void check_fits(const PortInfo& port, ElementType type, const Shape& shape, const char* what) {
  if (port.type == type && port.shape.accepts(shape)) return;
  fail(ErrorCode::kInvalidArgument, std::string(what) + " '" + port.name + "' takes " +
                                        describe(port.type, to_string(port.shape)) + ", given " +
                                        describe(type, to_string(shape)));
}

void set_input(InferRequest::Impl& impl, std::size_t index, const Tensor& tensor) {
  check_index(index, impl.model->inputs, "input");
  check_fits(impl.model->inputs[index], tensor.type(), tensor.shape(), "input");
  impl.input_buffers[index].reset();
  impl.inputs[index] = tensor;
}

void set_output(InferRequest::Impl& impl, std::size_t index, const Tensor& tensor) {
  check_index(index, impl.model->outputs, "output");
  const PortInfo& port = impl.model->outputs[index];
  check_fits(port, tensor.type(), tensor.shape(), "output");
  if (tensor.is_read_only())
    fail(ErrorCode::kInvalidArgument, "output '" + port.name + "' needs memory that can be written");
  impl.output_buffers[index].reset();
  impl.output_wishes[index] = tensor;
}

const Tensor& result_at(const InferRequest::Impl& impl, std::size_t index) {
  impl.loop.check_not_running("get_output_tensor");
  if (impl.output_buffers[index]) {
    fail(ErrorCode::kInvalidArgument, "output '" + impl.model->outputs[index].name + "' is in the given device buffer");
  }
  if (!impl.results[index]) {
    fail(ErrorCode::kInvalidArgument,
         "output '" + impl.model->outputs[index].name + "' is not there: no run has ended without an error");
  }
  return *impl.results[index];
}

}  // namespace

InferRequest::InferRequest(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

void InferRequest::set_input_tensor(const Tensor& tensor) {
  check_only(impl_->model->inputs, "input");
  set_input_tensor(0, tensor);
}

void InferRequest::set_input_tensor(std::size_t index, const Tensor& tensor) {
  impl_->loop.check_not_running("set_input_tensor");
  set_input(*impl_, index, tensor);
}

void InferRequest::set_tensor(std::string_view name, const Tensor& tensor) {
  impl_->loop.check_not_running("set_tensor");
  const auto& model = *impl_->model;
  // A name is looked for among the inputs first; what is no input may be an output.
  const auto input = find_port_or_nothing(model.inputs, model.input_layers, name);
  const auto output = find_port_or_nothing(model.outputs, model.output_layers, name);
  if (!input && output) {
    set_output(*impl_, *output, tensor);
  } else {
    set_input(*impl_, find_port(model.inputs, model.input_layers, name, "input"), tensor);
  }
}

void InferRequest::set_output_tensor(std::size_t index, const Tensor& tensor) {
  impl_->loop.check_not_running("set_output_tensor");
  set_output(*impl_, index, tensor);
}

Tensor InferRequest::get_output_tensor(std::size_t index) const {
  check_index(index, impl_->model->outputs, "output");
  return result_at(*impl_, index);
}

Tensor InferRequest::get_tensor(std::string_view name) const {
  const auto& model = *impl_->model;
  if (const auto input = find_port_or_nothing(model.inputs, model.input_layers, name); input && !name.empty()) {
    if (impl_->inputs[*input]) return *impl_->inputs[*input];
    fail(ErrorCode::kInvalidArgument, "input '" + std::string(name) + "' was not given");
  }
  return result_at(*impl_, find_port(model.outputs, model.output_layers, name, "output"));
}

void InferRequest::set_input_buffer(std::size_t index, ClMem buffer, const Shape& shape) {
  impl_->loop.check_not_running("set_input_buffer");
  check_index(index, impl_->model->inputs, "input");
  check_fits(impl_->model->inputs[index], impl_->model->inputs[index].type, shape, "input");
  check(buffer != nullptr, ErrorCode::kInvalidArgument, "set_input_buffer: the buffer is null");
  impl_->inputs[index].reset();
  impl_->input_buffers[index] = Impl::DeviceBuffer{buffer, shape};
}

void InferRequest::set_output_buffer(std::size_t index, ClMem buffer) {
  impl_->loop.check_not_running("set_output_buffer");
  check_index(index, impl_->model->outputs, "output");
  check(buffer != nullptr, ErrorCode::kInvalidArgument, "set_output_buffer: the buffer is null");
  impl_->output_wishes[index].reset();
  impl_->output_buffers[index] = Impl::DeviceBuffer{buffer, {}};
}

void InferRequest::infer() { impl_->loop.run(); }
void InferRequest::start_async() { impl_->loop.start(); }
void InferRequest::wait() { impl_->loop.wait(); }
bool InferRequest::wait_for(std::chrono::milliseconds timeout) { return impl_->loop.wait_for(timeout); }
void InferRequest::cancel() { impl_->loop.cancel(); }

void InferRequest::set_callback(std::function<void(std::exception_ptr)> callback) {
  impl_->loop.set_callback(std::move(callback));
}

std::vector<LayerProfile> InferRequest::profiling_info() const {
  impl_->loop.check_not_running("profiling_info");
  if (!impl_->model->options.is_profiling) {
    fail(ErrorCode::kInvalidArgument, "profiling_info: compile the model with {\"PERF_COUNT\", \"YES\"}");
  }
  return impl_->profile;
}

}  // namespace headrace
