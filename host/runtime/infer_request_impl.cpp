// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer_request_impl.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "runtime/cut_request.hpp"

namespace headrace {
namespace {

using Clock = std::chrono::steady_clock;

std::string describe(ElementType type, const Shape& shape) { return std::string(to_string(type)) + to_string(shape); }

void check_not_cancelled(const std::stop_token& stop) {
  if (stop.stop_requested()) fail(ErrorCode::kCancelled, "the run was cancelled");
}

// f64 is computed as f32, in which these would be infinite, and u64 as i64, in which these would be negative.
void check_range(const Tensor& tensor, const std::string& name) {
  if (tensor.type() == ElementType::f64) {
    for (const double value : tensor.values<double>()) {
      if (!std::isfinite(value) || std::isfinite(static_cast<float>(value))) continue;
      fail(ErrorCode::kUnsupported, "input '" + name + "' holds " + to_string(AttributeValue(value)) +
                                        ", f64 is computed as f32, which ends at 3.4e38");
    }
  } else if (tensor.type() == ElementType::u64) {
    for (const std::int64_t value : to_int64s(tensor)) {
      if (value >= 0) continue;
      fail(ErrorCode::kUnsupported, "input '" + name + "' holds " + std::to_string(static_cast<std::uint64_t>(value)) +
                                        ", u64 is computed as i64, which ends at 2^63 - 1");
    }
  }
}

void copy(const Tensor& source, Tensor& target) {
  if (source.size_bytes() != 0) std::memcpy(target.mutable_data(), source.data(), source.size_bytes());
}

}  // namespace

InferRequest::Impl::Impl(std::shared_ptr<const CompiledModel::Impl> compiled)
    : model(std::move(compiled)),
      seat(model->next_seat()),
      inputs(model->inputs.size()),
      output_wishes(model->outputs.size()),
      input_buffers(model->inputs.size()),
      output_buffers(model->outputs.size()),
      results(model->outputs.size()),
      loop([this](const std::stop_token& stop) { run(stop); }) {}

InferRequest::Impl::~Impl() = default;

std::size_t InferRequest::Impl::count_subgraphs() const {
  return cut_request_ != nullptr ? cut_request_->count_subgraphs() : sessions_.size();
}

std::vector<Shape> InferRequest::Impl::input_shapes() const {
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]) {
      shapes.push_back(inputs[i]->shape());
    } else if (input_buffers[i]) {
      shapes.push_back(input_buffers[i]->shape);
    } else {
      fail(ErrorCode::kInvalidArgument, "input '" + model->inputs[i].name + "' was not given");
    }
  }
  return shapes;
}

bool InferRequest::Impl::has_device_buffers() const {
  const auto has_value = [](const auto& buffer) { return buffer.has_value(); };
  return std::any_of(input_buffers.begin(), input_buffers.end(), has_value) ||
         std::any_of(output_buffers.begin(), output_buffers.end(), has_value);
}

void InferRequest::Impl::run(const std::stop_token& stop) {
  const auto forget = [this] {
    for (auto& result : results) result.reset();
    profile.clear();
  };
  forget();
  try {
    run_model(stop);
  } catch (...) {
    forget();  // half a result is none
    throw;
  }
}

void InferRequest::Impl::run_model(const std::stop_token& stop) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]) check_range(*inputs[i], model->inputs[i].name);
  }
  auto cut = model->cut();
  if (cut == nullptr) {
    try {
      return run_network(stop);
    } catch (const UnknownValue& error) {
      cut = model->cut_at(error);
    }
  }
  run_cut(std::move(cut), stop);
}

void InferRequest::Impl::run_cut(std::shared_ptr<const CutModel> cut, const std::stop_token& stop) {
  input_shapes();  // checks that all are given
  if (has_device_buffers()) {
    fail(ErrorCode::kUnsupported,
         "device buffers: " + reason_of_cut(cut->cut().layer) + ", where the network is cut; give host tensors");
  }
  if (cut_request_ == nullptr) cut_request_ = std::make_unique<CutRequest>(std::move(cut), first_subgraph);
  cut_request_->run(inputs, output_wishes, stop);
  results = cut_request_->results();
  profile = cut_request_->profile();
}

