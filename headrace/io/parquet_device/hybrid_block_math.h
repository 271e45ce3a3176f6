// SPDX-License-Identifier: Apache-2.0
// Parquet's hybrid of run lengths and bit packing, read by a block of threads: one finds the next
// runs, or all where these begin alike, and all unpack their values.
#pragma once
#include "headrace/io/parquet_device/block_phases_math.h"

namespace hr::parquet {

inline constexpr uint32_t kRuns = 256;  // that are unpacked together

/// Shared by the threads.
struct HybridRuns {
  uint32_t begins[kRuns + 1];  // values before a run
  uint32_t sources[kRuns];     // the value of all, or where packed ones begin
  bool is_repeated[kRuns];
  uint32_t unlike[kRuns / 32];  // runs that do not begin as the last one
  uint32_t count;
  uint32_t at;
  uint32_t alike;   // how many of the last runs are packed and begin alike
  uint32_t head;    // of these, with the low bit
  uint32_t stride;  // bytes of each
  bool is_damaged;

  /// The run of a value.
  HR_BOTH uint32_t run_of(uint32_t value) const {
    uint32_t run = 0;
    for (uint32_t step = kRuns / 2; step > 0; step /= 2)
      if (run + step < count && begins[run + step] <= value) run += step;
    return run;
  }
};

struct HybridBytes {
  const uint8_t* bytes;
  uint32_t size;
  uint32_t width;  ///< bits of a value, at most 32

  /// A value of a run.
  HR_BOTH uint32_t value_at(const HybridRuns& runs, uint32_t run, uint32_t value) const {
    if (runs.is_repeated[run]) return runs.sources[run];
    const uint64_t bit = uint64_t{value - runs.begins[run]} * width;
    return static_cast<uint32_t>(load_eight(bytes + runs.sources[run] + (bit >> 3)) >> (bit & 7)) &
           low_bits(width);
  }
};

inline constexpr uint32_t kAlike = 3;  // runs, for more to be expected

/// What stands before a run.
HR_BOTH inline bool read_head(const HybridBytes& of, uint32_t& at, uint32_t& head) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    if (at == of.size || shift > 28) return false;
    const uint64_t part = of.bytes[at++];
    value |= (part & 127) << shift;
    if (part < 128) break;
  }
  head = static_cast<uint32_t>(value);
  return value == head;
}

/// The next runs, of values up to `count`; it stops behind runs that are alike.
HR_BOTH inline void next_runs(HybridRuns& runs, const HybridBytes& of, uint32_t count) {
  uint32_t at = runs.at, done = runs.begins[runs.count];
  const auto damage = [&] { runs.is_damaged = true; };
  runs.alike = 0;
  while (runs.count < kRuns && done < count && runs.alike < kAlike) {
    const uint32_t begin = at;
    uint32_t head;
    if (!read_head(of, at, head)) return damage();
    uint64_t length = head >> 1;
    const uint32_t run = runs.count;
    runs.is_repeated[run] = (head & 1) == 0 || of.width == 0;
    if ((head & 1) == 0) {
      const uint32_t bytes = (of.width + 7) / 8;
      if (of.size - at < bytes) return damage();
      uint32_t value = 0;
      for (uint32_t k = 0; k < bytes; ++k) value |= uint32_t{of.bytes[at + k]} << 8 * k;
      at += bytes;
      if (of.width < 32 && value >> of.width != 0) return damage();
      runs.sources[run] = value;
      runs.alike = 0;
    } else {
      runs.sources[run] = of.width == 0 ? 0 : at;
      const uint64_t left = of.size - at;
      uint64_t bytes = length * of.width;
      length *= 8;
      if (bytes > left) {  // some writers leave out what follows the last value of a page
        bytes = left;
        length = bytes * 8 / of.width;
      }
      at += static_cast<uint32_t>(bytes);
      runs.alike = runs.alike > 0 && runs.head == head ? runs.alike + 1 : 1;
      runs.head = head;
      runs.stride = at - begin;
    }
    if (length == 0) {
      runs.alike = 0;
      continue;
    }
    runs.begins[run] = done;
    done += static_cast<uint32_t>(length < count - done ? length : count - done);
    runs.begins[run + 1] = done;
    ++runs.count;
  }
  runs.at = at;
}

