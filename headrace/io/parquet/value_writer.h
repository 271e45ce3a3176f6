// SPDX-License-Identifier: Apache-2.0
// The values of a column chunk in the encoding that suits them, with bounds and hashes of them.
#pragma once
#include "headrace/data/column.h"
#include "headrace/io/byte_buffer.h"
#include "headrace/io/parquet/bloom_filter.h"
#include "headrace/io/parquet/metadata.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace hr::parquet {

/// The least and the greatest of some values, as PLAIN has them, without a length. Strings may be
/// cut: then no value is less, and none greater.
struct ValueBounds {
  std::string least{};
  std::string most{};
  bool is_exact = true;
};

/// How values of a dtype that is not nested are stored; categories by their values.
struct StoredType {
  PhysicalType physical = PhysicalType::kInt32;
  int64_t type_length = 0;  ///< of kFixed
  LogicalType logical{};
};

/// Throws TypeMismatchError for dtypes that Parquet has no values for: complex numbers.
StoredType stored_type(Dtype dtype);

/// The values of a chunk, which the writer refers to. For one thread.
class ValueWriter {
 public:
  virtual ~ValueWriter() = default;

  /// Of the pages of values.
  virtual Encoding encoding() const = 0;

  /// Entries of the dictionary; 0 where the encoding has none.
  virtual int64_t num_entries() const { return 0; }
  virtual void append_dictionary(ByteBuffer& /*out*/) const {}

  /// Values [begin, end), encoded for a page.
  virtual void append(int64_t begin, int64_t end, ByteBuffer& out) = 0;

  /// About how many bytes a value takes before it is compressed.
  virtual double bytes_per_value() const = 0;

  /// Of at least one value; nothing when there is no order among them (all are NaN), or when the
  /// bounds would be too long. NaN is left out.
  virtual std::optional<ValueBounds> bounds(int64_t begin, int64_t end) = 0;

  /// The order of bounds.
  virtual bool is_less(std::string_view a, std::string_view b) const = 0;

  /// The values, or the entries of the dictionary, for a filter.
  virtual int64_t num_hashes() const = 0;
  virtual void add_to(BloomFilter& filter) const = 0;
};

/// Chooses the encoding by the values of `column`, which has no nulls: a dictionary, packed
/// differences, strings without what they repeat if `front_codes`, or PLAIN, by what is likely the
/// smallest.
/// Categories of strings keep all entries of their dictionary, in its order.
std::unique_ptr<ValueWriter> write_values(const Column& column, bool front_codes);

}  // namespace hr::parquet