void InferRequest::Impl::run_network(const std::stop_token& stop) {
  use_network(model->network(seat.list, input_shapes(), inputs, has_device_buffers()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]) tensors_[i] = *inputs[i];
  }
  check_output_buffers();
  place_outputs();
  for (std::size_t i = 0; i < sessions_.size(); ++i) {
    check_not_cancelled(stop);
    run_subgraph(i, stop);
  }
  check_not_cancelled(stop);
  copy_outputs();
}

void InferRequest::Impl::use_network(std::shared_ptr<const Network> network) {
  if (network == network_) return;
  sessions_.clear();
  network_ = nullptr;
  for (const LoadedSubgraph& subgraph : network->subgraphs) {
    const std::size_t parts = network->devices.devices[subgraph.device]->part_count();
    sessions_.push_back(subgraph.executable->make_session(seat.stream % parts));
  }
  tensors_.assign(network->tensors.size(), Tensor());
  for (std::size_t t = model->inputs.size(); t < tensors_.size(); ++t) {
    tensors_[t] = Tensor(network->tensors[t].type, network->tensors[t].shape);
  }
  own_outputs_.clear();
  for (const NetworkOutput& output : network->outputs) own_outputs_.emplace_back(output.info.type, output.info.shape);
  network_ = std::move(network);
}

// Decides where every output goes. The first output of a boundary tensor gives that tensor its memory, so that the
// session writes it in place; the others are copied.
void InferRequest::Impl::place_outputs() {
  std::vector<bool> is_taken(tensors_.size(), false);
  is_written_.assign(results.size(), false);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const NetworkOutput& output = network_->outputs[i];
    Tensor target = output_wishes[i] ? *output_wishes[i] : own_outputs_[i];
    if (target.shape() != output.info.shape || target.type() != output.info.type) {
      fail(ErrorCode::kInvalidArgument, "output '" + model->outputs[i].name + "' is " +
                                            describe(output.info.type, output.info.shape) + ", the given tensor is " +
                                            describe(target.type(), target.shape()));
    }
    const bool is_network_input = output.tensor < model->inputs.size();
    if (!output.constant && !is_network_input && !is_taken[output.tensor]) {
      is_taken[output.tensor] = true;
      is_written_[i] = true;
      tensors_[output.tensor] = target;
      // A session may still read an input after it has written an output.
      if (overlaps_input(target)) {
        tensors_[output.tensor] = own_outputs_[i];
        is_written_[i] = false;
      }
    }
    results[i] = std::move(target);
  }
}

bool InferRequest::Impl::overlaps_input(const Tensor& tensor) const {
  for (const auto& input : inputs) {
    if (!input) continue;
    const bool is_before = input->data() + input->size_bytes() <= tensor.data();
    const bool is_behind = tensor.data() + tensor.size_bytes() <= input->data();
    if (!is_before && !is_behind) return true;
  }
  return false;
}

// A result that goes to a device buffer never reaches the host, so nobody else may need it.
void InferRequest::Impl::check_output_buffers() const {
  for (std::size_t i = 0; i < output_buffers.size(); ++i) {
    if (!output_buffers[i]) continue;
    const NetworkOutput& output = network_->outputs[i];
    const auto refuse = [&](const char* why) {
      fail(ErrorCode::kUnsupported, "output '" + model->outputs[i].name + "' cannot go to a device buffer: " + why);
    };
    if (output.constant || output.tensor < inputs.size()) refuse("it is an input or a constant, no device computes it");
    for (const LoadedSubgraph& subgraph : network_->subgraphs) {
      for (const std::size_t tensor : subgraph.inputs) {
        if (tensor == output.tensor) refuse("another device reads it");
      }
    }
    for (std::size_t other = 0; other < results.size(); ++other) {
      const bool is_same = !network_->outputs[other].constant && network_->outputs[other].tensor == output.tensor;
      if (other != i && is_same) refuse("another output is the same tensor");
    }
  }
}

