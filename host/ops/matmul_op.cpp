// SPDX-License-Identifier: Apache-2.0
// MatMul: batched matrix product with transposes, 1-D operands and broadcast batches.
#include <algorithm>

#include "ops/conv_args.hpp"
#include "ops/conv_problem.hpp"
#include "ops/descriptor.hpp"
#include "ops/half_weights.hpp"
#include "ops/matmul_shape.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"MatMul"};

Attributes parse(std::string_view /*type*/, std::int32_t /*opset*/, const RawAttributes& raw) {
  Attributes attributes;
  attributes.set("transpose_a", parse_bool(raw, "transpose_a", false));
  attributes.set("transpose_b", parse_bool(raw, "transpose_b", false));
  return attributes;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 2, 2);
  return {{inputs[0].type, make_matmul_shape(node, inputs[0].shape, inputs[1].shape).output_shape()}};
}

Cost cost(const Node& node, std::span<const InferInput> inputs, std::span<const InferOutput> outputs) {
  const MatMulShape shape = make_matmul_shape(node, inputs[0].shape, inputs[1].shape);
  Cost result;
  result.flops = 2 * count_elems(outputs[0].shape) * shape.K;
  result.bytes = 4 * (count_elems(inputs[0].shape) + count_elems(inputs[1].shape) + count_elems(outputs[0].shape));
  return result;
}

// Index of batch `b` (counted row-major over `batch`) in an operand.
std::int64_t batch_offset(std::int64_t b, const Shape& batch, const MatrixStrides& strides) {
  std::int64_t offset = 0;
  for (std::size_t i = batch.size(); i-- > 0; b /= batch[i]) offset += b % batch[i] * strides.batch[i];
  return offset;
}

template <typename T, typename Sum>
void multiply(const Node& node, std::span<const Tensor> inputs, Tensor& output) {
  const MatMulShape shape = make_matmul_shape(node, inputs[0].shape(), inputs[1].shape());
  const MatrixStrides a = matrix_strides(inputs[0].shape(), row_major_strides(inputs[0].shape()), shape.batch,
                                         node.attributes.get_bool("transpose_a"), true);
  const MatrixStrides b = matrix_strides(inputs[1].shape(), row_major_strides(inputs[1].shape()), shape.batch,
                                         node.attributes.get_bool("transpose_b"), false);
  T* dst = output.mutable_values<T>().data();
  for (std::int64_t batch = 0; batch < count_elems(shape.batch); ++batch) {
    const T* a_values = inputs[0].values<T>().data() + batch_offset(batch, shape.batch, a);
    const T* b_values = inputs[1].values<T>().data() + batch_offset(batch, shape.batch, b);
    for (std::int64_t m = 0; m < shape.M; ++m) {
      for (std::int64_t n = 0; n < shape.N; ++n) {
        Sum sum = 0;
        for (std::int64_t k = 0; k < shape.K; ++k) {
          sum += static_cast<Sum>(a_values[m * a.row + k * a.column]) *
                 static_cast<Sum>(b_values[k * b.row + n * b.column]);
        }
        *dst++ = static_cast<T>(sum);
      }
    }
  }
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const ElementType type = inputs[0].type();
  if (inputs[1].type() == type) {
    // Integers wrap round as the operator's own type does.
    if (type == ElementType::f32) return multiply<float, double>(node, inputs, outputs[0]);
    if (type == ElementType::i32) return multiply<std::int32_t, std::uint32_t>(node, inputs, outputs[0]);
    if (type == ElementType::i64) return multiply<std::int64_t, std::uint64_t>(node, inputs, outputs[0]);
  }
  fail(ErrorCode::kUnsupported, node.source_type + " of types " + std::string(to_string(type)) + " and " +
                                    std::string(to_string(inputs[1].type())) + " is not supported");
}

KernelInstance pack_instance(const ConvTile& tile) {
  if (!tile.is_wide) return {"matmul_pack_tile.cl", "", "matmul_pack_tile_f32"};
  return {"matmul_pack_wide.cl", "TILE_N=" + std::to_string(tile.tile_n) + ",VEC=" + std::to_string(tile.vec),
          "matmul_pack_wide_f32"};
}

