// SPDX-License-Identifier: Apache-2.0
// ScaledDotProductAttention: softmax(Q * K^T * scale + mask) * V. Its reference only: a pass decomposes it for devices.
#include <cmath>
#include <limits>

#include "ops/descriptor.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"ScaledDotProductAttention"};

// Input positions.
constexpr std::size_t kMask = 3;
constexpr std::size_t kScale = 4;

Attributes parse(std::string_view /*type*/, std::int32_t /*opset*/, const RawAttributes& raw) {
  Attributes attributes;
  attributes.set("causal", parse_bool(raw, "causal", false));
  return attributes;
}

struct AttentionShape {
  Shape batch;
  std::int64_t L = 0, S = 0, E = 0, V = 0;  // queries, keys, their length, length of a value
};

[[noreturn]] void fail_shapes(const Shape& query, const Shape& key, const Shape& value) {
  fail(ErrorCode::kBadModel,
       "query " + to_string(query) + ", key " + to_string(key) + " and value " + to_string(value) + " do not fit");
}

AttentionShape make_shape(const Shape& query, const Shape& key, const Shape& value) {
  if (query.size() < 2 || key.size() < 2 || value.size() < 2) fail_shapes(query, key, value);
  const auto batch_of = [](const Shape& shape) { return Shape(shape.begin(), shape.end() - 2); };
  const auto keys = broadcast_shapes(batch_of(key), batch_of(value));
  const auto batch = keys ? broadcast_shapes(batch_of(query), *keys) : std::nullopt;
  AttentionShape shape;
  shape.L = query[query.size() - 2];
  shape.E = query.back();
  shape.S = key[key.size() - 2];
  shape.V = value.back();
  if (!batch || key.back() != shape.E || value[value.size() - 2] != shape.S) fail_shapes(query, key, value);
  shape.batch = *batch;
  return shape;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 3, 5);
  const AttentionShape shape = make_shape(inputs[0].shape, inputs[1].shape, inputs[2].shape);
  Shape out = shape.batch;
  out.insert(out.end(), {shape.L, shape.V});
  if (inputs.size() > kMask) {
    Shape scores = shape.batch;
    scores.insert(scores.end(), {shape.L, shape.S});
    const auto broadcast = broadcast_shapes(inputs[kMask].shape, scores);
    if (!broadcast || *broadcast != scores) {
      fail(ErrorCode::kBadModel,
           "mask of shape " + to_string(inputs[kMask].shape) + " does not broadcast to " + to_string(scores));
    }
  }
  return {{inputs[0].type, out}};
}

Cost cost(const Node& /*node*/, std::span<const InferInput> inputs, std::span<const InferOutput> outputs) {
  const AttentionShape shape = make_shape(inputs[0].shape, inputs[1].shape, inputs[2].shape);
  Cost result;
  result.flops = 2 * count_elems(shape.batch) * shape.L * shape.S * (shape.E + shape.V);
  for (const InferInput& input : inputs) result.bytes += 4 * count_elems(input.shape);
  result.bytes += 4 * count_elems(outputs[0].shape);
  return result;
}

// A tensor seen over the broadcast batch and its own two last dimensions.
class Operand3 {
 public:
  Operand3(std::vector<double> values, const Shape& shape, const Shape& batch, std::int64_t rows, std::int64_t columns)
      : values_(std::move(values)), full_(batch) {
    full_.insert(full_.end(), {rows, columns});
    TensorDesc desc{ElementType::f32, shape, row_major_strides(shape)};
    strides_ = broadcast_strides(desc, full_);
  }
  double at(std::int64_t batch, std::int64_t row, std::int64_t column) const {
    std::int64_t offset = row * strides_[full_.size() - 2] + column * strides_.back();
    for (std::size_t i = full_.size() - 2; i-- > 0; batch /= full_[i]) offset += batch % full_[i] * strides_[i];
    return values_[static_cast<std::size_t>(offset)];
  }

 private:
  std::vector<double> values_;
  Shape full_;
  std::vector<std::int64_t> strides_;
};

void softmax(std::vector<double>& scores) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const double score : scores) largest = score > largest ? score : largest;
  double sum = 0;
  for (double& score : scores) {
    score = std::exp(score - largest);
    sum += score;
  }
  for (double& score : scores) score /= sum;
}

// What is added to the scores: a boolean mask keeps where it is true; causal attention ignores the mask and keeps the
// keys up to the query's own position.
Operand3 make_mask(const Node& node, std::span<const Tensor> inputs, const AttentionShape& shape) {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  if (node.attributes.get_bool("causal")) {
    std::vector<double> values(static_cast<std::size_t>(shape.L * shape.S), 0.0);
    for (std::int64_t l = 0; l < shape.L; ++l) {
      for (std::int64_t s = l + 1; s < shape.S; ++s) values[static_cast<std::size_t>(l * shape.S + s)] = kNever;
    }
    return {std::move(values), {shape.L, shape.S}, shape.batch, shape.L, shape.S};
  }
  if (inputs.size() <= kMask) return {{0.0}, {}, shape.batch, shape.L, shape.S};
  std::vector<double> values = to_doubles(inputs[kMask]);
  if (inputs[kMask].type() == ElementType::boolean) {
    for (double& value : values) value = value != 0 ? 0.0 : kNever;
  }
  return {std::move(values), inputs[kMask].shape(), shape.batch, shape.L, shape.S};
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const AttentionShape shape = make_shape(inputs[0].shape(), inputs[1].shape(), inputs[2].shape());
  const Operand3 query(to_doubles(inputs[0]), inputs[0].shape(), shape.batch, shape.L, shape.E);
  const Operand3 key(to_doubles(inputs[1]), inputs[1].shape(), shape.batch, shape.S, shape.E);
  const Operand3 value(to_doubles(inputs[2]), inputs[2].shape(), shape.batch, shape.S, shape.V);
  const Operand3 mask = make_mask(node, inputs, shape);
  const double scale =
      inputs.size() > kScale ? to_doubles(inputs[kScale]).at(0) : 1.0 / std::sqrt(static_cast<double>(shape.E));
  float* dst = outputs[0].mutable_values<float>().data();
  std::vector<double> scores(static_cast<std::size_t>(shape.S));
  for (std::int64_t b = 0; b < count_elems(shape.batch); ++b) {
    for (std::int64_t l = 0; l < shape.L; ++l) {
      for (std::int64_t s = 0; s < shape.S; ++s) {
        double sum = 0;
        for (std::int64_t e = 0; e < shape.E; ++e) sum += query.at(b, l, e) * key.at(b, s, e);
        scores[static_cast<std::size_t>(s)] = sum * scale + mask.at(b, l, s);
      }
      softmax(scores);
      for (std::int64_t v = 0; v < shape.V; ++v) {
        double sum = 0;
        for (std::int64_t s = 0; s < shape.S; ++s) sum += scores[static_cast<std::size_t>(s)] * value.at(b, s, v);
        *dst++ = static_cast<float>(sum);
      }
    }
  }
}

}  // namespace

const OpDescriptor& sdpa_op() {
  static constexpr OpDescriptor kOp = {
      .types = kTypes, .parse = parse, .infer = infer, .cost = cost, .reference = reference};
  return kOp;
}

}  // namespace headrace
