// SPDX-License-Identifier: Apache-2.0
#include "graph/attributes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/error.hpp"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const RawAttributes kRaw = {{"int", " -12 "},
                            {"double", "1e-5"},
                            {"yes", "True"},
                            {"one", "1"},
                            {"no", "false"},
                            {"ints", "1, 2,-3"},
                            {"empty", ""},
                            {"mode", "ERF"},
                            {"bad", "abc"},
                            {"cut", "1,"},
                            {"doubles", ".5,2"},
                            {"fraction", "1.5"},
                            {"huge", "99999999999999999999"}};

TEST(ParseTest, ReadsEachType) {
  EXPECT_EQ(parse_int(kRaw, "int"), -12);
  EXPECT_EQ(parse_double(kRaw, "double"), 1e-5);
  EXPECT_TRUE(parse_bool(kRaw, "yes"));
  EXPECT_TRUE(parse_bool(kRaw, "one"));
  EXPECT_FALSE(parse_bool(kRaw, "no"));
  EXPECT_THAT(parse_ints(kRaw, "ints"), ElementsAre(1, 2, -3));
  EXPECT_THAT(parse_ints(kRaw, "empty"), IsEmpty());
  EXPECT_THAT(parse_doubles(kRaw, "doubles", {}), ElementsAre(0.5, 2.0));
  EXPECT_EQ(parse_string(kRaw, "mode", ""), "ERF");
  EXPECT_EQ(parse_enum(kRaw, "mode", "tanh", {"erf", "tanh"}), "erf");
}

TEST(ParseTest, FallbacksStandInForMissingOnly) {
  EXPECT_EQ(parse_int(kRaw, "missing", 7), 7);
  EXPECT_EQ(parse_double(kRaw, "missing", 0.5), 0.5);
  EXPECT_TRUE(parse_bool(kRaw, "missing", true));
  EXPECT_THAT(parse_ints(kRaw, "missing", {4}), ElementsAre(4));
  EXPECT_EQ(parse_string(kRaw, "missing", "x"), "x");
  EXPECT_EQ(parse_enum(kRaw, "missing", "tanh", {"erf", "tanh"}), "tanh");
  EXPECT_THROW(parse_int(kRaw, "bad", 7), Error);
}

TEST(ParseTest, BadTextIsAnErrorThatNamesTheAttribute) {
  const std::pair<const char*, std::function<void()>> cases[] = {
      {"missing", [] { parse_int(kRaw, "missing"); }},
      {"bad", [] { parse_int(kRaw, "bad"); }},
      {"fraction", [] { parse_int(kRaw, "fraction"); }},
      {"huge", [] { parse_int(kRaw, "huge"); }},
      {"empty", [] { parse_int(kRaw, "empty"); }},
      {"bad", [] { parse_double(kRaw, "bad"); }},
      {"int", [] { parse_bool(kRaw, "int"); }},
      {"cut", [] { parse_ints(kRaw, "cut"); }},
      {"bad",
       [] {
         parse_enum(kRaw, "bad", "a", {"a", "b"});
       }},
  };
  for (const auto& [name, call] : cases) {
    try {
      call();
      ADD_FAILURE() << name << ": no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadModel);
      EXPECT_THAT(error.what(), HasSubstr(std::string("'") + name + "'"));
    }
  }
}

TEST(ParseTest, HostileTextIsCutInMessages) {
  const RawAttributes raw = {{"a", std::string(1 << 20, 'x')}};
  try {
    parse_int(raw, "a");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_LT(std::string(error.what()).size(), 300U);
  }
}

TEST(AttributesTest, WrongTypeOrMissingIsOurBug) {
  Attributes attributes;
  attributes.set("a", std::int64_t{1});
  EXPECT_EQ(attributes.get_int("a"), 1);
  EXPECT_TRUE(attributes.has("a"));
  EXPECT_THROW(attributes.get_bool("a"), Error);
  EXPECT_THROW(attributes.get_int("b"), Error);
  attributes.set("a", true);
  EXPECT_TRUE(attributes.get_bool("a"));
}

TEST(AttributesTest, TextReadsBackEqual) {
  const double value = 0.1;
  EXPECT_EQ(std::stod(to_string(AttributeValue(value))), value);
  EXPECT_EQ(to_string(AttributeValue(std::vector<std::int64_t>{1, -2})), "1, -2");
  EXPECT_EQ(to_string(AttributeValue(true)), "true");
  EXPECT_EQ(to_string(AttributeValue(std::string("erf"))), "erf");
}

}  // namespace
}  // namespace headrace
