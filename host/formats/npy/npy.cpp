// SPDX-License-Identifier: Apache-2.0
#include "formats/npy/npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "core/file.hpp"

namespace headrace {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::size_t kMaxHeaderBytes = 65536;  // NumPy itself writes 118 bytes for a plain array
constexpr std::size_t kMaxRank = 64;            // NumPy 2's own limit

static_assert(std::endian::native == std::endian::little, ".npy data are copied as they are");

struct DtypeRow {
  std::string_view descr;
  ElementType type;
};

// One-byte types are written with "|"; readers of "<i1" exist, so both are taken.
constexpr std::array<DtypeRow, 12> kDtypes = {{{"<f4", ElementType::f32},
                                               {"<f2", ElementType::f16},
                                               {"|i1", ElementType::i8},
                                               {"|u1", ElementType::u8},
                                               {"<i4", ElementType::i32},
                                               {"<i8", ElementType::i64},
                                               {"|b1", ElementType::boolean},
                                               {"<f8", ElementType::f64},
                                               {"<i2", ElementType::i16},
                                               {"<u2", ElementType::u16},
                                               {"<u4", ElementType::u32},
                                               {"<u8", ElementType::u64}}};

struct Header {
  std::optional<std::string> descr;
  std::optional<bool> is_fortran_order;
  std::optional<Shape> shape;
};

[[noreturn]] void fail_header(const std::string& what) { fail(ErrorCode::kBadModel, ".npy header: " + what); }

// Reads the subset of Python's dict literals that NumPy writes: three keys with a string, a bool and a tuple.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Header parse() {
    Header header;
    expect('{');
    while (!accept('}')) {
      parse_entry(header);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    if (pos_ != text_.size()) fail_header("text after the closing brace");
    if (!header.descr || !header.is_fortran_order || !header.shape) {
      fail_header("expected the keys descr, fortran_order and shape");
    }
    return header;
  }

 private:
  void parse_entry(Header& header) {
    const std::string key = parse_string();
    expect(':');
    if (key == "descr" && !header.descr) {
      header.descr = parse_descr();
    } else if (key == "fortran_order" && !header.is_fortran_order) {
      header.is_fortran_order = parse_bool();
    } else if (key == "shape" && !header.shape) {
      header.shape = parse_shape();
    } else {
      fail_header("unexpected or repeated key " + quote(key));
    }
  }

  std::string parse_descr() {
    skip_spaces();
    if (pos_ < text_.size() && text_[pos_] == '[') {
      fail(ErrorCode::kUnsupported, ".npy dtype is a record, expected a plain number type such as '<f4'");
    }
    return parse_string();
  }

  bool parse_bool() {
    skip_spaces();
    for (const auto& [word, value] : {std::pair{std::string_view("True"), true}, {std::string_view("False"), false}}) {
      if (text_.substr(pos_, word.size()) == word) {
        pos_ += word.size();
        return value;
      }
    }
    fail_header("fortran_order is not True or False");
  }

  Shape parse_shape() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      if (shape.size() == kMaxRank) fail_header("more than " + std::to_string(kMaxRank) + " dimensions");
      shape.push_back(parse_dim());
      if (!accept(',')) {
        // (3) is a number in Python, not a tuple.
        if (shape.size() == 1) fail_header("shape is not a tuple");
        expect(')');
        break;
      }
    }
    return shape;
  }

  std::int64_t parse_dim() {
    skip_spaces();
    std::int64_t dim = 0;
    const char* first = text_.data() + pos_;
    const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), dim);
    if (error != std::errc() || dim < 0) fail_header("shape has a dimension that is no count");
    pos_ += static_cast<std::size_t>(end - first);
    if (pos_ < text_.size() && text_[pos_] == 'L') ++pos_;  // Python 2 wrote long integers so
    return dim;
  }

  std::string parse_string() {
    skip_spaces();
    const char quote = pos_ < text_.size() ? text_[pos_] : '\0';
    if (quote != '\'' && quote != '"') fail_header("expected a string at byte " + std::to_string(pos_));
    const std::size_t end = text_.find(quote, pos_ + 1);
    if (end == std::string_view::npos) fail_header("a string has no end");
    std::string result(text_.substr(pos_ + 1, end - pos_ - 1));
    pos_ = end + 1;
    return result;
  }

  void skip_spaces() {
    while (pos_ < text_.size() && (text_[pos_] == ' ' || text_[pos_] == '\n')) ++pos_;
  }

  bool accept(char wanted) {
    skip_spaces();
    if (pos_ >= text_.size() || text_[pos_] != wanted) return false;
    ++pos_;
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) fail_header(std::string("expected ") + wanted + " at byte " + std::to_string(pos_));
  }

  std::string_view text_;
  std::size_t pos_ = 0;
};

ElementType find_dtype(const std::string& descr) {
  std::string wanted = descr;
  const bool is_one_byte = wanted.size() == 3 && wanted[2] == '1' && wanted[1] != 'S' && wanted[1] != 'V';
  if (is_one_byte && (wanted[0] == '<' || wanted[0] == '>' || wanted[0] == '=')) wanted[0] = '|';
  if (wanted == "?") wanted = "|b1";
  for (const DtypeRow& row : kDtypes) {
    if (row.descr == wanted) return row.type;
  }
  fail(ErrorCode::kUnsupported, ".npy dtype " + quote(descr) +
                                    " is not supported, expected little-endian float32 '<f4', float16 '<f2', int8, "
                                    "uint8, int32 '<i4', int64 '<i8' or bool");
}

