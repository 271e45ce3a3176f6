// SPDX-License-Identifier: Apache-2.0
// Pairs of rows with equal keys.
#include "headrace/relational/join/join.h"

#include "headrace/algo/keys/key_slices.h"
#include "headrace/algo/keys/normalized_keys.h"
#include "headrace/algo/select/compact_offsets.h"
#include "headrace/algo/select/concat.h"
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/base/enum_names.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/exec/workers.h"
#include "headrace/exec/zeroed.h"
#include "headrace/functions/strings/string_compare.h"
#include "headrace/memory/adaptors/allocator.h"
#include "headrace/plan/graph/slices.h"
#include "headrace/relational/join/join_hash_table.h"
#include "headrace/relational/join/join_slots.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <numeric>
#include <optional>

namespace hr {

namespace {

constexpr std::string_view kOp = "merge";
constexpr int32_t kNone = -1;
constexpr int64_t kFewTexts = 8;

BufferAccess writes_int32(const Buffer& buffer, int64_t rows) {
  return {&buffer, 0, 32, 32, rows, 0, 0, true};
}

// ---- keys ---------------------------------------------------------------------------------------

// Keys of 8 bytes are used in place.
bool lies_ready(const Column& column) {
  return column.dtype().storage().is_integer() && column.dtype().size_bytes() == 8 &&
         column.null_count() == 0;
}

std::array<JoinKeys, 2> keys_of(const std::vector<Column>& left, int64_t left_rows,
                                const std::vector<Column>& right, int64_t right_rows) {
  if (left.empty()) {
    const auto zeros = [](int64_t rows) {
      return JoinKeys{Buffer::allocate_zeroed(8 * rows), 0, rows, {}};
    };
    return {zeros(left_rows), zeros(right_rows)};
  }
  if (left.size() == 1 && lies_ready(left[0]) && lies_ready(right[0])) {
    const auto ready = [](const Column& column) {
      return JoinKeys{column.values_buffer(), 8 * column.offset(), column.num_rows(), {}};
    };
    return {ready(left[0]), ready(right[0])};
  }
  std::vector<Column> both(left.size());
  const auto bring_together = [&](size_t i) {
    if (both[i].num_rows() < left_rows + right_rows)
      both[i] = concatenate(kOp, left[i].dtype(), std::array{left[i], right[i]});
  };
  for (size_t i = 0; i < left.size(); ++i)
    if (!NormalizedKeys::normalizes_by_value(left[i].dtype())) bring_together(i);
  if (const auto two = NormalizedKeys::of_two(kOp, left, right, both))
    return {JoinKeys{(*two)[0].to_buffer(0, left_rows), 0, left_rows, {}},
            JoinKeys{(*two)[1].to_buffer(0, right_rows), 0, right_rows, {}}};
  for (size_t i = 0; i < left.size(); ++i) bring_together(i);
  const NormalizedKeys packed = NormalizedKeys::of(kOp, both, {.ordered = false});
  return {JoinKeys{packed.to_buffer(0, left_rows), 0, left_rows, {}},
          JoinKeys{packed.to_buffer(left_rows, right_rows), 0, right_rows, {}}};
}

// What goes into the table: where the others are few, only what may have a match among them.
JoinKeys table_keys(const JoinKeys& keys, const JoinKeys& others) {
  return keys.rows > 2 * others.rows ? prefilter_build(keys, others) : keys;
}

// The left rows that may be in the result, where these are few of many.
JoinKeys probed_keys(const JoinKeys& keys, const JoinKeys& others, JoinKind kind) {
  const bool leaves_out = kind == JoinKind::kInner || kind == JoinKind::kSemi;
  return leaves_out && keys.rows > 4 * others.rows ? prefilter_probe(keys, others) : keys;
}

// The left rows of a result by their numbers.
void number_left(const JoinKeys& keys, JoinedRows& joined) {
  if (!keys.numbers) return;
  const int64_t rows = joined.rows;
  const auto* const numbers = keys.numbers.as<uint32_t>();
  Buffer made = Buffer::allocate_spillable(4 * rows);
  if (rows > 0) {
    auto* const out = made.mutable_as<uint32_t>();
    std::vector<BufferAccess> accesses{writes(made, 4)};
    if (!joined.keeps_left) accesses.push_back(reads(joined.left));
    const auto* const from = joined.keeps_left ? nullptr : joined.left.as<int32_t>();
    parallel_morsels(rows, accesses, [&](Morsel morsel) {
      for (int64_t row = morsel.begin; row < morsel.end; ++row)
        out[row] = numbers[from ? from[row] : row];
    });
  }
  made.seal();
  joined.left = Tensor(TypeId::kInt32, {rows}, std::move(made));
  joined.keeps_left = false;
}

// ---- pairs --------------------------------------------------------------------------------------

// What stands where each morsel of the left rows begins, concatenated.
Tensor compact(Buffer& pieces, int64_t left_rows, const std::vector<int64_t>& at) {
  const int64_t rows = at.back();
  if (4 * rows == pieces.size_bytes()) {
    pieces.seal();
    return Tensor(TypeId::kInt32, {rows}, std::move(pieces));
  }
  Buffer together = Buffer::allocate_spillable(4 * rows);
  if (rows > 0) {
    std::byte* const out = together.mutable_data();
    parallel_for(static_cast<int64_t>(at.size()) - 1, [&](int64_t m) {
      const int64_t begin = 4 * at[static_cast<size_t>(m)],
                    size = 4 * at[static_cast<size_t>(m) + 1] - begin,
                    from = 4 * m * morsel_rows(left_rows);
      if (size == 0) return;
      const Pin pin{{&pieces, from, from + size}, {&together, begin, begin + size, true}};
      std::memcpy(out + begin, pieces.data() + from, static_cast<size_t>(size));
    });
  }
  together.seal();
  return Tensor(TypeId::kInt32, {rows}, std::move(together));
}

// The rows of a semi join, or of an anti join, by the set of keys that the other side has.
JoinedRows filter_rows(const JoinKeys& keys, const KeyFilter& others, JoinKind kind) {
  const int64_t rows = keys.rows;
  const uint64_t flipped = kind == JoinKind::kAnti ? ~uint64_t{0} : 0;
  Buffer numbers = Buffer::allocate_spillable(4 * rows);
  std::vector<int64_t> at{0};
  if (rows > 0) {
    auto* const out = numbers.mutable_as<uint32_t>();
    at = compact_offsets(rows, {keys.access(), writes(numbers, 4)}, [&](Morsel morsel) {
      int64_t to = morsel.begin;
      for (int64_t row = morsel.begin; row < morsel.end; row += 64) {
        const int64_t count = std::min<int64_t>(64, morsel.end - row);
        uint64_t word = others.probe(keys.data() + row, count) ^ flipped;
        for (word &= ~uint64_t{0} >> (64 - count); word; word &= word - 1)
          out[to++] = static_cast<uint32_t>(row + std::countr_zero(word));
      }
      return to - morsel.begin;
    });
  }
  JoinedRows result;
  result.rows = at.back();
  result.keeps_left = result.rows == rows;
  if (!result.keeps_left) result.left = compact(numbers, rows, at);
  return result;
}

class Join {
 public:
  /// `in_table`: the right rows, or those that the left ones may meet.
  Join(const JoinKeys& left, const JoinKeys& right, const JoinKeys& in_table, JoinKind kind)
      : left_(left), right_(right), kind_(kind), table_(in_table, left.rows) {}

