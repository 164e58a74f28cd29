// SPDX-License-Identifier: Apache-2.0
// Runs of small models through the public API.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "unit/runtime/small_models.hpp"

namespace headrace::test {

inline const Core& core() {
  static const Core instance(CoreOptions{});
  return instance;
}

inline bool has_device(const std::string& name) {
  for (const DeviceSummary& device : core().devices()) {
    for (const std::string& alias : device.aliases) {
      if (alias == name) return true;
    }
  }
  return name == "CPU";
}

template <typename Call>
Error error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::kInternal, "no error was thrown");
}

// Every test runs on the CPU fallback and on PoCL.
class InferRequestTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!has_device(GetParam().substr(GetParam().find(':') + 1, 4)) && !has_device(GetParam()))
      GTEST_SKIP() << GetParam();
  }
  CompiledModel compile(const Model& model, const Properties& properties = {}) const {
    return core().compile_model(model, GetParam(), properties);
  }
};

inline std::string test_name(const testing::TestParamInfo<std::string>& parameter) {
  std::string name = parameter.param;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

}  // namespace headrace::test