/// Takes what follows runs that are alike and is so too: if bytes begin as the run before them,
/// they are as long, and the next run begins behind them.
template <class Block>
HR_BOTH void take_alike(const Block& block, HybridRuns& runs, const HybridBytes& of,
                        uint32_t count) {
  const uint32_t first = runs.count, stride = runs.stride;
  const uint64_t length = uint64_t{runs.head >> 1} * 8;
  block.each(kRuns / 32, [&](int64_t i) { runs.unlike[i] = 0; });
  block.each(kRuns - first, [&](int64_t i) {
    const auto k = static_cast<uint32_t>(i);
    uint64_t at = runs.at + uint64_t{k} * stride;
    const uint64_t end = runs.begins[first] + (uint64_t{k} + 1) * length;
    uint32_t from = static_cast<uint32_t>(at), head = 0;
    const bool is_alike = at + stride <= of.size && end <= count && read_head(of, from, head) &&
                          head == runs.head &&
                          from - at == runs.sources[first - 1] - (runs.at - stride);
    if (!is_alike) block.set_bits(runs.unlike + k / 32, 1u << k % 32);
    runs.is_repeated[first + k] = false;
    runs.sources[first + k] = from;
    runs.begins[first + k + 1] = static_cast<uint32_t>(end);
  });
  block.one([&] {
    uint32_t some = 0;
    while (some < kRuns - first && runs.unlike[some / 32] == 0) some += 32;
    if (some < kRuns - first) {
      const uint32_t word = runs.unlike[some / 32];
      some += static_cast<uint32_t>(count_ones((word & (0 - word)) - 1));
    } else {
      some = kRuns - first;
    }
    runs.count += some;
    runs.at += some * stride;
  });
}

/// visit(begin, end) for values that the runs have, until all `count` were visited; it may use
/// phases. False: they are damaged.
template <class Block, class Visit>
HR_BOTH bool for_each_runs(const Block& block, HybridRuns& runs, const HybridBytes& of,
                           uint32_t count, const Visit& visit) {
  block.one([&] {
    runs.at = 0;
    runs.is_damaged = of.width > 32;
  });
  if (runs.is_damaged) return false;
  for (uint32_t done = 0; done < count;) {
    block.one([&] {
      runs.count = 0;
      runs.begins[0] = done;
    });
    uint32_t end = done;
    for (uint32_t found = 0; found < kRuns && end < count;) {
      block.one([&] { next_runs(runs, of, count); });
      if (runs.is_damaged) return false;
      if (runs.alike == kAlike && of.width > 0) take_alike(block, runs, of, count);
      found = runs.count;
      end = runs.begins[found];
    }
    visit(done, end);
    done = end;
  }
  return true;
}

/// `count` values of one bit to the words of a bitmap.
template <class Block>
HR_BOTH bool read_bits(const Block& block, HybridRuns& runs, const HybridBytes& of, uint32_t count,
                       uint32_t* words) {
  block.each((int64_t{count} + 31) / 32, [&](int64_t i) { words[i] = 0; });
  return for_each_runs(block, runs, of, count, [&](uint32_t begin, uint32_t end) {
    const uint32_t first = begin / 32;
    block.each((int64_t{end} + 31) / 32 - first, [&](int64_t i) {
      const uint32_t word = first + static_cast<uint32_t>(i);
      uint32_t at = word * 32 < begin ? begin : word * 32;
      const uint32_t stop = end - word * 32 < 32 ? end : word * 32 + 32;
      uint32_t bits = 0;
      for (uint32_t run = runs.run_of(at); at < stop; ++run) {
        const uint32_t run_end = runs.begins[run + 1], to = run_end < stop ? run_end : stop;
        uint32_t some = runs.is_repeated[run] && runs.sources[run] != 0 ? ~0u : 0;
        if (!runs.is_repeated[run]) {
          const uint32_t bit = at - runs.begins[run];
          some = static_cast<uint32_t>(load_eight(of.bytes + runs.sources[run] + (bit >> 3)) >>
                                       (bit & 7));
        }
        bits |= (some & low_bits(to - at)) << at % 32;
        at = to;
      }
      words[word] |= bits;
    });
  });
}

/// `count` values. False also where one is not below `limit`.
template <class Block>
HR_BOTH bool read_integers(const Block& block, HybridRuns& runs, const HybridBytes& of,
                           uint32_t count, uint32_t limit, uint32_t* out) {
  bool is_beyond = false;
  return for_each_runs(block, runs, of, count,
                       [&](uint32_t begin, uint32_t end) {
                         is_beyond |= block.any(end - begin, [&](int64_t i) {
                           const uint32_t value = begin + static_cast<uint32_t>(i);
                           return (out[value] = of.value_at(runs, runs.run_of(value), value)) >=
                                  limit;
                         });
                       }) &&
         !is_beyond;
}

}  // namespace hr::parquet
