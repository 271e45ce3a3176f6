// SPDX-License-Identifier: Apache-2.0
// Columns and tables in through the Arrow C interfaces.
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/data/dictionary.h"
#include "headrace/exchange/arrow.h"
#include "headrace/exchange/arrow_strings.h"
#include "headrace/exchange/list_offsets.h"
#include "headrace/exchange/numpy_datetime.h"
#include "headrace/exchange/protocol.h"
#include "headrace/exchange/string_views.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/log/ledger.h"

#include <atomic>
#include <charconv>
#include <cstring>
#include <optional>
#include <unordered_set>
#include <utility>

namespace hr {

namespace {

// One array of the producer. Every buffer into it counts; the last one releases it.
class Imported {
 public:
  Imported(ArrowArray* array, Place place) : shared_(new Shared{*array}), place_(place) {
    array->release = nullptr;
  }

  ~Imported() { drop(shared_); }

  Imported(const Imported&) = delete;
  Imported& operator=(const Imported&) = delete;

  const ArrowArray& array() const { return shared_->array; }

  Buffer share(const void* data, int64_t size_bytes) {
    if (!data || size_bytes == 0) return {};
    ++shared_->references;
    try {
      return Buffer::adopt(data, size_bytes, Owner{shared_, drop}, place_);
    } catch (...) {
      --shared_->references;
      throw;
    }
  }

 private:
  struct Shared {
    ArrowArray array;
    std::atomic<int64_t> references{1};
  };

  static void drop(void* context) noexcept {
    auto* shared = static_cast<Shared*>(context);
    if (--shared->references > 0) return;
    release_foreign(Owner{shared, [](void* last) noexcept {
                            auto* dead = static_cast<Shared*>(last);
                            dead->array.release(&dead->array);
                            delete dead;
                          }});
  }

  Shared* shared_;
  Place place_;
};

// Releases what a producer handed over, however we leave.
template <class T>
struct Release {
  T* object;

  ~Release() {
    if (object->release) object->release(object);
  }
};

// Where we are in the producer's data, for messages.
struct Context {
  std::string_view op;
  std::string_view name;
  std::string_view format;
  int64_t first_row = 0;
  bool is_dictionary = false;

  TextOrigin origin() const { return {op, name, first_row, is_dictionary ? "category" : "row"}; }

