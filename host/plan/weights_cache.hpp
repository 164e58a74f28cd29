// SPDX-License-Identifier: Apache-2.0
// Packed weights, made once per network and shared by its plans.
#pragma once

#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/tensor.hpp"
#include "plan/digest.hpp"
#include "plan/weights_store.hpp"

namespace headrace {

// The constants that one node's packed weights are made of. Thread-safe.
class PackingSources {
 public:
  explicit PackingSources(std::vector<Tensor> tensors) : tensors_(std::move(tensors)), digests_(tensors_.size()) {}

  const std::vector<Tensor>& tensors() const { return tensors_; }
  std::size_t size_bytes() const;
  // Of a tensor's content, computed once however many forms of the weights are asked for.
  Digest digest(std::size_t index) const;

 private:
  std::vector<Tensor> tensors_;
  mutable std::mutex mutex_;
  mutable std::vector<std::optional<Digest>> digests_;
};

struct PackRequest {
  std::string node;     // its name
  std::string form;     // PackedConstant::key
  std::string context;  // what else of the node may decide what `make` gives: operator, attributes, shapes
  std::shared_ptr<const PackingSources> sources;
  std::function<Tensor()> make;
};

// Thread-safe: who asks for what another thread is making waits for it.
class WeightsCache {
 public:
  // With a store, weights of some size are looked for there before they are made, and kept there.
  explicit WeightsCache(std::shared_ptr<WeightsStore> store = nullptr) : store_(std::move(store)) {}

  // Returns what `make` gave for the same node, form and equal sources before, else calls it and gives back the memory
  // of sources that lie in a mapped file. Plans for other input shapes rebuild the constants that passes fold, so those
  // are compared by content: by a digest, since keeping them would keep a second copy of the weights.
  // What `make` throws is not kept.
  Tensor get(const PackRequest& request);

 private:
  // What tells one source from another: where it lies in its file, or else a digest of its content.
  struct Identity {
    ElementType type;
    Shape shape;
    const std::byte* data = nullptr;
    Digest digest;
    friend bool operator==(const Identity&, const Identity&) = default;
  };
  static std::vector<Identity> identities_of(const PackingSources& sources);
  Tensor find_or_make(const PackRequest& request) const;

  struct Entry {
    std::vector<Identity> sources;
    std::shared_future<Tensor> packed;
  };
  const std::shared_ptr<WeightsStore> store_;
  std::mutex mutex_;
  std::map<std::string, std::list<Entry>> entries_;  // by node and form
};

}  // namespace headrace
