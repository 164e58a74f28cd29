// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_tensor.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "core/error.hpp"
#include "core/parallel.hpp"

namespace headrace::detail {
namespace {

Shape checked_shape(const OnnxTensor& tensor) {
  if (tensor.dims.size() > kMaxFileRank) {
    fail(ErrorCode::kBadModel,
         "has " + std::to_string(tensor.dims.size()) + " dimensions, the limit is " + std::to_string(kMaxFileRank));
  }
  if (!is_countable(tensor.dims)) {
    fail(ErrorCode::kBadModel, "has the impossible shape " + to_string(tensor.dims));
  }
  return tensor.dims;
}

Tensor from_bytes(std::span<const std::byte> bytes, ElementType type, const Shape& shape,
                  const std::shared_ptr<const void>& owner) {
  const auto wanted = static_cast<std::size_t>(count_elems(shape)) * size_bytes(type);
  if (bytes.size() != wanted) {
    fail(ErrorCode::kBadModel, "has " + std::to_string(bytes.size()) + " bytes, but shape " + to_string(shape) +
                                   " of " + std::string(to_string(type)) + " needs " + std::to_string(wanted));
  }
  if (wanted == 0) return Tensor(type, shape);
  Tensor value = value_of_stored(Tensor(type, shape, owner, bytes.data()));
  if (value.data() != bytes.data()) drop_file_pages(bytes);
  return value;
}

// Integers, and the bits of short floats, of which each value's low bytes count.
Tensor from_integers(const std::vector<std::int64_t>& values, ElementType type, const Shape& shape) {
  Tensor stored(type, shape);
  std::byte* to = stored.mutable_data();
  for (const std::int64_t value : values) {
    for (std::size_t i = 0; i < size_bytes(type); ++i) {
      *to++ = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i));
    }
  }
  return value_of_stored(stored);
}

Tensor from_typed_fields(const OnnxTensor& tensor, ElementType type, const Shape& shape) {
  const auto count = static_cast<std::size_t>(count_elems(shape));
  // A message of n bytes has at most n values, so that a hostile shape allocates nothing.
  if (count > tensor.message.size()) {
    fail(ErrorCode::kBadModel, "has too few values for its shape " + to_string(shape));
  }
  if (type == ElementType::f32) return make_f32_tensor(shape, onnx_float_data(tensor, count));
  if (type != ElementType::f64) return from_integers(onnx_int64_data(tensor, count), type, shape);
  Tensor result(type, shape);
  std::ranges::copy(onnx_double_data(tensor, count), result.mutable_values<double>().begin());
  return result;
}

std::string_view entry_of(const OnnxTensor& tensor, std::string_view key) {
  for (const auto& [name, value] : tensor.external_data) {
    if (name == key) return value;
  }
  return {};
}

std::size_t number_of(const OnnxTensor& tensor, std::string_view key, std::size_t fallback) {
  const std::string_view text = entry_of(tensor, key);
  if (text.empty()) return fallback;
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail(ErrorCode::kBadModel, "external data: " + std::string(key) + " is " + quote(text) + ", expected a number");
  }
  return value;
}

}  // namespace

ElementType onnx_element_type(std::int32_t data_type) {
  switch (static_cast<OnnxType>(data_type)) {
    case OnnxType::kFloat: return ElementType::f32;
    case OnnxType::kFloat16: return ElementType::f16;
    case OnnxType::kInt8: return ElementType::i8;
    case OnnxType::kUint8: return ElementType::u8;
    case OnnxType::kInt32: return ElementType::i32;
    case OnnxType::kInt64: return ElementType::i64;
    case OnnxType::kBool: return ElementType::boolean;
    case OnnxType::kDouble: return ElementType::f64;
    case OnnxType::kBfloat16: return ElementType::bf16;
    case OnnxType::kInt16: return ElementType::i16;
    case OnnxType::kUint16: return ElementType::u16;
    case OnnxType::kUint32: return ElementType::u32;
    case OnnxType::kUint64: return ElementType::u64;
    default: break;
  }
  fail(ErrorCode::kUnsupported, "element type " + onnx_type_name(data_type));
}

