// SPDX-License-Identifier: Apache-2.0
// What an InferRequest holds: the caller's tensors, sessions on the devices, and the state of its run.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runtime/compiled_model_impl.hpp"
#include "runtime/run_loop.hpp"

namespace headrace {

class CutRequest;

struct InferRequest::Impl {
  explicit Impl(std::shared_ptr<const CompiledModel::Impl> compiled);
  ~Impl();

  // Memory of the caller's device in place of a host tensor.
  struct DeviceBuffer {
    ClMem memory = nullptr;
    Shape shape;
  };

  std::vector<Shape> input_shapes() const;
  bool has_device_buffers() const;
  // One whole run, in any thread. Throws its first error.
  void run(const std::stop_token& stop);
  // Of the last run.
  std::size_t count_subgraphs() const;

  const std::shared_ptr<const CompiledModel::Impl> model;
  const CompiledModel::Impl::Seat seat;       // the devices that it runs on
  std::vector<std::optional<Tensor>> inputs;  // the caller's, by position
  std::vector<std::optional<Tensor>> output_wishes;
  std::vector<std::optional<DeviceBuffer>> input_buffers;
  std::vector<std::optional<DeviceBuffer>> output_buffers;
  std::vector<std::optional<Tensor>> results;  // of the last run
  std::vector<LayerProfile> profile;
  std::size_t first_subgraph = 0;  // the number of its first subgraph in the profile

 private:
  void run_model(const std::stop_token& stop);
  void run_network(const std::stop_token& stop);
  void run_cut(std::shared_ptr<const CutModel> cut, const std::stop_token& stop);
  void use_network(std::shared_ptr<const Network> network);
  void place_outputs();
  void set_boundaries(const LoadedSubgraph& subgraph, Session& session);
  void run_subgraph(std::size_t index, const std::stop_token& stop);
  void check_output_buffers() const;
  bool overlaps_input(const Tensor& tensor) const;
  void copy_outputs();
  void add_profile(std::size_t index, double wall_us);

  std::shared_ptr<const Network> network_;
  std::vector<std::unique_ptr<Session>> sessions_;  // one per subgraph
  std::vector<Tensor> tensors_;                     // boundary tensors; inputs are the caller's
  std::vector<Tensor> own_outputs_;                 // where the caller gave no tensor
  std::vector<bool> is_written_;                    // outputs that a session writes itself
  std::unique_ptr<CutRequest> cut_request_;         // in place of all these for a model that is cut

 public:
  RunLoop loop;  // last: destroyed first, so no run touches what is gone
};

}  // namespace headrace
