// SPDX-License-Identifier: Apache-2.0
#include "plan/weights_cache.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/error.hpp"
#include "core/file.hpp"

namespace headrace {
namespace {

namespace fs = std::filesystem;

// Counts how often weights are packed.
class Packer {
 public:
  PackRequest request(const std::string& form, std::vector<Tensor> sources) {
    const auto make = [this, first = sources.at(0)] {
      ++count;
      return first.clone();
    };
    return {"conv", form, "Convolution", std::make_shared<const PackingSources>(std::move(sources)), make};
  }
  std::atomic<int> count = 0;
};

TEST(WeightsCacheTest, SharesByContentAndKeepsOthersApart) {
  WeightsCache cache;
  Packer packer;
  const Tensor a = make_f32_tensor({2}, std::vector<float>{1, 2});
  const Tensor b = make_f32_tensor({2}, std::vector<float>{1, 3});
  const Tensor first = cache.get(packer.request("packed", {a}));
  EXPECT_EQ(cache.get(packer.request("packed", {a.clone()})).data(), first.data());
  EXPECT_NE(cache.get(packer.request("packed", {b})).data(), first.data());
  EXPECT_NE(cache.get(packer.request("other", {a})).data(), first.data());
  EXPECT_EQ(packer.count, 3);
}

TEST(WeightsCacheTest, ThreadsPackOnce) {
  WeightsCache cache;
  Packer packer;
  const Tensor a = make_f32_tensor({2}, std::vector<float>{1, 2});
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) threads.emplace_back([&] { cache.get(packer.request("packed", {a})); });
  }
  EXPECT_EQ(packer.count, 1);
}

TEST(WeightsCacheTest, ErrorIsNotKept) {
  WeightsCache cache;
  Packer packer;
  PackRequest request = packer.request("packed", {make_f32_tensor({1}, std::vector<float>{1})});
  const auto make = request.make;
  request.make = []() -> Tensor { fail(ErrorCode::kOutOfMemory, "no memory"); };
  EXPECT_THROW(cache.get(request), Error);
  request.make = make;
  EXPECT_EQ(cache.get(request).count(), 1);
}

// Large enough weights, in a file of which every test has its own.
class StoredWeightsTest : public ::testing::Test {
 protected:
  static constexpr std::int64_t kCount = 20'000;

  StoredWeightsTest() : folder_(fs::path(::testing::TempDir()) / ("headrace_cache_" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    const std::vector<float> ones(kCount, 1.0F);
    write_file(file(), {std::as_bytes(std::span(ones))});
  }
  ~StoredWeightsTest() override { fs::remove_all(folder_); }

  std::string file() const { return (folder_ / "net.bin").string(); }
  // What the file holds, mapped as a model's reader does.
  Tensor mapped() const {
    const MappedFile mapping = map_file(file());
    return Tensor(ElementType::f32, {kCount}, mapping.owner, mapping.bytes.data());
  }
  // What a process of its own would get. Returns the packed weights' value at `index`.
  float packed_value(const std::vector<Tensor>& sources, std::size_t index, std::string context = "Convolution") {
    const auto store = std::make_shared<WeightsStore>((folder_ / "weights").string());
    PackRequest request = packer_.request("packed", sources);
    request.context = std::move(context);
    const Tensor packed = WeightsCache(store).get(request);
    store->wait();
    return packed.values<float>()[index];
  }

  const fs::path folder_;
  Packer packer_;
};

TEST_F(StoredWeightsTest, SecondProcessPacksNothing) {
  EXPECT_EQ(packed_value({mapped()}, 7), 1.0F);
  EXPECT_EQ(packed_value({mapped()}, 7), 1.0F);
  EXPECT_EQ(packer_.count, 1);
}

TEST_F(StoredWeightsTest, FoldedConstantsAreKnownByContent) {
  Tensor folded(ElementType::f32, {kCount});
  packed_value({folded}, 0);
  packed_value({folded.clone()}, 0);
  EXPECT_EQ(packer_.count, 1);
  folded.mutable_values<float>()[kCount - 1] = 2.0F;
  EXPECT_EQ(packed_value({folded}, kCount - 1), 2.0F);
  EXPECT_EQ(packer_.count, 2);
}

TEST_F(StoredWeightsTest, OneWeightThatChangesInTheFileIsNoticed) {
  packed_value({mapped()}, 0);
  const auto time = fs::last_write_time(file());
  {
    std::fstream out(file(), std::ios::in | std::ios::out | std::ios::binary);
    const float changed = 3.0F;
    out.seekp(static_cast<std::streamoff>(1234 * sizeof(changed)));
    out.write(reinterpret_cast<const char*>(&changed), sizeof(changed));
  }
  fs::last_write_time(file(), time);
  EXPECT_EQ(packed_value({mapped()}, 1234), 3.0F);
}

TEST_F(StoredWeightsTest, ShapeContextAndOtherSourcesTellWeightsApart) {
  const Tensor weights(ElementType::f32, {kCount});
  const Tensor other(ElementType::f32, {1});
  packed_value({weights}, 0);
  packed_value({weights.reshaped({2, kCount / 2})}, 0);
  packed_value({weights}, 0, "MatMul");
  packed_value({weights, other}, 0);
  EXPECT_EQ(packer_.count, 4);
}

TEST_F(StoredWeightsTest, FileThatChangesWhileItIsPackedIsNotKept) {
  const auto store = std::make_shared<WeightsStore>((folder_ / "weights").string());
  const Tensor source = mapped();
  PackRequest request = packer_.request("packed", {source});
  request.make = [&] {
    std::fstream out(file(), std::ios::in | std::ios::out | std::ios::binary);
    const float changed = 3.0F;
    out.write(reinterpret_cast<const char*>(&changed), sizeof(changed));
    out.close();
    return source.clone();
  };
  WeightsCache(store).get(request);
  store->wait();
  EXPECT_TRUE(!fs::exists(folder_ / "weights") || fs::is_empty(folder_ / "weights"));
}

TEST_F(StoredWeightsTest, SmallWeightsStayInMemory) {
  const Tensor small(ElementType::f32, {16});
  packed_value({small}, 0);
  packed_value({small}, 0);
  EXPECT_EQ(packer_.count, 2);
}

}  // namespace
}  // namespace headrace
