// SPDX-License-Identifier: Apache-2.0
// Element types that are only stored: computed as f32 or as wider integers, given back as they are.
#include <algorithm>
#include <limits>

#include "core/log.hpp"
#include "unit/runtime/request_fixture.hpp"

namespace headrace::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class StoredTypesTest : public InferRequestTest {};
INSTANTIATE_TEST_SUITE_P(Devices, StoredTypesTest, testing::Values("CPU", "HETERO:POCL,CPU"), test_name);

TEST_P(StoredTypesTest, AreGivenBack) {
  for (const ElementType type : {ElementType::f64, ElementType::bf16, ElementType::i16, ElementType::u16,
                                 ElementType::u32, ElementType::u64, ElementType::f16}) {
    NetBuilder net;
    const PortRef x = net.parameter("x", "3", type);
    const PortRef twice = net.layer("Multiply", "twice", {x, net.constant(convert(filled({1}, 2.0F), type))});
    net.result(net.layer("Concat", "joined", {twice, x}, {{"axis", "0"}}));
    InferRequest request = compile(net.finish()).create_infer_request();
    request.set_input_tensor(convert(make_f32_tensor({3}, std::vector<float>{1, 2, 5}), type));
    request.infer();
    EXPECT_EQ(request.get_output_tensor().type(), type);
    EXPECT_THAT(to_doubles(request.get_output_tensor()), ElementsAre(2, 4, 10, 1, 2, 5)) << to_string(type);
  }
}

TEST_P(StoredTypesTest, DoublesOutsideTheRangeOfFloatsAreRefused) {
  NetBuilder net;
  net.result(net.layer("ReLU", "y", {net.parameter("x", "2", ElementType::f64)}));
  InferRequest request = compile(net.finish()).create_infer_request();
  Tensor x(ElementType::f64, {2});
  x.mutable_values<double>()[1] = 1e200;
  request.set_input_tensor(x);
  EXPECT_THAT(error_of([&] { request.infer(); }).what(), HasSubstr("f64 is computed as f32"));
  x.mutable_values<double>()[1] = std::numeric_limits<double>::infinity();
  request.infer();
  EXPECT_EQ(to_doubles(request.get_output_tensor())[1], std::numeric_limits<double>::infinity());
}

// public-reports R18 for f64: the lowest double masks like minus infinity, without its NaN in a row that is all mask.
TEST_P(StoredTypesTest, DoublesOfConstantsOutsideTheRangeOfFloatsAreItsEnds) {
  Tensor mask(ElementType::f64, {2, 2});
  const std::span<double> values = mask.mutable_values<double>();
  std::fill(values.begin(), values.end(), std::numeric_limits<double>::lowest());
  values[3] = 0;
  Tensor ends(ElementType::f64, {2, 2});
  ends.mutable_values<double>()[0] = 1e300;
  ends.mutable_values<double>()[1] = -std::numeric_limits<double>::infinity();
  NetBuilder net;
  const PortRef x = net.parameter("x", "2,2", ElementType::f64);
  const PortRef masked = net.layer("Add", "masked", {x, net.constant(mask)});
  net.result(net.layer("SoftMax", "y", {masked}, {{"axis", "1"}}));
  net.result(net.layer("Add", "z", {x, net.constant(ends)}));
  std::vector<std::string> warnings;
  set_log_sink([&](LogLevel, std::string_view, std::string_view line) { warnings.emplace_back(line); });
  const CompiledModel compiled = compile(net.finish());
  set_log_sink({});
  EXPECT_THAT(warnings, testing::UnorderedElementsAre(HasSubstr("3 values of f64"), HasSubstr("1 values of f64")));
  InferRequest request = compiled.create_infer_request();
  request.set_input_tensor(Tensor(ElementType::f64, {2, 2}));
  request.infer();
  EXPECT_THAT(to_doubles(request.get_output_tensor(0)), ElementsAre(0.5, 0.5, 0, 1));
  EXPECT_EQ(to_doubles(request.get_output_tensor(1))[0], std::numeric_limits<float>::max());
  EXPECT_EQ(to_doubles(request.get_output_tensor(1))[1], -std::numeric_limits<double>::infinity());
}

TEST_P(StoredTypesTest, UnsignedNumbersOutsideTheRangeOfSignedOnesAreRefused) {
  const auto number = [](std::uint64_t value) {
    return convert(make_i64_tensor({1}, std::vector<std::int64_t>{static_cast<std::int64_t>(value)}), ElementType::u64);
  };
  constexpr std::uint64_t kFirstOutside = std::uint64_t{1} << 63;
  const auto divide = [&](std::uint64_t divisor) {
    NetBuilder net;
    net.result(net.layer("Divide", "y", {net.parameter("x", "1", ElementType::u64), net.constant(number(divisor))}));
    return net.finish();
  };
  InferRequest request = compile(divide(5)).create_infer_request();
  request.set_input_tensor(number(kFirstOutside));
  EXPECT_THAT(error_of([&] { request.infer(); }).what(), HasSubstr("'x' holds 9223372036854775808, u64 is computed"));
  request.set_input_tensor(number(kFirstOutside - 1));
  request.infer();
  EXPECT_THAT(to_int64s(request.get_output_tensor()), ElementsAre((kFirstOutside - 1) / 5));
  EXPECT_THAT(error_of([&] { compile(divide(kFirstOutside + 5)); }).what(),
              HasSubstr("holds 9223372036854775813, u64 is computed as i64"));
}

TEST(StoredTypesQueryTest, ADeviceWithoutSuchKernelsSaysSo) {
  if (!has_device("POCL")) GTEST_SKIP() << "POCL";
  NetBuilder net;
  net.result(net.layer("ReLU", "y", {net.parameter("x", "2", ElementType::f64)}));
  EXPECT_THAT(error_of([&] { core().compile_model(net.finish(), "POCL"); }).what(),
              HasSubstr("Convert of f64 has no kernel"));
}

}  // namespace
}  // namespace headrace::test
