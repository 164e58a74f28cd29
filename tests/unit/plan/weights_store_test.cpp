// SPDX-License-Identifier: Apache-2.0
#include "plan/weights_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "core/file.hpp"
#include "core/log.hpp"

namespace headrace {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t kFieldBytes = 152;
constexpr std::size_t kHeaderBytes = 4096;  // the fields and zeros

Tensor counting(std::int64_t count) {
  Tensor tensor(ElementType::f32, {2, count / 2});
  const auto values = tensor.mutable_values<float>();
  std::iota(values.begin(), values.end(), 1.0F);
  return tensor;
}

bool is_equal(const Tensor& a, const Tensor& b) {
  return a.type() == b.type() && a.shape() == b.shape() && std::equal(a.data(), a.data() + a.size_bytes(), b.data());
}

Digest key_of(std::uint64_t number) { return {number, 17}; }

bool always() { return true; }

class WeightsStoreTest : public ::testing::Test {
 protected:
  WeightsStoreTest()
      : folder_((fs::path(::testing::TempDir()) / ("headrace_store_" + std::to_string(::getpid()))).string()) {
    fs::remove_all(folder_);
    set_log_sink([this](LogLevel level, std::string_view, std::string_view line) {
      if (level <= LogLevel::kWarn) warnings_.emplace_back(line);
    });
  }
  ~WeightsStoreTest() override {
    set_log_sink({});
    fs::remove_all(folder_);
  }

  // Keeps a tensor and returns its file.
  std::string keep(std::uint64_t number, const Tensor& tensor) const {
    WeightsStore store(folder_);
    store.keep(key_of(number), tensor, always);
    store.wait();
    return store.path_of(key_of(number));
  }
  std::size_t count_files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  const std::string folder_;
  std::vector<std::string> warnings_;
};

TEST_F(WeightsStoreTest, AnotherStoreFindsWhatWasKept) {
  const Tensor tensor = counting(1000);
  keep(1, tensor);
  const WeightsStore store(folder_);
  const auto found = store.find(key_of(1));
  ASSERT_TRUE(found);
  EXPECT_TRUE(is_equal(*found, tensor));
  EXPECT_TRUE(found->is_read_only());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(found->data()) % 4096, 0U);
  EXPECT_TRUE(found->has_slack());
  EXPECT_FALSE(store.find(key_of(2)));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(WeightsStoreTest, FoundTensorOutlivesFileAndStore) {
  const Tensor tensor = counting(5000);
  const std::string path = keep(1, tensor);
  const auto found = WeightsStore(folder_).find(key_of(1));
  fs::remove(path);
  ASSERT_TRUE(found);
  EXPECT_TRUE(is_equal(*found, tensor));
}

// Any byte of the header's fields or of the elements, and any length.
TEST_F(WeightsStoreTest, DamagedFileIsAMissWithOneWarning) {
  const Tensor tensor = counting(1000);
  const std::string path = keep(1, tensor);
  const std::string good = read_file(path, 1 << 20, "entry");
  const WeightsStore store(folder_);
  std::vector<std::string> damaged = {"", good.substr(0, 100), good.substr(0, kHeaderBytes),
                                      good.substr(0, good.size() - 1), good + "x"};
  for (std::size_t at = 0; at < kFieldBytes; ++at) {
    damaged.push_back(good);
    damaged.back()[at] ^= 0x10;
  }
  for (const std::size_t at : {kHeaderBytes, kHeaderBytes + 1000, good.size() - 1}) {
    damaged.push_back(good);
    damaged.back()[at] ^= 0x01;
  }
  for (std::size_t i = 0; i < damaged.size(); ++i) {
    write_file(path, {as_bytes(damaged[i])});
    EXPECT_FALSE(store.find(key_of(1))) << "damage " << i;
  }
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("are damaged; they are packed again")));
  keep(1, tensor);
  EXPECT_TRUE(store.find(key_of(1)));
}

TEST_F(WeightsStoreTest, FileOfAnotherKeyIsAMiss) {
  const std::string path = keep(1, counting(100));
  const WeightsStore store(folder_);
  fs::copy(path, store.path_of(key_of(2)));
  EXPECT_FALSE(store.find(key_of(2)));
}

