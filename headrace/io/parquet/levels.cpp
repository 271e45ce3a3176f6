// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/levels.h"

#include "headrace/algo/select/filter.h"
#include "headrace/algo/select/gather.h"
#include "headrace/base/bits.h"
#include "headrace/data/tensor.h"
#include "headrace/io/parquet/hybrid_writer.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace hr::parquet {

namespace {

void add_elements(std::string_view name, const Column& column, WrittenLeaf leaf,
                  WrittenSchema& schema) {
  leaf.path.emplace_back(name);
  ++leaf.max_definition;
  if (column.dtype().is_list()) {
    schema.elements.push_back({.repetition = Repetition::kOptional,
                               .name = name,
                               .num_children = 1,
                               .logical = {.kind = LogicalKind::kList}});
    schema.elements.push_back(
        {.repetition = Repetition::kRepeated, .name = "list", .num_children = 1});
    leaf.path.emplace_back("list");
    ++leaf.max_definition;
    ++leaf.max_repetition;
    return add_elements("element", *column.items(), std::move(leaf), schema);
  }
  leaf.type = stored_type(column.dtype());
  schema.elements.push_back({.type = leaf.type.physical,
                             .type_length = leaf.type.type_length,
                             .repetition = Repetition::kOptional,
                             .name = name,
                             .logical = leaf.type.logical});
  schema.leaves.push_back(std::move(leaf));
}

void append_level(ByteBuffer& to, int level) {
  const auto value = static_cast<uint32_t>(level);
  to.append({reinterpret_cast<const char*>(&value), sizeof value});
}

const uint32_t* levels_at(const ByteBuffer& levels, int64_t entry) {
  return reinterpret_cast<const uint32_t*>(levels.data()) + entry;
}

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
  for (size_t c = 0; c < names.size(); ++c) {
    WrittenLeaf leaf;
    leaf.column = c;
    add_elements(names[c], columns[c], std::move(leaf), schema);
  }
  return schema;
}

// Goes down from a row to its items; dtypes are not nested deeply.
struct LeafRows::Walk {
  LeafRows& to;
  ByteBuffer positions{};  // of values in the column of the leaf
  const Column* leaf = nullptr;

  void row(const Column& column, int64_t at, int repetition, int definition, int lists) {
    if (column.is_null(at)) return put(repetition, definition);
    if (!column.dtype().is_list()) {
      positions.append({reinterpret_cast<const char*>(&at), sizeof at});
      return put(repetition, definition + 1);
    }
    const ListSpan span = column.values<ListSpan>()[static_cast<size_t>(at)];
    if (span.size == 0) return put(repetition, definition + 1);
    for (int64_t i = 0; i < span.size; ++i)
      row(*column.items(), span.begin + i, i == 0 ? repetition : lists + 1, definition + 2,
          lists + 1);
  }

  void put(int repetition, int definition) {
    append_level(to.repetitions_, repetition);
    append_level(to.definitions_, definition);
    ++to.entries;
  }
};

LeafRows::LeafRows(const Column& column, const WrittenLeaf& leaf, int64_t first, int64_t rows)
    : max_definition_(leaf.max_definition), max_repetition_(leaf.max_repetition) {
  if (max_repetition_ == 0) {
    rows_ = column.slice(first, rows);
    values = without_nulls(rows_);
    entries = rows;
    return;
  }
  Walk walk{*this};
  for (int64_t i = 0; i < rows; ++i) walk.row(column, first + i, 0, 0, 0);
  const Column* items = &column;
  while (items->dtype().is_list()) items = items->items().get();
  const int64_t count = walk.positions.size() / 8;
  values = gather(*items, Tensor(dtype_of<int64_t>(), {count}, walk.positions.finish()));
}

LeafRows::Piece LeafRows::piece(int64_t entry, int64_t most) const {
  if (max_repetition_ == 0) {
    const int64_t count = std::min(most, entries - entry);
    const bool some_null = rows_.validity() != nullptr;
    return {count, count,
            some_null ? count_bits(rows_.validity(), rows_.offset() + entry, count) : count};
  }
  Piece found{};
  int64_t values_of_row = 0, end = entry;
  for (; end < entries; ++end) {
    if (*levels_at(repetitions_, end) == 0) {
      if (end > entry && (found.rows == most || end - entry >= most)) break;
      ++found.rows;
    }
    values_of_row += *levels_at(definitions_, end) == static_cast<uint32_t>(max_definition_);
  }
  found.entries = end - entry;
  found.values = values_of_row;
  return found;
}

void LeafRows::append_levels(int64_t entry, int64_t count, ByteBuffer& out) const {
  if (max_repetition_ == 0) {
    append_sized(out, [&] {
      if (rows_.validity())
        append_hybrid_bits(rows_.validity(), rows_.offset() + entry, count, out);
      else
        append_run(1, count, 1, out);
    });
    return;
  }
  const auto append = [&](const ByteBuffer& levels, int most) {
    const int width = static_cast<int>(std::bit_width(static_cast<unsigned>(most)));
    append_sized(out, [&] { append_hybrid(levels_at(levels, entry), count, width, out); });
  };
  append(repetitions_, max_repetition_);
  append(definitions_, max_definition_);
}

}  // namespace hr::parquet
