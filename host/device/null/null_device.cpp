// SPDX-License-Identifier: Apache-2.0
#include "device/null/null_device.hpp"

namespace headrace {
namespace {

class NullSession final : public Session {
 public:
  NullSession(std::shared_ptr<const DevicePlan> plan, std::shared_ptr<NullRecord> record, bool is_profiling)
      : plan_(std::move(plan)),
        record_(std::move(record)),
        is_profiling_(is_profiling),
        has_input_(plan_->inputs.size(), false) {}

  void set_input(std::size_t index, const Tensor& tensor) override {
    check_port(plan_->inputs, index, tensor);
    has_input_[index] = true;
  }
  void set_output(std::size_t index, const Tensor& tensor) override { check_port(plan_->outputs, index, tensor); }

  void start() override {
    for (std::size_t i = 0; i < has_input_.size(); ++i) {
      check(has_input_[i], ErrorCode::kInvalidArgument, "input '" + plan_->inputs[i].name + "' was not given");
    }
    record_->add("start");
    for (const PlanStep& step : plan_->steps) record_->add("step " + step.layer + " (" + step.kernel + ")");
  }
  void finish() override { record_->add("finish"); }

  SessionProfile profile() const override {
    SessionProfile profile;
    if (is_profiling_) profile.steps.resize(plan_->steps.size());
    return profile;
  }

 private:
  static void check_port(const std::vector<PlanPort>& ports, std::size_t index, const Tensor& tensor) {
    check(index < ports.size(), ErrorCode::kInvalidArgument, "port " + std::to_string(index) + " does not exist");
    check(tensor.type() == ports[index].type && tensor.shape() == ports[index].shape, ErrorCode::kInvalidArgument,
          "'" + ports[index].name + "' takes another type or shape");
  }

  std::shared_ptr<const DevicePlan> plan_;
  std::shared_ptr<NullRecord> record_;
  bool is_profiling_;
  std::vector<bool> has_input_;
};

class NullExecutable final : public Executable {
 public:
  NullExecutable(std::shared_ptr<const DevicePlan> plan, std::shared_ptr<NullRecord> record, bool is_profiling)
      : plan_(std::move(plan)), record_(std::move(record)), is_profiling_(is_profiling) {}

  std::unique_ptr<Session> make_session(std::size_t /*part*/) const override {
    record_->add("session");
    return std::make_unique<NullSession>(plan_, record_, is_profiling_);
  }
  std::vector<std::string> step_origins() const override {
    return std::vector<std::string>(plan_->steps.size(), "null");
  }

 private:
  std::shared_ptr<const DevicePlan> plan_;
  std::shared_ptr<NullRecord> record_;
  bool is_profiling_;
};

class NullDevice final : public Device {
 public:
  NullDevice(const std::string& name, const KernelCaps& caps, std::shared_ptr<NullRecord> record)
      : caps_(caps), record_(std::move(record)) {
    info_.name = name;
    info_.type = caps.type;
    info_.description = "records, computes nothing";
    info_.platform = "null";
  }

  const DeviceInfo& info() const override { return info_; }
  KernelCaps caps() const override { return caps_; }
  std::unique_ptr<Executable> load(std::shared_ptr<const DevicePlan> plan, const LoadOptions& options) const override {
    record_->add("load " + std::to_string(plan->steps.size()) + " steps");
    return std::make_unique<NullExecutable>(std::move(plan), record_, options.is_profiling);
  }

 private:
  DeviceInfo info_;
  KernelCaps caps_;
  std::shared_ptr<NullRecord> record_;
};

}  // namespace

std::unique_ptr<Device> make_null_device(const std::string& name, const KernelCaps& caps,
                                         std::shared_ptr<NullRecord> record) {
  return std::make_unique<NullDevice>(name, caps, std::move(record));
}

}  // namespace headrace
