// SPDX-License-Identifier: Apache-2.0
// Normalizations without weights, SoftMax, reductions, sorting, quantization.
#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/import/layer_parts.hpp"
#include "formats/old_ir/old_ir_context.hpp"

namespace headrace::detail {
namespace {

std::vector<PortRef> convert_norm(OldIrContext& c) {
  LocalResponse form;
  form.size = c.get_int({"local-size", "local_size", "size"}, 0);
  form.alpha = c.get_float({"alpha"}, 1);
  form.beta = c.get_float({"beta"}, 0.75);
  form.k = c.get_float({"k"}, 1);
  const std::string region = c.get_string({"region"}, "across");
  if (region != "across" && region != "same") c.refuse("the region " + quote(region));
  form.is_across_channels = region == "across";
  return {add_local_response(c, c.input(), form)};
}

std::vector<PortRef> convert_softmax(OldIrContext& c) {
  const bool is_log = lowercase(c.layer().type) == "logsoftmax";
  return {
      c.add(is_log ? "LogSoftmax" : "SoftMax", is_log ? 5 : 8, {c.input()}, {{"axis", text(c.get_int({"axis"}, 1))}})};
}

std::vector<PortRef> convert_mvn(OldIrContext& c) {
  const std::int64_t first = c.get_bool({"across_channels"}, false) ? 1 : 2;
  return {c.add("MVN", 6, {c.input(), c.constant_ints(iota(first, static_cast<std::int64_t>(c.rank(c.input()))))},
                {{"eps", text(c.get_float({"eps"}, static_cast<double>(1e-9F)))},
                 {"normalize_variance", text(c.get_bool({"normalize_variance"}, true))},
                 {"eps_mode", "outside_sqrt"}})};
}

std::vector<PortRef> convert_grn(OldIrContext& c) {
  return {c.add("GRN", 1, {c.input()}, {{"bias", text(c.get_float({"bias"}, 1))}})};
}

std::vector<PortRef> convert_reduce(OldIrContext& c) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {"reducemean", "ReduceMean"}, {"reducesum", "ReduceSum"}, {"reducemax", "ReduceMax"}, {"reducemin", "ReduceMin"},
      {"reduceprod", "ReduceProd"}, {"reducel1", "ReduceL1"},   {"reducel2", "ReduceL2"}};
  const Ints axes = c.need_ints(c.input(1), "axes");
  for (const auto& [from, to] : kTypes) {
    if (from == lowercase(c.layer().type)) return {c.reduce(to, c.input(), axes, c.get_bool({"keep_dims"}, true))};
  }
  fail(ErrorCode::kInternal, "a type without its reduction");
}

// Inputs: values, k. Places were of the precision of the second output.
std::vector<PortRef> convert_top_k(OldIrContext& c) {
  const Ints count = c.need_ints(c.input(1), "k");
  if (count.size() != 1) fail(ErrorCode::kBadModel, "k has " + std::to_string(count.size()) + " values");
  const PortRef y = c.add("TopK", 3, {c.input(), c.constant_int(count[0])},
                          {{"axis", text(c.get_int({"axis"}, 1))},
                           {"mode", c.get_string({"mode"}, "max")},
                           {"sort", c.get_string({"sort"}, "value")},
                           {"index_element_type", "i32"}},
                          2);
  return {y, {y.node, 1}};
}

// With an axis the places (or the values) along it; without, [N, 1, k] places, or [N, 2, k] places and values.
std::vector<PortRef> convert_arg_max(OldIrContext& c) {
  const bool gives_values = c.get_bool({"out_max_val"}, false);
  const bool has_axis = c.has({"axis"});
  const PortRef x = has_axis ? c.input() : c.reshape(c.input(), {0, -1});
  const PortRef best = c.add("TopK", 3, {x, c.constant_int(c.get_int({"top_k"}, 1))},
                             {{"axis", text(has_axis ? c.get_int({"axis"}, 1) : 1)},
                              {"mode", "max"},
                              {"sort", "value"},
                              {"index_element_type", "i32"}},
                             2);
  const PortRef places = c.convert({best.node, 1}, ElementType::f32);
  if (has_axis) return {gives_values ? best : places};
  const PortRef rows = c.unsqueeze(places, {1});
  return {gives_values ? c.concat({rows, c.unsqueeze(best, {1})}, 1) : rows};
}

std::vector<PortRef> convert_fake_quantize(OldIrContext& c) {
  if (c.count_inputs() != 5)
    fail(ErrorCode::kBadModel, "has " + std::to_string(c.count_inputs()) + " inputs, expected 5");
  return {
      c.add("FakeQuantize", 1, c.inputs(), {{"levels", text(c.get_int({"levels"}, 0))}, {"auto_broadcast", "numpy"}})};
}

constexpr OldIrConverter kConverters[] = {
    {"Norm", convert_norm},
    {"LRN", convert_norm},
    {"SoftMax", convert_softmax},
    {"LogSoftmax", convert_softmax},
    {"MVN", convert_mvn},
    {"GRN", convert_grn},
    {"ReduceMean", convert_reduce},
    {"ReduceSum", convert_reduce},
    {"ReduceMax", convert_reduce},
    {"ReduceMin", convert_reduce},
    {"ReduceProd", convert_reduce},
    {"ReduceL1", convert_reduce},
    {"ReduceL2", convert_reduce},
    {"TopK", convert_top_k},
    {"ArgMax", convert_arg_max},
    {"FakeQuantize", convert_fake_quantize},
    {"Quantize", convert_fake_quantize},
};

}  // namespace

std::span<const OldIrConverter> normalize_old_ir() { return kConverters; }

}  // namespace headrace::detail