std::string_view dtype_of(ElementType type) {
  for (const DtypeRow& row : kDtypes) {
    if (row.type == type) return row.descr;
  }
  fail(ErrorCode::kInternal, "element type without a .npy dtype");
}

// Splits the file into header text and data. Layout: magic, version (2 bytes), header length (2 bytes in version 1,
// else 4, little-endian), header, data.
std::pair<std::string_view, std::span<const std::byte>> split_file(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.substr(0, kMagic.size()) != kMagic)
    fail(ErrorCode::kBadModel, "not a .npy file (no \\x93NUMPY at its start)");
  const auto byte_at = [&](std::size_t i) -> std::size_t {
    if (i >= bytes.size()) fail_header("the file ends inside it");
    return std::to_integer<std::size_t>(bytes[i]);
  };
  const std::size_t major = byte_at(kMagic.size());
  const std::size_t minor = byte_at(kMagic.size() + 1);
  if (major < 1 || major > 3 || minor != 0) {
    fail(ErrorCode::kUnsupported,
         ".npy version " + std::to_string(major) + "." + std::to_string(minor) + ", expected 1.0, 2.0 or 3.0");
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) length |= byte_at(kMagic.size() + 2 + i) << (8 * i);
  const std::size_t start = kMagic.size() + 2 + length_bytes;
  if (length > kMaxHeaderBytes) {
    fail_header("length " + std::to_string(length) + ", the limit is " + std::to_string(kMaxHeaderBytes));
  }
  if (length > bytes.size() - start) fail_header("the file ends inside it");
  return {text.substr(start, length), bytes.subspan(start + length)};
}

// Copies an array whose first dimension runs fastest into row-major order.
void copy_fortran(const std::byte* source, Tensor& tensor) {
  const Shape& shape = tensor.shape();
  const std::size_t size = size_bytes(tensor.type());
  const std::vector<std::int64_t> strides = row_major_strides(shape);
  std::vector<std::int64_t> index(shape.size(), 0);
  std::int64_t target = 0;
  std::byte* data = tensor.mutable_data();
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    std::memcpy(data + static_cast<std::size_t>(target) * size, source + static_cast<std::size_t>(i) * size, size);
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      target += strides[axis];
      if (++index[axis] < shape[axis]) break;
      target -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

// Bytes of an array of this shape. Throws kBadModel where they overflow, so that nothing is allocated for a lie.
std::size_t checked_bytes(ElementType type, const Shape& shape) {
  std::size_t bytes = size_bytes(type);
  bool has_overflow = false;
  bool is_empty = false;
  for (const std::int64_t dim : shape) {
    is_empty |= dim == 0;
    has_overflow |= __builtin_mul_overflow(bytes, static_cast<std::size_t>(std::max<std::int64_t>(dim, 1)), &bytes);
  }
  if (has_overflow || bytes > static_cast<std::size_t>(INT64_MAX))
    fail_header("shape " + to_string(shape) + " is too large");
  return is_empty ? 0 : bytes;
}

}  // namespace

Tensor parse_npy(std::span<const std::byte> bytes) {
  const auto [text, data] = split_file(bytes);
  const Header header = HeaderParser(text).parse();
  const ElementType type = find_dtype(*header.descr);
  const std::size_t wanted_bytes = checked_bytes(type, *header.shape);
  if (data.size() != wanted_bytes) {
    fail(ErrorCode::kBadModel, ".npy data: shape " + to_string(*header.shape) + " of " + std::string(to_string(type)) +
                                   " needs " + std::to_string(wanted_bytes) + " bytes, the file has " +
                                   std::to_string(data.size()));
  }
  Tensor tensor(type, *header.shape);
  if (wanted_bytes == 0) return tensor;
  if (*header.is_fortran_order) {
    copy_fortran(data.data(), tensor);
  } else {
    std::memcpy(tensor.mutable_data(), data.data(), wanted_bytes);
  }
  if (type == ElementType::boolean) {
    // Any byte but 0 means true in NumPy; a C++ bool holds 0 or 1.
    std::byte* flags = tensor.mutable_data();
    std::transform(flags, flags + wanted_bytes, flags, [](std::byte b) { return std::byte{b != std::byte{0}}; });
  }
  return tensor;
}

Tensor read_npy(const std::string& path) {
  const MappedFile file = map_file(path);
  try {
    return parse_npy(file.bytes);
  } catch (const Error& error) {
    rethrow_with_prefix(error, quote(path));
  }
}

void write_npy(const std::string& path, const Tensor& given) {
  const Tensor tensor = given.type() == ElementType::bf16 ? convert(given, ElementType::f32) : given;
  std::string dict = "{'descr': '" + std::string(dtype_of(tensor.type())) + "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t dim : tensor.shape()) dict += std::to_string(dim) + ", ";
  if (tensor.shape().size() > 1) dict.resize(dict.size() - 2);
  if (tensor.shape().size() == 1) dict.pop_back();
  dict += "), }";
  // The data start at a multiple of 64 and the header ends in a newline, as NumPy writes it.
  constexpr std::size_t kAlignment = 64;
  const std::size_t prefix = kMagic.size() + 4;
  const std::size_t total = (prefix + dict.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  dict.resize(total - prefix - 1, ' ');
  dict += '\n';
  if (dict.size() > 0xffff)
    fail(ErrorCode::kInvalidArgument,
         "tensor of rank " + std::to_string(tensor.shape().size()) + " is too large for .npy");
  std::string start(kMagic);
  start += {'\x01', '\x00', static_cast<char>(dict.size() & 0xff), static_cast<char>(dict.size() >> 8)};
  write_file(path, {as_bytes(start), as_bytes(dict), {tensor.data(), tensor.size_bytes()}});
}

}  // namespace headrace