  [[noreturn]] void refuse(std::string_view what) const {
    throw_error<InvalidArgumentError>(op, what, {{"column", name}, {"format", format}},
                                      "the producer broke the Arrow C data interface");
  }
};

std::string_view text_or_empty(const char* text) {
  return text ? text : "";
}

std::string_view remedy(std::string_view format) {
  if (format.starts_with("ts")) return "use another name for the zone, or leave the column out";
  switch (format.empty() ? '?' : format[0]) {
    case 't':
      return "cast it to int64 first, or leave the column out";
    case 'e':
      return "cast it to float64 first, or leave the column out";
    case 'z':
    case 'Z':
    case 'v':
      return "cast it to string first, or leave the column out";
    default:
      return "flatten it into plain columns first, or leave it out";
  }
}

Dtype timestamp_of(const Context& context, TimeUnit unit, std::string_view zone) {
  if (zone.empty()) return Dtype::timestamp(unit);
  try {
    return Dtype::timestamp(unit, zone);
  } catch (const Error& error) {
    throw_error<UnsupportedError>(context.op, error.what(), {{"column", context.name}},
                                  remedy(context.format));
  }
}

// "d:precision,scale" with perhaps ",128" behind it.
Dtype decimal_of(const Context& context) {
  std::string_view digits = context.format.substr(2);
  if (digits.ends_with(",128")) digits.remove_suffix(4);
  try {
    return dtype_from_name("decimal128(" + std::string(digits) + ")");
  } catch (const Error&) {
    throw_error<UnsupportedError>(context.op, "unsupported precision, scale or width of a decimal",
                                  {{"column", context.name}, {"format", context.format}},
                                  "cast it to decimal128(p, s) with s from 0 to p, or to float64");
  }
}

Dtype format_dtype(const Context& context) {
  const std::string_view format = context.format;
  if (format.starts_with("d:")) return decimal_of(context);
  if (format == "u" || format == "U" || format == "vu") return TypeId::kString;
  if (format == "tdD" || format == "tdm") return TypeId::kDate;
  constexpr std::string_view kTimes[] = {"tss:", "tsm:", "tsu:", "tsn:"};
  for (size_t unit = 0; unit < std::size(kTimes); ++unit)
    if (format.starts_with(kTimes[unit]))
      return timestamp_of(context, static_cast<TimeUnit>(unit), format.substr(4));
  constexpr std::string_view kDurations[] = {"tDs", "tDm", "tDu", "tDn"};
  for (size_t unit = 0; unit < std::size(kDurations); ++unit)
    if (format == kDurations[unit]) return Dtype::duration(static_cast<TimeUnit>(unit));
  if (format.size() == 1) switch (format[0]) {
      case 'b':
        return TypeId::kBool;
      case 'c':
        return TypeId::kInt8;
      case 's':
        return TypeId::kInt16;
      case 'i':
        return TypeId::kInt32;
      case 'l':
        return TypeId::kInt64;
      case 'C':
        return TypeId::kUInt8;
      case 'S':
        return TypeId::kUInt16;
      case 'I':
        return TypeId::kUInt32;
      case 'L':
        return TypeId::kUInt64;
      case 'f':
        return TypeId::kFloat32;
      case 'g':
      case 'n':
        return TypeId::kFloat64;
      default:
        break;
    }
  throw_error<UnsupportedError>(context.op, "unsupported Arrow format",
                                {{"column", context.name}, {"format", format}}, remedy(format));
}

// Items of each list of Arrow's "+w:items"; kNoSize for other formats.
constexpr int64_t kNoSize = -1;

int64_t fixed_size(std::string_view format) {
  int64_t size = kNoSize;
  if (!format.starts_with("+w:")) return kNoSize;
  const char* const end = format.data() + format.size();
  const auto [stop, bad] = std::from_chars(format.data() + 3, end, size);
  return bad == std::errc() && stop == end && size >= 0 ? size : kNoSize;
}

Dtype column_dtype(const Context& context, const ArrowSchema& schema, int levels = 0);

// The name of a field of a column, for messages.
std::string path_of(const Context& context, std::string_view field) {
  return std::string(context.name) + "." + std::string(field);
}

Dtype field_dtype(const Context& context, const ArrowSchema& field, int levels) {
  const std::string path = path_of(context, text_or_empty(field.name));
  return column_dtype({context.op, path, text_or_empty(field.format)}, field, levels + 1);
}

// Of a struct.
std::vector<Field> fields_of(const Context& context, const ArrowSchema& schema, int levels) {
  std::vector<Field> fields;
  std::unordered_set<std::string_view> seen;
  for (int64_t i = 0; i < schema.n_children; ++i) {
    const ArrowSchema& child = *schema.children[i];
    const std::string_view name = text_or_empty(child.name);
    check_name(context.op, name);
    if (!seen.insert(name).second)
      throw_error<InvalidArgumentError>(context.op, "two fields of a struct have the same name",
                                        {{"column", context.name}, {"field", name}},
                                        "rename one of them");
    fields.push_back({std::string(name), field_dtype(context, child, levels)});
  }
  return fields;
}

// Of a nested format; nothing for others.
std::optional<Dtype> nested_dtype(const Context& context, const ArrowSchema& schema, int levels) {
  const std::string_view format = context.format;
  if (!format.starts_with('+')) return {};
  if (levels >= kMostNestedLevels)
    throw_error<UnsupportedError>(context.op, "lists and structs in more than 32 levels",
                                  {{"column", context.name}}, "flatten them first");
  if (schema.dictionary || schema.n_children < 0 || (schema.n_children > 0 && !schema.children))
    context.refuse("the children are missing, or a dictionary has some");
  if (format == "+s") return Dtype::structure(fields_of(context, schema, levels));
  const bool is_map = format == "+m";
  if (!is_map && format != "+l" && format != "+L" && fixed_size(format) == kNoSize) return {};
  if (schema.n_children != 1) context.refuse("a list or map has one child");
  const ArrowSchema& item = *schema.children[0];
  if (!is_map)
    return Dtype::list(
        column_dtype({context.op, context.name, text_or_empty(item.format)}, item, levels + 1));
  if (text_or_empty(item.format) != "+s" || item.n_children != 2 || !item.children)
    context.refuse("the entries of a map are structs of a key and a value");
  return Dtype::map(field_dtype(context, *item.children[0], levels),
                    field_dtype(context, *item.children[1], levels));
}

// The dtype a column of this schema becomes; refuses what we cannot read before any array is taken.
Dtype column_dtype(const Context& context, const ArrowSchema& schema, int levels) {
  if (const auto nested = nested_dtype(context, schema, levels)) return *nested;
  const Dtype dtype = format_dtype(context);
  if (!schema.dictionary) return dtype;
  const Context entries{context.op, context.name, text_or_empty(schema.dictionary->format)};
  if (!dtype.is_integer()) context.refuse("a dictionary's indices are not integers");
  if (schema.dictionary->dictionary) entries.refuse("a dictionary's values have a dictionary");
  const Dtype values = format_dtype(entries);
  try {
    return Dtype::category(values);
  } catch (const UnsupportedError&) {
    throw_error<UnsupportedError>(context.op, "categories cannot have this dtype",
                                  {{"column", context.name}, {"dtype", values.name()}},
                                  "cast the column to the dtype of its values first");
  }
}

const void* buffer_of(const ArrowArray& array, int64_t index) {
  return array.buffers ? array.buffers[index] : nullptr;
}

void check_layout(const Context& context, const ArrowArray& array, int64_t num_buffers) {
  if (array.length < 0 || array.offset < 0 || array.null_count < -1 ||
      array.null_count > array.length)
    context.refuse("a length, an offset or a null count is out of range");
  checked_add(context.op, checked_add(context.op, array.length, array.offset), 1);
  const bool views = context.format == "vu";
  if (views ? array.n_buffers < num_buffers : array.n_buffers != num_buffers)
    context.refuse("the number of buffers is wrong for the format");
  if (array.n_buffers > 0 && !array.buffers) context.refuse("the list of buffers is missing");
  if (context.format != "n" && array.null_count > 0 && num_buffers > 0 && !buffer_of(array, 0))
    context.refuse("nulls without a validity bitmap");
}

// The bytes from `data`, shared; or one counted copy where they do not start at a whole element.
Buffer aligned(const Context& context, Imported& imported, const void* data, int64_t size_bytes,
               int64_t width) {
  if (size_bytes > 0 && !data) context.refuse("a buffer is missing");
  if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(width) == 0)
    return imported.share(data, size_bytes);
  record_copy(context.op, "not aligned", size_bytes, false);
  Buffer buffer = Buffer::allocate(size_bytes);
  std::memcpy(buffer.mutable_data(), data, static_cast<size_t>(size_bytes));
  return buffer;
}

Buffer validity_of(Imported& imported) {
  const ArrowArray& array = imported.array();
  if (array.null_count == 0) return {};
  return imported.share(buffer_of(array, 0), bitmap_bytes(array.offset + array.length));
}

Column null_column(int64_t num_rows) {
  return Column(TypeId::kFloat64, num_rows, Buffer::allocate_zeroed(num_rows * 8),
                Buffer::allocate_zeroed(bitmap_bytes(num_rows)), num_rows);
}

// The validity of values that were made from row 0 on.
Buffer from_row_0(const ArrowArray& array, Buffer validity) {
  if (!validity || array.offset == 0) return validity;
  const uint8_t* bits = validity.as<uint8_t>();
  Buffer moved = Buffer::allocate_zeroed(bitmap_bytes(array.length));
  auto* out = moved.mutable_as<uint8_t>();
  for (int64_t i = 0; i < array.length; ++i) set_bit(out, i, get_bit(bits, array.offset + i));
  return moved;
}

template <class Offset>
Column offset_strings(const Context& context, Imported& imported, Buffer validity) {
  const ArrowArray& array = imported.array();
  const int64_t end = array.offset + array.length;
  const int64_t width = sizeof(Offset);
  const Buffer offsets = aligned(context, imported, buffer_of(array, 1), (end + 1) * width, width);
  const Offset* first = offsets.as<Offset>() + array.offset;
  const char* text = static_cast<const char*>(buffer_of(array, 2));
  const int64_t text_bytes = first[array.length];
  if (text_bytes < 0 || (text_bytes > 0 && !text)) context.refuse("the strings are missing");
  Buffer views = views_from_offsets(context.origin(), array.length, first, {text, text_bytes},
                                    validity ? validity.as<uint8_t>() : nullptr, array.offset);
  std::vector<Buffer> parts;
  for (int64_t begin = 0; begin < text_bytes; begin += kTextPart)
    parts.push_back(imported.share(text + begin, std::min(text_bytes - begin, 2 * kTextPart - 1)));
  return Column::strings(array.length, std::move(views), std::move(parts),
                         from_row_0(array, std::move(validity)), -1);
}

Column view_strings(const Context& context, Imported& imported, Buffer validity) {
  const ArrowArray& array = imported.array();
  const int64_t end = array.offset + array.length;
  Buffer views = aligned(context, imported, buffer_of(array, 1), end * 16, 4);
  const int64_t num_text = array.n_buffers - 3;
  const auto* sizes = static_cast<const int64_t*>(buffer_of(array, array.n_buffers - 1));
  if (num_text > 0 && !sizes) context.refuse("the sizes of the string buffers are missing");
  std::vector<Buffer> text;
  for (int64_t i = 0; i < num_text; ++i) {
    if (sizes[i] < 0 || (sizes[i] > 0 && !buffer_of(array, 2 + i)))
      context.refuse("a string buffer is missing");
    text.push_back(imported.share(buffer_of(array, 2 + i), sizes[i]));
  }
  return check_string_views(context.origin(),
                            Column::strings(array.length, std::move(views), std::move(text),
                                            std::move(validity), array.null_count, array.offset));
}

Column import_column(const Context& context, const ArrowSchema& schema, ArrowArray* array,
                     Place place, std::optional<Dtype> wanted = {});

// The one child of lists and maps.
Column import_items(const Context& context, const ArrowSchema& schema, const ArrowArray& array,
                    Dtype dtype) {
  if (array.n_children != 1 || !array.children || !array.children[0])
    context.refuse("the items of the lists are missing");
  const ArrowSchema& item = *schema.children[0];
  const Context child{context.op, context.name, text_or_empty(item.format)};
  return import_column(child, item, array.children[0], host, dtype.item());
}

Column lists_or_maps(const Context& context, Dtype dtype, int64_t rows, Buffer spans, Column items,
                     Buffer validity) {
  if (dtype.is_list())
    return Column::lists(rows, std::move(spans), std::move(items), std::move(validity), -1);
  if (items.null_count() > 0 || items.fields()->front().null_count() > 0)
    context.refuse("a map has null entries or keys");
  return Column::maps(rows, std::move(spans), std::move(items), std::move(validity), -1);
}

template <class Offset>
Column import_lists(const Context& context, const ArrowSchema& schema, Imported& imported,
                    Dtype dtype, Buffer validity) {
  const ArrowArray& array = imported.array();
  Column items = import_items(context, schema, array, dtype);
  const int64_t end = array.offset + array.length, width = sizeof(Offset);
  const Buffer offsets = aligned(context, imported, buffer_of(array, 1), (end + 1) * width, width);
  Buffer spans = spans_from_offsets(context.op, context.name, array.length,
                                    offsets.as<Offset>() + array.offset, items.num_rows(),
                                    validity ? validity.as<uint8_t>() : nullptr, array.offset);
  return lists_or_maps(context, dtype, array.length, std::move(spans), std::move(items),
                       from_row_0(array, std::move(validity)));
}

Column import_fixed_lists(const Context& context, const ArrowSchema& schema, Imported& imported,
                          Dtype dtype, Buffer validity) {
  const ArrowArray& array = imported.array();
  const int64_t size = fixed_size(context.format);
  Column items = import_items(context, schema, array, dtype);
  const int64_t rows = array.length;
  if (checked_multiply(context.op, array.offset + rows, size) > items.num_rows())
    context.refuse("a child is shorter than its parent");
  validity = from_row_0(array, std::move(validity));
  record_copy(context.op, "list sizes become spans", rows * 16, false);
  Buffer spans = Buffer::allocate(rows * 16);
  auto* const out = spans.mutable_as<ListSpan>();
  for (int64_t row = 0; row < rows; ++row) {
    const bool null = validity && !get_bit(validity.as<uint8_t>(), row);
    out[row] = null || size == 0 ? ListSpan{} : ListSpan{(array.offset + row) * size, size};
  }
  return Column::lists(rows, std::move(spans), std::move(items), std::move(validity), -1);
}

Column import_structs(const Context& context, const ArrowSchema& schema, Imported& imported,
                      Dtype dtype, Buffer validity) {
  const ArrowArray& array = imported.array();
  if (array.n_children != schema.n_children || (array.n_children > 0 && !array.children))
    context.refuse("the number of children is wrong");
  std::vector<Column> fields;
  for (int64_t i = 0; i < array.n_children; ++i) {
    const ArrowSchema& field = *schema.children[i];
    if (!array.children[i]) context.refuse("a child is missing");
    const std::string path = path_of(context, text_or_empty(field.name));
    const Context child{context.op, path, text_or_empty(field.format)};
    const Column column = import_column(child, field, array.children[i], host,
                                        dtype.fields()[static_cast<size_t>(i)].dtype);
    if (column.num_rows() < array.offset + array.length)
      context.refuse("a child is shorter than its parent");
    fields.push_back(column.slice(array.offset, array.length));
  }
  record_copy(context.op, "rows of structs numbered", array.length * 8, false);
  return Column::structs(dtype, array.length, std::move(fields),
                         from_row_0(array, std::move(validity)), -1);
}

// The entries of a dictionary as they came, and as ours.
struct SeenDictionary {
  Column values{};
  DistinctValues distinct{};
};

template <class Index>
Column converted_codes(const Context& context, Imported& imported, const SeenDictionary& seen,
                       const Buffer& validity) {
  const ArrowArray& array = imported.array();
  const int64_t width = sizeof(Index);
  const Buffer indices =
      aligned(context, imported, buffer_of(array, 1), (array.offset + array.length) * width, width);
  return categories_from_indices(context.op, array.length, indices.as<Index>() + array.offset,
                                 seen.distinct.dictionary, seen.values.num_rows(),
                                 seen.distinct.codes, validity ? validity.as<uint8_t>() : nullptr,
                                 array.offset);
}

Column import_dictionary(const Context& context, const ArrowSchema& schema, Imported& imported,
                         Dtype index_dtype, Buffer validity) {
  const ArrowArray& array = imported.array();
  if (!array.dictionary || !array.dictionary->release) context.refuse("the dictionary is missing");
  SeenDictionary seen;
  const Context entries{context.op, context.name, text_or_empty(schema.dictionary->format), 0,
                        true};
  seen.values = import_column(entries, *schema.dictionary, array.dictionary, host);
  seen.distinct = distinct_values(seen.values, schema.flags & ARROW_FLAG_DICTIONARY_ORDERED);
  if (array.length == 0) return Column::categories(0, Buffer(), seen.distinct.dictionary);
  switch (index_dtype.id()) {
    case TypeId::kInt8:
      return converted_codes<int8_t>(context, imported, seen, validity);
    case TypeId::kInt16:
      return converted_codes<int16_t>(context, imported, seen, validity);
    case TypeId::kUInt8:
      return converted_codes<uint8_t>(context, imported, seen, validity);
    case TypeId::kUInt16:
      return converted_codes<uint16_t>(context, imported, seen, validity);
    case TypeId::kUInt64:
      return converted_codes<uint64_t>(context, imported, seen, validity);
    case TypeId::kInt64:
      return converted_codes<int64_t>(context, imported, seen, validity);
    default:
      break;
  }
  if (seen.distinct.codes) return converted_codes<uint32_t>(context, imported, seen, validity);
  // Codes below 2^31 are the same bytes with and without a sign.
  Buffer codes =
      aligned(context, imported, buffer_of(array, 1), (array.offset + array.length) * 4, 4);
  const Column indices(TypeId::kInt32, array.length, codes, validity, array.null_count,
                       array.offset);
  check_indices(context.op, indices, seen.values.num_rows());
  return Column::categories(array.length, std::move(codes), seen.distinct.dictionary,
                            std::move(validity), array.null_count, array.offset);
}

// What is on a device is shared as it is, so nothing of it may have to be read.
void check_device_column(const Context& context, const ArrowSchema& schema, const ArrowArray& array,
                         Dtype dtype) {
  const int64_t width = std::max<int64_t>(dtype.size_bytes(), 1);
  const bool is_aligned =
      reinterpret_cast<uintptr_t>(buffer_of(array, 1)) % static_cast<uintptr_t>(width) == 0;
  const bool counted = array.null_count >= 0 || !buffer_of(array, 0);
  if (!schema.dictionary && !dtype.is_string() && !dtype.is_nested() && context.format != "n" &&
      context.format != "tdm" && is_aligned && counted)
    return;
  throw_error<UnsupportedError>(
      context.op, "this column cannot be imported from a device",
      {{"column", context.name}, {"format", context.format}, {"null_count", array.null_count}},
      "only numbers, bools and times with a known null count can; move it to the host first");
}

int64_t num_buffers(std::string_view format, Dtype dtype) {
  if (dtype.is_string()) return 3;
  return dtype.is_struct() || fixed_size(format) != kNoSize ? 1 : 2;
}

Column import_nested(const Context& context, const ArrowSchema& schema, Imported& imported,
                     Dtype dtype, Buffer validity) {
  if (dtype.is_struct())
    return import_structs(context, schema, imported, dtype, std::move(validity));
  if (fixed_size(context.format) != kNoSize)
    return import_fixed_lists(context, schema, imported, dtype, std::move(validity));
  if (context.format == "+L")
    return import_lists<int64_t>(context, schema, imported, dtype, std::move(validity));
  return import_lists<int32_t>(context, schema, imported, dtype, std::move(validity));
}

__extension__ using UInt128 = unsigned __int128;

// Arithmetic and writers rely on it. What stands in null rows does not count.
void check_digits(const Context& context, const Column& decimals) {
  UInt128 limit = 1;
  for (int digit = 0; digit < decimals.dtype().precision(); ++digit) limit *= 10;
  const auto* const units = decimals.values_buffer().as<UInt128>() + decimals.offset();
  const uint8_t* const validity = decimals.validity();
  parallel_morsels(decimals.num_rows(), [&](Morsel morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      const UInt128 value = units[row];
      const bool is_negative = value >> 127 != 0;
      if ((is_negative ? -value : value) < limit) continue;
      if (validity && !get_bit(validity, decimals.offset() + row)) continue;
      context.refuse("a decimal has more digits than its dtype says");
    }
  });
}

