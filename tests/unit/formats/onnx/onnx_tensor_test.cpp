// SPDX-License-Identifier: Apache-2.0
// Values of tensors: raw, typed, beside the model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/file.hpp"
#include "formats/onnx/onnx_reader.hpp"
#include "unit/formats/onnx/onnx_bytes.hpp"

namespace headrace::test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A model that gives one constant.
std::string constant_model(const Message& tensor, int type, const std::vector<std::int64_t>& dims) {
  return model({{node("Identity", {"t"}, {"y"})}, {}, {value_info("y", type, dims)}, {tensor}});
}

Tensor constant(const Message& tensor, int type, const std::vector<std::int64_t>& dims) {
  return run(constant_model(tensor, type, dims), {})[0];
}

TEST(OnnxTensorTest, ReadsTypedFields) {
  const Message packed =
      Message().number(1, 2).number(2, 1).text(8, "t").text(4, std::string("\0\0\x80\x3f\0\0\0\x40", 8));
  EXPECT_THAT(constant(packed, 1, {2}).values<float>(), ElementsAre(1, 2));
  const Message plain = Message().number(1, 2).number(2, 1).text(8, "t").float32(4, 1).float32(4, 3);
  EXPECT_THAT(constant(plain, 1, {2}).values<float>(), ElementsAre(1, 3));
  const Message bytes = Message().number(1, 2).number(2, 3).text(8, "t").number(5, -3).number(5, 4);
  EXPECT_THAT(constant(bytes, 3, {2}).values<std::int8_t>(), ElementsAre(-3, 4));
  const Message half = Message().number(1, 1).number(2, 10).text(8, "t").number(5, 15360);
  EXPECT_THAT(constant(half, 10, {1}).values<std::uint16_t>(), ElementsAre(15360));
  const Message longs = Message().number(2, 7).text(8, "t").number(7, -5);
  EXPECT_THAT(constant(longs, 7, {}).values<std::int64_t>(), ElementsAre(-5));
}

TEST(OnnxTensorTest, CleansFlags) {
  EXPECT_THAT(constant(raw_tensor("t", 9, {3}, std::string_view("\0\1\x80", 3)), 9, {3}).values<bool>(),
              ElementsAre(false, true, true));
}

TEST(OnnxTensorTest, RefusesSizesThatDoNotFit) {
  const auto error = [](const Message& tensor) { return error_of([&] { parse(constant_model(tensor, 1, {2})); }); };
  EXPECT_THAT(error(raw_tensor("t", 1, {2}, "1234567")), HasSubstr("tensor 't': has 7 bytes"));
  EXPECT_THAT(error(raw_tensor("t", 1, {1LL << 40, 1LL << 40}, "")), HasSubstr("impossible shape"));
  EXPECT_THAT(error(raw_tensor("t", 1, {-2}, "")), HasSubstr("impossible shape"));
  EXPECT_THAT(error(Message().number(1, 1LL << 40).number(2, 1).text(8, "t")), HasSubstr("too few values"));
  EXPECT_THAT(error(Message().number(1, 2).number(2, 1).text(8, "t").float32(4, 1)), HasSubstr("1 values"));
  EXPECT_THAT(error(raw_tensor("t", 8, {1}, "12345678")), HasSubstr("element type STRING"));
}

// Case 35: a folder whose name has a space, read from another folder.
class OnnxExternalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("headrace onnx " + std::to_string(getpid()));
    fs::create_directories(folder_ / "inside");
    std::string bytes(4096, '\0');
    const std::vector<float> values = {1, 2, 3, 4};
    bytes.append(reinterpret_cast<const char*>(values.data()), 16);
    write_file((folder_ / "inside" / "w.bin").string(), {as_bytes(bytes)});
    write_file((folder_ / "outside.bin").string(), {as_bytes(bytes)});
    fs::create_symlink(folder_ / "outside.bin", folder_ / "inside" / "link.bin");
  }
  void TearDown() override { fs::remove_all(folder_); }

  Graph read(const std::vector<std::int64_t>& dims, const std::vector<std::pair<std::string, std::string>>& entries) {
    const std::string path = (folder_ / "inside" / "model.onnx").string();
    write_file(path, {as_bytes(constant_model(external_tensor("t", dims, entries), 1, dims))});
    return read_onnx(path);
  }
  std::string error(const std::string& location, const std::string& offset = "0", const std::string& length = "16") {
    return error_of([&] { read({4}, {{"location", location}, {"offset", offset}, {"length", length}}); });
  }

  fs::path folder_;
};

TEST_F(OnnxExternalTest, ReadsBesideTheModel) {
  const Tensor tail = run(read({4}, {{"location", "w.bin"}, {"offset", "4096"}, {"length", "16"}}), {})[0];
  EXPECT_THAT(tail.values<float>(), ElementsAre(1, 2, 3, 4));
  const Tensor whole = run(read({1028}, {{"location", "w.bin"}}), {})[0];
  EXPECT_EQ(whole.values<float>()[1027], 4.0F);
}

// public-reports #35: by the model's folder, from whatever folder and by whatever path it is read.
TEST_F(OnnxExternalTest, ReadsBesideTheModelFromAnyFolder) {
  read({4}, {{"location", "w.bin"}, {"offset", "4096"}, {"length", "16"}});
  const fs::path before = fs::current_path();
  for (const auto& [from, path] : {std::pair("", "inside/model.onnx"),
                                   {"", "./inside/../inside/model.onnx"},
                                   {"inside", "model.onnx"},
                                   {"inside", "../inside/model.onnx"}}) {
    fs::current_path(folder_ / from);
    const std::vector<Tensor> results = run(read_onnx(path), {});
    fs::current_path(before);
    EXPECT_THAT(results[0].values<float>(), ElementsAre(1, 2, 3, 4)) << path;
  }
}

TEST_F(OnnxExternalTest, StaysInTheModelsFolder) {
  EXPECT_THAT(error("../outside.bin"), HasSubstr("leaves the model's folder"));
  EXPECT_THAT(error("link.bin"), HasSubstr("leaves the model's folder"));
  EXPECT_THAT(error((folder_ / "outside.bin").string()), HasSubstr("not a path below"));
  EXPECT_THAT(error(""), HasSubstr("not a path below"));
  EXPECT_THAT(error("none.bin"), HasSubstr("cannot open"));
}

TEST_F(OnnxExternalTest, BoundsOffsetsAndLengths) {
  EXPECT_THAT(error("w.bin", "4100"), HasSubstr("needs 16 bytes at offset 4100 of 'w.bin', the file has 4112"));
  EXPECT_THAT(error("w.bin", "18446744073709551608"), HasSubstr("the file has 4112"));
  EXPECT_THAT(error("w.bin", "0", "12"), HasSubstr("has 12 bytes"));
  EXPECT_THAT(error("w.bin", "-1"), HasSubstr("expected a number"));
}

}  // namespace
}  // namespace headrace::test
