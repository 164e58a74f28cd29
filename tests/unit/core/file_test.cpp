// SPDX-License-Identifier: Apache-2.0
#include "core/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace headrace {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FileTest : public ::testing::Test {
 protected:
  FileTest() : folder_(fs::path(::testing::TempDir()) / ("headrace_file_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~FileTest() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  fs::path folder_;
};

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kIo);
    return error.what();
  }
  return "no error";
}

TEST_F(FileTest, WritesAndReadsBack) {
  write_file(path("a b 猫.bin"), {as_bytes("one"), {}, as_bytes("two")});
  EXPECT_EQ(read_file(path("a b 猫.bin"), 6, "text"), "onetwo");
  const MappedFile mapped = map_file(path("a b 猫.bin"));
  ASSERT_EQ(mapped.bytes.size(), 6U);
  EXPECT_EQ(static_cast<char>(mapped.bytes[5]), 'o');
}

TEST_F(FileTest, WritingThatIsStoppedLeavesTheOldFile) {
  write_file(path("w"), {as_bytes("old")});
  int asked = 0;
  const auto write = [&] {
    write_file(path("w"), {as_bytes("one"), as_bytes("two")}, Durability::kCache, [&] { return ++asked < 2; });
  };
  EXPECT_THAT(message_of(write), HasSubstr("cannot write"));
  EXPECT_EQ(read_file(path("w"), 100, "text"), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(FileTest, ReplacesWholeAndKeepsOldMappings) {
  write_file(path("w"), {as_bytes("old")});
  const MappedFile old = map_file(path("w"));
  write_file(path("w"), {as_bytes("brand new")});
  EXPECT_EQ(static_cast<char>(old.bytes[0]), 'o');
  EXPECT_EQ(read_file(path("w"), 100, "text"), "brand new");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(FileTest, LeavesReadableBytesBehindAFullPage) {
  const std::string page(4096, 'x');
  write_file(path("page"), {as_bytes(page)});
  const MappedFile mapped = map_file(path("page"));
  EXPECT_EQ(static_cast<int>(mapped.bytes.data()[4096 + 127]), 0);
}

TEST_F(FileTest, DroppedPagesAreReadAgain) {
  const std::string content(1 << 20, 'x');
  write_file(path("large"), {as_bytes(content)});
  const MappedFile file = map_file(path("large"));
  drop_file_pages(file.bytes);
  drop_file_pages(file.bytes.subspan(5000, 70000));
  drop_file_pages(file.bytes.subspan(0, 0));
  EXPECT_EQ(std::memcmp(file.bytes.data(), content.data(), content.size()), 0);
  std::vector<std::byte> own(1 << 20, std::byte{7});
  drop_file_pages(own);
  EXPECT_EQ(std::count(own.begin(), own.end(), std::byte{7}), 1 << 20);
}

TEST_F(FileTest, NamesTheLimit) {
  write_file(path("big"), {as_bytes("0123456789")});
  EXPECT_THAT(message_of([&] { read_file(path("big"), 9, "XML"); }), HasSubstr("XML of 10 bytes, the limit is 9"));
}

TEST_F(FileTest, RefusesWhatIsNoRegularFile) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  for (const std::string& wrong : {path("pipe"), folder_.string()}) {
    EXPECT_THAT(message_of([&] { map_file(wrong); }), HasSubstr("not a regular file")) << wrong;
    EXPECT_THAT(message_of([&] { read_file(wrong, 10, "text"); }), HasSubstr("not a regular file")) << wrong;
  }
  EXPECT_THAT(message_of([&] { map_file(path("none")); }), HasSubstr("none': No such file"));
}

TEST_F(FileTest, FailedWriteLeavesNothingBehind) {
  fs::create_directory(folder_ / "d");
  EXPECT_THAT(message_of([&] { write_file(path("d"), {as_bytes("x")}); }), HasSubstr("cannot write"));
  EXPECT_THAT(message_of([&] { write_file(path("none/x"), {as_bytes("x")}); }), HasSubstr("No such file"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST(QuoteTest, KeepsMessagesToOneShortLine) {
  EXPECT_EQ(quote("a\nb\x1b猫"), "'a?b?猫'");
  EXPECT_EQ(quote(std::string(1000, 'a')).size(), 105U);
  const std::string cut =
      quote("x" + std::string(33, 'y') + std::string("猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫"));
  EXPECT_EQ(cut.substr(cut.size() - 4), "...'");
}

}  // namespace
}  // namespace headrace
