// SPDX-License-Identifier: Apache-2.0
// Reductions over axes.
#include "formats/tensorflow/tensorflow_layout.hpp"

namespace headrace::detail {
namespace {

TensorflowValues convert_reduce(TensorflowContext& c) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {"Mean", "ReduceMean"}, {"Sum", "ReduceSum"},        {"Max", "ReduceMax"},       {"Min", "ReduceMin"},
      {"Prod", "ReduceProd"}, {"All", "ReduceLogicalAnd"}, {"Any", "ReduceLogicalOr"}, {"EuclideanNorm", "ReduceL2"}};
  const bool keeps = c.attr_bool("keep_dims", c.attr_bool("keepdims", false));
  for (const auto& [from, to] : kTypes) {
    if (from == c.node().op) return {c.reduce(to, c.input(0), c.need_ints(c.input(1), "axes"), keeps)};
  }
  c.refuse("no reduction");
}

constexpr TensorflowConverter kConverters[] = {
    {"Mean", convert_reduce}, {"Sum", convert_reduce}, {"Max", convert_reduce}, {"Min", convert_reduce},
    {"Prod", convert_reduce}, {"All", convert_reduce}, {"Any", convert_reduce}, {"EuclideanNorm", convert_reduce},
};

}  // namespace

std::span<const TensorflowConverter> reduce_tensorflow() { return kConverters; }

}  // namespace headrace::detail
