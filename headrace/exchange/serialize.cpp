// SPDX-License-Identifier: Apache-2.0
// Values taken apart into a header and pieces, and put together again after checks.
#include "headrace/exchange/serialize.h"

#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/base/utf8.h"
#include "headrace/data/dictionary.h"
#include "headrace/data/struct_fields.h"
#include "headrace/exchange/arrow_strings.h"
#include "headrace/exchange/list_offsets.h"
#include "headrace/exchange/strided.h"
#include "headrace/exchange/string_views.h"
#include "headrace/memory/buffer/pin.h"
#include "headrace/memory/log/ledger.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace hr {

namespace {

constexpr uint64_t kMagic = 0x334B434150'5248;  // "HRPACK3" in memory
constexpr uint32_t kNone = 0xFFFFFFFF;
// Slices begin at such rows, so values and validity both begin at a multiple of 64 bytes.
constexpr int64_t kRowGrain = 512;
constexpr std::string_view kDamaged = "the message is corrupt";

enum class Kind : uint8_t { kColumn, kTensor, kTable };

// ---- writing ---------------------------------------------------------------------------------

class Writer {
 public:
  template <class T>
  void put(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    body_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  void text(std::string_view text) {
    put(static_cast<uint32_t>(text.size()));
    body_.append(text);
  }

  void dtype(Dtype dtype) {
    put(dtype.id());
    put(dtype.unit());
    if (dtype.has_items() || dtype.is_category()) return this->dtype(dtype.item());
    if (dtype.is_struct()) {
      put(static_cast<uint32_t>(dtype.fields().size()));
      for (const Field& field : dtype.fields()) {
        text(field.name);
        this->dtype(field.dtype);
      }
    }
    if (dtype.is_timestamp()) text(dtype.zone());
    if (!dtype.is_decimal()) return;
    put(static_cast<uint8_t>(dtype.precision()));
    put(static_cast<uint8_t>(dtype.scale()));
  }

  // The number of the piece; equal ones are one.
  void piece(const Buffer& buffer, int64_t begin, int64_t bytes) {
    if (bytes == 0) return put(kNone);
    for (size_t i = 0; i < pieces_.size(); ++i)
      if (pieces_[i].buffer == buffer && pieces_[i].begin == begin &&
          pieces_[i].size_bytes == bytes)
        return put(static_cast<uint32_t>(i));
    put(static_cast<uint32_t>(pieces_.size()));
    pieces_.push_back({buffer, begin, bytes});
  }

  void column(const Column& column) {
    const Dtype type = column.dtype();
    const int64_t first = column.offset() / kRowGrain * kRowGrain;
    const int64_t end = column.offset() + column.num_rows();
    const bool empty = column.num_rows() == 0;
    dtype(type);
    put(static_cast<uint8_t>(column.dictionary() && column.dictionary()->is_ordered()));
    put(column.num_rows());
    put(empty ? int64_t{0} : column.offset() - first);
    const auto bits = [&](const Buffer& buffer) {
      piece(buffer, first / 8, empty ? 0 : bitmap_bytes(end) - first / 8);
    };
    if (type.is_bool())
      bits(column.values_buffer());
    else
      piece(column.values_buffer(), first * type.size_bytes(),
            empty ? 0 : (end - first) * type.size_bytes());
    if (column.null_count() > 0)
      bits(column.validity_buffer());
    else
      put(kNone);
    put(empty ? 0 : static_cast<uint32_t>(column.text_buffers().size()));
    for (const Buffer& text : column.text_buffers())
      if (!empty) piece(text, 0, text.size_bytes());
    if (type.is_category()) this->column(column.dictionary()->values());
    if (type.has_items()) this->column(*column.items());
    if (type.is_struct())
      for (const Column& field : *column.fields()) this->column(field);
  }

  void tensor(const Tensor& tensor) {
    dtype(tensor.dtype());
    put(static_cast<uint32_t>(tensor.shape().size()));
    for (const int64_t size : tensor.shape()) put(size);
    const int64_t first = tensor.byte_offset() / 64 * 64;
    const int64_t bytes = tensor.num_elements() * tensor.dtype().size_bytes();
    put(bytes == 0 ? int64_t{0} : tensor.byte_offset() - first);
    piece(tensor.buffer(), first, bytes == 0 ? 0 : tensor.byte_offset() - first + bytes);
  }

  Serialized finish(Kind kind, const std::optional<std::string>& label) {
    Writer head;
    head.put(kMagic);
    head.put(kind);
    head.put(static_cast<uint8_t>(label.has_value()));
    if (label) head.text(*label);
    head.put(static_cast<uint32_t>(pieces_.size()));
    for (const SerializedBuffer& piece : pieces_) head.put(piece.size_bytes);
    return {head.body_ + body_, std::move(pieces_)};
  }

 private:
  std::string body_;
  std::vector<SerializedBuffer> pieces_;
};

// The validity of the rows from bit 0 on; empty without nulls.
Buffer valid_bits(const Column& column) {
  if (column.null_count() == 0) return {};
  Buffer validity = Buffer::allocate_zeroed(bitmap_bytes(column.num_rows()));
  for (int64_t row = 0; row < column.num_rows(); ++row)
    if (!column.is_null(row)) set_bit(validity.mutable_as<uint8_t>(), row, true);
  return validity;
}

// The same rows with the text that they use, where that is less than half of what they point into.
Column with_own_text(std::string_view op, const Column& column) {
  int64_t total = 0, used = 0;
  for (const Buffer& text : column.text_buffers()) total += text.size_bytes();
  if (total == 0) return column;
  const std::span<const StringView> views = column.values<StringView>();
  const auto is_far = [&](size_t row) {
    return views[row].size > sizeof views[row].inlined &&
           !column.is_null(static_cast<int64_t>(row));
  };
  for (size_t row = 0; row < views.size() && 2 * used < total; ++row)
    if (is_far(row)) used += views[row].size;
  if (2 * used >= total) return column;
  record_copy(op, "the text of a few rows", used + column.num_rows() * 16, true);
  Buffer new_views = Buffer::allocate(column.num_rows() * 16);
  std::vector<Buffer> text;
  auto* out = new_views.mutable_as<StringView>();
  int64_t filled = 0;
  for (size_t row = 0; row < views.size(); ++row) {
    out[row] = column.is_null(static_cast<int64_t>(row)) ? StringView{} : views[row];
    if (!is_far(row)) continue;
    // Offsets are 32 bits wide: a new buffer before they overflow.
    if (text.empty() || filled + views[row].size > std::max<int64_t>(kTextPart, views[row].size)) {
      text.push_back(
          Buffer::allocate(std::max<int64_t>(std::min(used, kTextPart), views[row].size)));
      filled = 0;
    }
    const char* from = column.text_buffers()[views[row].indirect.buffer].as<char>();
    std::memcpy(text.back().mutable_as<char>() + filled, from + views[row].indirect.offset,
                views[row].size);
    out[row].indirect.buffer = static_cast<uint32_t>(text.size() - 1);
    out[row].indirect.offset = static_cast<uint32_t>(filled);
    filled += views[row].size;
    used -= views[row].size;
  }
  return Column::strings(column.num_rows(), std::move(new_views), std::move(text),
                         valid_bits(column), column.null_count());
}

Column ready(std::string_view op, const Column& column);

// Lists or maps, as `column` has them, of other items.
Column lists_like(const Column& column, Buffer spans, Column items, Buffer validity) {
  const auto make = column.dtype().is_map() ? Column::maps : Column::lists;
  return make(column.num_rows(), std::move(spans), std::move(items), std::move(validity),
              column.null_count(), 0);
}

// The same lists over the items that they have, where that is less than half of all.
Column with_own_items(std::string_view op, const Column& column) {
  int64_t used = 0;
  for (const ListSpan& span : column.values<ListSpan>()) used += span.size;
  if (2 * used >= column.items()->num_rows()) return column;
  const ListOffsets own = offsets_of_lists(op, column);
  Buffer spans = Buffer::allocate(column.num_rows() * 16);
  auto* const out = spans.mutable_as<ListSpan>();
  const auto* const offsets = own.offsets.as<int64_t>();
  for (int64_t row = 0; row < column.num_rows(); ++row) {
    const int64_t size = offsets[row + 1] - offsets[row];
    out[row] = {size == 0 ? 0 : offsets[row], size};
  }
  return lists_like(column, std::move(spans), ready(op, own.items), valid_bits(column));
}

// The same structs over the rows of the fields that they have, where those are less than half.
Column with_own_fields(std::string_view op, const Column& column) {
  const int64_t rows = column.num_rows();
  if (std::ranges::none_of(*column.fields(),
                           [&](const Column& field) { return field.num_rows() > 2 * rows; }))
    return column;
  std::vector<Column> fields = struct_fields(op, column);
  for (Column& field : fields) field = ready(op, field);
  return Column::structs(column.dtype(), rows, std::move(fields), valid_bits(column),
                         column.null_count());
}

Column ready(std::string_view op, const Column& column) {
  if (column.num_rows() == 0) return column;
  if (column.dtype().has_items()) return with_own_items(op, column);
  if (column.dtype().is_struct()) return with_own_fields(op, column);
  return column.dtype().is_string() ? with_own_text(op, column) : column;
}

// ---- reading ---------------------------------------------------------------------------------

class Reader {
 public:
  Reader(std::string_view op, std::string_view bytes) : op_(op), rest_(bytes) {}

