// SPDX-License-Identifier: Apache-2.0
// Keys of groups that another one determines: found by comparing each row with the first of its
// group.
#include "headrace/relational/aggregate/determined_keys.h"

#include "headrace/algo/aggregate/accumulators.h"
#include "headrace/algo/select/gather.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/data/device.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string_view>
#include <unordered_map>

namespace hr {

namespace {

constexpr uint32_t kNoRow = std::numeric_limits<uint32_t>::max();
constexpr int64_t kFewRows = 1024;    // whose strings cost little
constexpr int64_t kTriedRows = 4096;  // which tell most keys that determine nothing
constexpr int64_t kMostValuesARow = 2;
constexpr int64_t kViewBytes = 16;  // of a string: equal ones are equal strings

// A key that is the same in the rows of a group.
class ComparedKey {
 public:
  explicit ComparedKey(const Column& column)
      : column_(column),
        data_(column.values_buffer().data() + column.offset() * width()),
        is_string_(column.dtype().is_string()) {}

  static bool fits(const Column& column) {
    const Dtype dtype = column.dtype();
    if (dtype.is_bool() || dtype.is_category() || column.null_count() > 0) return false;
    return dtype.is_string() || dtype.storage().is_real();
  }

  const Column& column() const { return column_; }

  bool equal(int64_t a, int64_t b) const {
    if (is_string_)
      return std::memcmp(data_ + a * kViewBytes, data_ + b * kViewBytes, kViewBytes) == 0 ||
             column_.string(a) == column_.string(b);
    const auto size = static_cast<size_t>(width());
    return std::memcmp(data_ + a * width(), data_ + b * width(), size) == 0;
  }

  // -0.0 is the same group as 0.0, and NaN as any other NaN.
  bool is_plain(int64_t row) const {
    if (!column_.dtype().is_floating()) return true;
    return visit_real(column_.dtype().storage(), [&]<class T>(std::type_identity<T>) {
      T value;
      std::memcpy(&value, data_ + row * width(), sizeof value);
      return value == value && !(value == T{0} && std::signbit(static_cast<double>(value)));
    });
  }

 private:
  int64_t width() const {
    return column_.dtype().is_string() ? kViewBytes : column_.dtype().size_bytes();
  }

  const Column& column_;
  const std::byte* data_;
  bool is_string_;
};

// Calls f(row of the block, value) for rows [begin, end).
template <class F>
void each_value(const Column& column, int64_t begin, int64_t end, F&& f) {
  int64_t space[kBlockRows];
  for (int64_t row = begin; row < end; row += kBlockRows) {
    const int64_t count = std::min(kBlockRows, end - row);
    const auto* const values =
        static_cast<const int64_t*>(read_values(column, ValueClass::kSigned, row, count, space));
    for (int64_t i = 0; i < count; ++i) f(row + i, values[i]);
  }
}

struct Range {
  int64_t least = std::numeric_limits<int64_t>::max();
  int64_t most = std::numeric_limits<int64_t>::min();
};

Range range_of(const Column& column) {
  const int64_t rows = column.num_rows();
  std::vector<Range> parts(static_cast<size_t>(num_morsels(rows)));
  parallel_morsels(rows, {reads(column)}, [&](Morsel morsel) {
    Range part;
    each_value(column, morsel.begin, morsel.end, [&](int64_t, int64_t value) {
      part = {std::min(part.least, value), std::max(part.most, value)};
    });
    parts[static_cast<size_t>(morsel.index)] = part;
  });
  Range all;
  for (const Range& part : parts)
    all = {std::min(all.least, part.least), std::max(all.most, part.most)};
  return all;
}

// Rows [begin, end) against the first ones of their groups.
bool are_equal(const Column& key, const std::vector<ComparedKey>& others, int64_t least,
               const uint32_t* first, int64_t begin, int64_t end) {
  bool equal = true;
  each_value(key, begin, end, [&](int64_t row, int64_t value) {
    const int64_t from = first[value - least];
    for (const ComparedKey& other : others)
      equal = equal && other.is_plain(row) && (from == row || other.equal(row, from));
  });
  return equal;
}

// The first row of each value among some rows.
void find_first_rows(const Column& key, int64_t least, uint32_t* first, int64_t begin,
                     int64_t end) {
  each_value(key, begin, end, [&](int64_t row, int64_t value) {
    uint32_t& at = first[value - least];
    at = std::min(at, static_cast<uint32_t>(row));
  });
}

std::optional<DeterminingKey> try_key(const std::vector<Column>& keys, size_t place,
                                      const std::vector<ComparedKey>& others) {
  const Column& key = keys[place];
  const int64_t rows = key.num_rows();
  const Range range = range_of(key);
  const uint64_t width = static_cast<uint64_t>(range.most) - static_cast<uint64_t>(range.least);
  if (width >= static_cast<uint64_t>(kMostValuesARow * rows)) return {};
  Buffer first_rows;
  try {
    first_rows = Buffer::allocate(4 * (static_cast<int64_t>(width) + 1));
  } catch (const OutOfMemoryError&) {
    return {};  // the keys are compared as they are, which can spill
  }
  auto* const first = first_rows.mutable_as<uint32_t>();
  std::fill_n(first, width + 1, kNoRow);
  const int64_t tried = std::min(rows, kTriedRows);
  find_first_rows(key, range.least, first, 0, tried);
  if (!are_equal(key, others, range.least, first, 0, tried)) return {};
  find_first_rows(key, range.least, first, tried, rows);
  std::atomic<bool> equal{true};
  std::vector<BufferAccess> accesses{reads(key)};
  for (const ComparedKey& other : others) accesses.push_back(reads(other.column()));
  parallel_morsels(rows, accesses, [&](Morsel morsel) {
    if (equal.load(std::memory_order_relaxed) &&
        !are_equal(key, others, range.least, first, morsel.begin, morsel.end))
      equal.store(false, std::memory_order_relaxed);
  });
  if (!equal) return {};
  first_rows.seal();
  return DeterminingKey{place, range.least, std::move(first_rows)};
}

// A key of this kind is tried.
bool may_determine(const Column& column) {
  const Dtype dtype = column.dtype();
  return dtype.storage().is_signed() && !dtype.is_bool() && !dtype.is_category() &&
         !dtype.is_floating() && !dtype.is_decimal() && column.null_count() == 0;
}

bool is_string(const Column& key) {
  return key.dtype().is_string();
}

// How many keys are tried, from the first one on.
size_t num_tried(const std::vector<Column>& keys, GroupOptions options) {
  const int64_t rows = keys[0].num_rows();
  if (keys.size() < 2 || rows < kFewRows || rows >= int64_t{kNoRow} ||
      std::ranges::none_of(keys, is_string))
    return 0;
  return options.order == GroupOrder::kSorted ? 1 : keys.size();
}

// The first rows of a key on a device, by their bytes.
class FirstRows {
 public:
  FirstRows(const Column& key, int64_t rows)
      : width_(is_string(key) ? kViewBytes : key.dtype().size_bytes()),
        bytes_(to_place(
            Tensor(TypeId::kUInt8, {rows * width_}, key.values_buffer(), key.offset() * width_),
            host, current_stream(key.place()))),
        is_string_(is_string(key)) {}

