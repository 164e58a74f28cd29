// SPDX-License-Identifier: Apache-2.0
// CTCGreedyDecoder and CTCGreedyDecoderSeqLen: the likeliest class of each step, repetitions and blanks left out.
#include <algorithm>

#include "ops/checks.hpp"
#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"CTCGreedyDecoder", "CTCGreedyDecoderSeqLen"};

bool has_lengths(const Node& node) { return node.type == "CTCGreedyDecoderSeqLen"; }

Attributes parse(std::string_view type, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  if (type == "CTCGreedyDecoder") {
    attributes.set("ctc_merge_repeated", parse_bool(raw, "ctc_merge_repeated", true));
    return attributes;
  }
  attributes.set("merge_repeated", parse_bool(raw, "merge_repeated", true));
  attributes.set("classes_index_type", parse_enum(raw, "classes_index_type", "i32", {"i32", "i64"}));
  attributes.set("sequence_length_type", parse_enum(raw, "sequence_length_type", "i32", {"i32", "i64"}));
  return attributes;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 2, has_lengths(node) ? 3 : 2);
  check_float_type(node, inputs, 0, "data");
  const Shape& data = inputs[0].shape;
  check_rank(node, data, 3, "data");
  if (data[2] < 1) fail_node(node, "needs at least one class, has data of shape " + to_string(data));
  if (!has_lengths(node)) {
    check_shape(node, inputs[1].shape, {data[0], data[1]}, "sequence mask");
    return {{inputs[0].type, {data[1], data[0], 1, 1}}};
  }
  check_index_type(node, inputs, 1, "sequence lengths");
  check_shape(node, inputs[1].shape, {data[0]}, "sequence lengths");
  if (inputs.size() == 3) check_index_type(node, inputs, 2, "blank index");
  return {{*find_element_type(node.attributes.get_string("classes_index_type")), {data[0], data[1]}},
          {*find_element_type(node.attributes.get_string("sequence_length_type")), {data[0]}}};
}

// A batch's steps: where the first one's classes start and how far the next one's are.
struct Steps {
  std::int64_t start = 0;
  std::int64_t stride = 0;
  std::int64_t count = 0;
  std::int64_t classes = 0;
};

std::vector<std::int64_t> decoded(const Tensor& data, const Steps& steps, std::int64_t blank, bool merges) {
  std::vector<std::int64_t> result;
  std::int64_t last = -1;
  for (std::int64_t t = 0; t < steps.count; ++t) {
    const std::int64_t at = steps.start + t * steps.stride;
    std::int64_t best = 0;
    for (std::int64_t c = 1; c < steps.classes; ++c) {
      if (real_at(data, at + c) > real_at(data, at + best)) best = c;
    }
    if (best != blank && !(merges && best == last)) result.push_back(best);
    last = best;
  }
  return result;
}

void decode_lengths(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const Shape& data = inputs[0].shape();
  const std::vector<std::int64_t> lengths = to_int64s(inputs[1]);
  const std::int64_t blank = inputs.size() == 3 ? int_at(values_of(inputs), 2) : data[2] - 1;
  for (std::int64_t n = 0; n < data[0]; ++n) {
    const std::int64_t length = lengths[static_cast<std::size_t>(n)];
    if (length < 0 || length > data[1]) {
      fail(ErrorCode::kInvalidArgument, node.type + " has a sequence length of " + std::to_string(length) +
                                            " for sequences of " + std::to_string(data[1]));
    }
    const auto classes = decoded(inputs[0], {n * data[1] * data[2], data[2], length, data[2]}, blank,
                                 node.attributes.get_bool("merge_repeated"));
    for (std::int64_t t = 0; t < data[1]; ++t) {
      const auto at = static_cast<std::size_t>(t);
      set_int(outputs[0], n * data[1] + t, at < classes.size() ? classes[at] : -1);
    }
    if (outputs.size() > 1) set_int(outputs[1], n, static_cast<std::int64_t>(classes.size()));
  }
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  if (has_lengths(node)) return decode_lengths(node, inputs, outputs);
  const Shape& data = inputs[0].shape();  // [T, N, C]
  for (std::int64_t n = 0; n < data[1]; ++n) {
    std::int64_t length = 0;
    while (length < data[0] && real_at(inputs[1], length * data[1] + n) != 0) ++length;
    const auto classes = decoded(inputs[0], {n * data[2], data[1] * data[2], length, data[2]}, data[2] - 1,
                                 node.attributes.get_bool("ctc_merge_repeated"));
    for (std::int64_t t = 0; t < data[0]; ++t) {
      const auto at = static_cast<std::size_t>(t);
      set_real(outputs[0], n * data[0] + t, at < classes.size() ? static_cast<double>(classes[at]) : -1);
    }
  }
}

}  // namespace

const OpDescriptor& ctc_op() {
  static constexpr OpDescriptor op = {.types = kTypes, .parse = parse, .infer = infer, .reference = reference};
  return op;
}

}  // namespace headrace
