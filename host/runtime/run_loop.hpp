// SPDX-License-Identifier: Apache-2.0
// The states of a request: idle, running, in its callback; in a thread of its own or on the caller's.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <stop_token>
#include <string_view>

namespace headrace {

// Runs one piece of work at a time, as often as asked. Thread-safe. The thread is made at the first start() and kept.
class RunLoop {
 public:
  using Work = std::function<void(std::stop_token)>;
  using Callback = std::function<void(std::exception_ptr)>;

  explicit RunLoop(Work work);
  // Cancels a run that is going on and waits for it and its callback. From inside the callback it returns at once, and
  // the thread ends when the callback does.
  ~RunLoop();
  RunLoop(const RunLoop&) = delete;
  RunLoop& operator=(const RunLoop&) = delete;

  // Runs the work on the calling thread where no callback is set, else like start() and wait(). Throws kBusy and what
  // the work throws.
  void run();
  // Runs the work in the loop's thread. Throws kBusy while a run is going on; inside or after a callback it is not.
  void start();
  // Returns when no run and no callback is going on. Throws the first error since the last start() outside a callback,
  // once. Inside the callback it only throws the error.
  void wait();
  // The same within a time; false where it is not over then.
  bool wait_for(std::chrono::milliseconds timeout);
  // Asks the work to stop. A run that is going on ends with kCancelled.
  void cancel();
  // Called after every run, with its error or null, from the loop's thread.
  void set_callback(Callback callback);
  // Throws kBusy "WHAT: the request is running" while a run is going on.
  void check_not_running(std::string_view what) const;

 private:
  struct State;
  static void work_in_thread(const std::shared_ptr<State>& state);
  std::shared_ptr<State> state_;  // the thread holds it too: the loop may be destroyed inside its own callback
};

}  // namespace headrace