// One dimension of the loop nest around the matrix product; strides in elements, of B in packed matrices' elements.
struct LoopDim {
  std::int64_t size = 1, dst = 0, a = 0, b = 0, residual = 0;
};

// The nest: launches one by one, then the kernel's groups, then its pixels, outermost first. Matrices that share B are
// pixels of one product, the others groups.
struct LoopNest {
  std::vector<LoopDim> launches;
  LoopDim group;
  std::vector<LoopDim> pixels;
};

bool can_merge(const LoopDim& outer, const LoopDim& inner) {
  return outer.dst == inner.dst * inner.size && outer.a == inner.a * inner.size && outer.b == inner.b * inner.size &&
         outer.residual == inner.residual * inner.size;
}

void append_merged(std::vector<LoopDim>& dims, const LoopDim& dim) {
  if (!dims.empty() && can_merge(dims.back(), dim)) {
    const std::int64_t size = dims.back().size * dim.size;
    dims.back() = dim;
    dims.back().size = size;
  } else {
    dims.push_back(dim);
  }
}

LoopNest make_loop_nest(const std::vector<LoopDim>& batch, const LoopDim& rows) {
  constexpr std::size_t kPixelDims = 4;
  std::vector<LoopDim> groups;
  LoopNest nest;
  for (const LoopDim& dim : batch) {
    if (dim.size != 1) append_merged(dim.b == 0 ? nest.pixels : groups, dim);
  }
  append_merged(nest.pixels, rows);
  while (nest.pixels.size() > kPixelDims) {
    nest.launches.push_back(nest.pixels.front());
    nest.pixels.erase(nest.pixels.begin());
  }
  if (!groups.empty()) {
    const auto widest =
        std::max_element(groups.begin(), groups.end(), [](const auto& x, const auto& y) { return x.size < y.size; });
    nest.group = *widest;
    groups.erase(widest);
  }
  nest.launches.insert(nest.launches.end(), groups.begin(), groups.end());
  return nest;
}

void set_pixels(const std::vector<LoopDim>& pixels, ConvProblem& problem) {
  // n, d, h, w, the innermost last.
  std::int64_t* sizes[] = {&problem.N, &problem.out[0], &problem.out[1], &problem.out[2]};
  const auto strides = [](ConvStrides& s) { return std::array<std::int64_t*, 4>{&s.n, &s.d, &s.h, &s.w}; };
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const LoopDim& dim = pixels[pixels.size() - 1 - i];
    *sizes[3 - i] = dim.size;
    *strides(problem.src.strides)[3 - i] = dim.a;
    *strides(problem.dst.strides)[3 - i] = dim.dst;
    *strides(problem.residual.strides)[3 - i] = dim.residual;
  }
  problem.in = problem.out;
}

// Everything that lowering derives from shapes and strides.
struct Lowering {
  MatMulShape shape;
  MatrixStrides a, b, dst, residual;
  Shape b_batch;  // B's own batch dimensions
};

MatrixStrides output_strides(const TensorDesc& desc, const MatMulShape& shape) {
  MatrixStrides result;
  std::size_t at = shape.batch.size();
  result.batch.assign(desc.strides.begin(), desc.strides.begin() + static_cast<std::ptrdiff_t>(at));
  if (!shape.is_a_vector) result.row = desc.strides[at++];
  result.column = shape.is_b_vector ? 1 : desc.strides[at];
  return result;
}

Lowering analyse(const Node& node, std::span<const LowerInput> inputs, const TensorDesc& output) {
  const TensorDesc& a = inputs[0].desc;
  const TensorDesc& b = inputs[1].desc;
  Lowering result;
  result.shape = make_matmul_shape(node, a.shape, b.shape);
  result.a = matrix_strides(a.shape, a.strides, result.shape.batch, node.attributes.get_bool("transpose_a"), true);
  result.b = matrix_strides(b.shape, b.strides, result.shape.batch, node.attributes.get_bool("transpose_b"), false);
  result.dst = output_strides(output, result.shape);
  result.residual.batch.assign(result.shape.batch.size(), 0);
  if (node.epilogue.residual_input >= 0) {
    result.residual = output_strides(inputs[static_cast<std::size_t>(node.epilogue.residual_input)].desc, result.shape);
  }
  if (b.shape.size() > 2) result.b_batch = Shape(b.shape.begin(), b.shape.end() - 2);
  return result;
}