const MappedFile& OnnxTensors::map_beside_model(std::string_view location) {
  namespace fs = std::filesystem;
  if (const auto known = files_.find(location); known != files_.end()) return known->second;
  const fs::path relative{std::string(location)};
  if (location.empty() || relative.is_absolute() || location.find('\0') != std::string_view::npos) {
    fail(ErrorCode::kBadModel,
         "external data: location " + quote(location) + " is not a path below the model's folder");
  }
  if (model_.folder.empty()) fail(ErrorCode::kBadModel, "external data: a model in memory has no folder");
  std::error_code problem;
  // Resolved with every symbolic link, so that neither ".." nor a link leads outside.
  const fs::path folder = fs::canonical(model_.folder, problem);
  const fs::path path = problem ? fs::path{} : fs::canonical(folder / relative, problem);
  if (problem) {
    fail(ErrorCode::kIo, "external data: cannot open " + quote((fs::path(model_.folder) / relative).string()) + ": " +
                             problem.message());
  }
  if (std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first != folder.end()) {
    fail(ErrorCode::kBadModel, "external data: location " + quote(location) + " leaves the model's folder");
  }
  return files_.emplace(std::string(location), map_file(path.string())).first->second;
}

Tensor OnnxTensors::read_external(const OnnxTensor& tensor, ElementType type, const Shape& shape) {
  const std::string_view location = entry_of(tensor, "location");
  const MappedFile& file = map_beside_model(location);
  const auto wanted = static_cast<std::size_t>(count_elems(shape)) * size_bytes(type);
  const std::size_t offset = number_of(tensor, "offset", 0);
  const std::size_t length = number_of(tensor, "length", wanted);
  if (length > file.bytes.size() || offset > file.bytes.size() - length) {
    fail(ErrorCode::kBadModel, "needs " + std::to_string(length) + " bytes at offset " + std::to_string(offset) +
                                   " of " + quote(location) + ", the file has " + std::to_string(file.bytes.size()) +
                                   " bytes");
  }
  return from_bytes(file.bytes.subspan(offset, length), type, shape, file.owner);
}

Tensor OnnxTensors::read_value(const OnnxTensor& tensor) {
  const ElementType type = onnx_element_type(tensor.data_type);
  const Shape shape = checked_shape(tensor);
  if (tensor.is_external) return read_external(tensor, type, shape);
  if (tensor.raw_data) return from_bytes(*tensor.raw_data, type, shape, model_.owner);
  return from_typed_fields(tensor, type, shape);
}

void OnnxTensors::read_ahead(const std::vector<OnnxTensor>& tensors) {
  constexpr std::size_t kLargeBytes = 65536;
  std::vector<std::pair<const OnnxTensor*, std::optional<Tensor>>> large;
  for (const OnnxTensor& tensor : tensors) {
    if (!tensor.is_external && tensor.raw_data && tensor.raw_data->size() >= kLargeBytes)
      large.push_back({&tensor, {}});
  }
  parallel_for(large.size(), [&](std::size_t i) {
    try {
      large[i].second = read_value(*large[i].first);
    } catch (const Error&) {
      // An element type that is not stored, a wrong size: said where a node reads the tensor.
    }
  });
  for (auto& [tensor, value] : large) {
    if (value) read_ahead_.emplace(tensor, std::move(*value));
  }
}

Tensor OnnxTensors::read(const OnnxTensor& tensor) {
  if (const auto found = read_ahead_.find(&tensor); found != read_ahead_.end()) return found->second;
  try {
    return read_value(tensor);
  } catch (const Error& error) {
    rethrow_with_prefix(error, "tensor " + quote(tensor.name));
  }
}

}  // namespace headrace::detail
