// SPDX-License-Identifier: Apache-2.0
#include "bench/kernels/clblast_batch.hpp"

#include "core/error.hpp"

#ifdef HEADRACE_WITH_CLBLAST
#include <clblast.h>

#include <memory>

#include "device/opencl/cl_error.hpp"
#include "device/opencl/cl_handle.hpp"

namespace headrace::bench {
namespace {

// C = A * B with memory of its own.
class Product {
 public:
  Product(cl_context context, const MatmulSize& size);
  void run(int launches);

 private:
  ClMemory make_buffer(cl_context context, std::int64_t elems, std::uint32_t seed) const;
  void multiply();

  MatmulSize size_;
  ClQueue queue_;
  ClMemory a_, b_, c_;
};

cl_device_id device_of(cl_context context) {
  cl_device_id device = nullptr;
  check_cl(clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof(device), static_cast<void*>(&device), nullptr),
           "the context's device");
  return device;
}

Product::Product(cl_context context, const MatmulSize& size) : size_(size) {
  cl_int code = CL_SUCCESS;
  queue_ = ClQueue(clCreateCommandQueue(context, device_of(context), 0, &code));
  check_cl(code, "making a queue for CLBlast");
  a_ = make_buffer(context, size.batch * size.M * size.K, 1);
  b_ = make_buffer(context, size.batch * size.K * size.N, 2);
  c_ = make_buffer(context, size.batch * size.M * size.N, 3);
}

ClMemory Product::make_buffer(cl_context context, std::int64_t elems, std::uint32_t seed) const {
  Tensor values = test::random_tensor({elems}, seed);
  cl_int code = CL_SUCCESS;
  ClMemory memory(clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, values.size_bytes(),
                                 values.mutable_data(), &code));
  check_cl(code, "making a buffer for CLBlast");
  return memory;
}

void Product::multiply() {
  const auto m = static_cast<std::size_t>(size_.M);
  const auto n = static_cast<std::size_t>(size_.N);
  const auto k = static_cast<std::size_t>(size_.K);
  cl_command_queue queue = queue_.get();
  constexpr auto kRowMajor = clblast::Layout::kRowMajor;
  constexpr auto kPlain = clblast::Transpose::kNo;
  const clblast::StatusCode status =
      size_.batch == 1 ? clblast::Gemm<float>(kRowMajor, kPlain, kPlain, m, n, k, 1.0F, a_.get(), 0, k, b_.get(), 0, n,
                                              0.0F, c_.get(), 0, n, &queue)
                       : clblast::GemmStridedBatched<float>(kRowMajor, kPlain, kPlain, m, n, k, 1.0F, a_.get(), 0, k,
                                                            m * k, b_.get(), 0, n, k * n, 0.0F, c_.get(), 0, n, m * n,
                                                            static_cast<std::size_t>(size_.batch), &queue);
  check(status == clblast::StatusCode::kSuccess, ErrorCode::kDevice,
        "CLBlast: status " + std::to_string(static_cast<int>(status)));
}

void Product::run(int launches) {
  for (int i = 0; i < launches; ++i) multiply();
  check_cl(clFinish(queue_.get()), "running CLBlast");
}

}  // namespace

std::string clblast_description() { return "yes"; }
bool has_clblast() { return true; }

BatchMaker make_clblast_batches(const Device& device, const BenchCase& bench_case) {
  const auto product = std::make_shared<Product>(static_cast<cl_context>(device.native_context()),
                                                 std::get<MatmulSize>(bench_case.size));
  return [product](int launches) -> Batch { return [product, launches] { product->run(launches); }; };
}

}  // namespace headrace::bench

#else

namespace headrace::bench {

std::string clblast_description() { return "not built in (libclblast-dev was missing when CMake ran)"; }
bool has_clblast() { return false; }
BatchMaker make_clblast_batches(const Device&, const BenchCase&) {
  fail(ErrorCode::kUnsupported, clblast_description());
}

}  // namespace headrace::bench

#endif
