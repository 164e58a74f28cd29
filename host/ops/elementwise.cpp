// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>

#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::size_t kOuterDims = 4;  // of common/walk.clh
constexpr std::int64_t kMaxLaunches = 64;
// Elements of one work-item: enough to hide the cost of a work-group, few enough to share middling tensors.
constexpr std::int64_t kElemsPerItem = 8192;
constexpr std::int64_t kElemsPerGpuItem = 16;
constexpr std::int64_t kGpuGroup = 64;
constexpr std::int64_t kBlockMultiple = 64;  // keeps blocks of a row at whole vectors

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t round_up(std::int64_t a, std::int64_t b) { return ceil_div(a, b) * b; }

// The walk with merged dimensions: `outer` launches over the leading ones, then kOuterDims rows, then the inner loop.
struct Nest {
  StridedLoop leading;
  std::vector<std::int64_t> dims;                  // kOuterDims + 1
  std::vector<std::vector<std::int64_t>> strides;  // [operand][kOuterDims + 1]
};

Nest make_nest(const Walk& walk) {
  std::vector<std::vector<std::int64_t>> strides;
  for (const WalkOperand& operand : walk.operands) strides.push_back(operand.strides);
  StridedLoop loop = coalesce(walk.shape, std::move(strides));
  const std::size_t kept = std::min(loop.dims.size(), kOuterDims + 1);
  const auto cut = static_cast<std::ptrdiff_t>(loop.dims.size() - kept);
  Nest nest;
  nest.leading.dims.assign(loop.dims.begin(), loop.dims.begin() + cut);
  nest.dims.assign(kOuterDims + 1 - kept, 1);
  nest.dims.insert(nest.dims.end(), loop.dims.begin() + cut, loop.dims.end());
  for (const std::vector<std::int64_t>& all : loop.strides) {
    nest.leading.strides.emplace_back(all.begin(), all.begin() + cut);
    std::vector<std::int64_t> own(kOuterDims + 1 - kept, 0);
    own.insert(own.end(), all.begin() + cut, all.end());
    // A walk of one element has no inner step; 1 takes the fast path.
    if (nest.dims.back() == 1) own.back() = 1;
    nest.strides.push_back(std::move(own));
  }
  return nest;
}

struct Blocks {
  std::int64_t n_block = 1;
  std::int64_t row_block = 1;
};

Blocks choose_blocks(std::int64_t n, std::int64_t rows, std::int64_t weight, const KernelCaps& caps) {
  const std::int64_t per_item = caps.is_wide() ? kElemsPerItem : kElemsPerGpuItem;
  const std::int64_t wanted = std::max<std::int64_t>(1, per_item / std::max<std::int64_t>(1, weight));
  const std::int64_t multiple = caps.is_wide() && weight == 1 ? kBlockMultiple : kElemsPerGpuItem;
  if (n > wanted) return {std::min(n, round_up(ceil_div(n, ceil_div(n, wanted)), multiple)), 1};
  const std::int64_t row_block = std::max<std::int64_t>(1, wanted / n);
  return {n, ceil_div(rows, ceil_div(rows, row_block))};
}

void set_global(KernelLaunch& launch, std::int64_t row_items, std::int64_t column_items, const KernelCaps& caps) {
  launch.global = {static_cast<std::size_t>(row_items), static_cast<std::size_t>(column_items), 1};
  if (caps.is_wide()) return;
  const std::size_t busy = row_items >= column_items ? 0 : 1;
  const auto limit = static_cast<std::int64_t>(std::max<std::size_t>(1, caps.max_group(busy)));
  launch.local[busy] = static_cast<std::size_t>(std::min(kGpuGroup, limit));
  launch.global[busy] = (launch.global[busy] + launch.local[busy] - 1) / launch.local[busy] * launch.local[busy];
}

void add_int(std::vector<LowerArg>& args, std::int64_t value) { args.emplace_back(static_cast<std::int32_t>(value)); }

// b of pdpd broadcasting with its dimensions at those of a, by ones before and behind.
TensorDesc placed(const Node& node, TensorDesc desc, std::size_t rank) {
  std::int64_t axis = node.attributes.get_int("axis");
  if (axis == -1) axis = static_cast<std::int64_t>(rank) - static_cast<std::int64_t>(desc.shape.size());
  while (!desc.shape.empty() && desc.shape.back() == 1 &&
         static_cast<std::size_t>(std::max<std::int64_t>(axis, 0)) + desc.shape.size() > rank) {
    desc.shape.pop_back();
    desc.strides.pop_back();
  }
  if (axis < 0 || static_cast<std::size_t>(axis) + desc.shape.size() > rank) {
    fail_node(node, "has broadcast axis " + std::to_string(axis) + ", which does not fit an input of shape " +
                        to_string(desc.shape) + " into rank " + std::to_string(rank));
  }
  const auto before = static_cast<std::size_t>(axis);
  const std::size_t behind = rank - before - desc.shape.size();
  desc.shape.insert(desc.shape.begin(), before, 1);
  desc.strides.insert(desc.strides.begin(), before, 0);
  desc.shape.insert(desc.shape.end(), behind, 1);
  desc.strides.insert(desc.strides.end(), behind, 0);
  return desc;
}