// Strides of packed matrices over the product's batch.
std::vector<std::int64_t> packed_batch_strides(const Lowering& lowering, std::int64_t matrix_elems) {
  std::vector<std::int64_t> result(lowering.shape.batch.size(), 0);
  const auto own = row_major_strides(lowering.b_batch);
  const std::size_t shift = result.size() - lowering.b_batch.size();
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (lowering.b_batch[i] != 1) result[shift + i] = own[i] * matrix_elems;
  }
  return result;
}

// The rows that share one B: those of one matrix times the batch dimensions along which B is broadcast.
std::int64_t shared_rows(const Lowering& lowering) {
  std::int64_t rows = lowering.shape.M;
  const auto b_strides = packed_batch_strides(lowering, 1);
  for (std::size_t i = 0; i < b_strides.size(); ++i) {
    if (b_strides[i] == 0) rows *= lowering.shape.batch[i];
  }
  return rows;
}

// A B that is not constant is packed at run time, by a kernel that the device must offer too.
std::vector<Candidate<ConvTile>> candidates(const Lowering& lowering, bool is_b_constant, const KernelCaps& caps) {
  auto result = conv_tile_candidates(shared_rows(lowering), lowering.shape.N, caps);
  if (!is_b_constant) {
    std::erase_if(result, [&caps](const auto& candidate) { return !caps.offers(pack_instance(candidate.form)); });
  }
  return result;
}

// "matmul b12 m128 n64 k64 packed": packed where B is constant.
std::string shape_class(const Lowering& lowering, bool is_b_constant) {
  std::string text = "matmul";
  for (const auto& [name, value] : {std::pair{" b", count_elems(lowering.b_batch)},
                                    {" m", shared_rows(lowering)},
                                    {" n", lowering.shape.N},
                                    {" k", lowering.shape.K}}) {
    text += name + std::to_string(value);
  }
  return is_b_constant ? text + " packed" : text;
}

std::optional<ConvTile> choose_tile(const Lowering& lowering, bool is_b_constant, const KernelCaps& caps) {
  return choose_form(candidates(lowering, is_b_constant, caps), shape_class(lowering, is_b_constant), caps);
}

FormChoice forms(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                 const KernelCaps& caps) {
  const Lowering lowering = analyse(node, inputs, outputs[0]);
  const bool is_b_constant = inputs[1].constant != nullptr;
  return make_form_choice(shape_class(lowering, is_b_constant), candidates(lowering, is_b_constant, caps));
}

// The launch that packs B at run time from src_offset on into scratch 0 from dst_offset on; `batch` is the dimension
// that one launch covers.
KernelLaunch make_pack_launch(const Lowering& lowering, const ConvTile& tile, const LoopDim& batch,
                              std::int64_t src_offset, std::int64_t dst_offset) {
  constexpr std::int64_t kRowsPerItem = 256;
  const MatMulShape& shape = lowering.shape;
  ArgList args;
  args.add(Operand::input(1));
  args.add(Operand::scratch(0));
  for (const std::int64_t value : {src_offset, dst_offset, shape.K, shape.N, lowering.b.row, lowering.b.column, batch.a,
                                   batch.dst, tile.is_wide ? kRowsPerItem : std::int64_t{tile.vec}}) {
    args.add(value);
  }
  KernelLaunch launch;
  launch.instance = pack_instance(tile);
  launch.args = args.take();
  const std::int64_t vectors = tile.vectors(shape.N);
  launch.global[2] = static_cast<std::size_t>(batch.size);
  if (tile.is_wide) {
    launch.global[0] = static_cast<std::size_t>(divide_up(vectors, tile.tile_n));
    launch.global[1] = static_cast<std::size_t>(divide_up(shape.K, kRowsPerItem));
  } else {
    launch.global[0] = static_cast<std::size_t>(vectors * tile.vec);
    launch.global[1] = static_cast<std::size_t>(shape.K);
    // A block of the smallest tile is for devices whose work-groups may be smaller than it.
    launch.local[0] = tile.vec > 4 ? static_cast<std::size_t>(tile.vec) : 1;
  }
  return launch;
}

