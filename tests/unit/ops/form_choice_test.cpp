// SPDX-License-Identifier: Apache-2.0
// Lowering takes the form that the tuning table names, and its own choice where the table has none that fits.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ops/strided.hpp"
#include "unit/ops/reference_runner.hpp"

namespace headrace::test {
namespace {

KernelCaps caps_of(DeviceType type) {
  KernelCaps caps;
  caps.type = type;
  caps.vector_width = 16;
  caps.compute_units = 2;
  caps.max_work_group = 1024;
  caps.local_bytes = 1 << 16;
  caps.max_alloc_bytes = std::size_t{1} << 30;
  caps.has_vnni = true;
  return caps;
}

TensorDesc desc_of(ElementType type, const Shape& shape) {
  return {type, shape, shape.size() == 4 ? channels_last_strides(shape) : row_major_strides(shape), 0};
}

// An operator with constant weights as lowering gets it.
struct Layer {
  Node node;
  std::vector<Tensor> inputs;
  std::vector<TensorDesc> outputs;

  const OpDescriptor& op() const { return *find_op(node.type); }
  std::vector<LowerInput> lower_inputs() const {
    std::vector<LowerInput> result;
    for (const Tensor& input : inputs) {
      result.push_back({desc_of(input.type(), input.shape()), result.empty() ? nullptr : &input});
    }
    return result;
  }
  FormChoice forms(const KernelCaps& caps) const { return op().forms(node, lower_inputs(), outputs, caps); }
  // The kernels of its launches, named as forms are.
  std::string lowered(const KernelCaps& caps) const {
    std::string key;
    for (const KernelLaunch& launch : op().lower(node, lower_inputs(), outputs, caps).launches) {
      key += (key.empty() ? "" : "+") + launch.instance.key();
    }
    return key;
  }
};

Layer make_layer(const std::string& type, const RawAttributes& raw, std::vector<Tensor> inputs) {
  Layer layer;
  layer.node = make_node(type, raw, inputs.size());
  layer.inputs = std::move(inputs);
  for (const InferOutput& output : infer_known(layer.node, layer.inputs)) {
    layer.outputs.push_back(desc_of(output.type, output.shape));
  }
  return layer;
}

const RawAttributes kSame = {{"strides", "1,1"}, {"dilations", "1,1"}, {"auto_pad", "same_upper"}};

std::vector<Layer> layers() {
  RawAttributes bytes = kSame;
  bytes["zero_point"] = "3";
  return {
      make_layer("Convolution", kSame, {counting({1, 16, 9, 9}), counting({32, 16, 3, 3})}),
      make_layer("GroupConvolution", kSame, {counting({1, 32, 9, 9}), counting({32, 1, 1, 3, 3})}),
      make_layer("MatMul", {}, {counting({7, 24}), counting({24, 40})}),
      make_layer("QuantizedConvolution", bytes,
                 {Tensor(ElementType::u8, {1, 16, 9, 9}), Tensor(ElementType::i8, {32, 16, 3, 3}), counting({32})})};
}

TEST(FormChoiceTest, TheFirstFormIsTheOneWithoutATable) {
  for (const Layer& layer : layers()) {
    const KernelCaps caps = caps_of(DeviceType::kCpu);
    const FormChoice choice = layer.forms(caps);
    ASSERT_GE(choice.forms.size(), 2U) << layer.node.type;
    EXPECT_EQ(choice.forms.front().key, layer.lowered(caps)) << layer.node.type;
    EXPECT_TRUE(std::is_sorted(choice.forms.begin(), choice.forms.end(),
                               [](const auto& a, const auto& b) { return a.cost < b.cost; }));
  }
}

// Blocks of both transforms and the direct convolution: lowering takes what the model says costs least.
TEST(FormChoiceTest, GpusChooseAmongWinogradsBlocks) {
  const KernelCaps caps = caps_of(DeviceType::kGpu);
  const Layer layer = make_layer("Convolution", kSame, {counting({1, 64, 32, 32}), counting({128, 64, 3, 3})});
  const FormChoice choice = layer.forms(caps);
  EXPECT_EQ(choice.forms.front().key, layer.lowered(caps));
  const auto count = [&choice](std::string_view start) {
    return std::count_if(choice.forms.begin(), choice.forms.end(),
                         [&](const auto& form) { return form.key.starts_with(start); });
  };
  EXPECT_EQ(count("conv_tile.cl|"), 5);
  EXPECT_EQ(count("winograd_tile.cl|OUT=4|"), 5);
  EXPECT_EQ(count("winograd_tile.cl|OUT=2|"), 5);
}

TEST(FormChoiceTest, LoweringTakesWhatTheTableNames) {
  for (const DeviceType type : {DeviceType::kCpu, DeviceType::kGpu}) {
    KernelCaps caps = caps_of(type);
    for (const Layer& layer : layers()) {
      const FormChoice choice = layer.forms(caps);
      std::set<std::string> seen;
      for (const FormChoice::Form& form : choice.forms) {
        auto table = std::make_shared<TuningTable>();
        table->set(choice.shape_class, form.key);
        caps.tuning = table;
        EXPECT_EQ(layer.lowered(caps), form.key);
        EXPECT_TRUE(layer.op().supports(layer.node, layer.lower_inputs(), layer.outputs, caps).ok);
        seen.insert(form.key);
      }
      EXPECT_EQ(seen.size(), choice.forms.size()) << "two forms of " << choice.shape_class << " have one name";
      caps.tuning = nullptr;
    }
  }
}

TEST(FormChoiceTest, EntriesThatDoNotFitAreNoEntries) {
  KernelCaps caps = caps_of(DeviceType::kCpu);
  const Layer layer = layers().front();
  const FormChoice choice = layer.forms(caps);
  auto table = std::make_shared<TuningTable>();
  table->set(choice.shape_class, "no_such.cl||entry");
  table->set("conv of another shape", choice.forms.back().key);
  caps.tuning = table;
  EXPECT_EQ(layer.lowered(caps), choice.forms.front().key);
}

// The user's wish and what the bitstream holds count for more than speed.
TEST(FormChoiceTest, TheTableOffersNothingThatTheDeviceDoesNot) {
  KernelCaps caps = caps_of(DeviceType::kCpu);
  const Layer layer = layers().front();
  const FormChoice choice = layer.forms(caps);
  const auto winograd = std::find_if(choice.forms.begin(), choice.forms.end(),
                                     [](const auto& form) { return form.key.starts_with("winograd_wide.cl|"); });
  ASSERT_NE(winograd, choice.forms.end());
  auto table = std::make_shared<TuningTable>();
  table->set(choice.shape_class, winograd->key);
  caps.tuning = table;
  caps.exact_nan = true;
  EXPECT_TRUE(layer.lowered(caps).starts_with("conv_wide.cl|"));
  caps.exact_nan = false;
  caps.has_compiler = false;
  const KernelInstance only{"conv_wide.cl", "TILE_M=7,TILE_N=4,VEC=16", "conv_wide_f32"};
  caps.programmed.insert(only.key());
  EXPECT_EQ(layer.lowered(caps), only.key());
}

TEST(FormChoiceTest, ShapesOfOtherSpeedHaveOtherClasses) {
  const KernelCaps caps = caps_of(DeviceType::kCpu);
  RawAttributes strided = kSame;
  strided["strides"] = "2,2";
  const std::vector<Layer> different = {
      make_layer("Convolution", kSame, {counting({1, 16, 9, 9}), counting({32, 16, 3, 3})}),
      make_layer("Convolution", strided, {counting({1, 16, 9, 9}), counting({32, 16, 3, 3})}),
      make_layer("Convolution", kSame, {counting({1, 16, 9, 9}), counting({48, 16, 3, 3})}),
      make_layer("Convolution", kSame, {counting({2, 16, 9, 9}), counting({32, 16, 3, 3})}),
      make_layer("MatMul", {}, {counting({7, 24}), counting({24, 40})}),
      make_layer("MatMul", {}, {counting({3, 7, 24}), counting({24, 40})}),
      make_layer("MatMul", {}, {counting({3, 7, 24}), counting({3, 24, 40})})};
  std::set<std::string> classes;
  for (const Layer& layer : different) classes.insert(layer.forms(caps).shape_class);
  EXPECT_EQ(classes.size(), different.size());
  // Transposes change how weights are packed, not how fast they are read.
  const Layer transposed = make_layer("MatMul", {{"transpose_b", "true"}}, {counting({7, 24}), counting({40, 24})});
  EXPECT_EQ(classes.count(transposed.forms(caps).shape_class), 1U);
}

}  // namespace
}  // namespace headrace::test