  [[noreturn]] void refuse(std::string_view what) const {
    throw_error<InvalidArgumentError>(op_, what, {}, kDamaged);
  }

  template <class T>
  T get() {
    T value;
    if (rest_.size() < sizeof value) refuse("the header is too short");
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }

  std::string text() {
    const auto size = get<uint32_t>();
    if (rest_.size() < size) refuse("the header is too short");
    std::string text(rest_.substr(0, size));
    rest_.remove_prefix(size);
    if (!is_valid_utf8(text)) refuse("the name is not UTF-8");
    return text;
  }

  // A count of things that take at least `bytes` each in what is left.
  uint32_t count(size_t bytes) {
    const auto count = get<uint32_t>();
    if (rest_.size() / bytes < count) refuse("a count is larger than the header");
    return count;
  }

  Dtype dtype(int levels = 0) {
    const auto id = get<uint8_t>();
    const auto unit = get<uint8_t>();
    if (id > static_cast<uint8_t>(TypeId::kMap) || unit > static_cast<uint8_t>(TimeUnit::kNano))
      refuse("unknown dtype");
    const auto type = static_cast<TypeId>(id);
    if (levels > kMostNestedLevels + 1) refuse("too many levels of lists, structs or categories");
    if (type == TypeId::kList) return Dtype::list(dtype(levels + 1));
    if (type == TypeId::kStruct) {
      std::vector<Field> fields(count(sizeof(uint32_t) + 2));
      for (Field& field : fields) {
        field.name = text();
        field.dtype = dtype(levels + 1);
      }
      return Dtype::structure(fields);  // throws for a name that is there twice
    }
    if (type == TypeId::kMap) {
      const Dtype entries = dtype(levels + 1);
      if (entries.fields().size() != 2) refuse("the entries of a map have no key and value");
      return Dtype::map(entries.fields()[0].dtype, entries.fields()[1].dtype);
    }
    if (type == TypeId::kCategory)
      return Dtype::category(dtype(levels + 1));  // throws for what categories cannot have
    if (type == TypeId::kTimestamp) {
      const std::string zone = text();
      return zone.empty() ? Dtype::timestamp(static_cast<TimeUnit>(unit))
                          : Dtype::timestamp(static_cast<TimeUnit>(unit), zone);
    }
    if (type == TypeId::kDecimal) {
      const int precision = get<uint8_t>(), scale = get<uint8_t>();
      return Dtype::decimal(precision, scale);  // throws for what has no such digits
    }
    if (type == TypeId::kDuration) return Dtype::duration(static_cast<TimeUnit>(unit));
    return type;
  }

