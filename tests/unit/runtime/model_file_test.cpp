// SPDX-License-Identifier: Apache-2.0
#include "runtime/model_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/error.hpp"
#include "core/file.hpp"

namespace headrace {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kCaffe =
    "name: 'caffe' input: 'x' input_dim: [1, 1, 1, 1] layer { name: 'r' type: 'ReLU' bottom: 'x' top: 'y' }";

class ModelFileTest : public ::testing::Test {
 protected:
  ModelFileTest() { std::filesystem::create_directories(folder_); }
  ~ModelFileTest() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, std::string_view text) const {
    const std::string path = (folder_ / name).string();
    write_file(path, {as_bytes(text)});
    return path;
  }

  std::string fault_of(const std::string& path, const std::string& weights = "") const {
    try {
      read_model_file(path, weights);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

 private:
  std::filesystem::path folder_ = std::filesystem::path(::testing::TempDir()) / "model_file_test";
};

TEST_F(ModelFileTest, KnowsCaffeByEndingAndByContent) {
  const std::string prototxt = write("net.PROTOTXT", kCaffe);
  EXPECT_EQ(read_model_file(prototxt, "").name, "caffe");
  EXPECT_EQ(read_model_file(write("net.txt", kCaffe), "").name, "caffe");
  EXPECT_THAT(fault_of(write("text.txt", "a player { of layers }")), HasSubstr("no model that is known"));
}

TEST_F(ModelFileTest, KnowsOldIrByItsVersion) {
  const auto net = [](const char* version) {
    return std::string("<net name=\"old\" version=\"") + version +
           "\"><layers><layer id=\"0\" name=\"x\" type=\"Input\"><output><port "
           "id=\"0\"><dim>1</dim></port></output></layer>"
           "<layer id=\"1\" name=\"y\" type=\"TanH\"><input><port id=\"0\"><dim>1</dim></port></input>"
           "<output><port id=\"1\"><dim>1</dim></port></output></layer></layers>"
           "<edges><edge from-layer=\"0\" from-port=\"0\" to-layer=\"1\" to-port=\"0\"/></edges></net>";
  };
  for (const char* version : {"2", "5", "7"}) {
    EXPECT_EQ(read_model_file(write("old.xml", net(version)), "").name, "old");
  }
  EXPECT_THAT(fault_of(write("old.xml", net("8"))), HasSubstr("IR v8 is not supported"));
}

TEST_F(ModelFileTest, TakesEitherFileOfACaffeModel) {
  const std::string prototxt = write("two.prototxt", kCaffe);
  const std::string weights = write("two.caffemodel", "");
  EXPECT_EQ(read_model_file(weights, "").name, "caffe");
  EXPECT_EQ(read_model_file(prototxt, weights).name, "caffe");
  EXPECT_THAT(fault_of(weights, prototxt), HasSubstr("name its .prototxt as the model"));
  EXPECT_THAT(fault_of(write("alone.caffemodel", "")), HasSubstr("alone.prototxt"));
}

}  // namespace
}  // namespace headrace
