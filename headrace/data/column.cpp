// SPDX-License-Identifier: Apache-2.0
// Column: checks and slices.
#include "headrace/data/column.h"

#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/data/device.h"
#include "headrace/data/dictionary.h"

#include <algorithm>
#include <numeric>

namespace hr {

std::shared_ptr<const std::vector<Buffer>> Column::no_text() {
  return process_global([] { return std::make_shared<const std::vector<Buffer>>(); });
}

Column::Column(Dtype dtype, int64_t num_rows, Buffer values, Buffer validity, int64_t null_count,
               int64_t offset)
    : dtype_(dtype),
      num_rows_(num_rows),
      null_count_(null_count),
      offset_(offset),
      values_(std::move(values)),
      validity_(std::move(validity)) {
  const int64_t end = checked_add("column", offset, num_rows);
  const int64_t needed =
      dtype.is_bool() ? bitmap_bytes(end) : checked_multiply("column", end, dtype.size_bytes());
  if (values_.size_bytes() < needed || (validity_ && validity_.size_bytes() < bitmap_bytes(end)))
    throw_error<InternalError>(
        "column", "the buffer is too small for its rows",
        {{"rows", num_rows}, {"bytes", values_.size_bytes()}, {"needed", needed}});
  if (!validity_)
    null_count_ = 0;
  else if (null_count_ < 0)
    null_count_ = num_rows_ - count_bits_of(validity_, offset_, num_rows_);
  if (dtype.is_category()) dictionary_ = distinct_values(Column(dtype.item(), 0, {})).dictionary;
  if (dtype.has_items()) items_ = std::make_shared<const Column>(dtype.item(), 0, Buffer());
  if (!dtype.is_struct()) return;
  std::vector<Column> fields;
  for (const Field& field : dtype.fields()) fields.emplace_back(field.dtype, 0, Buffer());
  fields_ = std::make_shared<const std::vector<Column>>(std::move(fields));
}

Column Column::strings(int64_t num_rows, Buffer views, std::vector<Buffer> text, Buffer validity,
                       int64_t null_count, int64_t offset) {
  Column column(TypeId::kString, num_rows, std::move(views), std::move(validity), null_count,
                offset);
  if (!text.empty()) column.text_ = std::make_shared<const std::vector<Buffer>>(std::move(text));
  return column;
}

Column Column::categories(int64_t num_rows, Buffer codes, DictionaryPtr dictionary, Buffer validity,
                          int64_t null_count, int64_t offset) {
  Column column(TypeId::kInt32, num_rows, std::move(codes), std::move(validity), null_count,
                offset);
  column.dtype_ = Dtype::category(dictionary->values().dtype());
  column.dictionary_ = std::move(dictionary);
  return column;
}

Column Column::lists(int64_t num_rows, Buffer spans, Column items, Buffer validity,
                     int64_t null_count, int64_t offset) {
  Column column(Dtype::list(items.dtype()), num_rows, std::move(spans), std::move(validity),
                null_count, offset);
  column.items_ = std::make_shared<const Column>(std::move(items));
  return column;
}

Column Column::maps(int64_t num_rows, Buffer spans, Column entries, Buffer validity,
                    int64_t null_count, int64_t offset) {
  const Dtype of_entries = entries.dtype();
  const std::vector<Field>& fields = of_entries.fields();
  if (fields.size() != 2 || Dtype::map(fields[0].dtype, fields[1].dtype).item() != entries.dtype())
    throw_error<InternalError>("column", "the entries of a map have no key and value",
                               {{"dtype", entries.dtype().name()}});
  Column column = lists(num_rows, std::move(spans), std::move(entries), std::move(validity),
                        null_count, offset);
  column.dtype_ = Dtype::map(fields[0].dtype, fields[1].dtype);
  return column;
}

Column Column::structs(Dtype dtype, int64_t num_rows, std::vector<Column> fields, Buffer validity,
                       int64_t null_count) {
  Buffer places = Buffer::allocate(checked_multiply("column", num_rows, 8));
  if (num_rows > 0)
    std::iota(places.mutable_as<int64_t>(), places.mutable_as<int64_t>() + num_rows, 0);
  for (const Column& field : fields)
    if (field.num_rows() < num_rows)
      throw_error<InternalError>("column", "a field is shorter than its struct",
                                 {{"rows", num_rows}, {"field_rows", field.num_rows()}});
  return structs_at(dtype, num_rows, std::move(places), std::move(fields), std::move(validity),
                    null_count);
}

Column Column::structs_at(Dtype dtype, int64_t num_rows, Buffer places, std::vector<Column> fields,
                          Buffer validity, int64_t null_count, int64_t offset) {
  if (!std::ranges::equal(fields, dtype.fields(), {}, &Column::dtype, &Field::dtype))
    throw_error<InternalError>("column", "the fields have other dtypes than the struct",
                               {{"dtype", dtype.name()}, {"fields", fields.size()}});
  Column column(TypeId::kInt64, num_rows, std::move(places), std::move(validity), null_count,
                offset);
  column.dtype_ = dtype;
  column.fields_ = std::make_shared<const std::vector<Column>>(std::move(fields));
  return column;
}

Column Column::with_rows(int64_t num_rows, Buffer values, Buffer validity,
                         int64_t null_count) const {
  const Dtype plain = dtype_.has_items()   ? Dtype(TypeId::kString)
                      : dtype_.is_struct() ? Dtype(TypeId::kInt64)
                                           : dtype_.storage();
  Column column(plain, num_rows, std::move(values), std::move(validity), null_count);
  column.dtype_ = dtype_;
  column.text_ = text_;
  column.dictionary_ = dictionary_;
  column.items_ = items_;
  column.fields_ = fields_;
  return column;
}

Column Column::with_validity(Buffer validity) const {
  if (validity.size_bytes() < bitmap_bytes(offset_ + num_rows_))
    throw_error<InternalError>("column", "the bitmap is too small for its rows",
                               {{"rows", num_rows_}, {"bytes", validity.size_bytes()}});
  Column column = *this;
  column.null_count_ = num_rows_ - count_bits_of(validity, offset_, num_rows_);
  column.validity_ = std::move(validity);
  return column;
}

Column Column::with_dtype(Dtype dtype) const {
  if (dtype.is_category() || dtype.is_string() || dtype.is_nested() || dtype_.is_nested() ||
      dtype.is_bool() != dtype_.is_bool() || dtype.size_bytes() != dtype_.size_bytes())
    throw_error<InternalError>("column", "the dtypes differ in layout",
                               {{"from", dtype_.name()}, {"to", dtype.name()}});
  Column column = *this;
  column.dtype_ = dtype;
  column.dictionary_ = nullptr;
  return column;
}

bool Column::is_null(int64_t row) const {
  const uint8_t* valid = validity();
  return valid && !get_bit(valid, offset_ + row);
}

bool Column::bit(int64_t row) const {
  return get_bit(bits(), offset_ + row);
}

std::string_view Column::string(int64_t row) const {
  if (dictionary_) return dictionary_->values().string(values_.as<int32_t>()[offset_ + row]);
  const StringView& view = values_.as<StringView>()[offset_ + row];
  if (view.size <= sizeof view.inlined) return {view.inlined, view.size};
  return {(*text_)[view.indirect.buffer].as<char>() + view.indirect.offset, view.size};
}

Column Column::list(int64_t row) const {
  const ListSpan span = is_null(row) ? ListSpan{} : values<ListSpan>()[static_cast<size_t>(row)];
  return items_->slice(span.begin, span.size);
}

Column Column::slice(int64_t begin, int64_t count) const {
  if (begin < 0 || count < 0 || begin > num_rows_ - count)
    throw_error<InvalidArgumentError>("slice", "the rows are out of range",
                                      {{"begin", begin}, {"count", count}, {"rows", num_rows_}});
  Column result = *this;
  result.offset_ += begin;
  result.num_rows_ = count;
  if (null_count_ > 0) result.null_count_ = count - count_bits_of(validity_, result.offset_, count);
  return result;
}

int64_t Column::size_bytes() const {
  int64_t bytes = dtype_.is_bool() ? bitmap_bytes(num_rows_) : num_rows_ * dtype_.size_bytes();
  if (null_count_ > 0) bytes += bitmap_bytes(num_rows_);
  for (const Buffer& buffer : *text_) bytes += buffer.size_bytes();
  if (dictionary_) bytes += dictionary_->values().size_bytes();
  if (items_) bytes += items_->size_bytes();
  if (fields_)
    for (const Column& field : *fields_) bytes += field.size_bytes();
  return bytes;
}

}  // namespace hr
