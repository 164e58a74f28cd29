// SPDX-License-Identifier: Apache-2.0
#include "runtime/tune_measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "core/error.hpp"
#include "core/log.hpp"
#include "device/cpu/cpu_device.hpp"
#include "device/peaks.hpp"
#include "plan/plan.hpp"

namespace headrace {
namespace {

using Clock = std::chrono::steady_clock;

// Runs of each form: as many as the time allows between these.
constexpr int kMinRuns = 5;
constexpr int kMaxRuns = 100;
constexpr double kSecondsPerForm = 0.1;
// A form that the model puts this many times beyond the best is not measured.
constexpr double kHopeless = 1.9;
// A gain below this may be noise. Both the least time and the rounds' median must show it: beside other work either
// alone finds gains where there are none.
constexpr double kLeastGain = 0.95;
// Of max |r - e| to max(1, max |e|): what every kernel has to keep.
constexpr double kTolerance = 1e-4;

// The layer, planned and loaded on a device.
class LoadedLayer {
 public:
  LoadedLayer(const Device& device, const KernelCaps& caps, const LayerGraph& layer, const std::vector<Tensor>& inputs)
      : layer_(layer.graph.at(layer.layer).name) {
    const std::vector<NodeId> nodes = {layer.layer};
    std::vector<PortRef> sources;
    for (const NodeId id : layer.graph.parameters()) sources.push_back({id, 0});
    const std::vector<PortRef> outputs = {{layer.layer, 0}};
    WeightsCache weights;
    plan_ = make_device_plan({layer.graph, nodes, sources, outputs, caps}, weights);
    executable_ = device.load(plan_, {.is_profiling = true});
    session_ = executable_->make_session();
    for (std::size_t i = 0; i < inputs.size(); ++i) session_->set_input(i, inputs[i]);
    output_ = Tensor(plan_->outputs[0].type, plan_->outputs[0].shape);
    session_->set_output(0, output_);
  }

  // The time of the layer's own launches, without what brings inputs and outputs into order.
  double run_us() {
    session_->start();
    session_->finish();
    const SessionProfile profile = session_->profile();
    double time_us = 0.0;
    for (std::size_t step = 0; step < profile.steps.size(); ++step) {
      if (plan_->steps[step].layer == layer_) time_us += profile.steps[step].device_us;
    }
    return time_us;
  }

  const Tensor& output() const { return output_; }

 private:
  std::string layer_;
  std::shared_ptr<const DevicePlan> plan_;
  std::unique_ptr<Executable> executable_;
  std::unique_ptr<Session> session_;
  Tensor output_;
};

std::vector<Tensor> make_inputs(const Graph& graph) {
  std::vector<Tensor> inputs;
  for (const NodeId id : graph.parameters()) {
    const OutputInfo& info = graph.info({id, 0});
    inputs.push_back(pseudo_random_tensor(info.type, info.shape));
  }
  return inputs;
}

// The capabilities with which lowering takes this form.
KernelCaps force(KernelCaps caps, const FormChoice& choice, const std::string& key) {
  auto table = std::make_shared<TuningTable>();
  table->set(choice.shape_class, key);
  caps.tuning = std::move(table);
  return caps;
}

// What is wrong with the numbers, or nothing. A NaN is wrong: the inputs have none.
std::string find_fault(const Tensor& actual, const Tensor& expected) {
  const auto got = actual.values<float>();
  const auto wanted = expected.values<float>();
  double largest = 1.0;
  for (const float value : wanted) largest = std::max(largest, std::abs(static_cast<double>(value)));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double error = std::abs(static_cast<double>(got[i]) - static_cast<double>(wanted[i]));
    if (error <= kTolerance * largest) continue;
    return "element " + std::to_string(i) + " is " + std::to_string(got[i]) + ", expected " + std::to_string(wanted[i]);
  }
  return "";
}

// Leaves the caches as the other layers of a network would: a kernel whose weights are there from its last run would
// look faster than it is.
class OtherLayers {
 public:
  explicit OtherLayers(const Device& device) {
    constexpr std::size_t kArrayBytes = std::size_t{16} << 20;  // several times the caches that a core has of its own
    const auto plan = make_copy_plan(device.caps(), kArrayBytes);
    if (plan == nullptr) return;
    executable_ = device.load(plan, {});
    session_ = executable_->make_session();
  }

  void run() {
    if (session_ == nullptr) return;
    session_->start();
    session_->finish();
  }