  Kind head(std::optional<std::string>& label) {
    if (get<uint64_t>() != kMagic) refuse("not a serialized value, or one of another version");
    const auto kind = get<uint8_t>();
    if (kind > static_cast<uint8_t>(Kind::kTable)) refuse("unknown kind of value");
    if (get<uint8_t>() != 0) label = text();
    return static_cast<Kind>(kind);
  }

  std::vector<int64_t> sizes() {
    std::vector<int64_t> sizes(count(sizeof(int64_t)));
    for (int64_t& size : sizes)
      if ((size = get<int64_t>()) <= 0) refuse("a size is not positive");
    return sizes;
  }

  void take(std::vector<Buffer> pieces, const std::vector<int64_t>& sizes) {
    if (pieces.size() != sizes.size()) refuse("the number of segments differs from the header");
    for (size_t i = 0; i < sizes.size(); ++i)
      if (pieces[i].size_bytes() < sizes[i]) refuse("a segment is shorter than the header says");
    pieces_ = std::move(pieces);
  }

  // A piece of at least `needed` bytes on addresses that are multiples of `width`.
  Buffer piece(int64_t needed, int64_t width) {
    const auto index = get<uint32_t>();
    if (index == kNone) {
      if (needed > 0) refuse("values are missing");
      return {};
    }
    if (index >= pieces_.size()) refuse("a segment is missing");
    Buffer& found = pieces_[index];
    if (found.size_bytes() < needed) refuse("a segment is too short for its rows");
    if (reinterpret_cast<uintptr_t>(found.data()) % static_cast<uintptr_t>(width) != 0) {
      record_copy(op_, "not aligned", found.size_bytes(), false);
      Buffer copy = Buffer::allocate(found.size_bytes());
      std::memcpy(copy.mutable_data(), found.data(), static_cast<size_t>(found.size_bytes()));
      found = std::move(copy);
    }
    return found;
  }