  const JoinHashTable& table() const { return table_; }

  JoinedRows run() {
    if (probes_unique()) return probe_unique();
    probe();
    JoinedRows result;
    std::vector<int64_t> at(sizes_.size() + 1, 0);
    std::partial_sum(sizes_.begin(), sizes_.end(), at.begin() + 1);
    std::vector<int64_t> unmatched;  // right rows without a match, by morsel
    if (kind_ == JoinKind::kOuter) unmatched = count_unmatched();
    const int64_t from_left = at.back();
    result.rows = std::accumulate(unmatched.begin(), unmatched.end(), from_left);
    if (result.rows > INT32_MAX) refuse(result.rows);
    const bool one_each = pairs_all_ || keeps_unmatched();
    result.keeps_left = one_each && table_.is_unique() && result.rows == left_.rows;
    if (result.keeps_left) {
      begins_.seal();
      result.right = Tensor(TypeId::kInt32, {result.rows}, std::move(begins_));
      return result;
    }
    Buffer left = Buffer::allocate_spillable(4 * result.rows);
    Buffer right = Buffer::allocate_spillable(4 * result.rows);
    emit_matches(at, left, right);
    if (!unmatched.empty()) append_unmatched(unmatched, from_left, left, right);
    left.seal();
    right.seal();
    result.left = Tensor(TypeId::kInt32, {result.rows}, std::move(left));
    result.right = Tensor(TypeId::kInt32, {result.rows}, std::move(right));
    return result;
  }