// Packs B at run time into scratch 0, row-major over its batch: the innermost dimension in one launch.
void add_pack_launches(const Lowering& lowering, const TensorDesc& b, const ConvTile& tile, Lowered& lowered) {
  const std::int64_t matrix_elems = tile.packed_elems(lowering.shape.K, lowering.shape.N);
  const auto packed = row_major_strides(lowering.b_batch);
  std::vector<LoopDim> dims;
  for (std::size_t i = 0; i < lowering.b_batch.size(); ++i) {
    if (lowering.b_batch[i] != 1)
      append_merged(dims, {lowering.b_batch[i], packed[i] * matrix_elems, b.strides[i], 0, 0});
  }
  LoopDim inner;
  if (!dims.empty()) {
    inner = dims.back();
    dims.pop_back();
  }
  std::int64_t outer_count = 1;
  for (const LoopDim& dim : dims) outer_count *= dim.size;
  for (std::int64_t i = 0; i < outer_count; ++i) {
    std::int64_t src_offset = b.offset;
    std::int64_t dst_offset = 0;
    std::int64_t rest = i;
    for (std::size_t d = dims.size(); d-- > 0; rest /= dims[d].size) {
      src_offset += rest % dims[d].size * dims[d].a;
      dst_offset += rest % dims[d].size * dims[d].dst;
    }
    lowered.launches.push_back(make_pack_launch(lowering, tile, inner, src_offset, dst_offset));
  }
  lowered.scratch_bytes.push_back(static_cast<std::size_t>(4 * matrix_elems * count_elems(lowering.b_batch)));
}

// Launches per outer index beyond which lowering gives up: each costs microseconds.
constexpr std::int64_t kMaxLaunches = 4096;

Support supports(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                 const KernelCaps& caps) {
  if (inputs[0].desc.type != ElementType::f32 || inputs[1].desc.type != ElementType::f32) {
    return Support::no("only f32 has a kernel");
  }
  const Lowering lowering = analyse(node, inputs, outputs[0]);
  if (lowering.shape.is_b_vector && node.epilogue.bias_input >= 0) {
    return Support::no("a bias along the rows of a matrix-vector product has no kernel");
  }
  if (lowering.shape.K == 0) return Support::no("the sum is empty");
  const auto tile = choose_tile(lowering, inputs[1].constant != nullptr, caps);
  if (!tile) return Support::no("the bitstream holds no matrix product kernel");
  if (count_elems(lowering.b_batch) > kMaxLaunches) return Support::no("more than 4096 matrices in the batch");
  constexpr std::int64_t kMaxElems = 0x7fffffff;
  if (count_elems(lowering.b_batch) * tile->packed_elems(lowering.shape.K, lowering.shape.N) > kMaxElems) {
    return Support::no("the packed matrices have more than 2^31 elements");
  }
  return supports_int_index(inputs, outputs);
}

LayoutRules layouts(const Node& node, const KernelCaps& /*caps*/) {
  LayoutRules rules;
  rules.inputs.assign(std::max<std::size_t>(node.inputs.size(), 2), LayoutRule::kRowMajor);
  rules.inputs[0] = rules.inputs[1] = LayoutRule::kAny;
  rules.output = LayoutRule::kRowMajor;
  return rules;
}

ConvProblem make_problem(const Node& node, const Lowering& lowering, std::span<const LowerInput> inputs,
                         const TensorDesc& output) {
  ConvProblem problem;
  problem.IC = lowering.shape.K;
  problem.OC = lowering.shape.N;
  problem.src = {Operand::input(0), inputs[0].desc.offset, {}};
  problem.src.strides.c = lowering.a.column;
  problem.dst = {Operand::output(0), output.offset, {}};
  const Epilogue& epilogue = node.epilogue;
  set_epilogue(problem, epilogue);
  if (epilogue.residual_input >= 0) {
    const auto at = static_cast<std::size_t>(epilogue.residual_input);
    problem.residual = {Operand::input(at), inputs[at].desc.offset, {}};
  }
  return problem;
}

