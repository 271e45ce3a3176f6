// SPDX-License-Identifier: Apache-2.0
// Column: values of one dtype in Arrow's layout, immutable, with validity apart from the values.
#pragma once
#include "headrace/base/dtype.h"
#include "headrace/memory/buffer/buffer.h"

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace hr {

/// One string of a string column: Arrow Utf8View. Up to 12 bytes stand inside (unused ones are
/// zero).
struct StringView {
  uint32_t size;
  union {
    char inlined[12];
    struct {
      char prefix[4];
      uint32_t buffer;
      uint32_t offset;
    } indirect;
  };
};
static_assert(sizeof(StringView) == 16);

/// One list of a list column, or the entries of a map: `size` of the column's items from `begin`
/// on.
struct ListSpan {
  int64_t begin;
  int64_t size;
};
static_assert(sizeof(ListSpan) == 16);

class Dictionary;
using DictionaryPtr = std::shared_ptr<const Dictionary>;

/// Immutable values over shared buffers; copying a Column shares them. Fixed-width values, string
/// views, spans of lists and places of structs lie contiguous from `offset`; bools are a bitmap.
/// Null is a zero bit in the validity bitmap and has nothing to do with NaN.
class HR_API Column {
 public:
  /// An empty float64 column.
  Column() = default;

  /// A column over ready buffers. `values` holds (offset + rows) elements (bits for bool).
  /// `validity` is empty when nothing is null; `null_count` -1 means: count it now. `offset` counts
  /// elements in values and validity alike. Throws InternalError when a buffer is too short. A
  /// category column gets an empty dictionary, a list column no items and a struct column fields
  /// without rows: all its rows are null or empty.
  Column(Dtype dtype, int64_t num_rows, Buffer values, Buffer validity = {}, int64_t null_count = 0,
         int64_t offset = 0);

  /// A string column: `views` are StringView, `text` the buffers that they point into.
  static Column strings(int64_t num_rows, Buffer views, std::vector<Buffer> text,
                        Buffer validity = {}, int64_t null_count = 0, int64_t offset = 0);

  /// A category column: `codes` are int32, each of a row that is not null at least 0 and below
  /// the dictionary's size; the values of null rows are unspecified.
  static Column categories(int64_t num_rows, Buffer codes, DictionaryPtr dictionary,
                           Buffer validity = {}, int64_t null_count = 0, int64_t offset = 0);

  /// A list column: `spans` are ListSpan, each within `items`; those of null rows are {0, 0}. Rows
  /// may share items, and not all items belong to a row.
  static Column lists(int64_t num_rows, Buffer spans, Column items, Buffer validity = {},
                      int64_t null_count = 0, int64_t offset = 0);

  /// A map column: as `lists`, of structs with the fields "key" and "value". Throws InternalError
  /// for other items.
  static Column maps(int64_t num_rows, Buffer spans, Column entries, Buffer validity = {},
                     int64_t null_count = 0, int64_t offset = 0);

  /// A struct column: one column a field of the dtype, each of `num_rows` rows, or more that are
  /// not used. `validity` is of the structs: a field may have a value where the struct is null.
  /// Throws InternalError for fields of another number, dtype or length.
  static Column structs(Dtype dtype, int64_t num_rows, std::vector<Column> fields,
                        Buffer validity = {}, int64_t null_count = 0);

  /// The same where `places` (int64) tell the row of the fields that each struct has; those of null
  /// structs are unspecified. Structs may share rows, and not all rows belong to a struct.
  static Column structs_at(Dtype dtype, int64_t num_rows, Buffer places, std::vector<Column> fields,
                           Buffer validity = {}, int64_t null_count = 0, int64_t offset = 0);

  /// Other rows of this dtype, from row 0 on, over the same text, dictionary, items or fields.
  Column with_rows(int64_t num_rows, Buffer values, Buffer validity, int64_t null_count) const;

  /// The same values under another validity, which begins where `offset` says as the values do.
  Column with_validity(Buffer validity) const;

  /// The same rows under a dtype of the same layout: dates and timestamps as their integers, and
  /// back; codes. Throws InternalError for another layout.
  Column with_dtype(Dtype dtype) const;

  Dtype dtype() const { return dtype_; }

  int64_t num_rows() const { return num_rows_; }

  int64_t null_count() const { return null_count_; }

  int64_t offset() const { return offset_; }

  Place place() const { return values_.place(); }

  const Buffer& values_buffer() const { return values_; }

  const Buffer& validity_buffer() const { return validity_; }

  const std::vector<Buffer>& text_buffers() const { return *text_; }

  /// Of a category column, else null.
  const DictionaryPtr& dictionary() const { return dictionary_; }

  /// Of a list or map column, else null.
  const std::shared_ptr<const Column>& items() const { return items_; }

  /// The items of a row of a list or map column; none where it is null.
  Column list(int64_t row) const;

  /// Of a struct column, else null: the columns that its values are places in. `struct_field`
  /// (data/struct_fields.h) has one of them in the order of the rows.
  const std::shared_ptr<const std::vector<Column>>& fields() const { return fields_; }

  /// The values in place, null slots included; not for bool.
  template <class T>
  std::span<const T> values() const {
    return {values_.as<T>() + offset_, static_cast<size_t>(num_rows_)};
  }

  /// Bitmap of a bool column; bit `offset() + i` is row i.
  const uint8_t* bits() const { return values_.as<uint8_t>(); }

  /// Bitmap of validity or null; bit `offset() + i` is row i.
  const uint8_t* validity() const { return null_count_ == 0 ? nullptr : validity_.as<uint8_t>(); }

  bool is_null(int64_t row) const;
  /// Row of a bool column.
  bool bit(int64_t row) const;
  /// Row of a column of strings, or categories of strings, that is not null; lives as long as the
  /// column's buffers.
  std::string_view string(int64_t row) const;

  /// Rows [begin, begin + count), sharing the buffers.
  Column slice(int64_t begin, int64_t count) const;

  /// Bytes that the rows take, with all text buffers of strings, the dictionary of categories, all
  /// items of lists and all fields of structs.
  int64_t size_bytes() const;

 private:
  Dtype dtype_;
  int64_t num_rows_ = 0;
  int64_t null_count_ = 0;
  int64_t offset_ = 0;
  Buffer values_;
  Buffer validity_;
  std::shared_ptr<const std::vector<Buffer>> text_ = no_text();
  DictionaryPtr dictionary_;
  std::shared_ptr<const Column> items_;
  std::shared_ptr<const std::vector<Column>> fields_;

  static std::shared_ptr<const std::vector<Buffer>> no_text();
};

}  // namespace hr