 private:
  bool is_filter() const { return kind_ == JoinKind::kSemi || kind_ == JoinKind::kAnti; }

  // No left row comes twice, and some do not come.
  bool probes_unique() const {
    return is_filter() || (kind_ == JoinKind::kInner && table_.is_unique());
  }

  // One walk: each morsel writes what it picks, from where its rows begin, and moves it later.
  JoinedRows probe_unique() {
    const int64_t rows = left_.rows;
    const bool pairs = !is_filter();
    Buffer left = Buffer::allocate_spillable(4 * rows);
    Buffer right = Buffer::allocate_spillable(pairs ? 4 * rows : 0);
    std::vector<int64_t> at{0};
    if (rows > 0) {
      auto* const out = left.mutable_as<uint32_t>();
      auto* const match = pairs ? right.mutable_as<uint32_t>() : nullptr;
      std::vector<BufferAccess> accesses{left_.access(), writes(left, 4)};
      if (pairs) accesses.push_back(writes(right, 4));
      at = compact_offsets(rows, accesses, [&](Morsel morsel) {
        JoinHashTable::Matches matches;
        int64_t to = morsel.begin;
        for (int64_t row = morsel.begin; row < morsel.end; row += JoinHashTable::kBlock) {
          const int64_t block = std::min(JoinHashTable::kBlock, morsel.end - row);
          table_.probe(left_.data() + row, block, matches);
          if (kind_ == JoinKind::kAnti) {
            for (int64_t i = 0, k = 0; i < block; ++i) {
              const bool matched = k < matches.size && matches.keys[k] == i;
              out[to] = static_cast<uint32_t>(row + i);
              k += matched;
              to += !matched;
            }
            continue;
          }
          for (int64_t k = 0; k < matches.size; ++k)
            out[to + k] = static_cast<uint32_t>(row) + matches.keys[k];
          if (pairs) {
            const uint32_t* const numbers = table_.rows();
            for (int64_t k = 0; k < matches.size; ++k)
              __builtin_prefetch(numbers + matches.begins[k]);
            for (int64_t k = 0; k < matches.size; ++k) match[to + k] = numbers[matches.begins[k]];
          }
          to += matches.size;
        }
        return to - morsel.begin;
      });
    }
    JoinedRows result;
    result.rows = at.back();
    result.keeps_left = result.rows == rows;
    if (!result.keeps_left) result.left = compact(left, rows, at);
    if (pairs) result.right = compact(right, rows, at);
    return result;
  }

  bool keeps_unmatched() const { return kind_ == JoinKind::kLeft || kind_ == JoinKind::kOuter; }

