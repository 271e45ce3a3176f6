// SPDX-License-Identifier: Apache-2.0
// Vertices numbered by a map of ranks where their ids are near each other, else by a table of them.
#include "headrace/graph/structure/number_vertices.h"

#include "headrace/algo/keys/factorize_partitioned.h"
#include "headrace/algo/keys/normalized_keys.h"
#include "headrace/algo/keys/rank_map.h"
#include "headrace/algo/select/bitmap_builder.h"
#include "headrace/algo/select/concat.h"
#include "headrace/algo/sort/partition_point_math.h"
#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/graph/structure/number_integers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

namespace hr {

namespace {

// Rows [begin, begin + count) of all parts, numbered one after the other.
std::vector<Buffer> split(const Buffer& all, const std::vector<std::vector<Column>>& parts) {
  std::vector<Buffer> made;
  int64_t begin = 0;
  for (const std::vector<Column>& part : parts) {
    const int64_t rows = part[0].num_rows();
    Buffer& out = made.emplace_back(Buffer::allocate_temporary(4 * rows));
    if (rows > 0) {
      auto* const to = out.mutable_as<uint32_t>();
      const auto* const from = all.as<uint32_t>() + begin;
      parallel_morsels(rows,
                       {{&all, 32 * begin, 32, 32, rows}, {&out, 0, 32, 32, rows, 0, 0, true}},
                       [&](Morsel morsel) {
                         std::copy(from + morsel.begin, from + morsel.end, to + morsel.begin);
                       });
    }
    out.seal();
    begin += rows;
  }
  return made;
}

// The ranks of the keys of all parts.
std::vector<Buffer> ranked(const NormalizedKeys& keys, const RankMap& map,
                           const std::vector<std::vector<Column>>& parts) {
  std::vector<Buffer> made;
  int64_t before = 0;
  for (const std::vector<Column>& part : parts) {
    const int64_t rows = part[0].num_rows();
    Buffer& out = made.emplace_back(Buffer::allocate_temporary(4 * rows));
    if (rows > 0) {
      auto* const to = out.mutable_as<uint32_t>();
      // Every key of the range is there: the keys are the ranks.
      const bool is_rank = static_cast<uint64_t>(map.size()) == keys.domain();
      parallel_morsels(rows, {{&out, 0, 32, 32, rows, 0, 0, true}}, [&](Morsel morsel) {
        uint64_t block[kBlockRows];
        for (int64_t row = morsel.begin; row < morsel.end; row += kBlockRows) {
          const int64_t count = std::min(kBlockRows, morsel.end - row);
          keys.read(before + row, count, block);
          if (!is_rank)
            for (int64_t i = 0; i < count; ++i) block[i] = map.rank(block[i]);
          for (int64_t i = 0; i < count; ++i) to[row + i] = static_cast<uint32_t>(block[i]);
        }
      });
    }
    out.seal();
    before += rows;
  }
  return made;
}

bool is_nan(const Column& column, int64_t row) {
  const auto at = static_cast<size_t>(row);
  if (column.dtype().id() == TypeId::kFloat64) return std::isnan(column.values<double>()[at]);
  return column.dtype().id() == TypeId::kFloat32 && std::isnan(column.values<float>()[at]);
}

void refuse_missing(std::string_view op, const Column& column) {
  const Nulls null(column);
  for (int64_t row = 0; row < column.num_rows(); ++row) {
    if (null(row) || is_nan(column, row))
      throw_error<InvalidArgumentError>(op, "a missing value names no vertex", {{"row", row}},
                                        "drop these rows, df.dropna()");
  }
}

// -1, 0 or 1: row `i` of `a` before, equal to or behind row `j` of `b`.
template <class T>
int compare_values(const Column& a, int64_t i, const Column& b, int64_t j) {
  const T x = a.values<T>()[static_cast<size_t>(i)], y = b.values<T>()[static_cast<size_t>(j)];
  return static_cast<int>(x > y) - static_cast<int>(x < y);
}

int compare(const Column& a, int64_t i, const Column& b, int64_t j) {
  if (a.dtype().has_text()) {
    const int order = a.string(i).compare(b.string(j));
    return static_cast<int>(order > 0) - static_cast<int>(order < 0);
  }
  if (a.dtype().is_bool()) return static_cast<int>(a.bit(i)) - static_cast<int>(b.bit(j));
  switch (a.dtype().storage().id()) {
    case TypeId::kInt8:
      return compare_values<int8_t>(a, i, b, j);
    case TypeId::kInt16:
      return compare_values<int16_t>(a, i, b, j);
    case TypeId::kInt32:
      return compare_values<int32_t>(a, i, b, j);
    case TypeId::kInt64:
      return compare_values<int64_t>(a, i, b, j);
    case TypeId::kUInt8:
      return compare_values<uint8_t>(a, i, b, j);
    case TypeId::kUInt16:
      return compare_values<uint16_t>(a, i, b, j);
    case TypeId::kUInt32:
      return compare_values<uint32_t>(a, i, b, j);
    case TypeId::kUInt64:
      return compare_values<uint64_t>(a, i, b, j);
    case TypeId::kFloat32:
      return compare_values<float>(a, i, b, j);
    case TypeId::kFloat64:
      return compare_values<double>(a, i, b, j);
    default:
      throw_error<UnsupportedError>("graph", "vertices of this dtype cannot be looked up",
                                    {{"dtype", a.dtype().name()}});
  }
}

}  // namespace

NumberedVertices number_vertices(std::string_view op,
                                 const std::vector<std::vector<Column>>& parts) {
  NumberedVertices made;
  int64_t rows = 0;
  for (const std::vector<Column>& part : parts) rows += part[0].num_rows();
  if (rows > std::numeric_limits<uint32_t>::max())
    throw_error<UnsupportedError>(op, "more than 2^32 - 1 ends of edges", {{"ends", rows}});
  for (const std::vector<Column>& part : parts)
    for (const Column& column : part)
      if (column.null_count() > 0 || column.dtype().is_floating()) refuse_missing(op, column);
  if (std::optional<NumberedVertices> near = number_integers(parts)) return std::move(*near);
  std::vector<Column> columns;
  for (size_t key = 0; key < parts[0].size(); ++key) {
    std::vector<Column> chunks;
    for (const std::vector<Column>& part : parts) chunks.push_back(part[key]);
    columns.push_back(concatenate(op, chunks[0].dtype(), chunks));
  }
  const auto keys = NormalizedKeys::of(op, columns, {});
  const ReadKeys read = [&](int64_t row, int64_t count, uint64_t* out) {
    keys.read(row, count, out);
  };
  const uint64_t domain = keys.domain();
  Buffer different;
  if (rows > 0 && are_near(domain, rows)) {
    const RankMap map(rows, domain - 1, read, keys.accesses());
    made.count = map.size();
    made.numbers = ranked(keys, map, parts);
    different = map.keys();
  } else if (rows > 0) {
    SortedFactorizedKeys found = factorize_sorted(rows, read, keys.accesses());
    made.count = found.count;
    made.numbers = split(found.numbers, parts);
    different = std::move(found.keys);
  } else {
    made.numbers.assign(parts.size(), Buffer::allocate(0));
  }
  for (size_t key = 0; key < columns.size(); ++key)
    made.ids.push_back(rows == 0 ? columns[key]
                                 : keys.decode(static_cast<int64_t>(key), different, made.count));
  return made;
}

namespace {

// Places of ids that have no gaps: subtraction, whatever their width.
template <class T>
bool find_without_gaps(const Column& ids, const Column& asked, int64_t* out) {
  const std::span<const T> known = ids.values<T>(), wanted = asked.values<T>();
  const auto count = static_cast<uint64_t>(known.size());
  const auto at = [&](T id) { return static_cast<uint64_t>(id) - static_cast<uint64_t>(known[0]); };
  if (known.empty() || asked.null_count() > 0 || at(known.back()) != count - 1) return false;
  parallel_morsels(asked.num_rows(), [&](Morsel morsel) {
    for (auto i = static_cast<size_t>(morsel.begin); i < static_cast<size_t>(morsel.end); ++i)
      out[i] = at(wanted[i]) < count ? static_cast<int64_t>(at(wanted[i])) : -1;
  });
  return true;
}

bool find_without_gaps(const std::vector<Column>& ids, const std::vector<Column>& asked,
                       int64_t* out) {
  if (ids.size() != 1) return false;
  switch (ids[0].dtype().id()) {
    case TypeId::kInt32:
      return find_without_gaps<int32_t>(ids[0], asked[0], out);
    case TypeId::kInt64:
      return find_without_gaps<int64_t>(ids[0], asked[0], out);
    case TypeId::kUInt32:
      return find_without_gaps<uint32_t>(ids[0], asked[0], out);
    default:
      return false;
  }
}

// -1, 0 or 1: the vertex before, equal to or behind a row.
int compare_rows(const std::vector<Column>& ids, int64_t vertex, const std::vector<Column>& asked,
                 int64_t row) {
  for (size_t key = 0; key < ids.size(); ++key)
    if (const int each = compare(ids[key], vertex, asked[key], row); each != 0) return each;
  return 0;
}

// `of(row, low)` for each row of `asked`, the first `low` ids of which are below it.
template <class F>
Column by_search(const std::vector<Column>& ids, const std::vector<Column>& asked, F&& of) {
  const int64_t rows = asked[0].num_rows();
  Buffer made = Buffer::allocate(8 * rows);
  auto* const out = rows ? made.mutable_as<int64_t>() : nullptr;
  parallel_morsels(rows, [&](Morsel morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      const auto is_below = [&](int64_t id) { return compare_rows(ids, id, asked, row) < 0; };
      out[row] = of(row, partition_point(int64_t{0}, ids[0].num_rows(), is_below));
    }
  });
  made.seal();
  return Column(TypeId::kInt64, rows, std::move(made));
}

}  // namespace

