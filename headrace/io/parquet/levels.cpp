// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/levels.h"

#include "headrace/algo/select/filter.h"
#include "headrace/algo/select/gather.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/tensor.h"
#include "headrace/io/parquet/hybrid_writer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

namespace hr::parquet {

namespace {

constexpr std::string_view kOp = "to_parquet";

// Adds the elements of a column or field, `leaf` with what lies around it.
class SchemaBuilder {
 public:
  explicit SchemaBuilder(WrittenSchema& to) : to_(to) {}

  void add(std::string_view name, Dtype dtype, WrittenLeaf leaf,
           Repetition repetition = Repetition::kOptional) {
    leaf.path.emplace_back(name);
    leaf.max_definition += repetition == Repetition::kOptional;
    if (dtype.is_list()) {
      group(name, repetition, 1, LogicalKind::kList);
      repeat("list", 1, leaf);
      return add("element", dtype.item(), std::move(leaf));
    }
    if (dtype.is_map()) {
      group(name, repetition, 1, LogicalKind::kMap);
      repeat("key_value", 2, leaf);
      return add_fields(dtype.item(), leaf, true);
    }
    if (dtype.is_struct()) {
      if (dtype.fields().empty())
        throw_error<UnsupportedError>(kOp, "Parquet has no structs without fields",
                                      {{"column", leaf.path[0]}, {"dtype", dtype.name()}},
                                      "leave the column out, or use to_ipc");
      group(name, repetition, std::ssize(dtype.fields()), LogicalKind::kNone);
      return add_fields(dtype, leaf, false);
    }
    leaf.type = stored_type(dtype);
    to_.elements.push_back({.type = leaf.type.physical,
                            .type_length = leaf.type.type_length,
                            .repetition = repetition,
                            .name = name,
                            .logical = leaf.type.logical});
    to_.leaves.push_back(std::move(leaf));
  }

 private:
  void group(std::string_view name, Repetition repetition, int64_t children, LogicalKind kind) {
    to_.elements.push_back({.repetition = repetition,
                            .name = name,
                            .num_children = children,
                            .logical = {.kind = kind}});
  }

  void repeat(std::string_view name, int64_t children, WrittenLeaf& leaf) {
    group(name, Repetition::kRepeated, children, LogicalKind::kNone);
    leaf.path.emplace_back(name);
    ++leaf.max_definition;
    ++leaf.max_repetition;
  }

  void add_fields(Dtype dtype, const WrittenLeaf& leaf, bool has_key) {
    const std::vector<Field>& fields = dtype.fields();
    for (size_t f = 0; f < fields.size(); ++f) {
      WrittenLeaf inside = leaf;
      inside.fields.push_back(f);
      add(fields[f].name, fields[f].dtype, std::move(inside),
          has_key && f == 0 ? Repetition::kRequired : Repetition::kOptional);
    }
  }

  WrittenSchema& to_;
};

// Appends what `append` does, behind its size.
template <class F>
void append_sized(ByteBuffer& out, const F& append) {
  const int64_t at = out.size();
  out.append(std::string_view("\0\0\0\0", 4));
  append();
  const auto size = static_cast<uint32_t>(out.size() - at - 4);
  char* const end = out.reserve(0);
  std::memcpy(end - (out.size() - at), &size, sizeof size);
}

Buffer where_valid(const Column& column) {
  const int64_t rows = column.num_rows();
  Buffer bits = Buffer::allocate_zeroed((rows + 63) / 64 * 8);
  auto* const words = bits.mutable_as<uint64_t>();
  for (int64_t i = 0; i < rows; i += 64)
    words[i / 64] =
        load_bits(column.validity(), column.offset() + i, std::min<int64_t>(rows - i, 64));
  return bits;
}

Column without_nulls(const Column& column) {
  if (!column.validity()) return column;
  const Column valid(TypeId::kBool, column.num_rows(), where_valid(column));
  return filter(column, Mask(valid));
}

}  // namespace

WrittenSchema make_schema(const std::vector<std::string>& names,
                          const std::vector<Column>& columns) {
  WrittenSchema schema;
  schema.elements.push_back({.name = "schema", .num_children = static_cast<int64_t>(names.size())});
  SchemaBuilder builder(schema);
  for (size_t c = 0; c < names.size(); ++c) {
    WrittenLeaf leaf;
    leaf.column = c;
    builder.add(names[c], columns[c].dtype(), std::move(leaf));
  }
  return schema;
}

namespace {

// The entries of a leaf while its column is taken apart, from the rows of the table on: each level
// of it is one pass over them.
class Entries {
 public:
  Entries(int64_t first, int64_t rows, bool is_repeated) : count_(rows) {
    int64_t* const places = room<int64_t>(places_, rows);
    for (int64_t i = 0; i < rows; ++i) places[i] = first + i;
    std::fill_n(room<uint8_t>(definitions_, rows), rows, uint8_t{0});
    if (is_repeated) std::fill_n(room<uint8_t>(repetitions_, rows), rows, uint8_t{0});
  }