  // Rows of the result that a left row with `count` matches gives.
  int64_t rows_of(int64_t count) const {
    return keeps_unmatched() ? std::max<int64_t>(count, 1) : count;
  }

  // Of each left row its match, or where its matches begin and how many there are.
  void probe() {
    const int64_t rows = left_.rows;
    const bool single = table_.is_unique();
    begins_ = Buffer::allocate_spillable(4 * rows);
    counts_ = Buffer::allocate_spillable(single ? 0 : 4 * rows);
    sizes_.assign(static_cast<size_t>(num_morsels(rows)), 0);
    if (kind_ == JoinKind::kOuter) matched_ = Buffer::allocate_zeroed(right_.rows);
    if (rows == 0) return;
    auto* const begins = begins_.mutable_as<uint32_t>();
    auto* const counts = single ? nullptr : counts_.mutable_as<uint32_t>();
    std::vector<BufferAccess> accesses{left_.access(), writes_int32(begins_, rows)};
    if (!single) accesses.push_back(writes_int32(counts_, rows));
    std::atomic<bool> all{true};
    parallel_morsels(rows, accesses, [&](Morsel morsel) {
      JoinHashTable::Matches matches;
      int64_t size = 0;
      bool none = false;
      for (int64_t row = morsel.begin; row < morsel.end; row += JoinHashTable::kBlock) {
        const int64_t block = std::min(JoinHashTable::kBlock, morsel.end - row);
        table_.probe(left_.data() + row, block, matches);
        none |= matches.size < block;
        if (keeps_unmatched()) size += block - matches.size;
        for (int64_t k = 0; k < matches.size; ++k) size += matches.counts[k];
        if (single) {
          const uint32_t* const numbers = table_.rows();
          for (int64_t k = 0; k < matches.size; ++k)
            __builtin_prefetch(numbers + matches.begins[k]);
          if (matches.size < block)
            std::fill(begins + row, begins + row + block, static_cast<uint32_t>(kNone));
          for (int64_t k = 0; k < matches.size; ++k)
            begins[row + matches.keys[k]] = numbers[matches.begins[k]];
        } else {
          if (matches.size < block) std::fill(counts + row, counts + row + block, 0);
          for (int64_t k = 0; k < matches.size; ++k) {
            begins[row + matches.keys[k]] = matches.begins[k];
            counts[row + matches.keys[k]] = matches.counts[k];
          }
        }
        if (matched_) note_matches(matches);
      }
      sizes_[static_cast<size_t>(morsel.index)] = size;
      if (none) all = false;
    });
    pairs_all_ = all;
  }

  // Of an outer join: where the matches of a left row begin.
  void note_matches(const JoinHashTable::Matches& matches) {
    auto* const matched = const_cast<uint8_t*>(matched_.as<uint8_t>());
    for (int64_t k = 0; k < matches.size; ++k) {
      const uint32_t begin = matches.begins[k];
      if (std::atomic_ref(matched[begin]).load(std::memory_order_relaxed)) continue;
      for (uint32_t at = begin; at < begin + matches.counts[k]; ++at)
        std::atomic_ref(matched[at]).store(1, std::memory_order_relaxed);
    }
  }