// Takes `array`, which then counts as released. `wanted` where the fields of its structs have other
// names than the producer's, as those of maps.
Column import_column(const Context& context, const ArrowSchema& schema, ArrowArray* array,
                     Place place, std::optional<Dtype> wanted) {
  if (!array->release) context.refuse("an array has already been released");
  Imported imported(array, place);
  const ArrowArray& taken = imported.array();
  const Dtype dtype = schema.dictionary ? format_dtype(context)
                      : wanted          ? *wanted
                                        : column_dtype(context, schema);
  if (!place.is_host()) check_device_column(context, schema, taken, dtype);
  if (context.format == "n") {
    check_layout(context, taken, taken.n_buffers == 1 ? 1 : 0);
    return null_column(taken.length);
  }
  check_layout(context, taken, num_buffers(context.format, dtype));
  if (taken.length == 0 && !schema.dictionary) return Column(dtype, 0, {});
  Buffer validity = validity_of(imported);
  if (schema.dictionary)
    return import_dictionary(context, schema, imported, dtype, std::move(validity));
  if (dtype.is_nested())
    return import_nested(context, schema, imported, dtype, std::move(validity));
  if (context.format == "u") return offset_strings<int32_t>(context, imported, std::move(validity));
  if (context.format == "U") return offset_strings<int64_t>(context, imported, std::move(validity));
  if (context.format == "vu") return view_strings(context, imported, std::move(validity));
  const int64_t end = taken.offset + taken.length;
  const int64_t width = context.format == "tdm" ? 8 : dtype.size_bytes();
  Buffer values = aligned(
      context, imported, buffer_of(taken, 1),
      dtype.is_bool() ? bitmap_bytes(end) : checked_multiply(context.op, end, width), width);
  if (context.format == "tdm")
    return dates_of_milliseconds(
        context.op, Column(TypeId::kInt64, taken.length, std::move(values), std::move(validity),
                           taken.null_count, taken.offset));
  Column made(dtype, taken.length, std::move(values), std::move(validity), taken.null_count,
              taken.offset);
  if (dtype.is_decimal() && place.is_host()) check_digits(context, made);
  return made;
}