  // Leaves the rows of `column`; those of null entries end here.
  void leave_nulls(const Column& column, bool is_key) {
    int64_t* const places = all<int64_t>(places_);
    auto* const definitions = all<uint8_t>(definitions_);
    const uint8_t* const valid = column.validity();
    for (int64_t e = 0; e < count_; ++e) {
      if (places[e] == kEnded) continue;
      if (!valid || get_bit(valid, column.offset() + places[e])) {
        definitions[e] += !is_key;
        continue;
      }
      if (is_key)
        throw_error<InvalidArgumentError>(kOp, "a map has a null key", {{"entry", places[e]}},
                                          "leave the entry out");
      places[e] = kEnded;
    }
  }

  // From structs to their fields.
  void enter_fields(const Column& structs) {
    const std::span<const int64_t> rows = structs.values<int64_t>();
    int64_t* const places = all<int64_t>(places_);
    for (int64_t e = 0; e < count_; ++e)
      if (places[e] != kEnded) places[e] = rows[static_cast<size_t>(places[e])];
  }

  // From lists to their items, of which there are `depth` lists around; those without any end here.
  void enter_items(const Column& lists, int depth) {
    const std::span<const ListSpan> spans = lists.values<ListSpan>();
    const int64_t* const places = all<int64_t>(places_);
    int64_t size = 0;
    for (int64_t e = 0; e < count_; ++e)
      size += places[e] == kEnded
                  ? 1
                  : std::max<int64_t>(spans[static_cast<size_t>(places[e])].size, 1);
    Entries inside(size);
    const auto* const definitions = all<uint8_t>(definitions_);
    const auto* const repetitions = all<uint8_t>(repetitions_);
    auto* const to_places = all<int64_t>(inside.places_);
    auto* const to_definitions = all<uint8_t>(inside.definitions_);
    auto* const to_repetitions = all<uint8_t>(inside.repetitions_);
    int64_t to = 0;
    for (int64_t e = 0; e < count_; ++e) {
      to_repetitions[to] = repetitions[e];
      to_definitions[to] = definitions[e];
      const ListSpan span =
          places[e] == kEnded ? ListSpan{} : spans[static_cast<size_t>(places[e])];
      if (span.size == 0) {
        to_places[to++] = kEnded;
        continue;
      }
      for (int64_t i = 0; i < span.size; ++i, ++to) {
        to_places[to] = span.begin + i;
        to_definitions[to] = static_cast<uint8_t>(definitions[e] + 1);
        if (i > 0) to_repetitions[to] = static_cast<uint8_t>(depth);
      }
    }
    *this = std::move(inside);
  }

  // The rows of the leaf's column that are there, in order.
  Column values_of(const Column& column) {
    int64_t* const places = all<int64_t>(places_);
    int64_t count = 0;
    bool in_order = true;
    for (int64_t e = 0; e < count_; ++e) {
      if (places[e] == kEnded) continue;
      places[count] = places[e];
      in_order &= places[count] == places[0] + count;
      ++count;
    }
    if (count == 0 || in_order) return column.slice(count == 0 ? 0 : places[0], count);
    places_.shrink(8 * count);
    return gather(column, Tensor(dtype_of<int64_t>(), {count}, places_.finish()));
  }