  // `wanted`: the dtype that a parent says the column has.
  Column column(std::optional<Dtype> wanted = {}, bool is_dictionary = false) {
    const Dtype type = dtype();
    if (wanted && type != *wanted) refuse("items, fields or a dictionary have another dtype");
    const bool ordered = get<uint8_t>() != 0;
    const auto rows = get<int64_t>();
    const auto offset = get<int64_t>();
    if (rows < 0 || offset < 0) refuse("a count of rows is negative");
    const int64_t end = checked_add(op_, checked_add(op_, rows, offset), 7) - 7;
    const int64_t width = type.is_string()    ? 4
                          : type.is_decimal() ? 16
                                              : std::min<int64_t>(type.size_bytes(), 8);
    Buffer values =
        piece(type.is_bool() ? bitmap_bytes(end) : checked_multiply(op_, end, type.size_bytes()),
              type.is_bool() ? 1 : width);
    Buffer validity = optional_piece(bitmap_bytes(end));
    if (is_dictionary && validity) refuse("the dictionary contains nulls");
    std::vector<Buffer> text(count(sizeof(uint32_t)));
    if (!text.empty() && !type.is_string()) refuse("string buffers of a dtype other than string");
    for (Buffer& part : text) part = piece(0, 1);
    if (type.is_string())
      return check_string_views({.op = op_, .column = name_, .fix = kDamaged},
                                Column::strings(rows, std::move(values), std::move(text),
                                                std::move(validity), -1, offset),
                                NullViews::kChecked);
    if (type.is_nested()) return nested(type, rows, offset, std::move(values), std::move(validity));
    if (!type.is_category())
      return Column(type, rows, std::move(values), std::move(validity), -1, offset);
    const Column entries = column(type.item(), true);
    const DistinctValues distinct = distinct_values(entries, ordered);
    if (distinct.codes) refuse("the dictionary contains a value twice");
    check_indices(op_, Column(TypeId::kInt32, rows, values, validity, -1, offset),
                  entries.num_rows());
    return Column::categories(rows, std::move(values), distinct.dictionary, std::move(validity), -1,
                              offset);
  }

  Tensor tensor() {
    const Dtype type = dtype();
    if (type.is_string() || type.is_date() || type.is_category() || type.has_zone() ||
        type.is_decimal() || type.is_nested())
      refuse("the dtype cannot be an array");
    Shape shape(count(sizeof(int64_t)));
    for (int64_t& size : shape) size = get<int64_t>();
    const int64_t elements = num_elements(shape);  // throws for what is negative or too much
    const auto offset = get<int64_t>();
    if (offset < 0 || offset % std::min<int64_t>(type.size_bytes(), 8) != 0)
      refuse("an offset is not a multiple of the dtype's size");
    const int64_t bytes = checked_multiply(op_, elements, type.size_bytes());
    Buffer buffer = piece(elements == 0 ? 0 : checked_add(op_, offset, bytes),
                          std::min<int64_t>(type.size_bytes(), 8));
    return Tensor(type, std::move(shape), std::move(buffer), elements == 0 ? 0 : offset);
  }

