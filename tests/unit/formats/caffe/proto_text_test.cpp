// SPDX-License-Identifier: Apache-2.0
#include "formats/caffe/proto_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/caffe/caffe_params.hpp"
#include "unit/formats/caffe/caffe_model.hpp"

namespace headrace::test {
namespace {

using detail::CaffeParams;
using detail::parse_proto_text;
using detail::ProtoText;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string fault_of(std::string_view text) {
  return error_of([&] { parse_proto_text(text); });
}

TEST(ProtoTextTest, ReadsEverySpellingOfFieldsAndMessages) {
  const std::string text =
      "# a comment\n"
      "a: 1, b: 0x1F; c: -3 d: 010\n"
      "m { x: 1 } m: { x: 2 } m < x: 3 > m: [{ x: 4 }, { x: 5 }]\n"
      "list: [1, 2,\n3] empty: [] word: MAX yes: true\n"
      "f: 1.5f g: - 2e-1 h: inf\n";
  const ProtoText root = parse_proto_text(text);
  const CaffeParams params("root", &root);
  EXPECT_EQ(params.get_int("a", 0), 1);
  EXPECT_EQ(params.get_int("b", 0), 31);
  EXPECT_EQ(params.get_int("c", 0), -3);
  EXPECT_EQ(params.get_int("d", 0), 8);
  std::vector<std::int64_t> xs;
  for (const CaffeParams& m : params.messages("m")) xs.push_back(m.get_int("x", 0));
  EXPECT_THAT(xs, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(params.ints("list"), ElementsAre(1, 2, 3));
  EXPECT_TRUE(params.ints("empty").empty());
  EXPECT_TRUE(params.get_bool("yes", false));
  EXPECT_EQ(params.get_enum("word", "", {{"AVE", "1"}, {"MAX", "0"}}), "MAX");
  EXPECT_DOUBLE_EQ(params.get_float("f", 0), 1.5);
  EXPECT_DOUBLE_EQ(params.get_float("g", 0), -0.2);
  EXPECT_GT(params.get_float("h", 0), 1e300);
}

TEST(ProtoTextTest, ReadsStringsWithEscapes) {
  const ProtoText root = parse_proto_text("s: 'a\"\\'\\n\\101\\x42' \"c\" # joined\n 'd'");
  EXPECT_EQ(root.fields.at(0).value, "a\"'\nABcd");
  EXPECT_TRUE(root.fields.at(0).is_string);
}

TEST(ProtoTextTest, NamesTheLineOfAFault) {
  EXPECT_THAT(fault_of("a: 1\nb {\n c: 2\n"), HasSubstr("line 4: expected a field's name, got the end of the file"));
  EXPECT_THAT(fault_of("a: 1 }"), HasSubstr("line 1: expected a field's name, got '}'"));
  EXPECT_THAT(fault_of("\n\na 1"), HasSubstr("line 3: expected ':' or a message behind 'a'"));
  EXPECT_THAT(fault_of("a: 'x\n'"), HasSubstr("line 1: a string does not end in its line"));
  EXPECT_THAT(fault_of("a: 'x"), HasSubstr("a string does not end"));
  EXPECT_THAT(fault_of("a: '\\q'"), HasSubstr("unknown escape"));
  EXPECT_THAT(fault_of("a: [1, 2"), HasSubstr("expected ',' or ']'"));
  EXPECT_THAT(fault_of("[ext.name]: 1"), HasSubstr("expected a field's name, got '['"));
  EXPECT_THAT(fault_of(std::string_view("a: 1\0", 5)), HasSubstr("a zero byte"));
}

TEST(ProtoTextTest, BoundsNesting) {
  const auto nested = [](int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += "m{";
    return text + std::string(static_cast<std::size_t>(depth), '}');
  };
  EXPECT_EQ(fault_of(nested(32)), "no error");
  EXPECT_THAT(fault_of(nested(33)), HasSubstr("nested deeper than 32"));
  EXPECT_THAT(fault_of(nested(1'000'000)), HasSubstr("nested deeper than 32"));
}

TEST(ProtoTextTest, BoundsTheNumberOfFields) {
  std::string text = "a: [1";
  for (int i = 0; i < 1'000'000; ++i) text += ",1";
  EXPECT_THAT(fault_of(text + "]"), HasSubstr("more than 1000000 fields"));
}

TEST(ProtoTextTest, SaysWhatAFieldShouldBe) {
  const ProtoText root = parse_proto_text("a: 1.5 b: MAYBE c: 'x' d: 99999999999 e: 1 e: 2 m: 3");
  const CaffeParams params("pooling_param", &root);
  EXPECT_THAT(error_of([&] { params.get_int("a", 0); }),
              HasSubstr("pooling_param: field 'a' in line 1 is '1.5', expected an integer"));
  EXPECT_THAT(error_of([&] { params.get_bool("b", false); }), HasSubstr("expected true or false"));
  EXPECT_THAT(error_of([&] { params.get_float("c", 0); }), HasSubstr("expected a number"));
  EXPECT_THAT(error_of([&] { params.get_int("d", 0); }), HasSubstr("expected an integer"));
  EXPECT_THAT(error_of([&] { params.get_int("e", 0); }), HasSubstr("gives 'e' again"));
  EXPECT_THAT(error_of([&] { params.message("m"); }), HasSubstr("expected a message"));
  EXPECT_EQ(params.get_int("absent", 7), 7);
}

TEST(ProtoTextTest, RefusesFieldsThatNobodyAskedFor) {
  const ProtoText root = parse_proto_text("kernel_size: 3 weight_filler { type: 'xavier' } odd: 1");
  const CaffeParams params("convolution_param", &root);
  params.ints("kernel_size");
  EXPECT_THAT(error_of([&] { params.check_all_asked(); }), HasSubstr("field 'odd' of convolution_param"));
}

}  // namespace
}  // namespace headrace::test
