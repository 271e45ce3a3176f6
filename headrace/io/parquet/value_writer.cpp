// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/value_writer.h"

#include "headrace/algo/select/gather.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/dictionary.h"
#include "headrace/data/tensor.h"
#include "headrace/io/parquet/fixed_writer.h"
#include "headrace/io/parquet/text_writer.h"

#include <algorithm>
#include <cstring>

namespace hr::parquet {

namespace {

__extension__ using Int128 = __int128;

constexpr std::string_view kOp = "to_parquet";
constexpr int kDigits32 = 9, kDigits64 = 18;  // decimals that fit

LogicalType integer_of(Dtype dtype) {
  return {.kind = LogicalKind::kInteger,
          .is_signed = dtype.is_signed(),
          .bits = static_cast<int>(8 * dtype.size_bytes())};
}

// Bytes of a number with that count of digits, and its sign.
int64_t decimal_bytes(int digits) {
  Int128 most = 1;
  for (int i = 0; i < digits; ++i) most *= 10;
  int64_t bytes = 1;
  while (bytes < 16 && most > static_cast<Int128>(1) << (8 * bytes - 1)) ++bytes;
  return bytes;
}

class BoolWriter final : public ValueWriter {
 public:
  explicit BoolWriter(Column column) : column_(std::move(column)) {}

  Encoding encoding() const override { return Encoding::kPlain; }

  double bytes_per_value() const override { return 1.0 / 8; }

  void append(int64_t begin, int64_t end, ByteBuffer& out) override {
    const int64_t bytes = bitmap_bytes(end - begin);
    char* at = out.reserve(bytes + 8);
    for (int64_t i = begin; i < end; i += 64, at += 8) {
      const uint64_t word =
          load_bits(column_.bits(), column_.offset() + i, std::min<int64_t>(end - i, 64));
      std::memcpy(at, &word, sizeof word);
    }
    out.advance(bytes);
  }

  std::optional<ValueBounds> bounds(int64_t begin, int64_t end) override {
    const int64_t ones = count_bits(column_.bits(), column_.offset() + begin, end - begin);
    const auto bytes_of = [](bool value) { return std::string(1, value ? '\1' : '\0'); };
    return ValueBounds{bytes_of(ones == end - begin), bytes_of(ones > 0), true};
  }

  bool is_less(std::string_view a, std::string_view b) const override { return a < b; }

  int64_t num_hashes() const override { return 0; }

  void add_to(BloomFilter& /*filter*/) const override {}

 private:
  Column column_;
};

// Decimals of many digits, in big-endian two's complement.
class WideDecimalWriter final : public ValueWriter {
 public:
  explicit WideDecimalWriter(Column column)
      : column_(std::move(column)), width_(decimal_bytes(column_.dtype().precision())) {}

  Encoding encoding() const override { return Encoding::kPlain; }

  double bytes_per_value() const override { return static_cast<double>(width_); }

  void append(int64_t begin, int64_t end, ByteBuffer& out) override {
    char* at = out.reserve((end - begin) * width_);
    for (int64_t i = begin; i < end; ++i, at += width_) put(value(i), at);
    out.advance((end - begin) * width_);
  }

  std::optional<ValueBounds> bounds(int64_t begin, int64_t end) override {
    Int128 least = value(begin), most = least;
    for (int64_t i = begin + 1; i < end; ++i) {
      least = std::min(least, value(i));
      most = std::max(most, value(i));
    }
    return ValueBounds{bytes_of(least), bytes_of(most), true};
  }

  // The sign lies in the first byte.
  bool is_less(std::string_view a, std::string_view b) const override {
    const auto first_a = static_cast<int8_t>(a[0]), first_b = static_cast<int8_t>(b[0]);
    return first_a != first_b ? first_a < first_b : a < b;
  }

  int64_t num_hashes() const override { return column_.num_rows(); }

  void add_to(BloomFilter& filter) const override {
    for (int64_t i = 0; i < column_.num_rows(); ++i) filter.add(hash_bytes(bytes_of(value(i))));
  }

 private:
  Int128 value(int64_t row) const { return column_.values<Int128>()[static_cast<size_t>(row)]; }

  void put(Int128 value, char* out) const {
    for (int64_t b = width_; b-- > 0; value >>= 8) out[b] = static_cast<char>(value);
  }

  std::string bytes_of(Int128 value) const {
    std::string bytes(static_cast<size_t>(width_), '\0');
    put(value, bytes.data());
    return bytes;
  }