  void emit_matches(const std::vector<int64_t>& at, Buffer& left, Buffer& right) {
    if (at.back() == 0) return;
    const int64_t rows = left_.rows;
    auto* const out_left = left.mutable_as<int32_t>();
    auto* const out_right = right.mutable_as<int32_t>();
    const auto* const begins = begins_.as<uint32_t>();
    const auto* const counts = counts_ ? counts_.as<uint32_t>() : nullptr;
    const uint32_t* const numbers = table_.rows();
    parallel_morsels(rows, [&](Morsel morsel) {
      int64_t to = at[static_cast<size_t>(morsel.index)];
      for (int64_t row = morsel.begin; row < morsel.end;) {
        // A piece whose result is small compared with any budget.
        int64_t end = row, size = 0;
        while (end < morsel.end && end - row < kPieceRows && size < kPieceRows)
          size += rows_of(count_of(begins, counts, end++));
        std::vector<PinnedRange> held{{&begins_, 4 * row, 4 * end}};
        if (counts) held.push_back({&counts_, 4 * row, 4 * end});
        if (size > 0) held.push_back({&left, 4 * to, 4 * (to + size), true});
        if (size > 0) held.push_back({&right, 4 * to, 4 * (to + size), true});
        const Pin pin(held);
        for (; row < end; ++row) {
          const int64_t count = count_of(begins, counts, row), made = rows_of(count);
          for (int64_t k = 0; k < made; ++k) {
            out_left[to] = static_cast<int32_t>(row);
            out_right[to++] = static_cast<int32_t>(
                count == 0
                    ? static_cast<uint32_t>(kNone)
                    : (counts ? numbers[begins[row] + static_cast<uint32_t>(k)] : begins[row]));
          }
        }
      }
    });
  }

  static int64_t count_of(const uint32_t* begins, const uint32_t* counts, int64_t row) {
    return counts ? counts[row] : begins[row] != static_cast<uint32_t>(kNone);
  }

  // Right rows without a match, by morsel; in the order of the table first.
  std::vector<int64_t> count_unmatched() {
    std::vector<int64_t> unmatched(static_cast<size_t>(num_morsels(right_.rows)), 0);
    is_unmatched_ = Buffer::allocate_zeroed(right_.rows);
    if (right_.rows == 0) return unmatched;
    auto* const flags = is_unmatched_.mutable_as<uint8_t>();
    const auto* const matched = matched_.as<uint8_t>();
    parallel_morsels(right_.rows, [&](Morsel morsel) {
      for (int64_t k = morsel.begin; k < morsel.end; ++k)
        std::atomic_ref(flags[table_.rows()[k]]).store(!matched[k], std::memory_order_relaxed);
    });
    parallel_morsels(right_.rows, [&](Morsel morsel) {
      unmatched[static_cast<size_t>(morsel.index)] =
          std::accumulate(flags + morsel.begin, flags + morsel.end, int64_t{0});
    });
    return unmatched;
  }

  void append_unmatched(const std::vector<int64_t>& unmatched, int64_t first, Buffer& left,
                        Buffer& right) {
    if (left.size_bytes() == 0) return;
    std::vector<int64_t> at(unmatched.size() + 1, first);
    for (size_t i = 0; i < unmatched.size(); ++i) at[i + 1] = at[i] + unmatched[i];
    auto* const out_left = left.mutable_as<int32_t>();
    auto* const out_right = right.mutable_as<int32_t>();
    parallel_morsels(right_.rows, [&](Morsel morsel) {
      const auto m = static_cast<size_t>(morsel.index);
      if (unmatched[m] == 0) return;
      const Pin pin{{&left, 4 * at[m], 4 * at[m + 1], true},
                    {&right, 4 * at[m], 4 * at[m + 1], true}};
      int64_t to = at[m];
      for (int64_t row = morsel.begin; row < morsel.end; ++row) {
        if (!is_unmatched_.as<uint8_t>()[row]) continue;
        out_left[to] = kNone;
        out_right[to++] = static_cast<int32_t>(row);
      }
    });
  }

  [[noreturn]] void refuse(int64_t rows) const {
    int64_t most = 0, row = 0;
    for (int64_t i = 0; i < left_.rows; ++i) {
      const int64_t count =
          count_of(begins_.as<uint32_t>(), counts_ ? counts_.as<uint32_t>() : nullptr, i);
      if (count > most) most = count, row = i;
    }
    throw_error<InvalidArgumentError>(
        kOp, "the result has too many rows",
        {{"rows", rows},
         {"limit", INT32_MAX},
         {"left_row", left_.numbers ? left_.numbers.as<uint32_t>()[row] : row},
         {"matches", most}},
        "drop the duplicates of its key, or pass validate='m:1'");
  }