Column find_vertices(const std::vector<Column>& ids, const std::vector<Column>& asked) {
  const int64_t rows = asked[0].num_rows();
  Buffer found = Buffer::allocate(8 * rows);
  if (rows == 0) return Column(TypeId::kInt64, 0, std::move(found));
  if (find_without_gaps(ids, asked, found.mutable_as<int64_t>())) {
    found.seal();
    return Column(TypeId::kInt64, rows, std::move(found));
  }
  return by_search(ids, asked, [&](int64_t row, int64_t low) {
    const bool is_missing = std::any_of(asked.begin(), asked.end(), [&](const Column& key) {
      return key.is_null(row) || is_nan(key, row);
    });
    const bool is_there =
        !is_missing && low < ids[0].num_rows() && compare_rows(ids, low, asked, row) == 0;
    return is_there ? low : -1;
  });
}

Column count_below(const std::vector<Column>& ids, const std::vector<Column>& asked) {
  return by_search(ids, asked, [](int64_t, int64_t low) { return low; });
}

Column counted_ids(int64_t count) {
  Buffer made = Buffer::allocate(8 * count);
  if (count > 0) {
    auto* const out = made.mutable_as<int64_t>();
    parallel_morsels(count, [&](Morsel morsel) {
      std::iota(out + morsel.begin, out + morsel.end, morsel.begin);
    });
  }
  made.seal();
  return Column(TypeId::kInt64, count, std::move(made));
}

}  // namespace hr