// One launch per index of nest.launches.
void add_launches(const LoopNest& nest, ConvProblem problem, const ConvTile& tile, const KernelCaps& caps,
                  Lowered& lowered) {
  problem.G = nest.group.size;
  problem.src.strides.g = nest.group.a;
  problem.dst.strides.g = nest.group.dst;
  problem.residual.strides.g = nest.group.residual;
  problem.wei_g = nest.group.b;
  set_pixels(nest.pixels, problem);
  std::int64_t count = 1;
  for (const LoopDim& dim : nest.launches) count *= dim.size;
  for (std::int64_t i = 0; i < count; ++i) {
    ConvProblem one = problem;
    std::int64_t rest = i;
    for (std::size_t d = nest.launches.size(); d-- > 0; rest /= nest.launches[d].size) {
      const LoopDim& dim = nest.launches[d];
      const std::int64_t index = rest % dim.size;
      one.src.offset += index * dim.a;
      one.dst.offset += index * dim.dst;
      one.residual.offset += index * dim.residual;
      one.wei_offset += index * dim.b;
    }
    lowered.launches.push_back(make_conv_launch(one, tile, caps));
  }
}

Lowered lower(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
              const KernelCaps& caps) {
  if (outputs[0].count() == 0) return {};
  const Lowering lowering = analyse(node, inputs, outputs[0]);
  const MatMulShape& shape = lowering.shape;
  ConvProblem problem = make_problem(node, lowering, inputs, outputs[0]);
  ConvTile tile = *choose_tile(lowering, inputs[1].constant != nullptr, caps);
  if (inputs[1].constant != nullptr) tile = with_half_weights(tile, *inputs[1].constant, caps).value_or(tile);
  const std::int64_t matrix_elems = tile.packed_elems(shape.K, shape.N);
  Lowered lowered;
  if (inputs[1].constant != nullptr) {
    problem.wei = Operand::constant(0);
    const auto strides = row_major_strides(inputs[1].desc.shape);
    const MatrixStrides own =
        matrix_strides(inputs[1].desc.shape, strides, lowering.b_batch, node.attributes.get_bool("transpose_b"), false);
    const WeightStrides from{shape.K * shape.N, own.column, 0, own.row};
    const WeightSizes sizes{count_elems(lowering.b_batch), shape.N, 1, shape.K};
    lowered.constants.push_back({tile.packing_key("matmul"), [b = *inputs[1].constant, from, sizes, tile] {
                                   return pack_conv_weights(b, from, sizes, tile);
                                 }});
  } else {
    problem.wei = Operand::scratch(0);
    add_pack_launches(lowering, inputs[1].desc, tile, lowered);
  }
  std::vector<LoopDim> batch;
  const auto b_strides = packed_batch_strides(lowering, matrix_elems);
  for (std::size_t i = 0; i < shape.batch.size(); ++i) {
    batch.push_back(
        {shape.batch[i], lowering.dst.batch[i], lowering.a.batch[i], b_strides[i], lowering.residual.batch[i]});
  }
  const LoopDim rows{shape.M, lowering.dst.row, lowering.a.row, 0, lowering.residual.row};
  add_launches(make_loop_nest(batch, rows), problem, tile, caps, lowered);
  return lowered;
}

bool fuses(const Node& /*node*/, const Epilogue& /*epilogue*/) { return true; }

std::vector<KernelInstance> instances() {
  std::vector<KernelInstance> result;
  for (const ConvTile& tile : all_conv_tiles()) {
    result.push_back(tile.instance());
    result.push_back(pack_instance(tile));
  }
  for (const ConvTile& tile : all_half_tiles()) result.push_back(tile.instance());
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

}  // namespace

const OpDescriptor& matmul_op() {
  static constexpr OpDescriptor kOp = {.types = kTypes,
                                       .parse = parse,
                                       .infer = infer,
                                       .cost = cost,
                                       .reference = reference,
                                       .supports = supports,
                                       .layouts = layouts,
                                       .lower = lower,
                                       .forms = forms,
                                       .fuses = fuses,
                                       .instances = instances};
  return kOp;
}

}  // namespace headrace
