// SPDX-License-Identifier: Apache-2.0
// DELTA_BINARY_PACKED from untrusted bytes, read by a block of threads: one finds the next steps of
// 32 differences, each thread adds up those of a step, and again to write values behind the sum of
// the steps before it. What `DeltaReader` refuses is refused.
#pragma once
#include "headrace/io/parquet_device/block_phases_math.h"

namespace hr::parquet {

inline constexpr uint32_t kDeltaSteps = 256;  // that are unpacked together
inline constexpr uint32_t kDeltaStep = 32;    // differences; miniblocks have a multiple of them

/// Shared by the threads.
struct DeltaSteps {
  uint64_t least[kDeltaSteps];    // added to each difference
  uint64_t sums[kDeltaSteps];     // of differences; then the value before a step
  uint32_t sources[kDeltaSteps];  // where differences begin
  uint8_t widths[kDeltaSteps];    // bits of each
  uint32_t count;
  uint32_t at;
  bool is_damaged;
  uint64_t last;           // value before the next step
  uint64_t left;           // differences that no step has, as the bytes say
  uint64_t block_least;    // of the current block
  uint32_t block_widths;   // where its widths lie
  uint64_t miniblocks;     // of a block
  uint64_t per_miniblock;  // differences
  uint64_t miniblock;
  uint64_t left_in_miniblock;
};

struct DeltaBytes {
  const uint8_t* bytes;
  uint32_t size;

  /// Difference `i` of a step, without the least one of its block.
  HR_BOTH uint64_t difference(uint32_t source, uint32_t width, uint32_t i) const {
    if (width == 0) return 0;
    const uint32_t bit = i * width, shift = bit & 7;
    const uint8_t* const from = bytes + source + (bit >> 3);
    uint64_t value = load_eight(from) >> shift;
    if (shift + width > 64) value |= uint64_t{from[8]} << (64 - shift);
    return width == 64 ? value : value & ((uint64_t{1} << width) - 1);
  }

  HR_BOTH bool read_varint(uint32_t& at, uint64_t& value) const {
    value = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
      if (at == size) return false;
      const uint64_t part = bytes[at++];
      value |= (part & 127) << shift;
      if (part < 128) return true;
    }
    return false;
  }
};

HR_BOTH inline uint64_t zigzag_value(uint64_t bits) {
  return (bits >> 1) ^ (0 - (bits & 1));
}

/// Reads the head. False: it is damaged, or of fewer than `count` values.
HR_BOTH inline bool begin_delta(DeltaSteps& steps, const DeltaBytes& of, uint32_t count) {
  uint64_t block, all, first;
  steps.at = 0;
  if (!of.read_varint(steps.at, block) || !of.read_varint(steps.at, steps.miniblocks) ||
      !of.read_varint(steps.at, all) || !of.read_varint(steps.at, first))
    return false;
  constexpr uint64_t kMost = uint64_t{1} << 31;
  if (block == 0 || block > kMost || steps.miniblocks == 0 || steps.miniblocks > block ||
      block % steps.miniblocks != 0 || block / steps.miniblocks % kDeltaStep != 0 || all > kMost ||
      all < count)
    return false;
  steps.per_miniblock = block / steps.miniblocks;
  steps.miniblock = steps.miniblocks;
  steps.left_in_miniblock = 0;
  steps.last = zigzag_value(first);
  steps.left = all > 0 ? all - 1 : 0;
  return true;
}

/// Finds the next `wanted` steps, at most kDeltaSteps. The end of the last miniblock may be
/// missing.
HR_BOTH inline bool next_delta_steps(DeltaSteps& steps, const DeltaBytes& of, uint32_t wanted) {
  for (steps.count = 0; steps.count < wanted; ++steps.count) {
    if (steps.left_in_miniblock == 0 && ++steps.miniblock < steps.miniblocks)
      steps.left_in_miniblock = steps.per_miniblock;
    if (steps.miniblock >= steps.miniblocks) {
      uint64_t least;
      if (!of.read_varint(steps.at, least) || of.size - steps.at < steps.miniblocks) return false;
      steps.block_least = zigzag_value(least);
      steps.block_widths = steps.at;
      steps.at += static_cast<uint32_t>(steps.miniblocks);
      steps.miniblock = 0;
      steps.left_in_miniblock = steps.per_miniblock;
    }
    const uint32_t width = of.bytes[steps.block_widths + steps.miniblock];
    if (width > 64) return false;
    const uint32_t used = steps.left < kDeltaStep ? static_cast<uint32_t>(steps.left) : kDeltaStep;
    const uint32_t rest = of.size - steps.at, bytes = kDeltaStep / 8 * width;
    if (uint64_t{rest} * 8 < used * width) return false;
    steps.sources[steps.count] = steps.at;
    steps.widths[steps.count] = static_cast<uint8_t>(width);
    steps.least[steps.count] = steps.block_least;
    steps.at += bytes < rest ? bytes : rest;
    steps.left -= used;
    steps.left_in_miniblock -= kDeltaStep;
  }
  return true;
}

/// `count` values, of 64 bits, as pairs of words.
template <class Block>
HR_BOTH bool read_delta(const Block& block, DeltaSteps& steps, const DeltaBytes& of, uint32_t count,
                        uint32_t* out) {
  const auto put = [&](uint32_t at, uint64_t value) {
    out[2 * uint64_t{at}] = static_cast<uint32_t>(value);
    out[2 * uint64_t{at} + 1] = static_cast<uint32_t>(value >> 32);
  };
  block.one([&] {
    steps.is_damaged = !begin_delta(steps, of, count);
    if (!steps.is_damaged && count > 0) put(0, steps.last);
  });
  if (steps.is_damaged) return false;
  for (uint32_t done = 1; done < count;) {
    const uint32_t left = count - done, all = (left - 1) / kDeltaStep + 1;
    const uint32_t wanted = all < kDeltaSteps ? all : kDeltaSteps;
    block.one([&] { steps.is_damaged = !next_delta_steps(steps, of, wanted); });
    if (steps.is_damaged) return false;
    const auto size_of = [&](uint32_t step) {
      const uint32_t rest = left - step * kDeltaStep;
      return rest < kDeltaStep ? rest : kDeltaStep;
    };
    block.each(wanted, [&](int64_t i) {
      const auto step = static_cast<uint32_t>(i);
      const uint32_t size = size_of(step);
      uint64_t sum = steps.least[step] * size;
      for (uint32_t k = 0; k < size; ++k)
        sum += of.difference(steps.sources[step], steps.widths[step], k);
      steps.sums[step] = sum;
    });
    block.one([&] {
      for (uint32_t step = 0; step < wanted; ++step) {
        const uint64_t sum = steps.sums[step];
        steps.sums[step] = steps.last;
        steps.last += sum;
      }
    });
    block.each(wanted, [&](int64_t i) {
      const auto step = static_cast<uint32_t>(i);
      const uint32_t size = size_of(step), begin = done + step * kDeltaStep;
      uint64_t value = steps.sums[step];
      for (uint32_t k = 0; k < size; ++k)
        put(begin + k,
            value += steps.least[step] + of.difference(steps.sources[step], steps.widths[step], k));
    });
    done += left < wanted * kDeltaStep ? left : wanted * kDeltaStep;
  }
  return true;
}

}  // namespace hr::parquet
