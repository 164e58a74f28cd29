// SPDX-License-Identifier: Apache-2.0
// What `headrace tune` measures, and that a form with wrong numbers never wins.
#include <algorithm>
#include <limits>
#include <set>

#include "device/opencl/opencl_device.hpp"
#include "runtime/network.hpp"
#include "runtime/ordinary_layers.hpp"
#include "runtime/tune_cases.hpp"
#include "runtime/tune_measure.hpp"
#include "unit/runtime/request_fixture.hpp"

namespace headrace::test {
namespace {

KernelCaps cpu_caps() {
  KernelCaps caps;
  caps.type = DeviceType::kCpu;
  caps.vector_width = 16;
  caps.compute_units = 2;
  caps.max_work_group = 4096;
  caps.has_vnni = true;
  return caps;
}

// Two equal convolutions, one of another shape and a ReLU.
std::shared_ptr<const Graph> small_graph() {
  NetBuilder net;
  const PortRef x = net.parameter("x", "1,4,6,6");
  PortRef y = net.layer("Convolution", "a", {x, net.constant(filled({4, 4, 3, 3}, 0.5F))},
                        {{"pads_begin", "1,1"}, {"pads_end", "1,1"}});
  y = net.layer("Convolution", "b", {y, net.constant(filled({4, 4, 3, 3}, 0.25F))},
                {{"pads_begin", "1,1"}, {"pads_end", "1,1"}});
  y = net.layer("Convolution", "c", {y, net.constant(filled({8, 4, 1, 1}, 0.5F))});
  net.result(net.layer("ReLU", "r", {y}));
  return std::make_shared<const Graph>(
      prepare_graph(make_wished_graph(net.finish().impl()), std::vector<Shape>{{1, 4, 6, 6}}, {}));
}

// A device that gives a NaN wherever a plan holds another kernel than `only`.
class SpoilingDevice final : public Device {
 public:
  SpoilingDevice(const Device& device, std::string only) : device_(device), only_(std::move(only)) {}
  const DeviceInfo& info() const override { return device_.info(); }
  KernelCaps caps() const override { return device_.caps(); }
  std::unique_ptr<Executable> load(std::shared_ptr<const DevicePlan> plan, const LoadOptions& options) const override {
    const bool is_right = std::any_of(plan->steps.begin(), plan->steps.end(), [this](const PlanStep& step) {
      return std::get<Launch>(step.action).instance.key() == only_;
    });
    auto loaded = device_.load(std::move(plan), options);
    return is_right ? std::move(loaded) : std::make_unique<Spoiled>(std::move(loaded));
  }

 private:
  class SpoiledSession final : public Session {
   public:
    explicit SpoiledSession(std::unique_ptr<Session> session) : session_(std::move(session)) {}
    void set_input(std::size_t index, const Tensor& tensor) override { session_->set_input(index, tensor); }
    void set_output(std::size_t index, const Tensor& tensor) override {
      output_ = tensor;
      session_->set_output(index, tensor);
    }
    void start() override { session_->start(); }
    void finish() override {
      session_->finish();
      if (output_.count() > 0) output_.mutable_values<float>()[0] = std::numeric_limits<float>::quiet_NaN();
    }
    SessionProfile profile() const override { return session_->profile(); }

   private:
    std::unique_ptr<Session> session_;
    Tensor output_;
  };
  class Spoiled final : public Executable {
   public:
    explicit Spoiled(std::unique_ptr<Executable> loaded) : loaded_(std::move(loaded)) {}
    std::unique_ptr<Session> make_session(std::size_t part) const override {
      return std::make_unique<SpoiledSession>(loaded_->make_session(part));
    }
    std::vector<std::string> step_origins() const override { return loaded_->step_origins(); }

   private:
    std::unique_ptr<Executable> loaded_;
  };