ArrowColumns empty_columns(std::string_view op, const ArrowSchema& schema, bool as_column) {
  ArrowColumns result;
  if (!schema.release || !schema.format)
    throw_error<InvalidArgumentError>(op, "the Arrow schema has already been released");
  result.is_table = !as_column && std::string_view(schema.format) == "+s";
  const int64_t count = result.is_table ? schema.n_children : 1;
  for (int64_t i = 0; i < count; ++i) {
    const ArrowSchema& column = result.is_table ? *schema.children[i] : schema;
    check_name(op, text_or_empty(column.name));
    result.names.emplace_back(text_or_empty(column.name));
    result.dtypes.push_back(
        column_dtype({op, text_or_empty(column.name), text_or_empty(column.format)}, column));
  }
  result.chunks.resize(result.names.size());
  return result;
}

void append(std::string_view op, const ArrowSchema& schema, ArrowArray* array, Place place,
            ArrowColumns& result) {
  const Release<ArrowArray> release{array};
  const int64_t rows = array->length, offset = array->offset;
  const auto column_context = [&](const ArrowSchema& column) {
    return Context{op, text_or_empty(column.name), text_or_empty(column.format),
                   result.num_rows - (result.is_table ? offset : 0)};
  };
  if (!result.is_table) {
    Column column = import_column(column_context(schema), schema, array, place);
    if (rows > 0 || column.dictionary()) result.chunks[0].push_back(std::move(column));
  } else {
    const Context context{op, text_or_empty(schema.name), "+s"};
    if (array->n_children != schema.n_children) context.refuse("the number of children is wrong");
    check_layout(context, *array, 1);
    if (const auto* valid = static_cast<const uint8_t*>(array->buffers[0]);
        valid && array->null_count != 0 &&
        (!place.is_host() || count_bits(valid, offset, rows) != rows))
      throw_error<UnsupportedError>(op, "entire rows are null", {{"rows", rows}},
                                    "drop these rows first");
    for (int64_t i = 0; i < schema.n_children; ++i) {
      const ArrowSchema& child = *schema.children[i];
      Column column = import_column(column_context(child), child, array->children[i], place);
      if (column.num_rows() < offset + rows) context.refuse("a child is shorter than its parent");
      if (!place.is_host() && column.null_count() > 0 && rows < column.num_rows())
        throw_error<UnsupportedError>(
            op, "a slice of a column with nulls cannot be imported from a device",
            {{"column", result.names[static_cast<size_t>(i)]}}, "move it to the host first");
      if (rows > 0 || column.dictionary())
        result.chunks[static_cast<size_t>(i)].push_back(
            rows == column.num_rows() ? std::move(column) : column.slice(offset, rows));
    }
  }
  result.num_rows = checked_add(op, result.num_rows, rows);
}