bool is_pdpd(const Node& node) { return node.attributes.get_string("auto_broadcast") == "pdpd"; }

template <typename T>
T read_as(const Tensor& tensor, std::int64_t index) {
  T value{};
  std::memcpy(&value, tensor.data() + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <typename T>
void write_as(Tensor& tensor, std::int64_t index, T value) {
  std::memcpy(tensor.mutable_data() + index * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

}  // namespace

void set_broadcast(Attributes& attributes, const RawAttributes& raw) {
  attributes.set("auto_broadcast", parse_enum(raw, "auto_broadcast", "numpy", {"numpy", "none", "pdpd"}));
  attributes.set("axis", parse_int(raw, "axis", -1));
}

Shape infer_broadcast(const Node& node, const Shape& a, const Shape& b) {
  const std::string& rule = node.attributes.get_string("auto_broadcast");
  std::optional<Shape> shape;
  if (rule == "numpy") {
    shape = broadcast_shapes(a, b);
  } else if (rule == "none") {
    if (a == b) shape = a;
  } else {
    shape = broadcast_shapes(a, placed(node, dense_desc(ElementType::f32, b), a.size()).shape);
    if (shape != a) shape.reset();
  }
  if (!shape) fail_node(node, "cannot broadcast " + to_string(a) + " and " + to_string(b) + " by rule " + rule);
  return *shape;
}

std::vector<std::int64_t> aligned_strides(const Node& node, std::size_t index, const TensorDesc& desc,
                                          const Shape& shape) {
  return broadcast_strides(index == 1 && is_pdpd(node) ? placed(node, desc, shape.size()) : desc, shape);
}

Support supports_walk(const Walk& walk) {
  if (count_elems(walk.shape) == 0) return Support::yes();
  const Nest nest = make_nest(walk);
  if (count_elems(nest.leading.dims) <= kMaxLaunches) return Support::yes();
  return Support::no("shape " + to_string(walk.shape) + " has too many dimensions that do not merge");
}

void append_walk(Lowered& lowered, const KernelInstance& instance, const Walk& walk, std::span<const LowerArg> extra,
                 const KernelCaps& caps) {
  if (count_elems(walk.shape) == 0) return;
  const Nest nest = make_nest(walk);
  const std::int64_t n = nest.dims.back();
  const std::int64_t rows =
      std::accumulate(nest.dims.begin(), nest.dims.end() - 1, std::int64_t{1}, std::multiplies<>());
  const Blocks blocks = choose_blocks(n, rows, walk.weight, caps);
  walk_elements(nest.leading.dims, nest.leading.strides, [&](const std::vector<std::int64_t>& starts) {
    KernelLaunch launch{instance, {}, {1, 1, 1}, {1, 1, 1}};
    for (const WalkOperand& operand : walk.operands) launch.args.emplace_back(operand.operand);
    for (const std::int64_t size : {n, blocks.n_block, rows, blocks.row_block}) add_int(launch.args, size);
    for (std::size_t i = 1; i < kOuterDims; ++i) add_int(launch.args, nest.dims[i]);
    for (std::size_t k = 0; k < walk.operands.size(); ++k) {
      add_int(launch.args, walk.operands[k].offset + starts[k]);
      for (const std::int64_t stride : nest.strides[k]) add_int(launch.args, stride);
    }
    launch.args.insert(launch.args.end(), extra.begin(), extra.end());
    set_global(launch, ceil_div(rows, blocks.row_block), ceil_div(n, blocks.n_block), caps);
    lowered.launches.push_back(std::move(launch));
  });
}

int walk_vector_width(const KernelCaps& caps) {
  if (!caps.is_wide()) return 4;
  return caps.vector_width >= 16 ? 16 : (caps.vector_width >= 8 ? 8 : 4);
}

KernelInstance vector_instance(std::string_view file, std::string_view other_macros, int vector_width,
                               std::string_view entry) {
  std::string macros(other_macros);
  if (!macros.empty()) macros += ",";
  macros += "VEC=" + std::to_string(vector_width);
  return {std::string(file) + ".cl", macros, entry.empty() ? std::string(file) + "_f32" : std::string(entry)};
}

std::vector<KernelInstance> vector_instances(std::string_view file, std::string_view other_macros,
                                             std::string_view entry) {
  std::vector<KernelInstance> instances;
  for (const int width : {16, 8, 4}) instances.push_back(vector_instance(file, other_macros, width, entry));
  return instances;
}

KernelInstance typed_instance(std::string_view file, ElementType type) {
  const std::string suffix = dtype_suffix(type);
  return {std::string(file) + ".cl", "DTYPE=" + suffix, std::string(file) + "_" + suffix};
}

Support supports_instance(const KernelInstance& instance, const KernelCaps& caps) {
  if (caps.offers(instance)) return Support::yes();
  return Support::no("the programmed bitstream lacks kernel " + instance.entry + " (" + instance.macros + ")");
}

bool is_light_activation(Activation activation) {
  switch (activation) {
    case Activation::kNone:
    case Activation::kRelu:
    case Activation::kClamp:
    case Activation::kLeakyRelu:
    case Activation::kSigmoid:
    case Activation::kSwish:
    case Activation::kHSwish:
    case Activation::kHSigmoid:
    case Activation::kHardSigmoid:
    case Activation::kFakeQuantize: return true;
    default: return false;
  }
}

void append_long(std::vector<LowerArg>& args, std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  args.emplace_back(std::bit_cast<std::int32_t>(static_cast<std::uint32_t>(bits >> 32U)));
  args.emplace_back(std::bit_cast<std::int32_t>(static_cast<std::uint32_t>(bits)));
}

double real_at(const Tensor& tensor, std::int64_t index) {
  if (tensor.type() == ElementType::f32) return static_cast<double>(read_as<float>(tensor, index));
  if (tensor.type() == ElementType::f16) {
    return static_cast<double>(half_to_float(read_as<std::uint16_t>(tensor, index)));
  }
  return static_cast<double>(int_value_at(tensor, index));
}

void set_real(Tensor& tensor, std::int64_t index, double value) {
  if (tensor.type() == ElementType::f32) return write_as(tensor, index, static_cast<float>(value));
  if (tensor.type() == ElementType::f16) return write_as(tensor, index, float_to_half(static_cast<float>(value)));
  constexpr double kLimit = 9.2233720368547748e18;  // the largest double below 2^63
  if (value != value) return set_int(tensor, index, 0);
  set_int(tensor, index, static_cast<std::int64_t>(std::clamp(value, -kLimit, kLimit)));
}

std::int64_t int_value_at(const Tensor& tensor, std::int64_t index) {
  switch (tensor.type()) {
    case ElementType::i8: return read_as<std::int8_t>(tensor, index);
    case ElementType::u8: return read_as<std::uint8_t>(tensor, index);
    case ElementType::boolean: return read_as<std::uint8_t>(tensor, index) != 0 ? 1 : 0;
    case ElementType::i32: return read_as<std::int32_t>(tensor, index);
    case ElementType::i64: return read_as<std::int64_t>(tensor, index);
    default: fail(ErrorCode::kInternal, "a float tensor read as integers");
  }
}

void set_int(Tensor& tensor, std::int64_t index, std::int64_t value) {
  switch (tensor.type()) {
    case ElementType::i8: return write_as(tensor, index, static_cast<std::int8_t>(value));
    case ElementType::u8: return write_as(tensor, index, static_cast<std::uint8_t>(value));
    case ElementType::boolean: return write_as(tensor, index, static_cast<std::uint8_t>(value != 0));
    case ElementType::i32: return write_as(tensor, index, static_cast<std::int32_t>(value));
    case ElementType::i64: return write_as(tensor, index, value);
    default: fail(ErrorCode::kInternal, "a float tensor written as integers");
  }
}

double scalar_input(std::span<const Tensor> inputs, std::size_t index, double fallback) {
  if (index >= inputs.size()) return fallback;
  if (inputs[index].count() != 1) {
    fail(ErrorCode::kBadModel,
         "input " + std::to_string(index) + " must hold one value, holds " + std::to_string(inputs[index].count()));
  }
  return real_at(inputs[index], 0);
}

Support supports_scalar_constants(std::span<const LowerInput> inputs, std::size_t first) {
  for (std::size_t i = first; i < inputs.size(); ++i) {
    if (inputs[i].constant == nullptr || inputs[i].constant->count() != 1) {
      return Support::no("input " + std::to_string(i) + " is not a constant of one value");
    }
  }
  return Support::yes();
}

}  // namespace headrace
