// SPDX-License-Identifier: Apache-2.0
#include "formats/caffe/caffe_weights.hpp"

#include <bit>
#include <cstring>
#include <limits>

#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/import/wire_fields.hpp"

namespace headrace::detail {
namespace {

using Bytes = std::span<const std::byte>;

// Field numbers of BlobProto.
constexpr int kNum = 1;
constexpr int kWidth = 4;
constexpr int kData = 5;
constexpr int kShape = 7;
constexpr int kDoubleData = 8;
constexpr int kRawDataType = 10;  // NVIDIA's fork: values of a type of their own
constexpr int kRawData = 12;

std::vector<std::int64_t> parse_blob_shape(Bytes bytes) {
  std::vector<std::int64_t> dims;
  for (WireFields fields(bytes, "BlobShape"); fields.next();) {
    if (fields.number() == 1) fields.append_int64s(dims);
  }
  return dims;
}

CaffeBlob parse_blob(Bytes bytes) {
  CaffeBlob blob;
  blob.message = bytes;
  std::vector<std::int64_t> legacy = {0, 0, 0, 0};
  bool has_legacy = false;
  bool has_other_values = false;
  int packed_count = 0;
  for (WireFields fields(bytes, "BlobProto"); fields.next();) {
    const int number = fields.number();
    if (number >= kNum && number <= kWidth) {
      legacy[static_cast<std::size_t>(number - kNum)] = fields.int64();
      has_legacy = true;
    } else if (number == kShape) {
      blob.shape = parse_blob_shape(fields.bytes());
    } else if (number == kData && fields.is_length_delimited()) {
      blob.floats = fields.bytes();
      ++packed_count;
    } else if (number == kData || number == kDoubleData) {
      has_other_values = true;
    } else if (number == kRawDataType || number == kRawData) {
      blob.unsupported = "values in field raw_data, which only NVIDIA's Caffe knows: save them as floats";
    }
  }
  blob.is_packed = packed_count == 1 && !has_other_values;
  if (!blob.shape && has_legacy) blob.shape = legacy;
  return blob;
}

// Field numbers of LayerParameter (version 2) and V1LayerParameter.
struct LayerNumbers {
  const char* message;
  int name;
  int blobs;
};
constexpr LayerNumbers kLayer = {"LayerParameter", 1, 7};
constexpr LayerNumbers kV1Layer = {"V1LayerParameter", 4, 6};
constexpr int kV0Layer = 1;  // in V1LayerParameter

void add_layer(Bytes bytes, const LayerNumbers& numbers, CaffeWeights& weights) {
  std::string_view name;
  std::vector<CaffeBlob> blobs;
  for (WireFields fields(bytes, numbers.message); fields.next();) {
    if (fields.number() == numbers.name) {
      name = fields.text();
    } else if (fields.number() == numbers.blobs) {
      blobs.push_back(parse_blob(fields.bytes()));
    } else if (numbers.name == kV1Layer.name && fields.number() == kV0Layer) {
      fail(ErrorCode::kUnsupported,
           "weights of Caffe's format V0 (2013) are not supported: upgrade them with Caffe's upgrade_net_proto_binary");
    }
  }
  if (blobs.empty()) return;
  if (!weights.layers.emplace(std::string(name), std::move(blobs)).second) {
    fail(ErrorCode::kBadModel, "two layers named " + quote(name) + " have weights");
  }
}

// All values of a blob in one of the unusual forms: floats that are not packed, or doubles.
std::vector<float> unusual_values(const CaffeBlob& blob) {
  std::vector<float> floats;
  std::vector<double> doubles;
  for (WireFields fields(blob.message, "BlobProto"); fields.next();) {
    if (fields.number() == kData) fields.append_floats(floats);
    if (fields.number() == kDoubleData) fields.append_doubles(doubles);
  }
  if (!floats.empty() && !doubles.empty()) fail(ErrorCode::kBadModel, "has both float and double values");
  for (const double value : doubles) floats.push_back(static_cast<float>(value));
  return floats;
}

void check_form(const CaffeBlob& blob) {
  if (!blob.unsupported.empty()) fail(ErrorCode::kUnsupported, "has " + blob.unsupported);
  if (blob.floats.size() % sizeof(float) != 0) {
    fail(ErrorCode::kBadModel, "has " + std::to_string(blob.floats.size()) + " bytes of floats");
  }
}

}  // namespace

CaffeWeights parse_caffe_weights(Bytes bytes, std::shared_ptr<const void> owner) {
  constexpr std::string_view kHdf5 = "\x89HDF";
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with(kHdf5)) {
    fail(ErrorCode::kUnsupported, "weights in HDF5 are not supported: save them as .caffemodel");
  }
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    fail(ErrorCode::kBadModel, "has more than 2 GiB, protobuf's limit");
  }
  CaffeWeights weights;
  weights.owner = std::move(owner);
  for (WireFields fields(bytes, "NetParameter"); fields.next();) {
    if (fields.number() == 2) add_layer(fields.bytes(), kV1Layer, weights);
    if (fields.number() == 100) add_layer(fields.bytes(), kLayer, weights);
  }
  return weights;
}

std::size_t count_values(const CaffeBlob& blob) {
  check_form(blob);
  return blob.is_packed ? blob.floats.size() / sizeof(float) : unusual_values(blob).size();
}

Tensor read_blob(const CaffeBlob& blob, const Shape& shape, const std::shared_ptr<const void>& owner) {
  const std::size_t count = count_values(blob);
  if (!is_countable(shape) || static_cast<std::uint64_t>(count_elems(shape)) != count) {
    fail(ErrorCode::kBadModel, "has " + std::to_string(count) + " values, expected " + to_string(shape));
  }
  if (!blob.is_packed) return make_f32_tensor(shape, unusual_values(blob));
  if (count == 0) return Tensor(ElementType::f32, shape);
  Tensor value = value_of_stored(Tensor(ElementType::f32, shape, owner, blob.floats.data()));
  if (value.data() != blob.floats.data()) drop_file_pages(blob.floats);
  return value;
}

}  // namespace headrace::detail
