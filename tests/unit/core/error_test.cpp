// SPDX-License-Identifier: Apache-2.0
#include "core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/log.hpp"

namespace headrace {
namespace {

using ::testing::HasSubstr;

TEST(ErrorTest, CarriesCodeMessageAndPlace) {
  try {
    fail(ErrorCode::kIo, "cannot read 'x'");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kIo);
    EXPECT_STREQ(error.what(), "cannot read 'x'");
    EXPECT_THAT(error.file(), HasSubstr("error_test.cpp"));
    EXPECT_GT(error.line(), 0);
    return;
  }
  FAIL() << "no error";
}

TEST(ErrorTest, CheckThrowsOnlyWhereTheConditionFails) {
  EXPECT_NO_THROW(check(true, ErrorCode::kIo, "never"));
  EXPECT_THROW(check(false, ErrorCode::kIo, "always"), Error);
}

TEST(ErrorTest, PrefixKeepsTheCode) {
  try {
    rethrow_with_prefix(Error(ErrorCode::kBadModel, "no weights"), "layer 'a' (Convolution)");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadModel);
    EXPECT_STREQ(error.what(), "layer 'a' (Convolution): no weights");
    return;
  }
  FAIL() << "no error";
}

TEST(ErrorTest, FailedAssertIsInternal) {
  try {
    HEADRACE_ASSERT(1 == 2, "numbers are broken");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInternal);
    EXPECT_THAT(error.what(), HasSubstr("numbers are broken"));
    return;
  }
  FAIL() << "no error";
}

TEST(ErrorTest, EveryCodeHasAName) {
  EXPECT_EQ(to_string(ErrorCode::kBadModel), "BadModel");
  EXPECT_EQ(to_string(ErrorCode::kCancelled), "Cancelled");
  EXPECT_EQ(to_string(ErrorCode::kInternal), "Internal");
}

TEST(LogTest, WarningsReachTheSinkAndAFailingSinkIsHarmless) {
  std::string seen;
  set_log_sink([&](LogLevel, std::string_view component, std::string_view line) {
    seen = std::string(component) + ": " + std::string(line);
  });
  log(LogLevel::kWarn, "test", "careful");
  EXPECT_EQ(seen, "test: careful");
  seen.clear();
  log(LogLevel::kTrace, "test", "too fine");  // not asked for
  EXPECT_EQ(seen, "");
  EXPECT_FALSE(is_log_enabled(LogLevel::kDebug, "test"));
  set_log_sink([](LogLevel, std::string_view, std::string_view) { throw 1; });
  EXPECT_NO_THROW(log(LogLevel::kWarn, "test", "lost"));
  set_log_sink([](LogLevel, std::string_view, std::string_view) {});
}

}  // namespace
}  // namespace headrace