  Column column_;
  int64_t width_;
};

template <class T>
std::unique_ptr<ValueWriter> write_as_they_are(const Column& column) {
  const std::span<const T> values = column.values<T>();
  return write_fixed(values.data(), column.num_rows(), column.values_buffer());
}

// As values of another type, each by `convert`.
template <class To, class From, class Convert>
std::unique_ptr<ValueWriter> write_converted(const Column& column, const Convert& convert) {
  const int64_t rows = column.num_rows();
  Buffer made = Buffer::allocate(rows * static_cast<int64_t>(sizeof(To)));
  To* const out = rows > 0 ? made.mutable_as<To>() : nullptr;
  const std::span<const From> values = column.values<From>();
  for (int64_t i = 0; i < rows; ++i) out[i] = convert(values[static_cast<size_t>(i)]);
  return write_fixed(static_cast<const To*>(out), rows, std::move(made));
}

template <class To, class From>
std::unique_ptr<ValueWriter> write_widened(const Column& column) {
  return write_converted<To, From>(column, [](From value) { return static_cast<To>(value); });
}

// Parquet has no seconds.
std::unique_ptr<ValueWriter> write_seconds(const Column& column) {
  return write_converted<int64_t, int64_t>(column, [](int64_t value) {
    int64_t millis;
    if (__builtin_mul_overflow(value, int64_t{1000}, &millis))
      throw_error<InvalidArgumentError>(kOp, "a time in seconds is out of range as milliseconds",
                                        {{"seconds", value}}, "leave the row out");
    return millis;
  });
}

Column values_of_categories(const Column& column) {
  const int64_t rows = column.num_rows();
  Buffer positions = Buffer::allocate(8 * rows);
  auto* const out = rows > 0 ? positions.mutable_as<int64_t>() : nullptr;
  const std::span<const int32_t> codes = column.values<int32_t>();
  std::copy(codes.begin(), codes.end(), out);
  return gather(column.dictionary()->values(),
                Tensor(dtype_of<int64_t>(), {rows}, std::move(positions)));
}

}  // namespace

StoredType stored_type(Dtype dtype) {
  switch (dtype.id()) {
    case TypeId::kBool:
      return {PhysicalType::kBoolean};
    case TypeId::kInt8:
    case TypeId::kInt16:
    case TypeId::kUInt8:
    case TypeId::kUInt16:
    case TypeId::kUInt32:
      return {PhysicalType::kInt32, 0, integer_of(dtype)};
    case TypeId::kInt32:
      return {PhysicalType::kInt32};
    case TypeId::kUInt64:
      return {PhysicalType::kInt64, 0, integer_of(dtype)};
    case TypeId::kInt64:
    case TypeId::kDuration:
      return {PhysicalType::kInt64};
    case TypeId::kFloat32:
      return {PhysicalType::kFloat};
    case TypeId::kFloat64:
      return {PhysicalType::kDouble};
    case TypeId::kString:
      return {PhysicalType::kByteArray, 0, {.kind = LogicalKind::kString}};
    case TypeId::kDate:
      return {PhysicalType::kInt32, 0, {.kind = LogicalKind::kDate}};
    case TypeId::kTimestamp:
      return {PhysicalType::kInt64,
              0,
              {.kind = LogicalKind::kTimestamp,
               .unit = std::max(dtype.unit(), TimeUnit::kMilli),
               .is_utc = dtype.has_zone()}};
    case TypeId::kDecimal: {
      const LogicalType logical{
          .kind = LogicalKind::kDecimal, .precision = dtype.precision(), .scale = dtype.scale()};
      if (dtype.precision() <= kDigits32) return {PhysicalType::kInt32, 0, logical};
      if (dtype.precision() <= kDigits64) return {PhysicalType::kInt64, 0, logical};
      return {PhysicalType::kFixed, decimal_bytes(dtype.precision()), logical};
    }
    case TypeId::kCategory:
      return stored_type(dtype.item());
    default:
      throw_error<TypeMismatchError>(kOp, "Parquet has no such numbers", {{"dtype", dtype.name()}},
                                     "write the real and the imaginary part");
  }
}

std::unique_ptr<ValueWriter> write_values(const Column& column, bool front_codes) {
  const Dtype dtype = column.dtype();
  switch (dtype.id()) {
    case TypeId::kBool:
      return std::make_unique<BoolWriter>(column);
    case TypeId::kInt8:
      return write_widened<int32_t, int8_t>(column);
    case TypeId::kInt16:
      return write_widened<int32_t, int16_t>(column);
    case TypeId::kUInt8:
      return write_widened<uint32_t, uint8_t>(column);
    case TypeId::kUInt16:
      return write_widened<uint32_t, uint16_t>(column);
    case TypeId::kInt32:
    case TypeId::kDate:
      return write_as_they_are<int32_t>(column);
    case TypeId::kUInt32:
      return write_as_they_are<uint32_t>(column);
    case TypeId::kInt64:
    case TypeId::kDuration:
      return write_as_they_are<int64_t>(column);
    case TypeId::kTimestamp:
      return dtype.unit() == TimeUnit::kSecond ? write_seconds(column)
                                               : write_as_they_are<int64_t>(column);
    case TypeId::kUInt64:
      return write_as_they_are<uint64_t>(column);
    case TypeId::kFloat32:
      return write_as_they_are<float>(column);
    case TypeId::kFloat64:
      return write_as_they_are<double>(column);
    case TypeId::kDecimal:
      if (dtype.precision() <= kDigits32) return write_widened<int32_t, Int128>(column);
      if (dtype.precision() <= kDigits64) return write_widened<int64_t, Int128>(column);
      return std::make_unique<WideDecimalWriter>(column);
    case TypeId::kCategory:
      if (!dtype.has_text()) return write_values(values_of_categories(column), front_codes);
      return write_texts(column, front_codes);
    default:
      return write_texts(column, front_codes);
  }
}

}  // namespace hr::parquet
