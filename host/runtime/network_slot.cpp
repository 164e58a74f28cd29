// SPDX-License-Identifier: Apache-2.0
#include "runtime/network_slot.hpp"

#include <chrono>
#include <system_error>

#include "core/error.hpp"
#include "core/log.hpp"

namespace headrace {
namespace {

using Clock = std::chrono::steady_clock;

// What `load` throws, told as what happened to the device in the background.
std::exception_ptr in_the_background(const std::string& what) {
  try {
    try {
      throw;
    } catch (const Error& error) {
      rethrow_with_prefix(error, what + ": preparing it in the background failed");
    }
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace

NetworkSlot::NetworkSlot(std::shared_ptr<const Network> fallback, Load load, std::string what)
    : what_(std::move(what)), fallback_(std::move(fallback)) {
  try {
    thread_ = std::thread([this, load = std::move(load)] { run(load); });
  } catch (const std::system_error& error) {
    fail(ErrorCode::kOutOfMemory, what_ + ": no thread to prepare it in the background: " + error.what());
  }
}

NetworkSlot::~NetworkSlot() {
  if (thread_.joinable()) thread_.join();
}

void NetworkSlot::run(const Load& load) {
  const auto begin = Clock::now();
  std::shared_ptr<const Network> network;
  std::exception_ptr error;
  try {
    network = load();
  } catch (...) {
    error = in_the_background(what_);
  }
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count();
  log(LogLevel::kInfo, "startup",
      what_ + (error == nullptr ? ",ready after " : ",failed after ") + std::to_string(took) + " ms");
  std::shared_ptr<const Network> unused;  // goes outside the lock: it may hold much memory
  {
    const std::lock_guard lock(mutex_);
    network_ = std::move(network);
    error_ = std::move(error);
    unused = std::move(fallback_);
  }
  changed_.notify_all();
}

std::shared_ptr<const Network> NetworkSlot::get() const {
  const std::lock_guard lock(mutex_);
  if (error_ != nullptr) std::rethrow_exception(error_);
  return network_ != nullptr ? network_ : fallback_;
}

std::shared_ptr<const Network> NetworkSlot::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return network_ != nullptr || error_ != nullptr; });
  if (error_ != nullptr) std::rethrow_exception(error_);
  return network_;
}

bool NetworkSlot::is_loading() const {
  const std::lock_guard lock(mutex_);
  return network_ == nullptr && error_ == nullptr;
}

}  // namespace headrace
