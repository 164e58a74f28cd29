// SPDX-License-Identifier: Apache-2.0
// A request on a model that is cut: head, layer, tail, one after the other.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "runtime/cut_model.hpp"
#include "runtime/infer_request_impl.hpp"

namespace headrace {

// Not thread-safe. The halves' requests are kept from run to run.
class CutRequest {
 public:
  using Tensors = std::vector<std::optional<Tensor>>;

  // Subgraphs are numbered from `first_subgraph` in the profile.
  CutRequest(std::shared_ptr<const CutModel> model, std::size_t first_subgraph);

  // Inputs and where the outputs shall go (nothing: to memory of the request), by position in the whole model. Throws
  // what the halves and the layer throw.
  void run(const Tensors& inputs, const Tensors& output_wishes, const std::stop_token& stop);

  // By position in the whole model; valid until the next run.
  Tensors results() const;
  std::vector<LayerProfile> profile() const;
  std::size_t count_subgraphs() const;

 private:
  std::vector<Tensor> run_layer_on_host();
  void run_tail(std::span<const Tensor> layer_outputs, const Tensors& output_wishes, const std::stop_token& stop);
  void pass_wishes(InferRequest::Impl& half, bool is_tail, const Tensors& output_wishes) const;

  const std::shared_ptr<const CutModel> model_;
  std::unique_ptr<InferRequest::Impl> head_;
  std::unique_ptr<InferRequest::Impl> tail_;
  LayerProfile layer_profile_;
};

}  // namespace headrace
