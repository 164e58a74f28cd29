// SPDX-License-Identifier: Apache-2.0
#include "runtime/cut_request.hpp"

#include <chrono>

#include "ops/infer_graph.hpp"

namespace headrace {

CutRequest::CutRequest(std::shared_ptr<const CutModel> model, std::size_t first_subgraph)
    : model_(std::move(model)), head_(std::make_unique<InferRequest::Impl>(model_->head())) {
  head_->first_subgraph = first_subgraph;
}

void CutRequest::pass_wishes(InferRequest::Impl& half, bool is_tail, const Tensors& output_wishes) const {
  const auto& outputs = model_->cut().outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].is_in_tail == is_tail) half.output_wishes[outputs[i].result] = output_wishes[i];
  }
}

void CutRequest::run(const Tensors& inputs, const Tensors& output_wishes, const std::stop_token& stop) {
  head_->inputs = inputs;
  pass_wishes(*head_, false, output_wishes);
  head_->run(stop);
  run_tail(run_layer_on_host(), output_wishes, stop);
}

std::vector<Tensor> CutRequest::run_layer_on_host() {
  const auto begin = std::chrono::steady_clock::now();
  const LayerCut& cut = model_->cut();
  std::vector<Tensor> inputs;
  for (const std::size_t result : cut.layer_inputs) inputs.push_back(*head_->results[result]);
  std::vector<Tensor> outputs = run_layer(cut.layer, inputs);
  layer_profile_ = {};
  layer_profile_.layer =
      "subgraph" + std::to_string(head_->first_subgraph + head_->count_subgraphs()) + ": " + cut.layer.name;
  layer_profile_.type = layer_type(cut.layer);
  layer_profile_.device = "CPU";
  layer_profile_.kernel = "reference";
  layer_profile_.device_us =
      std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
  return outputs;
}

void CutRequest::run_tail(std::span<const Tensor> layer_outputs, const Tensors& output_wishes,
                          const std::stop_token& stop) {
  const LayerCut& cut = model_->cut();
  if (cut.tail.results().empty()) return;  // no output needs the layer
  std::vector<Tensor> inputs;
  for (const LayerCut::TailInput& input : cut.tail_inputs) {
    inputs.push_back(input.is_of_layer ? layer_outputs[input.output] : *head_->results[input.output]);
  }
  if (tail_ == nullptr) tail_ = std::make_unique<InferRequest::Impl>(model_->tail(inputs));
  tail_->first_subgraph = head_->first_subgraph + head_->count_subgraphs() + 1;
  for (std::size_t i = 0; i < inputs.size(); ++i) tail_->inputs[i] = inputs[i];
  pass_wishes(*tail_, true, output_wishes);
  tail_->run(stop);
}

CutRequest::Tensors CutRequest::results() const {
  Tensors results;
  for (const LayerCut::Output& output : model_->cut().outputs) {
    results.push_back((output.is_in_tail ? tail_ : head_)->results[output.result]);
  }
  return results;
}

std::vector<LayerProfile> CutRequest::profile() const {
  std::vector<LayerProfile> rows = head_->profile;
  if (rows.empty()) return rows;  // nobody asked for it
  rows.push_back(layer_profile_);
  if (tail_ != nullptr) rows.insert(rows.end(), tail_->profile.begin(), tail_->profile.end());
  return rows;
}

std::size_t CutRequest::count_subgraphs() const {
  return head_->count_subgraphs() + 1 + (tail_ == nullptr ? 0 : tail_->count_subgraphs());
}

}  // namespace headrace
