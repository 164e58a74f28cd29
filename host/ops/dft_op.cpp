// SPDX-License-Identifier: Apache-2.0
// DFT, IDFT, RDFT and IRDFT: discrete Fourier transforms along axes. Complex numbers are pairs in the last dimension.
//
// X[k] = sum over n of x[n] * exp(-2 pi i k n / size), inverse transforms with the other sign and divided by the size.
// Input 2, signal_size, cuts the axes or fills them with zeros first. Plain sums: O(size) per result.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "ops/checks.hpp"
#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"DFT", "IDFT", "RDFT", "IRDFT"};

Attributes parse(std::string_view, std::int32_t, const RawAttributes&) { return {}; }

bool is_inverse(const Node& node) { return node.type == "IDFT" || node.type == "IRDFT"; }
bool has_complex_input(const Node& node) { return node.type != "RDFT"; }

// A tensor of complex numbers, row-major.
struct Spectrum {
  Shape shape;
  std::vector<std::complex<double>> values;
};

// The axes with the sizes that they are cut or filled to.
struct Transform {
  std::vector<std::size_t> axes;
  std::vector<std::int64_t> sizes;
};

Transform transform_of(const Node& node, const InputValues& values, const Shape& shape) {
  constexpr std::int64_t kMostSize = std::int64_t{1} << 31;
  const std::size_t rank = shape.size() - (has_complex_input(node) ? 1 : 0);
  Transform transform{normalize_axes(node, ints_at(values, 1), rank), {}};
  if (transform.axes.empty()) fail_node(node, "needs at least one axis");
  for (const std::size_t axis : transform.axes) transform.sizes.push_back(shape[axis]);
  // Half a spectrum stands for a real signal of nearly twice its size.
  if (node.type == "IRDFT") transform.sizes.back() = 2 * (transform.sizes.back() - 1);
  if (!has_input(values, 2)) return transform;
  const std::vector<std::int64_t> given = ints_at(values, 2);
  if (given.size() != transform.axes.size()) fail_node(node, "has other numbers of axes and of signal sizes");
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] == -1) continue;
    if (given[i] < 1 || given[i] > kMostSize) fail_node(node, "has the signal size " + std::to_string(given[i]));
    transform.sizes[i] = given[i];
  }
  return transform;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 2, 3);
  check_float_type(node, inputs, 0, "data");
  Shape shape = inputs[0].shape;
  if (has_complex_input(node) && (shape.size() < 2 || shape.back() != 2)) {
    fail_node(node, "needs pairs in the last dimension of its data, has " + to_string(shape));
  }
  const Transform transform = transform_of(node, values_of(inputs), shape);
  for (std::size_t i = 0; i < transform.axes.size(); ++i) shape[transform.axes[i]] = transform.sizes[i];
  if (node.type == "RDFT") shape[transform.axes.back()] = transform.sizes.back() / 2 + 1;
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t size) { return size < 1; })) {
    fail_node(node, "has no elements along an axis of " + to_string(inputs[0].shape));
  }
  if (node.type == "RDFT") shape.push_back(2);
  if (node.type == "IRDFT") shape.pop_back();
  return {{inputs[0].type, shape}};
}

Spectrum read(const Node& node, const Tensor& data) {
  Spectrum spectrum{data.shape(), {}};
  const bool is_complex = has_complex_input(node);
  if (is_complex) spectrum.shape.pop_back();
  const std::int64_t count = count_elems(spectrum.shape);
  for (std::int64_t i = 0; i < count; ++i) {
    spectrum.values.emplace_back(real_at(data, is_complex ? 2 * i : i), is_complex ? real_at(data, 2 * i + 1) : 0);
  }
  return spectrum;
}