  static constexpr int64_t kPieceRows = 1 << 16;

  const JoinKeys& left_;
  const JoinKeys& right_;
  JoinKind kind_;
  JoinHashTable table_;
  Buffer begins_{};   // uint32 a left row: its only match or kNone, or a place in the table
  Buffer counts_{};   // uint32, where keys come twice
  Buffer matched_{};  // a byte a row of the table
  Buffer is_unmatched_{};
  std::vector<int64_t> sizes_{};
  bool pairs_all_ = true;  // every left row has a match
};

void check_unique(std::string_view side, const JoinKeys& keys, const JoinHashTable& table) {
  if (table.is_unique()) return;
  JoinHashTable::Matches matches;
  for (int64_t row = 0; row < keys.rows; row += JoinHashTable::kBlock) {
    table.probe(keys.data() + row, std::min(JoinHashTable::kBlock, keys.rows - row), matches);
    for (int64_t k = 0; k < matches.size; ++k)
      if (matches.counts[k] > 1)
        throw_error<InvalidArgumentError>(kOp, "keys are not unique, as validate requires",
                                          {{"side", side},
                                           {"row", row + matches.keys[k]},
                                           {"same_key_at", table.rows()[matches.begins[k] + 1]},
                                           {"rows_of_this_key", matches.counts[k]}},
                                          "drop_duplicates first, or pass another validate");
  }
}

}  // namespace

void check_join_rows(std::string_view side, int64_t rows) {
  if (rows > INT32_MAX)
    throw_error<InvalidArgumentError>(kOp, "too many rows",
                                      {{"side", side}, {"rows", rows}, {"limit", INT32_MAX}});
}

JoinKind join_kind_from_name(std::string_view name) {
  constexpr std::string_view kNames[] = {"inner", "left", "outer", "semi", "anti"};
  return enum_from_name<JoinKind>(kOp, "how", name, kNames,
                                  "pass inner, left, right, outer, semi, anti or cross");
}

Column is_in(const Column& values, const Column& set, const Mask* where) {
  const int64_t rows = values.num_rows();
  const bool texts = set.dtype().has_text();
  if (texts && set.num_rows() <= kFewTexts && set.null_count() == 0) {
    std::vector<std::string_view> wanted;
    for (int64_t row = 0; row < set.num_rows(); ++row) wanted.push_back(set.string(row));
    return is_one_of(values, wanted, where);
  }
  const auto [keys, set_keys] = keys_of({values}, rows, {set}, set.num_rows());
  Buffer bits = allocate_zeroed_by_workers(8 * ((rows + 63) / 64));
  if (rows == 0) return Column(TypeId::kBool, 0, std::move(bits));
  auto* const words = bits.mutable_as<uint64_t>();
  const JoinKeys& all = keys;
  const JoinKeys wanted = table_keys(set_keys, keys);
  if (const std::optional<KeyFilter> known = KeyFilter::exact(wanted, rows)) {
    parallel_morsels(rows, {all.access()}, [&](Morsel morsel) {
      for (int64_t row = morsel.begin; row < morsel.end; row += 64) {
        const int64_t count = std::min<int64_t>(64, morsel.end - row);
        const uint64_t open = where ? where->word(row, count) : ~uint64_t{0};
        if (open) words[row / 64] = open & known->probe(all.data() + row, count);
      }
    });
    return Column(TypeId::kBool, rows, std::move(bits));
  }
  const JoinHashTable table(wanted, rows);
  parallel_morsels(rows, {all.access()}, [&](Morsel morsel) {
    JoinHashTable::Matches matches;
    for (int64_t row = morsel.begin; row < morsel.end; row += JoinHashTable::kBlock) {
      table.probe(all.data() + row, std::min(JoinHashTable::kBlock, morsel.end - row), matches);
      for (int64_t k = 0; k < matches.size; ++k)
        words[row / 64 + matches.keys[k] / 64] |= uint64_t{1} << matches.keys[k] % 64;
    }
    for (int64_t row = morsel.begin; where && row < morsel.end; row += 64)
      words[row / 64] &= where->word(row, std::min<int64_t>(64, morsel.end - row));
  });
  return Column(TypeId::kBool, rows, std::move(bits));
}

JoinedRows join_rows(const std::vector<Column>& left, int64_t left_rows,
                     const std::vector<Column>& right, int64_t right_rows, JoinKind kind,
                     JoinUnique unique) {
  check_join_rows("left", left_rows);
  check_join_rows("right", right_rows);
  const auto is_there = [](const Column& column) { return !column.place().is_host(); };
  if (std::ranges::any_of(left, is_there) || std::ranges::any_of(right, is_there)) {
    std::string reason = why_no_slots(left, right);
    if (reason.empty()) {
      if (std::optional<JoinedRows> joined =
              join_by_slots(left, left_rows, right, right_rows, kind, unique))
        return *std::move(joined);
      reason = kWideKeys;
    }
    throw_error<UnsupportedError>(kOp, reason, {}, "move the keys with to_place first");
  }
  const auto [left_keys, right_keys] = keys_of(left, left_rows, right, right_rows);
  const std::string_view names[] = {unique.swapped ? "right" : "left",
                                    unique.swapped ? "left" : "right"};
  if (unique.left) check_unique(names[0], left_keys, JoinHashTable(left_keys));
  const bool whole = kind == JoinKind::kOuter || unique.right;
  const JoinKeys probed = probed_keys(left_keys, right_keys, kind);
  const JoinKeys in_table = whole ? right_keys : table_keys(right_keys, left_keys);
  JoinedRows joined;
  const bool is_filter = kind == JoinKind::kSemi || kind == JoinKind::kAnti;
  if (const auto known = is_filter && !whole ? KeyFilter::exact(in_table, probed.rows)
                                             : std::optional<KeyFilter>()) {
    joined = filter_rows(probed, *known, kind);
  } else {
    Join join(probed, right_keys, in_table, kind);
    if (unique.right) check_unique(names[1], right_keys, join.table());
    joined = join.run();
  }
  number_left(probed, joined);
  return joined;
}

// ---- slices -------------------------------------------------------------------------------------

namespace {

/// Pairs of the rows of all, from ranges of their keys: each left row is in one.
class SlicedPairs {
 public:
  SlicedPairs(int64_t left_rows, JoinKind kind)
      : counts_(static_cast<size_t>(left_rows)), kind_(kind) {}