  int64_t count() const { return count_; }

  ByteBuffer take_definitions() { return std::move(definitions_); }

  ByteBuffer take_repetitions() { return std::move(repetitions_); }

 private:
  static constexpr int64_t kEnded = -1;

  explicit Entries(int64_t count) : count_(count) {
    room<int64_t>(places_, count);
    room<uint8_t>(definitions_, count);
    room<uint8_t>(repetitions_, count);
  }

  template <class T>
  static T* room(ByteBuffer& of, int64_t count) {
    const auto bytes = count * static_cast<int64_t>(sizeof(T));
    T* const begin = reinterpret_cast<T*>(of.reserve(bytes));
    of.advance(bytes);
    return begin;
  }

  template <class T>
  static T* all(ByteBuffer& of) {
    return reinterpret_cast<T*>(of.reserve(0) - of.size());
  }

  int64_t count_;
  ByteBuffer places_{};  // of entries in the column that was reached, or kEnded
  ByteBuffer definitions_{};
  ByteBuffer repetitions_{};
};

}  // namespace

LeafRows::LeafRows(const Column& column, const WrittenLeaf& leaf, int64_t first, int64_t rows)
    : max_definition_(leaf.max_definition), max_repetition_(leaf.max_repetition) {
  if (is_flat()) {
    rows_ = column.slice(first, rows);
    values = without_nulls(rows_);
    entries = rows;
    return;
  }
  Entries made(first, rows, max_repetition_ > 0);
  const Column* at = &column;
  bool is_key = false;
  auto field = leaf.fields.begin();
  for (int depth = 0; at->dtype().is_nested();) {
    made.leave_nulls(*at, is_key);
    is_key = at->dtype().is_map();
    if (at->dtype().has_items()) {
      made.enter_items(*at, ++depth);
      at = at->items().get();
      if (!is_key) continue;
    }
    made.enter_fields(*at);  // entries of maps are structs that are never null
    is_key &= *field == 0;
    at = &(*at->fields())[*field++];
  }
  made.leave_nulls(*at, is_key);
  values = made.values_of(*at);
  entries = made.count();
  definitions_ = made.take_definitions();
  repetitions_ = made.take_repetitions();
}

LeafRows::Piece LeafRows::piece(int64_t entry, int64_t most) const {
  if (is_flat()) {
    const int64_t count = std::min(most, entries - entry);
    const bool some_null = rows_.validity() != nullptr;
    return {count, count,
            some_null ? count_bits(rows_.validity(), rows_.offset() + entry, count) : count};
  }
  Piece found{};
  const std::string_view definitions = definitions_.view(), repetitions = repetitions_.view();
  int64_t end = entry;
  for (; end < entries; ++end) {
    if (max_repetition_ == 0 || repetitions[static_cast<size_t>(end)] == 0) {
      if (end > entry && (found.rows == most || end - entry >= most)) break;
      ++found.rows;
    }
    found.values += definitions[static_cast<size_t>(end)] == max_definition_;
  }
  found.entries = end - entry;
  return found;
}

void LeafRows::append_levels(int64_t entry, int64_t count, ByteBuffer& out) const {
  if (is_flat()) {
    append_sized(out, [&] {
      if (rows_.validity())
        append_hybrid_bits(rows_.validity(), rows_.offset() + entry, count, out);
      else
        append_run(1, count, 1, out);
    });
    return;
  }
  ByteBuffer wide;
  const auto append = [&](const ByteBuffer& levels, int most) {
    auto* const words = reinterpret_cast<uint32_t*>(wide.reserve(4 * count));
    const auto* const bytes = reinterpret_cast<const uint8_t*>(levels.data()) + entry;
    std::copy_n(bytes, count, words);
    const int width = static_cast<int>(std::bit_width(static_cast<unsigned>(most)));
    append_sized(out, [&] { append_hybrid(words, count, width, out); });
  };
  if (max_repetition_ > 0) append(repetitions_, max_repetition_);
  append(definitions_, max_definition_);
}

}  // namespace hr::parquet
