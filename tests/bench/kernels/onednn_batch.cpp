// SPDX-License-Identifier: Apache-2.0
#include "bench/kernels/onednn_batch.hpp"

#include "core/error.hpp"

#ifdef HEADRACE_WITH_ONEDNN
#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

namespace headrace::bench {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

struct Primitive {
  dnnl::primitive primitive;
  std::unordered_map<int, memory::desc> arguments;
};

memory::desc desc_of(const memory::dims& dims, Tag tag) { return {dims, memory::data_type::f32, tag}; }

Primitive make_convolution(const ConvSize& s, const dnnl::engine& engine) {
  const memory::dims wei = s.G > 1 ? memory::dims{s.G, s.OC, s.IC, s.KH, s.KW} : memory::dims{s.OC, s.IC, s.KH, s.KW};
  const memory::dims pads_begin{s.KH / 2, s.KW / 2};
  const memory::dims pads_end{(s.OH() - 1) * s.stride + s.KH - s.H - pads_begin[0],
                              (s.OW() - 1) * s.stride + s.KW - s.W - pads_begin[1]};
  dnnl::post_ops relu;
  relu.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
  dnnl::primitive_attr attr;
  attr.set_post_ops(relu);
  const dnnl::convolution_forward::desc desc(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
      desc_of({1, s.G * s.IC, s.H, s.W}, Tag::any), desc_of(wei, Tag::any), desc_of({s.G * s.OC}, Tag::a),
      desc_of({1, s.G * s.OC, s.OH(), s.OW()}, Tag::any), {s.stride, s.stride}, pads_begin, pads_end);
  const dnnl::convolution_forward::primitive_desc chosen(desc, attr, engine);
  return {dnnl::convolution_forward(chosen),
          {{DNNL_ARG_SRC, chosen.src_desc()},
           {DNNL_ARG_WEIGHTS, chosen.weights_desc()},
           {DNNL_ARG_BIAS, chosen.bias_desc()},
           {DNNL_ARG_DST, chosen.dst_desc()}}};
}

// Only weights may be packed ahead: what a network computes comes row-major.
Primitive make_matmul(const MatmulSize& s, const dnnl::engine& engine) {
  const Tag plain = s.batch > 1 ? Tag::abc : Tag::ab;
  const auto dims = [&s](std::int64_t rows, std::int64_t columns) {
    return s.batch > 1 ? memory::dims{s.batch, rows, columns} : memory::dims{rows, columns};
  };
  const Tag any = s.has_weights ? Tag::any : plain;
  const dnnl::matmul::desc desc(desc_of(dims(s.M, s.K), any), desc_of(dims(s.K, s.N), any),
                                desc_of(dims(s.M, s.N), any));
  const dnnl::matmul::primitive_desc chosen(desc, engine);
  return {dnnl::matmul(chosen),
          {{DNNL_ARG_SRC, chosen.src_desc()},
           {DNNL_ARG_WEIGHTS, chosen.weights_desc()},
           {DNNL_ARG_DST, chosen.dst_desc()}}};
}

memory random_memory(const memory::desc& desc, const dnnl::engine& engine) {
  memory result(desc, engine);
  const std::size_t count = desc.get_size() / sizeof(float);
  const Tensor values = test::random_tensor({static_cast<std::int64_t>(count)}, 1);
  std::memcpy(result.get_data_handle(), values.data(), count * sizeof(float));
  return result;
}

}  // namespace

std::string onednn_description() {
  const dnnl::version_t* version = dnnl::version();
  return std::to_string(version->major) + "." + std::to_string(version->minor) + "." + std::to_string(version->patch);
}

bool has_onednn() { return true; }

BatchMaker make_onednn_batches(const BenchCase& bench_case) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const auto* conv = std::get_if<ConvSize>(&bench_case.size);
  const Primitive made =
      conv != nullptr ? make_convolution(*conv, engine) : make_matmul(std::get<MatmulSize>(bench_case.size), engine);
  std::unordered_map<int, memory> arguments;
  for (const auto& [argument, desc] : made.arguments) arguments.emplace(argument, random_memory(desc, engine));
  return [=, stream = dnnl::stream(engine)](int launches) -> Batch {
    return [=]() mutable {
      for (int i = 0; i < launches; ++i) made.primitive.execute(stream, arguments);
      stream.wait();
    };
  };
}

}  // namespace headrace::bench

#else

namespace headrace::bench {

std::string onednn_description() { return "not built in (HEADRACE_WITH_ONEDNN is off)"; }
bool has_onednn() { return false; }
BatchMaker make_onednn_batches(const BenchCase&) { fail(ErrorCode::kUnsupported, onednn_description()); }

}  // namespace headrace::bench

#endif
