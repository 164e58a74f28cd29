// SPDX-License-Identifier: Apache-2.0
#include "formats/npy/npy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "core/error.hpp"
#include "core/file.hpp"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A .npy file as text: version, header, data.
std::string npy_text(const std::string& header, const std::string& data, char version = 1) {
  std::string text = "\x93NUMPY";
  text += version;
  text += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) text += static_cast<char>((header.size() >> (8 * i)) & 0xff);
  return text + header + data;
}

std::string dict(const std::string& descr, const std::string& order, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

std::string error_of(const std::string& text, ErrorCode code = ErrorCode::kBadModel) {
  try {
    parse_npy(as_bytes(text));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}

std::string bytes_of(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text += static_cast<char>(value);
  return text;
}

TEST(ParseNpyTest, ReadsEveryVersion) {
  for (const char version : {'\x01', '\x02', '\x03'}) {
    const Tensor tensor = parse_npy(
        as_bytes(npy_text(dict("<i4", "False", "(2,)"), bytes_of({1, 2, 0, 0, 255, 255, 255, 255}), version)));
    EXPECT_THAT(tensor.values<std::int32_t>(), ElementsAre(513, -1));
    EXPECT_EQ(tensor.shape(), Shape{2});
  }
  EXPECT_THAT(error_of(npy_text(dict("<i4", "False", "(0,)"), "", 4), ErrorCode::kUnsupported),
              HasSubstr("version 4.0"));
}

TEST(ParseNpyTest, ReadsEveryType) {
  const std::string zeros(8, '\0');
  EXPECT_EQ(parse_npy(as_bytes(npy_text(dict("<f4", "False", "(2,)"), zeros))).type(), ElementType::f32);
  EXPECT_EQ(parse_npy(as_bytes(npy_text(dict("<f2", "False", "(4,)"), zeros))).type(), ElementType::f16);
  EXPECT_EQ(parse_npy(as_bytes(npy_text(dict("|i1", "False", "(8,)"), zeros))).type(), ElementType::i8);
  EXPECT_EQ(parse_npy(as_bytes(npy_text(dict("<u1", "False", "(8,)"), zeros))).type(), ElementType::u8);
  EXPECT_EQ(parse_npy(as_bytes(npy_text(dict("<i8", "False", "()"), zeros))).shape(), Shape{});
  EXPECT_EQ(parse_npy(as_bytes(npy_text(dict("<f8", "False", "(1,)"), zeros))).type(), ElementType::f64);
  EXPECT_EQ(parse_npy(as_bytes(npy_text(dict("<u2", "False", "(4,)"), zeros))).type(), ElementType::u16);
  const Tensor flags = parse_npy(as_bytes(npy_text(dict("|b1", "False", "(3,)"), bytes_of({0, 1, 7}))));
  EXPECT_THAT(flags.values<bool>(), ElementsAre(false, true, true));
}

TEST(ParseNpyTest, RefusesOtherTypesByName) {
  for (const char* descr : {">f4", ">u2", "<c8", "<f16", "|S1", "|O", "<U4", "|V1", ""}) {
    const std::string error =
        error_of(npy_text(dict(descr, "False", "(1,)"), std::string(16, '\0')), ErrorCode::kUnsupported);
    EXPECT_THAT(error, HasSubstr(".npy dtype '" + std::string(descr) + "' is not supported"));
  }
  EXPECT_THAT(error_of(npy_text("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}", "1234"),
                       ErrorCode::kUnsupported),
              HasSubstr("record"));
}

TEST(ParseNpyTest, TurnsFortranOrder) {
  // [[0, 1, 2], [3, 4, 5]] column by column.
  const Tensor tensor = parse_npy(as_bytes(npy_text(dict("|u1", "True", "(2, 3)"), bytes_of({0, 3, 1, 4, 2, 5}))));
  EXPECT_THAT(tensor.values<std::uint8_t>(), ElementsAre(0, 1, 2, 3, 4, 5));
  // x[i, j, k] = 6i + 2j + k of shape [2, 3, 2], i fastest.
  const Tensor cube =
      parse_npy(as_bytes(npy_text(dict("|u1", "True", "(2, 3, 2)"), bytes_of({0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11}))));
  std::vector<std::uint8_t> counted(12);
  std::iota(counted.begin(), counted.end(), std::uint8_t{0});
  EXPECT_THAT(cube.values<std::uint8_t>(), ::testing::ElementsAreArray(counted));
}

TEST(ParseNpyTest, ReadsHeadersInAnyOrderAndSpacing) {
  const std::string header = "{\"shape\":(1,2L),'fortran_order':False,'descr':'|u1'}   \n";
  EXPECT_EQ(parse_npy(as_bytes(npy_text(header, "ab"))).shape(), (Shape{1, 2}));
  EXPECT_EQ(parse_npy(as_bytes(npy_text(dict("<f4", "False", "(3, 0)"), ""))).count(), 0);
}

TEST(ParseNpyTest, RefusesDamagedFiles) {
  const std::string good = npy_text(dict("|u1", "False", "(2, 3)"), "abcdef");
  for (std::size_t size = 0; size < good.size(); ++size) EXPECT_NE(error_of(good.substr(0, size)), "no error") << size;
  EXPECT_THAT(error_of(good + "x"), HasSubstr("needs 6 bytes, the file has 7"));
  EXPECT_THAT(error_of(good.substr(0, good.size() - 1)), HasSubstr("needs 6 bytes, the file has 5"));
  EXPECT_THAT(error_of("text"), HasSubstr("not a .npy file"));
}

TEST(ParseNpyTest, RefusesHeadersThatLie) {
  for (const char* shape :
       {"(4294967296, 4294967296)", "(9223372036854775807, 3)", "(0, 9223372036854775807, 9223372036854775807)",
        "(-1,)", "(99999999999999999999,)", "(2)", "(2,", "[2]", "(2 3)", "(2,,)", "(x,)", "2"}) {
    EXPECT_THAT(error_of(npy_text(dict("|u1", "False", shape), "ab")), HasSubstr(".npy header")) << shape;
  }
  for (const char* header : {"", "{", "{}", "{'descr': '|u1'}", "{'descr': '|u1', 'descr': '|u1'}", "{'descr: 1",
                             "{'x': 1}", "{'fortran_order': Maybe}", "{'fortran_order': False} x"}) {
    EXPECT_THAT(error_of(npy_text(header, "ab")), HasSubstr(".npy header")) << header;
  }
  const std::string deep = "(" + [] {
    std::string s;
    for (int i = 0; i < 100; ++i) s += "1,";
    return s;
  }() + ")";
  EXPECT_THAT(error_of(npy_text(dict("|u1", "False", deep), "a")), HasSubstr("more than 64 dimensions"));
  EXPECT_THAT(error_of(npy_text(std::string(70000, ' '), "", 2)), HasSubstr("the limit is 65536"));
}

TEST(WriteNpyTest, ReadsBackEqual) {
  const std::string path = ::testing::TempDir() + "/headrace npy 猫.npy";
  for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{0}, Shape{1, 2, 3, 4}, Shape{2, 0}}) {
    for (const ElementType type : {ElementType::f32, ElementType::f16, ElementType::i8, ElementType::u8,
                                   ElementType::i32, ElementType::i64, ElementType::boolean}) {
      Tensor tensor(type, shape);
      for (std::size_t i = 0; i < tensor.size_bytes(); ++i) {
        tensor.mutable_data()[i] = static_cast<std::byte>(type == ElementType::boolean ? i % 2 : i * 37);
      }
      write_npy(path, tensor);
      const Tensor back = read_npy(path);
      EXPECT_EQ(back.type(), type);
      EXPECT_EQ(back.shape(), shape);
      EXPECT_TRUE(std::equal(back.data(), back.data() + back.size_bytes(), tensor.data()));
      EXPECT_EQ(std::filesystem::file_size(path) % 64, tensor.size_bytes() % 64);
    }
  }
  std::filesystem::remove(path);
}

TEST(ReadNpyTest, NamesTheFile) {
  const std::string path = ::testing::TempDir() + "/headrace_bad.npy";
  write_file(path, {as_bytes("text")});
  try {
    read_npy(path);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("headrace_bad.npy': not a .npy file"));
  }
  std::filesystem::remove(path);
  EXPECT_THROW(read_npy(path), Error);
}

}  // namespace
}  // namespace headrace