void InferRequest::Impl::set_boundaries(const LoadedSubgraph& subgraph, Session& session) {
  for (std::size_t port = 0; port < subgraph.inputs.size(); ++port) {
    const std::size_t tensor = subgraph.inputs[port];
    if (tensor < input_buffers.size() && input_buffers[tensor]) {
      session.set_input_buffer(port, input_buffers[tensor]->memory);
    } else {
      session.set_input(port, tensors_[tensor]);
    }
  }
  for (std::size_t port = 0; port < subgraph.outputs.size(); ++port) {
    session.set_output(port, tensors_[subgraph.outputs[port]]);
    for (std::size_t i = 0; i < output_buffers.size(); ++i) {
      const bool is_here = !network_->outputs[i].constant && network_->outputs[i].tensor == subgraph.outputs[port];
      if (output_buffers[i] && is_here) session.set_output_buffer(port, output_buffers[i]->memory);
    }
  }
}

void InferRequest::Impl::run_subgraph(std::size_t index, const std::stop_token& stop) {
  const auto begin = Clock::now();
  Session& session = *sessions_[index];
  set_boundaries(network_->subgraphs[index], session);
  session.set_stop(stop);
  session.start();
  session.finish();
  if (model->options.is_profiling) {
    add_profile(index, std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
}

void InferRequest::Impl::copy_outputs() {
  for (std::size_t i = 0; i < results.size(); ++i) {
    const NetworkOutput& output = network_->outputs[i];
    if (output_buffers[i]) {
      results[i].reset();
    } else if (output.constant) {
      copy(*output.constant, *results[i]);
    } else if (!is_written_[i]) {
      if (output.tensor < inputs.size() && !inputs[output.tensor]) {
        fail(ErrorCode::kUnsupported,
             "output '" + model->outputs[i].name + "' is the input itself, which was given as a device buffer");
      }
      copy(tensors_[output.tensor], *results[i]);
    }
  }
}

void InferRequest::Impl::add_profile(std::size_t index, double wall_us) {
  const LoadedSubgraph& subgraph = network_->subgraphs[index];
  const SessionProfile session = sessions_[index]->profile();
  const std::vector<std::string> origins = subgraph.executable->step_origins();
  const std::string prefix = "subgraph" + std::to_string(first_subgraph + index) + ": ";
  const std::string& device = network_->devices.names[subgraph.device];
  double sum_us = 0.0;
  const auto add = [&](LayerProfile row) {
    sum_us += row.device_us;
    row.device = device;
    profile.push_back(std::move(row));
  };
  const auto time_row = [&](const char* name, double time_us) {
    LayerProfile row;
    row.layer = prefix + name;
    row.type = "Transfer";
    row.device_us = time_us;
    return row;
  };
  if (session.enqueue_us > 0.0) {
    LayerProfile enqueue = time_row("enqueue", 0.0);  // not in the sum: the device works meanwhile
    enqueue.type = "Host";
    enqueue.queue_us = session.enqueue_us;
    add(std::move(enqueue));
  }
  add(time_row("input transfer", session.write_us));
  for (std::size_t s = 0; s < session.steps.size(); ++s) {
    const PlanStep& step = subgraph.plan->steps[s];
    LayerProfile row = time_row(step.layer.c_str(), session.steps[s].device_us);
    row.type = step.type;
    row.kernel = step.kernel;
    row.origin = origins[s];
    row.queue_us = session.steps[s].queue_us;
    row.flops = step.flops;
    row.bytes = step.bytes;
    add(std::move(row));
  }
  add(time_row("output transfer", session.read_us));
  // What the device's clock does not see: gaps between kernels, waking up.
  LayerProfile rest = time_row("host overhead", wall_us - sum_us);
  rest.type = "Host";
  if (rest.device_us > 0.0) add(std::move(rest));
}

}  // namespace headrace
