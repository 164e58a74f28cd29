// SPDX-License-Identifier: Apache-2.0
#include "runtime/run_loop.hpp"

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "core/error.hpp"

namespace headrace {

struct RunLoop::State {
  explicit State(Work run_work) : work(std::move(run_work)) {}

  bool is_running() const { return is_queued || is_active; }
  bool is_idle() const { return !is_running() && !is_in_callback; }
  bool is_loop_thread() const { return thread.get_id() == std::this_thread::get_id(); }

  // Takes the request for a run. Called with the mutex held.
  void begin(const char* what) {
    if (is_running()) {
      fail(ErrorCode::kBusy, std::string(what) + ": the request is running; wait for it or use another request");
    }
    stop = std::stop_source();
    if (!is_in_callback || !is_loop_thread()) first_error = nullptr;
  }

  // Runs the work with the mutex released; returns its error. A run that was cancelled never counts as done.
  std::exception_ptr run_active(std::unique_lock<std::mutex>& lock) {
    is_active = true;
    const std::stop_token token = stop.get_token();
    lock.unlock();
    std::exception_ptr error;
    try {
      if (!token.stop_requested()) work(token);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error == nullptr && token.stop_requested()) {
      error = std::make_exception_ptr(Error(ErrorCode::kCancelled, "the run was cancelled"));
    }
    is_active = false;
    return error;
  }

  void call_back(std::exception_ptr error, std::unique_lock<std::mutex>& lock) {
    if (!callback) return;
    is_in_callback = true;
    const Callback current = callback;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      current(std::move(error));
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    is_in_callback = false;
    if (thrown != nullptr && first_error == nullptr) first_error = thrown;
  }

  const Work work;
  std::mutex mutex;
  std::condition_variable changed;
  std::thread thread;
  std::stop_source stop;
  std::exception_ptr first_error;
  Callback callback;
  bool is_queued = false;
  bool is_active = false;
  bool is_in_callback = false;
  bool is_ending = false;
};

RunLoop::RunLoop(Work work) : state_(std::make_shared<State>(std::move(work))) {}

RunLoop::~RunLoop() {
  std::unique_lock lock(state_->mutex);
  state_->is_ending = true;
  state_->stop.request_stop();
  if (state_->thread.joinable() && state_->is_loop_thread()) {
    state_->is_queued = false;  // what the work uses is about to go
    state_->thread.detach();
    return;
  }
  state_->changed.notify_all();
  lock.unlock();
  if (state_->thread.joinable()) state_->thread.join();
}

void RunLoop::work_in_thread(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  while (true) {
    state->changed.wait(lock, [&] { return state->is_queued || state->is_ending; });
    if (!state->is_queued) return;
    state->is_queued = false;
    const std::exception_ptr error = state->run_active(lock);
    if (error != nullptr && state->first_error == nullptr) state->first_error = error;
    state->call_back(error, lock);
    state->changed.notify_all();
  }
}

void RunLoop::run() {
  std::unique_lock lock(state_->mutex);
  if (state_->callback && !state_->is_loop_thread()) {
    lock.unlock();
    start();
    wait();
    return;
  }
  state_->begin("infer");
  const std::exception_ptr error = state_->run_active(lock);
  state_->changed.notify_all();
  lock.unlock();
  if (error != nullptr) std::rethrow_exception(error);
}

void RunLoop::start() {
  const std::lock_guard lock(state_->mutex);
  state_->begin("start_async");
  if (!state_->thread.joinable()) {
    try {
      state_->thread = std::thread([state = state_] { work_in_thread(state); });
    } catch (const std::system_error& error) {
      fail(ErrorCode::kOutOfMemory, std::string("start_async: no thread for the request: ") + error.what());
    }
  }
  state_->is_queued = true;
  state_->changed.notify_all();
}

void RunLoop::wait() {
  std::unique_lock lock(state_->mutex);
  if (state_->is_loop_thread()) {
    if (state_->is_running()) fail(ErrorCode::kBusy, "wait: a callback cannot wait for the run that it started");
    if (state_->first_error != nullptr) std::rethrow_exception(state_->first_error);
    return;
  }
  state_->changed.wait(lock, [&] { return state_->is_idle(); });
  const std::exception_ptr error = std::exchange(state_->first_error, nullptr);
  lock.unlock();
  if (error != nullptr) std::rethrow_exception(error);
}

bool RunLoop::wait_for(std::chrono::milliseconds timeout) {
  {
    std::unique_lock lock(state_->mutex);
    if (state_->is_loop_thread() && state_->is_running()) return false;
    const auto is_over = [&] { return state_->is_idle() || state_->is_loop_thread(); };
    if (!state_->changed.wait_for(lock, timeout, is_over)) return false;
  }
  wait();
  return true;
}

void RunLoop::cancel() {
  const std::lock_guard lock(state_->mutex);
  if (state_->is_running()) state_->stop.request_stop();
}

void RunLoop::set_callback(Callback callback) {
  const std::lock_guard lock(state_->mutex);
  state_->callback = std::move(callback);
}

void RunLoop::check_not_running(std::string_view what) const {
  const std::lock_guard lock(state_->mutex);
  if (state_->is_running()) fail(ErrorCode::kBusy, std::string(what) + ": the request is running");
}

}  // namespace headrace
