// SPDX-License-Identifier: Apache-2.0
// Moving, pooling and resampling operators: the references against OpenVINO's stored answers.
#include <gtest/gtest.h>

#include "support/stored_cases.hpp"
#include "unit/ops/reference_runner.hpp"

namespace headrace::test {

namespace {

class StoredMoveTest : public ::testing::TestWithParam<StoredCase> {};

TEST_P(StoredMoveTest, ReferenceAgreesWithOpenVino) {
  const StoredCase& stored = GetParam();
  const std::vector<Tensor> outputs = run_op(stored.type, stored.attributes, stored.inputs, stored.opset);
  ASSERT_EQ(outputs.size(), stored.outputs.size());
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    EXPECT_EQ(outputs[k].shape(), stored.outputs[k].shape());
    EXPECT_EQ(outputs[k].type(), stored.outputs[k].type());
    const std::vector<double> values = to_doubles(outputs[k]);
    const std::vector<double> expected = to_doubles(stored.outputs[k]);
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(values[i], expected[i], 2e-5) << "output " << k << ", element " << i;
    }
  }
}

std::string label_of(const ::testing::TestParamInfo<StoredCase>& stored) {
  return stored.param.type + "_" + stored.param.label;
}

INSTANTIATE_TEST_SUITE_P(, StoredMoveTest, ::testing::ValuesIn(stored_move_cases()), label_of);

}  // namespace
}  // namespace headrace::test