// The axis cut or filled with zeros to `size`; then, where `mirrors`, the missing half of a real signal's spectrum.
Spectrum resized(const Spectrum& from, std::size_t axis, std::int64_t size, bool mirrors) {
  Spectrum to{from.shape, {}};
  to.shape[axis] = size;
  const std::int64_t outer = count_between(from.shape, 0, axis);
  const std::int64_t inner = count_between(from.shape, axis + 1, from.shape.size());
  const std::int64_t known = std::min(from.shape[axis], mirrors ? size / 2 + 1 : size);
  to.values.resize(static_cast<std::size_t>(count_elems(to.shape)));
  for (std::int64_t i = 0; i < outer * known * inner; ++i) {
    const std::int64_t o = i / (known * inner);
    const std::int64_t k = i / inner % known;
    const auto value = from.values[static_cast<std::size_t>((o * from.shape[axis] + k) * inner + i % inner)];
    const auto put = [&](std::int64_t place, std::complex<double> what) {
      to.values[static_cast<std::size_t>((o * size + place) * inner + i % inner)] = what;
    };
    put(k, value);
    if (mirrors && k > 0 && size - k > k) put(size - k, std::conj(value));
  }
  return to;
}

void transform_axis(Spectrum& spectrum, std::size_t axis, bool is_backward) {
  const std::int64_t size = spectrum.shape[axis];
  const std::int64_t inner = count_between(spectrum.shape, axis + 1, spectrum.shape.size());
  std::vector<std::complex<double>> roots;
  for (std::int64_t i = 0; i < size; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(size);
    roots.push_back(std::polar(1.0, is_backward ? angle : -angle));
  }
  std::vector<std::complex<double>> line(static_cast<std::size_t>(size));
  for (std::int64_t start = 0; start < static_cast<std::int64_t>(spectrum.values.size()) / size; ++start) {
    const std::int64_t first = start / inner * size * inner + start % inner;
    const auto at = [&](std::int64_t i) -> std::complex<double>& {
      return spectrum.values[static_cast<std::size_t>(first + i * inner)];
    };
    for (std::int64_t k = 0; k < size; ++k) {
      std::complex<double> sum = 0;
      for (std::int64_t n = 0; n < size; ++n) sum += at(n) * roots[static_cast<std::size_t>(k * n % size)];
      line[static_cast<std::size_t>(k)] = is_backward ? sum / static_cast<double>(size) : sum;
    }
    for (std::int64_t k = 0; k < size; ++k) at(k) = line[static_cast<std::size_t>(k)];
  }
}

void write(const Node& node, const Spectrum& spectrum, Tensor& result) {
  const bool is_real = node.type == "IRDFT";
  for (std::size_t i = 0; i < spectrum.values.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    set_real(result, is_real ? at : 2 * at, spectrum.values[i].real());
    if (!is_real) set_real(result, 2 * at + 1, spectrum.values[i].imag());
  }
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const Transform transform = transform_of(node, values_of(inputs), inputs[0].shape());
  Spectrum spectrum = read(node, inputs[0]);
  for (std::size_t i = 0; i < transform.axes.size(); ++i) {
    const bool is_last = i + 1 == transform.axes.size();
    if (is_last && node.type == "IRDFT") continue;  // its other half is known when the other axes are done
    spectrum = resized(spectrum, transform.axes[i], transform.sizes[i], false);
  }
  for (std::size_t i = 0; i < transform.axes.size(); ++i) {
    if (i + 1 == transform.axes.size() && node.type == "IRDFT") {
      spectrum = resized(spectrum, transform.axes[i], transform.sizes[i], true);
    }
    transform_axis(spectrum, transform.axes[i], is_inverse(node));
  }
  if (node.type == "RDFT") {
    spectrum = resized(spectrum, transform.axes.back(), transform.sizes.back() / 2 + 1, false);
  }
  write(node, spectrum, outputs[0]);
}

}  // namespace

const OpDescriptor& dft_op() {
  static constexpr OpDescriptor op = {.types = kTypes, .parse = parse, .infer = infer, .reference = reference};
  return op;
}

}  // namespace headrace
