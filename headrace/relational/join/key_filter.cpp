// SPDX-License-Identifier: Apache-2.0
// Ranges and sets of keys.
#include "headrace/relational/join/key_filter.h"

#include "headrace/algo/keys/hash.h"
#include "headrace/algo/select/compact_offsets.h"
#include "headrace/base/bits.h"
#include "headrace/exec/workers.h"
#include "headrace/exec/zeroed.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <utility>
#include <vector>

namespace hr {

namespace {

constexpr uint64_t kMostBitsARow = 32;
constexpr uint64_t kHashBitsARow = 16;
constexpr int64_t kSampledWords = 256;

// Of the keys as signed and as unsigned numbers.
struct Extremes {
  int64_t least = std::numeric_limits<int64_t>::max();
  int64_t most = std::numeric_limits<int64_t>::min();
  uint64_t low = std::numeric_limits<uint64_t>::max();
  uint64_t high = 0;

  void add(const Extremes& other) {
    least = std::min(least, other.least);
    most = std::max(most, other.most);
    low = std::min(low, other.low);
    high = std::max(high, other.high);
  }
};

// Whether a bit for each key of the range is worth its memory.
bool is_narrow(const KeyRange& range, int64_t rows, int64_t asked) {
  const auto all = static_cast<uint64_t>(std::max<int64_t>(rows + asked, 64));
  return range.width / kMostBitsARow <= all;
}

}  // namespace

KeyRange range_of(const JoinKeys& keys) {
  if (keys.rows == 0) return {};
  std::vector<Extremes> parts(static_cast<size_t>(num_morsels(keys.rows)));
  parallel_morsels(keys.rows, {keys.access()}, [&](Morsel morsel) {
    Extremes part;
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      const uint64_t key = keys.data()[row];
      part.add({static_cast<int64_t>(key), static_cast<int64_t>(key), key, key});
    }
    parts[static_cast<size_t>(morsel.index)] = part;
  });
  Extremes all;
  for (const Extremes& part : parts) all.add(part);
  const uint64_t as_signed = static_cast<uint64_t>(all.most) - static_cast<uint64_t>(all.least);
  const uint64_t as_unsigned = all.high - all.low;
  if (as_signed <= as_unsigned) return {static_cast<uint64_t>(all.least), as_signed};
  return {all.low, as_unsigned};
}

KeyFilter::KeyFilter(const JoinKeys& keys, int64_t asked) {
  const KeyRange range = range_of(keys);
  *this = KeyFilter(keys, range, is_narrow(range, keys.rows, asked));
}

std::optional<KeyFilter> KeyFilter::exact(const JoinKeys& keys, int64_t asked) {
  const KeyRange range = range_of(keys);
  if (!is_narrow(range, keys.rows, asked)) return std::nullopt;
  return KeyFilter(keys, range, true);
}

KeyFilter::KeyFilter(const JoinKeys& keys, KeyRange range, bool is_exact) : range_(range) {
  uint64_t bits = range.width;
  if (!is_exact) {
    bits = std::bit_ceil(static_cast<uint64_t>(keys.rows) * kHashBitsARow) - 1;
    shift_ = std::countl_zero(bits);
  }
  map_ = allocate_zeroed_by_workers(static_cast<int64_t>(bits / 64 + 1) * 8);
  auto* const map = map_.mutable_as<uint64_t>();
  parallel_morsels(keys.rows, {keys.access()}, [&](Morsel morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      const uint64_t key = keys.data()[row];
      const uint64_t at = shift_ > 0 ? hash_key(key) >> shift_ : key - range_.least;
      std::atomic_ref word(map[at / 64]);
      const uint64_t bit = uint64_t{1} << at % 64;
      if (!(word.load(std::memory_order_relaxed) & bit))
        word.fetch_or(bit, std::memory_order_relaxed);
    }
  });
}

uint64_t KeyFilter::probe(const uint64_t* keys, int64_t count) const {
  const auto* const map = map_.as<uint64_t>();
  uint64_t found = 0;
  if (shift_ > 0) {
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t at = hash_key(keys[i]) >> shift_;
      found |= (map[at / 64] >> at % 64 & 1) << i;
    }
    return found;
  }
  for (int64_t i = 0; i < count; ++i) {
    const bool inside = range_.has(keys[i]);
    const uint64_t at = inside ? keys[i] - range_.least : 0;
    found |= (map[at / 64] >> at % 64 & uint64_t{inside}) << i;
  }
  return found;
}

namespace {

// All as they are where more than `most` of 8 may be there.
JoinKeys prefilter(const JoinKeys& keys, const JoinKeys& others, int64_t most) {
  const int64_t rows = keys.rows, words = (rows + 63) / 64;
  if (rows == 0) return keys;
  const KeyFilter set(others, rows);
  const auto look = [&](int64_t word) {
    return set.probe(keys.data() + 64 * word, std::min<int64_t>(64, rows - 64 * word));
  };
  const int64_t step = std::max<int64_t>(words / kSampledWords, 1);
  int64_t seen = 0, there = 0;
  for (int64_t word = 0; word < words; word += step, seen += 64) there += std::popcount(look(word));
  if (8 * there > most * seen) return keys;

  Buffer bits = Buffer::allocate(8 * words);
  auto* const bit = bits.mutable_as<uint64_t>();
  const std::vector<int64_t> begins = compact_offsets(rows, {keys.access()}, [&](Morsel morsel) {
    int64_t count = 0;
    for (int64_t word = morsel.begin / 64; 64 * word < morsel.end; ++word)
      count += std::popcount(bit[word] = look(word));
    return count;
  });
  JoinKeys picked{Buffer::allocate_temporary(8 * begins.back()), 0, begins.back(),
                  Buffer::allocate_temporary(4 * begins.back())};
  if (picked.rows > 0) {
    auto* const out = picked.buffer.mutable_as<uint64_t>();
    auto* const numbers = picked.numbers.mutable_as<uint32_t>();
    parallel_morsels(rows, [&](Morsel morsel) {
      const auto index = static_cast<size_t>(morsel.index);
      int64_t to = begins[index];
      const int64_t end = begins[index + 1];
      if (to == end) return;
      const BufferAccess access = keys.access();
      std::vector<PinnedRange> held = ranges_of({&access, 1}, morsel.begin, morsel.end);
      held.push_back({&picked.buffer, 8 * to, 8 * end, true});
      held.push_back({&picked.numbers, 4 * to, 4 * end, true});
      const Pin pin(held);
      for (int64_t word = morsel.begin / 64; 64 * word < morsel.end; ++word)
        for (uint64_t rest = bit[word]; rest; rest &= rest - 1, ++to) {
          const int64_t row = 64 * word + std::countr_zero(rest);
          out[to] = keys.data()[row];
          numbers[to] = static_cast<uint32_t>(row);
        }
    });
  }
  picked.buffer.seal();
  picked.numbers.seal();
  return picked;
}

}  // namespace

JoinKeys prefilter_build(const JoinKeys& keys, const JoinKeys& others) {
  return prefilter(keys, others, 6);
}

JoinKeys prefilter_probe(const JoinKeys& keys, const JoinKeys& others) {
  return prefilter(keys, others, 2);
}

}  // namespace hr