  std::string_view operator[](int64_t row) const {
    const char* const at = bytes_.as<char>() + row * width_;
    const std::string_view all(at, static_cast<size_t>(width_));
    uint32_t size = 0;
    std::memcpy(&size, at, is_string_ ? sizeof size : 0);
    // The view of a long string ends with its place, which tells nothing.
    return all.substr(
        0, size > sizeof StringView::inlined ? offsetof(StringView, indirect.buffer) : all.size());
  }

 private:
  int64_t width_;
  Tensor bytes_;
  bool is_string_;
};

}  // namespace

std::optional<DeterminingKey> find_determining_key(const std::vector<Column>& keys,
                                                   GroupOptions options) {
  const size_t last = num_tried(keys, options);
  for (size_t place = 0; place < last; ++place) {
    if (!may_determine(keys[place])) continue;
    std::vector<ComparedKey> others;
    for (size_t k = 0; k < keys.size(); ++k)
      if (k != place) {
        if (!ComparedKey::fits(keys[k])) return {};
        others.emplace_back(keys[k]);
      }
    if (auto found = try_key(keys, place, others)) return found;
  }
  return {};
}

bool may_be_determined(const std::vector<Column>& keys, GroupOptions options) {
  const size_t last = num_tried(keys, options);
  if (last == 0 || !std::ranges::all_of(keys, ComparedKey::fits)) return false;
  const int64_t rows = std::min(kTriedRows, keys[0].num_rows());
  std::vector<FirstRows> first;
  for (const Column& key : keys) first.emplace_back(key, rows);
  for (size_t place = 0; place < last; ++place) {
    if (!may_determine(keys[place])) continue;
    std::unordered_map<std::string_view, int64_t> first_of;
    bool is_refuted = false;
    for (int64_t row = 0; row < rows && !is_refuted; ++row) {
      const int64_t from = first_of.try_emplace(first[place][row], row).first->second;
      for (const FirstRows& other : first)
        is_refuted |= &other != &first[place] && other[row] != other[from];
    }
    if (!is_refuted) return true;
  }
  return false;
}

Grouped with_determined_keys(Grouped grouped, const std::vector<Column>& keys,
                             const DeterminingKey& known) {
  const Column own = grouped.keys[0];
  const int64_t groups = own.num_rows();
  Buffer rows = Buffer::allocate_spillable(8 * groups);
  if (groups > 0) {
    auto* const out = rows.mutable_as<int64_t>();
    const auto* const first = known.first_rows.as<uint32_t>();
    parallel_morsels(groups, {reads(own), writes(rows, 8)}, [&](Morsel morsel) {
      each_value(own, morsel.begin, morsel.end,
                 [&](int64_t row, int64_t value) { out[row] = first[value - known.least]; });
    });
  }
  rows.seal();
  const Tensor positions(TypeId::kInt64, {groups}, std::move(rows));
  grouped.keys.clear();
  for (size_t k = 0; k < keys.size(); ++k)
    grouped.keys.push_back(k == known.key ? own : gather(keys[k], positions));
  return grouped;
}

}  // namespace hr