  const Device& device_;
  std::string only_;
};

TEST(TuneCasesTest, EachShapeOfAModelStandsOnce) {
  const auto cases = model_cases(small_graph(), cpu_caps());
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[0].layer, "a");
  EXPECT_NE(cases[0].choice.shape_class, cases[1].choice.shape_class);
  for (const TuneCase& tuned : cases) {
    const LayerGraph alone = tuned.make();
    EXPECT_NO_THROW(verify(alone.graph, "tune"));
    EXPECT_EQ(alone.graph.parameters().size(), 1U);
    EXPECT_EQ(alone.graph.at(alone.layer).name, tuned.layer);
  }
}

TEST(TuneCasesTest, TheOrdinaryLayersHaveTheSizesOfTheList) {
  std::set<std::string> classes;
  for (const TuneCase& tuned : ordinary_cases(cpu_caps())) {
    EXPECT_GE(tuned.choice.forms.size(), 2U);
    EXPECT_TRUE(classes.insert(tuned.choice.shape_class).second) << tuned.choice.shape_class << " stands twice";
  }
  const auto has = [&classes](const std::string& start) {
    const auto found = classes.lower_bound(start);
    return found != classes.end() && found->starts_with(start);
  };
  for (const OrdinaryConvolution& s : ordinary_convolutions()) {
    const std::string sizes = " n1 g" + std::to_string(s.G) + " ic" + std::to_string(s.IC) + " oc" +
                              std::to_string(s.OC) + " out1x" + std::to_string(s.out) + "x" + std::to_string(s.out) +
                              " ";
    EXPECT_TRUE(has("conv" + sizes)) << sizes;
    EXPECT_EQ(has("int8" + sizes), s.G == 1) << sizes;
  }
  for (const OrdinaryMatMul& s : ordinary_matmuls()) {
    EXPECT_TRUE(has("matmul b" + std::to_string(s.batch) + " m" + std::to_string(s.M) + " n" + std::to_string(s.N)));
  }
}

TEST(TuneMeasureTest, AFormWithWrongNumbersNeverWins) {
  if (!has_device("POCL")) GTEST_SKIP() << "no POCL";
  const auto device = make_opencl_device("POCL", {});
  const TuneCase tuned = model_cases(small_graph(), device->caps()).front();
  const Measured all = measure_forms(*device, tuned);
  ASSERT_GE(all.forms.size(), 2U);
  for (const FormTime& form : all.forms) EXPECT_EQ(form.fault, "");
  for (const FormTime& only : all.forms) {
    const Measured measured = measure_forms(SpoilingDevice(*device, only.key), tuned);
    EXPECT_EQ(measured.forms[measured.best].key, only.key);
    EXPECT_EQ(measured.forms[measured.best].fault, "");
  }
  const Error error = error_of([&] { measure_forms(SpoilingDevice(*device, "no.cl||no"), tuned); });
  EXPECT_EQ(error.code(), ErrorCode::kDevice);
  EXPECT_THAT(std::string(error.what()), testing::HasSubstr(tuned.choice.shape_class));
  // Where every form is wrong, each has been looked at, whatever their times were.
  EXPECT_THAT(std::string(error.what()), testing::HasSubstr("right numbers: element 0 is nan"));
}

TEST(ProfileTableTest, SharesOfThePeak) {
  LayerProfile row;
  row.layer = "conv";
  row.type = "Convolution";
  row.device = "POCL";
  row.device_us = 10.0;
  row.flops = 1'000'000;  // 100 GFLOP/s
  const std::map<std::string, double> peaks = {{"POCL", 200e9}};
  EXPECT_DOUBLE_EQ(share_of_peak(row, peaks).value(), 0.5);
  row.type = "QuantizedConvolution";
  EXPECT_DOUBLE_EQ(share_of_peak(row, peaks).value(), 0.125);
  EXPECT_FALSE(share_of_peak(row, {{"CL.0", 200e9}}).has_value());
  row.device_us = 0.0;
  EXPECT_FALSE(share_of_peak(row, peaks).has_value());
  EXPECT_THAT(profile_table({row}, peaks), testing::HasSubstr("OF PEAK"));
  EXPECT_THAT(profile_table({row}), testing::Not(testing::HasSubstr("PEAK")));
}

}  // namespace
}  // namespace headrace::test
