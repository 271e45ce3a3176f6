// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/bloom_filter_reader.h"

#include "headrace/io/parquet/bloom_filter.h"
#include "headrace/io/parquet/convert.h"
#include "headrace/io/parquet/refusal.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace hr::parquet {

namespace {

constexpr int64_t kHeaderBytes = 64;   // more than any header that is known
constexpr int64_t kMostValues = 1024;  // each reads a block

template <class T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// The hashes of values as a chunk stores them; none of those that it cannot store.
class Hashes {
 public:
  // Null: how the leaf stores values is not known here.
  static std::optional<std::vector<uint64_t>> of(const Leaf& leaf, const Column& values) {
    Hashes hashes(values);
    switch (leaf.conversion) {
      case Conversion::kText:
      case Conversion::kCategory:
        for (int64_t row = 0; row < values.num_rows(); ++row) hashes.add(values.string(row));
        return hashes.found_;
      case Conversion::kUuid:
        for (int64_t row = 0; row < values.num_rows(); ++row)
          if (const auto bytes = parse_uuid(values.string(row))) hashes.add(*bytes);
        return hashes.found_;
      case Conversion::kNarrow:
        return hashes.add_integers<int32_t>();
      case Conversion::kWiden:
        return hashes.add_numbers<int64_t>([&](int64_t value) {
          if (value == static_cast<int32_t>(value)) hashes.add(static_cast<int32_t>(value));
        });
      case Conversion::kSeconds:
        return hashes.add_numbers<int64_t>([&](int64_t value) {
          int64_t millis;
          if (!__builtin_mul_overflow(value, int64_t{1000}, &millis)) hashes.add(millis);
        });
      case Conversion::kNone:
        return hashes.add_as_they_are(leaf);
      default:
        return std::nullopt;
    }
  }

 private:
  explicit Hashes(const Column& values) : values_(values) {}

  template <class T>
  void add(const T& value) {
    if constexpr (std::is_same_v<T, std::string_view>)
      found_.push_back(hash_bytes(value));
    else
      found_.push_back(hash_bytes(bytes_of(value)));
  }

  template <class T, class F>
  std::vector<uint64_t> add_numbers(const F& f) {
    for (const T value : values_.values<T>()) f(value);
    return found_;
  }

  // Integers of 8 and 16 bits, in more bits.
  template <class Stored>
  std::optional<std::vector<uint64_t>> add_integers() {
    const auto widen = [&](auto value) { add(static_cast<Stored>(value)); };
    switch (values_.dtype().id()) {
      case TypeId::kInt8:
        return add_numbers<int8_t>(widen);
      case TypeId::kInt16:
        return add_numbers<int16_t>(widen);
      case TypeId::kUInt8:
        return add_numbers<uint8_t>(widen);
      case TypeId::kUInt16:
        return add_numbers<uint16_t>(widen);
      default:
        return std::nullopt;
    }
  }

  // Both zeros are equal and have two hashes.
  template <class T>
  std::vector<uint64_t> add_floats() {
    return add_numbers<T>([&](T value) {
      add(value);
      if (value == T{0}) add(-value);
    });
  }

  std::optional<std::vector<uint64_t>> add_as_they_are(const Leaf& leaf) {
    switch (leaf.physical) {
      case PhysicalType::kInt32:
        return add_numbers<uint32_t>([&](uint32_t value) { add(value); });
      case PhysicalType::kInt64:
        return add_numbers<uint64_t>([&](uint64_t value) { add(value); });
      case PhysicalType::kFloat:
        return add_floats<float>();
      case PhysicalType::kDouble:
        return add_floats<double>();
      default:
        return std::nullopt;
    }
  }

  const Column& values_;
  std::vector<uint64_t> found_{};
};

}  // namespace

bool filter_may_have(const ByteSource& source, const ColumnChunk& chunk, const Leaf& leaf,
                     const Column& values) {
  if (chunk.filter.offset == 0 || values.num_rows() > kMostValues) return true;
  const std::optional<std::vector<uint64_t>> hashes = Hashes::of(leaf, values);
  if (!hashes) return true;
  const int64_t size = source.known_size(), begin = chunk.filter.offset;
  if (begin > size || chunk.filter.bytes > size - begin) damaged("a filter lies behind the file");
  std::array<char, kHeaderBytes> head;
  const int64_t read = std::min(kHeaderBytes, size - begin);
  source.read(begin, head.data(), read);
  int64_t head_bytes = 0;
  const FilterHeader header =
      parse_filter_header({head.data(), static_cast<size_t>(read)}, head_bytes);
  if (!header.is_known) return true;
  if (header.bytes < BloomFilter::kBlockBytes || header.bytes % BloomFilter::kBlockBytes != 0 ||
      header.bytes > size - begin - head_bytes ||
      (chunk.filter.bytes > 0 && chunk.filter.bytes != head_bytes + header.bytes))
    damaged("a filter has a wrong size");
  Buffer block = Buffer::allocate(BloomFilter::kBlockBytes);
  const int64_t blocks = header.bytes / BloomFilter::kBlockBytes;
  return std::any_of(hashes->begin(), hashes->end(), [&](uint64_t hash) {
    source.read(begin + head_bytes + BloomFilter::block_of(hash, blocks) * BloomFilter::kBlockBytes,
                block.mutable_as<char>(), BloomFilter::kBlockBytes);
    return BloomFilter(block).may_have(hash);
  });
}

}  // namespace hr::parquet