TEST_F(WeightsStoreTest, NothingIsKeptOfSourcesThatChanged) {
  WeightsStore store(folder_);
  store.keep(key_of(1), counting(100), [] { return false; });
  store.wait();
  EXPECT_FALSE(store.find(key_of(1)));
}

TEST_F(WeightsStoreTest, OldestFilesGoWhereAllWouldBeTooLarge) {
  const Tensor tensor = counting(1024);
  const auto hour = std::chrono::hours(1);
  for (std::uint64_t i = 0; i < 4; ++i) {
    fs::last_write_time(keep(i, tensor), fs::file_time_type::clock::now() - hour * (i == 0 ? 1 : 10 - i));
  }
  WeightsStore store(folder_, 4 * (kHeaderBytes + tensor.size_bytes()));
  store.keep(key_of(4), tensor, always);
  store.wait();
  EXPECT_TRUE(store.find(key_of(0)));
  EXPECT_FALSE(store.find(key_of(1)));  // 9 hours old
  EXPECT_TRUE(store.find(key_of(2)));
  EXPECT_TRUE(store.find(key_of(3)));
  EXPECT_TRUE(store.find(key_of(4)));
}

TEST_F(WeightsStoreTest, UseMakesAFileYoung) {
  const std::string path = keep(1, counting(100));
  const auto now = fs::file_time_type::clock::now();
  fs::last_write_time(path, now - std::chrono::hours(100));
  EXPECT_TRUE(WeightsStore(folder_).find(key_of(1)));
  EXPECT_LT(now - fs::last_write_time(path), std::chrono::hours(1));
}

TEST_F(WeightsStoreTest, TensorLargerThanAllIsNotKept) {
  WeightsStore store(folder_, 10'000);
  store.keep(key_of(1), counting(10'000), always);
  store.wait();
  EXPECT_FALSE(store.find(key_of(1)));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(WeightsStoreTest, TemporaryFilesOfKilledProcessesGo) {
  const std::string path = keep(1, counting(100));
  const std::string old = path + ".tmp123.0";
  const std::string young = path + ".tmp124.0";
  for (const std::string& name : {old, young}) std::ofstream(name) << "half";
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  keep(2, counting(100));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(young));
  EXPECT_EQ(count_files(), 3U);
}

// A folder below a file can be made by nobody, root included.
TEST_F(WeightsStoreTest, UnwritableFolderIsOneWarning) {
  std::ofstream(folder_) << "a file";
  WeightsStore store(folder_ + "/weights");
  for (std::uint64_t i = 0; i < 3; ++i) store.keep(key_of(i), counting(100), always);
  store.wait();
  EXPECT_FALSE(store.find(key_of(0)));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("packed weights are not kept")));
}

// As on a full disk, the file cannot take its place.
TEST_F(WeightsStoreTest, FailedWriteIsOneWarningAndLeavesNothing) {
  WeightsStore store(folder_);
  fs::create_directories(store.path_of(key_of(1)) + "/not empty");
  store.keep(key_of(1), counting(100), always);
  store.wait();
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("packed weights are not kept")));
  EXPECT_EQ(count_files(), 1U) << "no temporary file is left";
}

// What is not done in time is left, without a warning.
TEST_F(WeightsStoreTest, ClosingDoesNotWaitForLong) {
  const auto slow = [] {
    std::this_thread::sleep_for(WeightsStore::kMaxClosingTime);
    return true;
  };
  const auto start = std::chrono::steady_clock::now();
  {
    WeightsStore store(folder_);
    for (std::uint64_t i = 0; i < 50; ++i) store.keep(key_of(i), counting(100), slow);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10 * WeightsStore::kMaxClosingTime);
  EXPECT_LE(fs::exists(folder_) ? count_files() : 0, 2U);
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(WeightsStoreTest, EmptyNameSwitchesOff) {
  WeightsStore store("");
  store.keep(key_of(1), counting(100), always);
  store.wait();
  EXPECT_FALSE(store.find(key_of(1)));
  EXPECT_THAT(warnings_, IsEmpty());
}

}  // namespace
}  // namespace headrace