  Table table() {
    const uint32_t columns = count(1);
    std::vector<std::string> names;
    std::vector<Column> data;
    for (uint32_t i = 0; i < columns; ++i) {
      names.push_back(name_ = text());
      data.push_back(column());
    }
    return Table(std::move(names), std::move(data));
  }

  void end() const {
    if (!rest_.empty()) refuse("the header is too long");
  }

 private:
  Column nested(Dtype type, int64_t rows, int64_t offset, Buffer values, Buffer validity) {
    if (type.is_struct()) {
      std::vector<Column> fields;
      for (const Field& field : type.fields()) fields.push_back(column(field.dtype));
      Column made = Column::structs_at(type, rows, std::move(values), std::move(fields),
                                       std::move(validity), -1, offset);
      check_structs(op_, name_, made);
      return made;
    }
    Column items = column(type.item());
    if (type.is_map() && (items.null_count() > 0 || items.fields()->front().null_count() > 0))
      refuse("a map has null entries or keys");
    const auto make = type.is_map() ? Column::maps : Column::lists;
    return check_lists(
        op_, name_,
        make(rows, std::move(values), std::move(items), std::move(validity), -1, offset));
  }

  Buffer optional_piece(int64_t needed) {
    const std::string_view here = rest_;
    if (get<uint32_t>() == kNone) return {};
    rest_ = here;
    return piece(needed, 1);
  }

  std::string_view op_;
  std::string_view rest_;
  std::string name_{};  // of the table's column that is read
  std::vector<Buffer> pieces_;
};

}  // namespace

Serialized serialize(std::string_view op, const Serializable& value,
                     const std::optional<std::string>& label) {
  Writer writer;
  if (const auto* column = std::get_if<Column>(&value)) {
    writer.column(ready(op, *column));
    return writer.finish(Kind::kColumn, label);
  }
  if (const auto* tensor = std::get_if<Tensor>(&value)) {
    writer.tensor(tensor->is_contiguous() ? *tensor : copy_of(op, *tensor));
    return writer.finish(Kind::kTensor, label);
  }
  const auto& table = std::get<Table>(value);
  writer.put(static_cast<uint32_t>(table.num_columns()));
  for (int64_t i = 0; i < table.num_columns(); ++i) {
    writer.text(table.names()[static_cast<size_t>(i)]);
    writer.column(ready(op, table.column(i)));
  }
  return writer.finish(Kind::kTable, label);
}

std::vector<int64_t> buffer_sizes(std::string_view op, std::string_view header) {
  Reader reader(op, header);
  std::optional<std::string> label;
  reader.head(label);
  return reader.sizes();
}

Deserialized deserialize(std::string_view op, std::string_view header, std::vector<Buffer> pieces) {
  Reader reader(op, header);
  Deserialized result;
  const Kind kind = reader.head(result.label);
  reader.take(std::move(pieces), reader.sizes());
  switch (kind) {
    case Kind::kColumn:
      result.value = reader.column();
      break;
    case Kind::kTensor:
      result.value = reader.tensor();
      break;
    case Kind::kTable:
      result.value = reader.table();
      break;
  }
  reader.end();
  return result;
}

Serializable in_own_memory(std::string_view op, const Serializable& value) {
  const Serialized packed = serialize(op, value);
  std::vector<Buffer> copies;
  int64_t bytes = 0;
  for (const SerializedBuffer& piece : packed.pieces) {
    Buffer copy = Buffer::allocate(piece.size_bytes);
    const Pin pin{{&piece.buffer, piece.begin, piece.begin + piece.size_bytes}};
    std::memcpy(copy.mutable_data(), piece.data(), static_cast<size_t>(piece.size_bytes));
    copy.seal();
    copies.push_back(std::move(copy));
    bytes += piece.size_bytes;
  }
  record_copy(op, "into memory that may spill", bytes, true);
  return deserialize(op, packed.header, std::move(copies)).value;
}

}  // namespace hr