  /// Of a slice: `left` and `right` are the numbers of its rows.
  void add(const JoinedRows& joined, const Tensor& left, const Tensor& right) {
    const auto* const from_left = joined.keeps_left ? nullptr : joined.left.as<int32_t>();
    const auto* const from_right =
        joined.right.num_elements() > 0 ? joined.right.as<int32_t>() : nullptr;
    const auto *const lefts = left.as<int64_t>(), *const rights = right.as<int64_t>();
    BudgetedVector<Pair>& pairs = pairs_.emplace_back();
    for (int64_t row = 0; row < joined.rows; ++row) {
      const int64_t at_left = from_left ? from_left[row] : row;
      const int64_t at_right = from_right ? from_right[row] : kNone;
      const auto number = static_cast<int32_t>(at_right == kNone ? kNone : rights[at_right]);
      if (at_left == kNone) {
        unmatched_.push_back(number);
        continue;
      }
      pairs.push_back({static_cast<int32_t>(lefts[at_left]), number});
      ++counts_[static_cast<size_t>(lefts[at_left])];
    }
    rows_ += joined.rows;
  }

  int64_t rows() const { return rows_; }

  /// In the order of the left rows, then right rows without one.
  JoinedRows in_order() {
    JoinedRows result;
    result.rows = rows_;
    result.keeps_left = unmatched_.empty() &&
                        std::ranges::all_of(counts_, [](int32_t count) { return count == 1; });
    BudgetedVector<int32_t> at(counts_.size());
    std::exclusive_scan(counts_.begin(), counts_.end(), at.begin(), 0);
    const bool has_right = kind_ != JoinKind::kSemi && kind_ != JoinKind::kAnti;
    Buffer left = Buffer::allocate(result.keeps_left ? 0 : 4 * rows_);
    Buffer right = Buffer::allocate(has_right ? 4 * rows_ : 0);
    auto* const out_left = left ? left.mutable_as<int32_t>() : nullptr;
    auto* const out_right = right ? right.mutable_as<int32_t>() : nullptr;
    parallel_for(static_cast<int64_t>(pairs_.size()), [&](int64_t slice) {
      for (const Pair pair : pairs_[static_cast<size_t>(slice)]) {
        const int32_t to = at[static_cast<size_t>(pair.left)]++;
        if (out_left) out_left[to] = pair.left;
        if (out_right) out_right[to] = pair.right;
      }
    });
    std::ranges::sort(unmatched_);
    for (size_t k = 0; k < unmatched_.size(); ++k) {
      const int64_t to = rows_ - static_cast<int64_t>(unmatched_.size() - k);
      out_left[to] = kNone;
      out_right[to] = unmatched_[k];
    }
    if (!result.keeps_left) result.left = Tensor(TypeId::kInt32, {rows_}, std::move(left));
    if (has_right) result.right = Tensor(TypeId::kInt32, {rows_}, std::move(right));
    return result;
  }