[[noreturn]] void throw_producer_error(std::string_view op, ArrowArrayStream* stream, int code) {
  const char* text = stream->get_last_error ? stream->get_last_error(stream) : nullptr;
  throw InputError(error_message(op, "the producer of the Arrow stream failed",
                                 {{"code", code}, {"error", text_or_empty(text)}}),
                   {}, 0, 0, code);
}

}  // namespace

ArrowColumns from_arrow_at(std::string_view op, const ArrowSchema& schema, ArrowArray* array,
                           Place place, bool as_column) {
  const Release<ArrowArray> release{array};
  ArrowColumns result = empty_columns(op, schema, as_column);
  if (!array->release)
    throw_error<InvalidArgumentError>(op, "the Arrow array has already been released");
  append(op, schema, array, place, result);
  return result;
}

ArrowColumns from_arrow(std::string_view op, const ArrowSchema& schema, ArrowArray* array,
                        bool as_column) {
  return from_arrow_at(op, schema, array, host, as_column);
}

ArrowColumns from_arrow(std::string_view op, ArrowArrayStream* stream, bool as_column) {
  const Release<ArrowArrayStream> release{stream};
  if (!stream->release)
    throw_error<InvalidArgumentError>(op, "the Arrow stream has already been released");
  ArrowSchema schema{};
  if (const int code = stream->get_schema(stream, &schema)) throw_producer_error(op, stream, code);
  const Release<ArrowSchema> release_schema{&schema};
  ArrowColumns result = empty_columns(op, schema, as_column);
  for (;;) {
    ArrowArray array{};
    if (const int code = stream->get_next(stream, &array)) throw_producer_error(op, stream, code);
    if (!array.release) return result;
    append(op, schema, &array, host, result);
  }
}

}  // namespace hr
