// SPDX-License-Identifier: Apache-2.0
// Strings as categories, and back: a dictionary a morsel, merged in order.
#include "headrace/algo/categories.h"

#include "headrace/base/bits.h"
#include "headrace/data/dictionary.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <cstring>

namespace hr {

namespace {

// The validity of a column with row 0 in bit 0; empty without nulls.
Buffer validity_from_zero(const Column& column) {
  if (column.null_count() == 0) return {};
  const int64_t rows = column.num_rows();
  Buffer buffer = Buffer::allocate_zeroed(bitmap_bytes(rows));
  std::byte* out = buffer.mutable_data();
  parallel_morsels(rows, [&](Morsel morsel) {  // morsels begin at whole words
    for (int64_t row = morsel.begin; row < morsel.end; row += 64) {
      const int64_t count = std::min<int64_t>(64, morsel.end - row);
      const uint64_t word = load_bits(column.validity(), column.offset() + row, count);
      std::memcpy(out + row / 8, &word, static_cast<size_t>(bitmap_bytes(count)));
    }
  });
  return buffer;
}

}  // namespace

Column categories_of_strings(const Column& strings) {
  const int64_t rows = strings.num_rows();
  Buffer buffer = Buffer::allocate(rows * 4);
  if (rows == 0) return Column(TypeId::kCategory, 0, {});
  auto* codes = buffer.mutable_as<int32_t>();
  std::vector<Column> seen(static_cast<size_t>(num_morsels(rows)));
  parallel_morsels(rows, [&](Morsel morsel) {
    DictionaryBuilder builder;
    for (int64_t row = morsel.begin; row < morsel.end; ++row)
      codes[row] = strings.is_null(row) ? 0 : builder.add(strings.string(row));
    seen[static_cast<size_t>(morsel.index)] = builder.values();
  });
  DictionaryBuilder all;
  std::vector<Buffer> turned(seen.size());
  for (size_t k = 0; k < seen.size(); ++k) {
    turned[k] = all.add_all(seen[k]);
    seen[k] = {};
  }
  parallel_morsels(rows, [&](Morsel morsel) {
    const Buffer& turn = turned[static_cast<size_t>(morsel.index)];
    if (!turn) return;
    const auto* to = turn.as<int32_t>();
    for (int64_t row = morsel.begin; row < morsel.end; ++row)
      codes[row] = strings.is_null(row) ? 0 : to[codes[row]];
  });
  return Column::categories(rows, std::move(buffer), all.finish(), validity_from_zero(strings),
                            strings.null_count());
}

Column strings_of_categories(const Column& categories) {
  const int64_t rows = categories.num_rows();
  Buffer buffer = Buffer::allocate(rows * static_cast<int64_t>(sizeof(StringView)));
  const Column& values = categories.dictionary()->values();
  if (rows > 0) {
    auto* views = buffer.mutable_as<StringView>();
    const StringView* entries = values.values<StringView>().data();
    const int32_t* codes = categories.values<int32_t>().data();
    parallel_morsels(rows, [&](Morsel morsel) {
      for (int64_t row = morsel.begin; row < morsel.end; ++row)
        views[row] = categories.is_null(row) ? StringView{} : entries[codes[row]];
    });
  }
  return values.with_rows(rows, std::move(buffer), validity_from_zero(categories),
                          categories.null_count());
}

}  // namespace hr
