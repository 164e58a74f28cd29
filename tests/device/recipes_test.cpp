// SPDX-License-Identifier: Apache-2.0
// The recipes of bitstreams/ against the operators that exist.
#include "device/opencl/recipe.hpp"

#include <algorithm>

#include "device/device_fixture.hpp"
#include "device/opencl/kernel_sources.hpp"
#include "ops/descriptor.hpp"

namespace headrace::test {
namespace {

std::vector<OperatorKernels> all_candidates() {
  std::vector<OperatorKernels> candidates;
  for (const OpDescriptor* op : all_ops()) {
    for (const std::string_view type : op->types) {
      candidates.push_back({std::string(type), op->instances ? op->instances() : std::vector<KernelInstance>{}});
    }
  }
  return candidates;
}

std::vector<KernelInstance> selected(const std::string& name, const KernelCaps& caps) {
  const Recipe recipe = read_recipe(std::string(HEADRACE_SOURCE_DIR) + "/bitstreams/" + name + ".json");
  EXPECT_EQ(recipe.name, name);
  return select_instances(recipe, all_candidates(), caps).instances;
}

TEST(RecipesTest, FamiliesHoldLessThanGenericAndDifferInDepthwise) {
  const auto has_file = [](const std::vector<KernelInstance>& instances, std::string_view stem) {
    return std::any_of(instances.begin(), instances.end(),
                       [&](const KernelInstance& instance) { return instance.file.starts_with(stem); });
  };
  for (const int width : {16, 8, 4}) {
    KernelCaps caps;
    caps.type = DeviceType::kCpu;
    caps.vector_width = width;
    const auto generic = selected("generic-f32", caps);
    const auto resnet = selected("resnet-f32", caps);
    const auto mobilenet = selected("mobilenet-f32", caps);
    EXPECT_LT(2 * resnet.size(), generic.size());
    EXPECT_LT(2 * mobilenet.size(), generic.size());
    for (const auto* family : {&resnet, &mobilenet}) {
      EXPECT_TRUE(std::includes(generic.begin(), generic.end(), family->begin(), family->end()));
      EXPECT_TRUE(has_file(*family, "conv_wide"));
    }
    EXPECT_TRUE(has_file(mobilenet, "depthwise_wide"));
    EXPECT_FALSE(has_file(resnet, "depthwise_wide"));
  }
}

TEST(RecipesTest, ByteKernelsAreThoseOfTheDevice) {
  for (const bool has_vnni : {false, true}) {
    KernelCaps caps;
    caps.type = DeviceType::kCpu;
    caps.vector_width = 16;
    caps.has_vnni = has_vnni;
    std::size_t count = 0;
    for (const KernelInstance& instance : selected("resnet-int8", caps)) {
      if (instance.file != "conv_int8_wide.cl") continue;
      ++count;
      EXPECT_NE(instance.macros.find(has_vnni ? "VNNI=1" : "VNNI=0"), std::string::npos) << instance.macros;
    }
    EXPECT_GT(count, 0U);
    for (const KernelInstance& instance : selected("generic-f32", caps)) EXPECT_NE(instance.file, "conv_int8_wide.cl");
  }
}

TEST(RecipesTest, NamesOnlyKernelFilesThatExist) {
  const KernelSources sources;
  for (const DeviceType type : {DeviceType::kCpu, DeviceType::kGpu}) {
    KernelCaps caps;
    caps.type = type;
    caps.vector_width = 16;
    for (const KernelInstance& instance : selected("generic-f32", caps)) {
      const KernelSource& source = sources.at(instance.file);
      EXPECT_FALSE(source.text.empty());
      EXPECT_LE(instance.entry.size(), 100U) << "PoCL 3.1 aborts on long kernel names";
    }
  }
}

}  // namespace
}  // namespace headrace::test
