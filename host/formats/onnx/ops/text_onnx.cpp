// SPDX-License-Identifier: Apache-2.0
// TfIdfVectorizer of numbers: counts n-grams of a pool.
#include <algorithm>

#include "formats/onnx/onnx_context.hpp"

namespace headrace::detail {
namespace {

struct Pool {
  Ints values;   // all n-grams, one behind the other
  Ints starts;   // where the n-grams of each length begin
  Ints indexes;  // the output's place of each n-gram
  std::int64_t min_length = 1, max_length = 1, max_skip = 0;
};

Pool pool_of(OnnxContext& c) {
  Pool pool;
  if (c.has_attribute("pool_strings")) c.refuse("element type STRING");
  pool.values = c.attr_ints("pool_int64s").value_or(Ints{});
  pool.starts = c.attr_ints("ngram_counts").value_or(Ints{});
  pool.indexes = c.attr_ints("ngram_indexes").value_or(Ints{});
  pool.min_length = c.attr_int("min_gram_length", 1);
  pool.max_length = c.attr_int("max_gram_length", 1);
  pool.max_skip = c.attr_int("max_skip_count", 0);
  const auto size = static_cast<std::int64_t>(pool.values.size());
  const bool is_sorted = std::is_sorted(pool.starts.begin(), pool.starts.end());
  if (!is_sorted || pool.starts.empty() || pool.starts.front() != 0 || pool.starts.back() > size) {
    fail(ErrorCode::kBadModel, "ngram_counts is " + to_string(pool.starts));
  }
  const bool is_ordered = pool.min_length >= 1 && pool.min_length <= pool.max_length && pool.max_skip >= 0;
  if (!is_ordered || pool.max_length > static_cast<std::int64_t>(pool.starts.size())) {
    fail(ErrorCode::kBadModel, "its n-grams have " + text(pool.min_length) + " to " + text(pool.max_length) + " items");
  }
  return pool;
}

// How often the n-gram occurs in the rows of x [rows, columns] with `skip` items between its own: f32 [rows].
PortRef count_matches(OnnxContext& c, PortRef x, std::span<const std::int64_t> gram, std::int64_t skip,
                      std::int64_t columns) {
  const auto length = static_cast<std::int64_t>(gram.size());
  const std::int64_t places = columns - (length - 1) * (skip + 1);
  std::optional<PortRef> is_match;
  for (std::int64_t i = 0; i < length; ++i) {
    const PortRef part = c.slice(x, i * (skip + 1), i * (skip + 1) + places, 1);
    const PortRef is_equal = c.binary(
        "Equal", part, c.constant_scalar(static_cast<double>(gram[static_cast<std::size_t>(i)]), c.element_type(x)));
    is_match = is_match ? c.binary("LogicalAnd", *is_match, is_equal) : is_equal;
  }
  return c.reduce("ReduceSum", c.convert(*is_match, ElementType::f32), {1}, false);
}

// Term counts by output place; nothing where no place has an n-gram.
std::vector<std::optional<PortRef>> counts_of(OnnxContext& c, const Pool& pool, PortRef x, std::int64_t columns) {
  constexpr std::size_t kMaxMatches = 4096;  // each is a handful of nodes
  const auto outputs = pool.indexes.empty() ? 0 : *std::max_element(pool.indexes.begin(), pool.indexes.end()) + 1;
  if (outputs < 1 || outputs > static_cast<std::int64_t>(kMaxMatches)) c.refuse(text(outputs) + " outputs");
  std::vector<std::optional<PortRef>> counts(static_cast<std::size_t>(outputs));
  std::size_t matches = 0;
  std::size_t gram_number = 0;
  for (std::int64_t length = 1; length <= static_cast<std::int64_t>(pool.starts.size()); ++length) {
    const auto first = pool.starts[static_cast<std::size_t>(length - 1)];
    const bool is_last = length == static_cast<std::int64_t>(pool.starts.size());
    const auto end =
        is_last ? static_cast<std::int64_t>(pool.values.size()) : pool.starts[static_cast<std::size_t>(length)];
    for (std::int64_t at = first; at + length <= end; at += length, ++gram_number) {
      if (length < pool.min_length || length > pool.max_length) continue;
      if (gram_number >= pool.indexes.size()) fail(ErrorCode::kBadModel, "has too few ngram_indexes");
      const std::int64_t index = pool.indexes[gram_number];
      if (index < 0) fail(ErrorCode::kBadModel, "ngram_indexes has " + text(index));
      const std::span<const std::int64_t> gram(pool.values.data() + at, static_cast<std::size_t>(length));
      // Items of a single one have nothing between them.
      for (std::int64_t skip = 0; skip <= (length == 1 ? 0 : pool.max_skip); ++skip) {
        if (columns - (length - 1) * (skip + 1) <= 0) break;
        if (++matches > kMaxMatches) c.refuse("more than " + std::to_string(kMaxMatches) + " n-grams");
        auto& count = counts[static_cast<std::size_t>(index)];
        const PortRef found = count_matches(c, x, gram, skip, columns);
        count = count ? c.binary("Add", *count, found) : found;
      }
    }
  }
  return counts;
}

// TF: counts. IDF: whether there is any, times the weight. TFIDF: counts times the weight.
std::vector<PortRef> convert_tf_idf(OnnxContext& c) {
  const Pool pool = pool_of(c);
  const std::string mode = c.attr_string("mode", "");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") fail(ErrorCode::kBadModel, "mode '" + mode + "'");
  const std::size_t rank = c.rank(c.input(0));
  const std::int64_t columns = c.dim(c.input(0), rank - (rank == 0 ? 0 : 1));
  const PortRef x = rank == 1 ? c.unsqueeze(c.input(0), {0}) : c.input(0);
  const PortRef zero =
      c.binary("Multiply", c.constant_scalar(0, ElementType::f32),
               c.reduce("ReduceSum", c.convert(c.binary("Equal", x, x), ElementType::f32), {1}, false));
  std::vector<PortRef> rows;
  for (const auto& count : counts_of(c, pool, x, columns)) rows.push_back(c.unsqueeze(count.value_or(zero), {1}));
  PortRef y = c.concat(rows, 1);
  if (mode == "IDF") y = c.convert(c.binary("Greater", y, c.constant_like(0, y)), ElementType::f32);
  const std::vector<float> weights = c.attr_floats("weights");
  if (mode != "TF" && !weights.empty()) {
    std::vector<float> by_place(rows.size(), 1.0F);
    for (std::size_t i = 0; i < std::min(weights.size(), pool.indexes.size()); ++i) {
      by_place[static_cast<std::size_t>(pool.indexes[i])] = weights[i];
    }
    y = c.binary("Multiply", y, c.constant_floats(by_place));
  }
  return {rank == 1 ? c.squeeze(y, {0}) : y};
}

constexpr OnnxConverter kConverters[] = {{"TfIdfVectorizer", convert_tf_idf}};

}  // namespace

std::span<const OnnxConverter> text_onnx() { return kConverters; }

}  // namespace headrace::detail
