// SPDX-License-Identifier: Apache-2.0
// The network for one set of input shapes: there already, or still loading while another one answers.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "runtime/network.hpp"

namespace headrace {

// Thread-safe. Where it loads, it owns one thread, which lives until the loading ends.
class NetworkSlot {
 public:
  using Load = std::function<std::shared_ptr<const Network>()>;

  // Holds a network that is there.
  explicit NetworkSlot(std::shared_ptr<const Network> network) : network_(std::move(network)) {}
  // Calls `load` in a thread of its own; until it has returned, `fallback` answers. `what` names the network in errors
  // and in the log: "POCL".
  NetworkSlot(std::shared_ptr<const Network> fallback, Load load, std::string what);
  // Waits for the loading to end: compilers cannot be stopped, and what they made is kept for the next time.
  ~NetworkSlot();
  NetworkSlot(const NetworkSlot&) = delete;
  NetworkSlot& operator=(const NetworkSlot&) = delete;

  // The network that a run which starts now uses. Throws what the loading threw, at every call.
  std::shared_ptr<const Network> get() const;
  // The network that was to be loaded, when it is there. Throws like get().
  std::shared_ptr<const Network> wait() const;
  bool is_loading() const;

 private:
  void run(const Load& load);

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::string what_;
  std::shared_ptr<const Network> network_;
  std::shared_ptr<const Network> fallback_;  // null when the loading is over
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace headrace