 private:
  std::unique_ptr<Executable> executable_;
  std::unique_ptr<Session> session_;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class Measurement {
 public:
  Measurement(const Device& device, const TuneCase& tuned)
      : device_(device),
        caps_(device.caps()),
        choice_(tuned.choice),
        graph_(tuned.make()),
        inputs_(make_inputs(graph_.graph)),
        others_(device) {}

  Measured run() {
    for (const FormChoice::Form& form : choice_.forms) {
      if (form.cost <= kHopeless * choice_.forms.front().cost) load(form.key);
    }
    std::vector<std::size_t> all(loaded_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    measure(all);
    // Of many forms one may look fast by luck: the two that matter are looked at again.
    if (const std::size_t best = fastest(); best != 0) measure({0, best});
    log_times();
    loaded_.clear();
    const std::size_t best = find_best();
    return {std::move(times_), best};
  }

 private:
  void load(const std::string& key) {
    times_.push_back({key, std::numeric_limits<double>::infinity(), 1.0, ""});
    ratios_.emplace_back();
    loaded_.push_back(nullptr);
    try {
      loaded_.back() = std::make_unique<LoadedLayer>(device_, force(caps_, choice_, key), graph_, inputs_);
      loaded_.back()->run_us();  // warms up
    } catch (const Error& error) {
      loaded_.back().reset();
      times_.back().fault = error.what();
    }
  }

  void measure(const std::vector<std::size_t>& forms) {
    const Clock::time_point begin = Clock::now();
    const std::chrono::duration<double> budget(kSecondsPerForm * static_cast<double>(forms.size()));
    for (int run = 0; run < kMaxRuns && (run < kMinRuns || Clock::now() - begin < budget); ++run) {
      double first_us = 0.0;
      for (const std::size_t i : forms) {
        if (loaded_[i] == nullptr) continue;
        others_.run();
        const double time_us = loaded_[i]->run_us();
        times_[i].time_us = std::min(times_[i].time_us, time_us);
        if (i == 0) first_us = time_us;
        if (first_us > 0.0) ratios_[i].push_back(time_us / first_us);
      }
    }
    for (const std::size_t i : forms) {
      if (!ratios_[i].empty()) times_[i].to_first = median(ratios_[i]);
    }
  }

  std::size_t fastest() const {
    const auto best = std::min_element(times_.begin(), times_.end(),
                                       [](const auto& a, const auto& b) { return a.time_us < b.time_us; });
    return static_cast<std::size_t>(best - times_.begin());
  }

  void log_times() const {
    for (const FormTime& time : times_) {
      log(LogLevel::kDebug, "tuning",
          choice_.shape_class + "," + time.key + "," + std::to_string(time.time_us) + "us," +
              std::to_string(time.to_first));
    }
  }

  // The fastest one, or the first one unless the gain over it is sure.
  std::size_t choose() const {
    const FormTime& first = times_.front();
    const FormTime* best = &first;
    for (const FormTime& form : times_) {
      const bool gains =
          form.time_us < kLeastGain * first.time_us && (form.to_first < kLeastGain || !first.fault.empty());
      if (gains && form.time_us < best->time_us) best = &form;
    }
    return static_cast<std::size_t>(best - times_.data());
  }

  // The chosen one whose numbers are right.
  std::size_t find_best() {
    const CpuDevice cpu;
    LoadedLayer reference(cpu, cpu.caps(), graph_, inputs_);
    reference.run_us();
    for (;;) {
      FormTime& best = times_[choose()];
      if (!std::isfinite(best.time_us)) {
        fail(ErrorCode::kDevice, "no form of '" + choice_.shape_class + "' gives right numbers: " + best.fault);
      }
      LoadedLayer chosen(device_, force(caps_, choice_, best.key), graph_, inputs_);
      chosen.run_us();
      best.fault = find_fault(chosen.output(), reference.output());
      if (best.fault.empty()) return static_cast<std::size_t>(&best - times_.data());
      best.time_us = std::numeric_limits<double>::infinity();
    }
  }

  const Device& device_;
  KernelCaps caps_;
  const FormChoice& choice_;
  LayerGraph graph_;
  std::vector<Tensor> inputs_;
  OtherLayers others_;
  std::vector<FormTime> times_;
  std::vector<std::vector<double>> ratios_;  // per form and round: its time to the first form's
  std::vector<std::unique_ptr<LoadedLayer>> loaded_;
};

}  // namespace

Measured measure_forms(const Device& device, const TuneCase& tuned) { return Measurement(device, tuned).run(); }

}  // namespace headrace
