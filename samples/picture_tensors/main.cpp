// SPDX-License-Identifier: Apache-2.0
// headrace-pictures: decodes pictures for `headrace quantize`, which asks on stdin and reads tensors from stdout. A
// program of its own since OpenCV brings libraries that get into the way of OpenCL drivers.
//
// Usage: headrace-pictures SHAPE INPUT_NAME PREPROCESS_FILE
// Asked: a path's length and bytes. Answered: rank, dimensions and f32 values; or rank 0, then the length and the bytes
// of a message. Numbers are 64 bits in the machine's order. Ends when stdin does.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>

#include "common/picture.hpp"
#include "common/preprocess_options.hpp"
#include "core/shape.hpp"

namespace {

namespace samples = headrace::samples;

constexpr std::uint64_t kMaxPath = 1U << 16U;

bool read_all(void* data, std::size_t size) { return std::fread(data, 1, size, stdin) == size; }
void write_all(const void* data, std::size_t size) { std::fwrite(data, 1, size, stdout); }

std::optional<std::string> read_path() {
  std::uint64_t length = 0;
  if (!read_all(&length, sizeof length) || length > kMaxPath) return std::nullopt;
  std::string path(length, ' ');
  return read_all(path.data(), path.size()) ? std::optional(path) : std::nullopt;
}

void answer(const headrace::Tensor& tensor) {
  const std::uint64_t rank = tensor.shape().size();
  write_all(&rank, sizeof rank);
  write_all(tensor.shape().data(), rank * sizeof(std::int64_t));
  write_all(tensor.data(), tensor.size_bytes());
}

void answer(const std::string& message) {
  const std::uint64_t head[2] = {0, message.size()};
  write_all(head, sizeof head);
  write_all(message.data(), message.size());
}

headrace::Tensor read_tensor(const std::string& path, char** argv) {
  const std::string shape = argv[1];
  const samples::Preprocess preprocess = samples::resolve_preprocess({argv[3], {}, {}, ""}, "");
  const samples::ImageInput input =
      samples::image_input_of(headrace::parse_partial_shape(shape.substr(1, shape.size() - 2)),
                              std::string("input '") + argv[2] + "'", preprocess);
  return samples::to_tensor(samples::read_picture(path, input.channels), input, preprocess);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "headrace-pictures: error: headrace quantize starts this program\n");
    return 2;
  }
  std::signal(SIGINT, SIG_IGN);  // the program that asks decides when to end
  while (const auto path = read_path()) {
    try {
      answer(read_tensor(*path, argv));
    } catch (const std::exception& error) {
      answer(std::string(error.what()));
    }
    if (std::fflush(stdout) != 0) return 1;
  }
  return 0;
}