 private:
  struct Pair {
    int32_t left;
    int32_t right;
  };

  std::vector<BudgetedVector<Pair>> pairs_{};  // by slice
  BudgetedVector<int32_t> counts_;             // by left row
  BudgetedVector<int32_t> unmatched_{};        // right rows
  JoinKind kind_;
  int64_t rows_ = 0;
};

}  // namespace

std::optional<JoinedRows> join_rows_in_slices(const std::vector<Column>& left, int64_t left_rows,
                                              const std::vector<Column>& right, int64_t right_rows,
                                              JoinKind kind, Place place, int64_t slice_bytes) {
  if (left.empty() || left_rows > INT32_MAX || right_rows > INT32_MAX) return {};
  const auto [left_keys, right_keys] = keys_of(left, left_rows, right, right_rows);
  const auto column_of = [](const JoinKeys& keys) {
    return Column(TypeId::kUInt64, keys.rows, keys.buffer, {}, 0, keys.first_byte / 8);
  };
  const std::array<Column, 2> sides{column_of(left_keys), column_of(right_keys)};
  // A key and the numbers of a pair.
  const int64_t bytes = 16 * (left_rows + right_rows);
  const std::vector<uint64_t> borders = range_borders(sides, divide_up(3 * bytes, 2 * slice_bytes));
  const KeySlices lefts(sides[0], borders), rights(sides[1], borders);
  SlicedPairs pairs(left_rows, kind);
  for (int64_t slice = 0; slice < lefts.count(); ++slice) {
    const std::array<Value, 2> keys{lefts.keys(slice), rights.keys(slice)};
    JoinedRows joined;
    const std::vector<Value> rows =
        run_slice(kOp, place, keys, [&](std::span<const Value> there) -> std::vector<Value> {
          const std::array<Column, 2> own{std::get<Column>(there[0]), std::get<Column>(there[1])};
          joined = join_rows({own[0]}, own[0].num_rows(), {own[1]}, own[1].num_rows(), kind);
          return {joined.left, joined.right};
        });
    joined.left = std::get<Tensor>(rows[0]);
    joined.right = std::get<Tensor>(rows[1]);
    pairs.add(joined, lefts.rows(slice), rights.rows(slice));
    if (pairs.rows() > INT32_MAX) return {};
  }
  return pairs.in_order();
}

}  // namespace hr
