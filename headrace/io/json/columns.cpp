// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/json/columns.h"

#include "headrace/algo/math/iso_time_math.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

namespace hr::json {

namespace {

std::vector<const Builder*> items_of(std::span<const Builder* const> parts) {
  std::vector<const Builder*> items;
  for (const Builder* part : parts)
    items.push_back(part && part->kind == Kind::kList ? part->items.get() : nullptr);
  return items;
}

// The kind of the first values, or float where integers and floats meet.
Kind join_kinds(std::span<const Builder* const> parts, bool& clashes) {
  Kind kind = Kind::kNull;
  for (const Builder* part : parts) {
    if (!part) continue;
    clashes |= part->mixed || clash(kind, part->kind);
    if (kind == Kind::kNull || (kind == Kind::kInteger && part->kind == Kind::kFloat))
      kind = part->kind;
  }
  return kind;
}

Dtype number_dtype(std::span<const Builder* const> parts, Kind kind) {
  bool negative = false, large = false;
  for (const Builder* part : parts) {
    negative |= part && part->negative;
    large |= part && part->large;
  }
  if (kind == Kind::kFloat || (negative && large)) return TypeId::kFloat64;
  return large ? TypeId::kUInt64 : TypeId::kInt64;
}

Buffer validity_of(const Builder& builder, int64_t rows) {
  if (builder.null_count == 0) return {};
  Buffer bits = Buffer::allocate_zeroed(bitmap_bytes(rows));
  auto* const words = bits.mutable_as<uint64_t>();  // the padding takes the last word
  for (int64_t row = 0; row < rows; row += 64) {
    words[row / 64] = ~builder.nulls[row / 64];
    if (rows - row < 64) words[row / 64] &= (uint64_t{1} << (rows - row)) - 1;
  }
  return bits;
}

Column nulls_of(Dtype dtype, int64_t rows) {
  const int64_t bytes = dtype.is_bool() ? bitmap_bytes(rows) : rows * dtype.size_bytes();
  Buffer values = Buffer::allocate_zeroed(bytes);
  Buffer validity = rows > 0 ? Buffer::allocate_zeroed(bitmap_bytes(rows)) : Buffer();
  if (dtype.is_string())
    return Column::strings(rows, std::move(values), {}, std::move(validity), rows);
  if (dtype.is_list())
    return Column::lists(rows, std::move(values), nulls_of(dtype.item(), 0), std::move(validity),
                         rows);
  if (dtype.is_struct()) {
    std::vector<Column> fields;
    for (const Field& field : dtype.fields()) fields.push_back(nulls_of(field.dtype, rows));
    return Column::structs(dtype, rows, std::move(fields), std::move(validity), rows);
  }
  return Column(dtype, rows, std::move(values), std::move(validity), rows);
}

// Values of eight bytes as those of a narrower dtype, which holds them.
template <class From, class To>
Buffer narrowed(const Builder& builder) {
  Buffer values = Buffer::allocate(builder.rows * static_cast<int64_t>(sizeof(To)));
  const auto* from = reinterpret_cast<const From*>(builder.values);
  auto* to = values.mutable_as<To>();
  for (int64_t row = 0; row < builder.rows; ++row) to[row] = static_cast<To>(from[row]);
  return values;
}

Buffer bits_of(const Builder& builder) {
  Buffer bits = Buffer::allocate_zeroed(bitmap_bytes(builder.rows));
  auto* const out = bits.mutable_as<uint8_t>();
  for (int64_t row = 0; row < builder.rows; ++row)
    out[row >> 3] |= static_cast<uint8_t>((builder.values[row] & 1) << (row & 7));
  return bits;
}

// Strings that are all dates or times.
Buffer times_of(const Builder& builder, Dtype dtype, const Buffer& text) {
  Buffer values = Buffer::allocate(builder.rows * dtype.size_bytes());
  const auto* views = reinterpret_cast<const StringView*>(builder.values);
  char room[96] = {};
  for (int64_t row = 0; row < builder.rows; ++row) {
    const StringView& view = views[row];
    const char* const from =
        view.size <= sizeof view.inlined ? view.inlined : text.as<char>() + view.indirect.offset;
    int64_t value = 0;
    if (view.size > 0) {
      std::memcpy(room, from, view.size);
      const IsoTime when = parse_iso_time(room, room + view.size);
      if (dtype.is_date())
        value = when.days;
      else
        fit_time(when, dtype.unit(), &value);
    }
    if (dtype.is_date())
      values.mutable_as<int32_t>()[row] = static_cast<int32_t>(value);
    else
      values.mutable_as<int64_t>()[row] = value;
  }
  return values;
}

// The builder's values, without a copy.
Buffer take_values(Builder& builder) {
  if (!builder.values_buffer) return {};
  Buffer values = std::move(builder.values_buffer);
  values.shrink(builder.rows * Builder::width_of(builder.kind));
  return values;
}

Buffer fixed_values(Builder& builder, Dtype dtype, const Buffer& text) {
  if (builder.kind == Kind::kString) return times_of(builder, dtype, text);
  if (dtype.is_bool()) return bits_of(builder);
  if (dtype.is_date()) return narrowed<int64_t, int32_t>(builder);
  if (dtype.is_timestamp()) return take_values(builder);
  if (dtype.id() == TypeId::kFloat64) {
    builder.become(Kind::kFloat);
    return take_values(builder);
  }
  if (dtype.id() == TypeId::kFloat32) return narrowed<double, float>(builder);
  return visit_real(dtype, [&]<class T>(std::type_identity<T>) {
    return sizeof(T) == 8 ? take_values(builder) : narrowed<int64_t, T>(builder);
  });
}

}  // namespace

std::vector<std::string> keys_of(std::span<const Builder* const> parts) {
  std::vector<std::string> keys;
  std::unordered_set<std::string> known;
  const auto add = [&](const std::string& key) {
    if (known.insert(key).second) keys.push_back(key);
  };
  for (const Builder* part : parts)
    if (part)
      for (const uint32_t place : part->fields.seen) add(part->fields.names[place]);
  for (const Builder* part : parts)
    if (part)
      for (const std::string& key : part->fields.names) add(key);
  return keys;
}

std::vector<const Builder*> members_of(std::span<const Builder* const> parts,
                                       const std::string& key) {
  std::vector<const Builder*> members;
  for (const Builder* part : parts)
    members.push_back(part && part->kind == Kind::kStruct ? part->fields.find(key) : nullptr);
  return members;
}

bool have_clashes(std::span<const Builder* const> parts) {
  bool clashes = false;
  const Kind kind = join_kinds(parts, clashes);
  if (clashes) return true;
  if (kind == Kind::kList) return have_clashes(items_of(parts));
  if (kind == Kind::kStruct)
    for (const std::string& key : keys_of(parts))
      if (have_clashes(members_of(parts, key))) return true;
  return false;
}

Dtype infer(std::string_view key, std::span<const Builder* const> parts) {
  for (const Builder* part : parts)
    if (part && part->asked) return *part->asked;
  bool clashes = false;
  const Kind kind = join_kinds(parts, clashes);
  switch (kind) {
    case Kind::kNull:
      return TypeId::kFloat64;
    case Kind::kBool:
      return TypeId::kBool;
    case Kind::kInteger:
    case Kind::kFloat:
      return number_dtype(parts, kind);
    case Kind::kString:
    case Kind::kTime: {
      TimeGuess times;
      for (const Builder* part : parts)
        if (part && part->kind == Kind::kString) times.join(part->times);
      return times.dtype();
    }
    case Kind::kList:
      return Dtype::list(infer(key, items_of(parts)));
    case Kind::kStruct:
      break;
  }
  std::vector<Field> fields;
  for (const std::string& name : keys_of(parts))
    fields.push_back({name, infer(name, members_of(parts, name))});
  if (fields.empty())
    throw_error<UnsupportedError>("read_json", "objects without keys are not read as a column",
                                  {{"key", key}}, "read them as text: dtypes={name: 'string'}");
  return Dtype::structure(fields);
}

std::unique_ptr<Builder> join_prototypes(std::span<const Builder* const> parts) {
  bool clashes = false;
  auto made = std::make_unique<Builder>();
  made->kind = join_kinds(parts, clashes);
  for (const Builder* part : parts) {
    if (!part) continue;
    made->skipped |= part->skipped;
    made->fields.adds_skipped |= part->fields.adds_skipped;
    if (part->asked) {
      made->asked = part->asked;
      made->zone = part->zone;
    }
  }
  made->fixed = made->kind != Kind::kNull;
  if (made->kind == Kind::kList) made->items = join_prototypes(items_of(parts));
  if (made->kind == Kind::kStruct)
    for (const std::string& key : keys_of(parts)) {
      made->fields.add(key);
      made->fields.builders.back() = join_prototypes(members_of(parts, key));
    }
  return made;
}

Column finish(Builder* builder, int64_t rows, Dtype dtype, const Buffer& text) {
  if (!builder || builder->kind == Kind::kNull) return nulls_of(dtype, rows);
  builder->pad(rows);
  Buffer validity = validity_of(*builder, rows);
  const int64_t nulls = builder->null_count;
  if (dtype.is_string())
    return Column::strings(rows, take_values(*builder), {text}, std::move(validity), nulls);
  if (dtype.is_list()) {
    const int64_t items = builder->items ? builder->items->rows : 0;
    return Column::lists(rows, take_values(*builder),
                         finish(builder->items.get(), items, dtype.item(), text),
                         std::move(validity), nulls);
  }
  if (dtype.is_struct()) {
    std::vector<Column> fields;
    for (const Field& field : dtype.fields())
      fields.push_back(finish(builder->fields.find(field.name), rows, field.dtype, text));
    return Column::structs(dtype, rows, std::move(fields), std::move(validity), nulls);
  }
  return Column(dtype, rows, fixed_values(*builder, dtype, text), std::move(validity), nulls);
}

}  // namespace hr::json
