// SPDX-License-Identifier: Apache-2.0
// One column after the other is mixed into the hashes of a morsel.
#include "headrace/algo/keys/hash_rows.h"

#include "headrace/algo/keys/hash.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/data/dictionary.h"
#include "headrace/data/string_reader.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <type_traits>
#include <vector>

namespace hr {

namespace {

constexpr uint64_t kMissing = 0xC2B2AE3D27D4EB4Fu;
constexpr int64_t kNanosecondsPerDay = int64_t{86'400} * 1'000'000'000;

uint64_t hash_real(double value) {
  if (std::isnan(value)) return kMissing;
  constexpr double kLimit = 0x1p63;
  if (value >= -kLimit && value < kLimit) {
    const auto whole = static_cast<int64_t>(value);
    if (static_cast<double>(whole) == value) return hash_key(static_cast<uint64_t>(whole));
  }
  return hash_key(std::bit_cast<uint64_t>(value) ^ kMissing);
}

// Units of dates, times and durations as nanoseconds modulo 2^64, so that equal times are equal.
uint64_t scale_of(Dtype dtype) {
  if (dtype.id() == TypeId::kDate) return kNanosecondsPerDay;
  if (dtype.id() != TypeId::kTimestamp && dtype.id() != TypeId::kDuration) return 1;
  return static_cast<uint64_t>(units_per_second(TimeUnit::kNano) / units_per_second(dtype.unit()));
}

using Hasher = std::function<void(Morsel, uint64_t* hashes)>;

// Calls `f` with a function that gives the hash of a row which is not null.
template <class F>
auto visit_hash(const Column& column, const F& f) {
  const Dtype dtype = column.dtype();
  if (dtype.is_bool())
    return f([&column](int64_t row) { return hash_key(static_cast<uint64_t>(column.bit(row))); });
  if (dtype.id() == TypeId::kString)
    return f([texts = StringReader(column)](int64_t row) { return StringKey(texts[row]).hash; });
  if (dtype.id() == TypeId::kDecimal)
    return f([words = column.values<StringView>().data()](int64_t row) {
      const auto halves = std::bit_cast<std::array<uint64_t, 2>>(words[row]);
      return hash_key(halves[0] ^ hash_key(halves[1]));
    });
  if (!dtype.storage().is_real())
    throw_error<UnsupportedError>("hash_rows", "rows of this dtype have no hash",
                                  {{"dtype", dtype.name()}}, "use other columns as keys");
  const uint64_t scale = scale_of(dtype);
  return visit_real(dtype.storage(), [&]<class T>(std::type_identity<T>) {
    const T* const values = column.values<T>().data();
    return f([values, scale](int64_t row) {
      if constexpr (std::is_floating_point_v<T>)
        return hash_real(values[row]);
      else
        return hash_key(static_cast<uint64_t>(static_cast<int64_t>(values[row])) * scale);
    });
  });
}

template <class F>
Hasher mixing(const Column& column, F of_row) {
  return [&column, of_row](Morsel morsel, uint64_t* hashes) {
    const bool nulls = column.null_count() > 0;
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      const uint64_t hash = nulls && column.is_null(row) ? kMissing : of_row(row);
      hashes[row] = hash_key(hashes[row] ^ hash);
    }
  };
}

Hasher hasher_of(const Column& column) {
  if (column.dtype().id() != TypeId::kCategory)
    return visit_hash(column, [&](auto of_row) { return mixing(column, std::move(of_row)); });
  const Column& values = column.dictionary()->values();
  std::vector<uint64_t> each(static_cast<size_t>(values.num_rows()));
  visit_hash(values, [&](const auto& of_row) {
    for (size_t code = 0; code < each.size(); ++code)
      each[code] = of_row(static_cast<int64_t>(code));
  });
  const int32_t* const codes = column.values<int32_t>().data();
  return mixing(column, [each = std::move(each), codes](int64_t row) {
    return each[static_cast<size_t>(codes[row])];
  });
}

}  // namespace

Column hash_rows(std::span<const Column> columns) {
  const int64_t rows = columns[0].num_rows();
  std::vector<Hasher> hashers;
  Buffer out = Buffer::allocate_spillable(8 * rows);
  std::vector<BufferAccess> accesses{writes(out, 8)};
  for (const Column& column : columns) {
    hashers.push_back(hasher_of(column));
    accesses.push_back(reads(column));
  }
  auto* const hashes = rows > 0 ? out.mutable_as<uint64_t>() : nullptr;
  parallel_morsels(rows, accesses, [&](Morsel morsel) {
    std::fill(hashes + morsel.begin, hashes + morsel.end, uint64_t{0});
    for (const Hasher& hasher : hashers) hasher(morsel, hashes);
  });
  out.seal();
  return Column(TypeId::kUInt64, rows, std::move(out));
}

}  // namespace hr
