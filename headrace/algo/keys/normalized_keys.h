// SPDX-License-Identifier: Apache-2.0
// Several key columns as one 64-bit key a row, in an order that sorts as they do.
#pragma once
#include "headrace/algo/sort/row_codes.h"
#include "headrace/base/api.h"
#include "headrace/data/column.h"
#include "headrace/memory/buffer/pin.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace hr {

struct KeyField;  // normalized_keys_kernels.h
namespace cpu {
struct TextRange;  // short_text_kernels.h
}

/// The most key columns that kernels for CUDA read.
inline constexpr int kMostDeviceKeys = 8;

struct NormalizeOptions {
  /// Equal keys get equal normalized keys in any case; true: normalized keys order as the keys do,
  /// the first column first, strings and categories by bytes (ordered categories by their codes),
  /// NaN behind all numbers and null last.
  bool ordered = true;
  /// Rows with null or NaN in a key all get the normalized key `missing()`; else null and NaN are
  /// keys.
  bool drop_missing = false;
};

/// Normalized keys of the rows of some columns, of equal length. -0.0 is 0.0 and every NaN the
/// same.
class HR_API NormalizedKeys {
 public:
  /// Reads integers once for their range, and strings, which are numbers where all are short and
  /// near each other; others get codes (a table of the distinct ones); columns
  /// that do not fit into 64 bits together are numbered by their distinct rows, from the left.
  /// Decimals are their words of 64 bits: one, copied, where all values fit into it, else two.
  /// Throws TypeMismatchError for complex numbers, InvalidArgumentError for 2^32 rows and more.
  static NormalizedKeys of(std::string_view op, const std::vector<Column>& columns,
                           NormalizeOptions options);

  /// Whether columns of this dtype are packed by their values alone, so that those of two tables
  /// need not be one column.
  static bool normalizes_by_value(Dtype dtype);

  /// Equal normalized keys for equal keys of two tables, unordered, null and NaN as keys. `both`:
  /// of columns that do not normalize by value the rows of the left table, then those of the right
  /// one; others are not read. None where the keys do not fit into 64 bits.
  static std::optional<std::array<NormalizedKeys, 2>> of_two(std::string_view op,
                                                             const std::vector<Column>& left,
                                                             const std::vector<Column>& right,
                                                             const std::vector<Column>& both);

  /// Of columns on a CUDA device, where integers are read once for their range, and strings become
  /// int32 numbers; none unless these are at most kMostDeviceKeys columns of numbers, times, bools,
  /// strings or categories that fit into 64 bits together.
  static std::optional<NormalizedKeys> of_device(const std::vector<Column>& columns,
                                                 NormalizeOptions options);

  /// What kernels read of the columns that `of_device` took.
  std::vector<KeyField> key_fields() const;

  /// Whether keys that `of_device` took order as their first rows do: numbers of strings that are
  /// the only key.
  bool are_in_order_of_rows() const;

  /// The string of each number where `are_in_order_of_rows`: each has rows.
  const Column& numbered_strings() const { return fields_[0].entries; }

  /// Numbers of the rows that `of_device` took: by the order of keys if `ordered`, else by first
  /// appearance; of rows with the key `missing()`, if there is one, null.
  RowCodes to_codes(bool ordered) const;

  /// A key column of results on a device: strings that `of_device` took of their numbers, other
  /// columns as they are.
  Column restored(int64_t index, const Column& key) const;

  int64_t num_rows() const { return num_rows_; }

  int64_t num_keys() const { return static_cast<int64_t>(given_.size()); }

  /// One more than the largest normalized key that there can be; 0: 2^64.
  uint64_t domain() const { return domain_; }

  bool has_missing() const { return has_missing_; }

  uint64_t missing() const { return missing_; }

  /// The normalized keys of rows [row, row + count); at most kBlockRows at once.
  void read(int64_t row, int64_t count, uint64_t* normalized_keys) const;
  /// For a domain of at most 2^32.
  void read(int64_t row, int64_t count, uint32_t* normalized_keys) const;

  /// Normalized keys of rows [first_row, first_row + rows), 8 bytes each; sealed.
  Buffer to_buffer(int64_t first_row, int64_t rows) const;

  /// What `read` reads.
  std::vector<BufferAccess> accesses() const;

  /// The key column `index` of rows with these normalized keys: values, order and dtype of the
  /// original.
  Column decode(int64_t index, const Buffer& normalized_keys, int64_t rows) const;

 private:
  enum class Kind : uint8_t { kInteger, kFloating, kBool, kText, kNumbers };

  // Texts as numbers: the bytes of the longest, then the size, if they have several.
  struct ShortTexts {
    int bytes = 0;
    int size_bits = 0;

    StringView text(uint64_t code) const;
  };

  struct Field {
    Kind kind = Kind::kInteger;
    Column column{};          // of kNumbers: int32 codes or numbers, as they are
    Dtype dtype{};            // of the result
    uint64_t least = 0;       // subtracted from integers
    uint64_t top = 0;         // the greatest normalized key of a value
    bool can_miss = false;    // top + 1 stands for null (and NaN, where missing ones are dropped)
    ShortTexts texts{};       // of kText
    uint64_t text_least = 0;  // subtracted from numbers of text on a device
    int shift = 0;
    Column entries{};  // the strings of numbers in order that are not codes; on a device of all
    Buffer turn{};  // uint32 normalized key of a code, where codes do not order as the strings do
    Buffer turn_back{};
    std::shared_ptr<const NormalizedKeys> joined{};  // of numbered columns
    Buffer joined_keys{};                            // normalized key of each number

    uint64_t last() const { return top + can_miss; }
  };

  static bool find_short_texts(Field& field);
  static bool take_short_texts(Field& field, cpu::TextRange all);
  static std::optional<Field> device_strings(const Column& column, NormalizeOptions options);
  /// `short_texts`: normalized keys of short strings are made of their bytes, where these are near
  /// each other.
  static Field field_of(std::string_view op, const Column& column, NormalizeOptions options,
                        bool short_texts);
  static Field category_field(const Column& column, NormalizeOptions options);
  static void widen(Field& a, Field& b);
  static Field join(std::vector<Field> fields, int64_t rows, NormalizeOptions options);
  void place(std::vector<Field> fields);
  template <class Out>
  void read_as(int64_t row, int64_t count, Out* normalized_keys) const;
  template <class Out, class Code>
  void put(const Field& field, int64_t row, int64_t count, Out* normalized_keys, bool first,
           uint8_t* dropped, Code&& code) const;
  int64_t num_columns() const;
  Column decode_part(int64_t index, const Buffer& normalized_keys, int64_t rows) const;
  Column decode_field(const Field& field, int64_t index, const Buffer& normalized_keys,
                      int64_t rows) const;

  // A column given, and where its parts begin among the columns packed: decimals are one or two.
  struct Given {
    Dtype dtype{};
    int64_t first = 0;
    int64_t parts = 1;
  };

  int64_t num_rows_ = 0;
  std::vector<Given> given_{};
  NormalizeOptions options_{};
  std::vector<Field> fields_{};
  uint64_t domain_ = 1;
  bool has_missing_ = false;
  uint64_t missing_ = 0;
};

}  // namespace hr
