// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/delta_writer.h"

#include "headrace/io/parquet/hybrid_writer.h"
#include "headrace/io/parquet/varint.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <type_traits>

namespace hr::parquet {

namespace {

constexpr int64_t kBlock = 128, kMiniblock = 32, kMiniblocks = kBlock / kMiniblock;
constexpr int64_t kGuessedBlocks = 256;
constexpr int64_t kBlockHead = 4 + kMiniblocks;  // of a guess: the least difference and the widths

void append_varint(uint64_t value, ByteBuffer& out) {
  char* const begin = out.reserve(kMostVarintBytes);
  out.advance(put_varint(value, begin) - begin);
}

// The differences of a block, less the least one.
template <class T>
struct Block {
  using Bits = std::make_unsigned_t<T>;

  // `count` (1 to kBlock) values from `values` on, each with one before it.
  Block(const T* values, int64_t of) : count(of) {
    std::array<T, kBlock> steps;
    for (int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(i);
      steps[at] = static_cast<T>(static_cast<Bits>(values[i]) - static_cast<Bits>(values[i - 1]));
      least = std::min(least, steps[at]);
    }
    for (int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(i);
      above[at] = static_cast<Bits>(steps[at]) - static_cast<Bits>(least);
      ones[static_cast<size_t>(i / kMiniblock)] |= above[at];
    }
  }

  int width(int64_t miniblock) const {
    return static_cast<int>(std::bit_width(ones[static_cast<size_t>(miniblock)]));
  }

  int64_t packed_bytes() const {
    int64_t bits = 0;
    for (int64_t m = 0; m < kMiniblocks; ++m) bits += width(m) * kMiniblock;
    return bits / 8;
  }

  int64_t count;
  T least = std::numeric_limits<T>::max();
  std::array<uint64_t, kBlock> above{};
  std::array<uint64_t, kMiniblocks> ones{};
};

template <class T>
void append(const T* values, int64_t count, ByteBuffer& out) {
  append_varint(kBlock, out);
  append_varint(kMiniblocks, out);
  append_varint(static_cast<uint64_t>(count), out);
  append_varint(zigzag(count > 0 ? values[0] : 0), out);
  for (int64_t begin = 1; begin < count; begin += kBlock) {
    const Block<T> block(values + begin, std::min(kBlock, count - begin));
    append_varint(zigzag(block.least), out);
    for (int64_t m = 0; m < kMiniblocks; ++m) out.append(static_cast<char>(block.width(m)));
    for (int64_t m = 0; m * kMiniblock < block.count; ++m)
      append_packed(block.above.data() + m * kMiniblock, kMiniblock, block.width(m), out);
  }
}

template <class T>
int64_t guess(const T* values, int64_t count) {
  const int64_t blocks = (count - 1) / kBlock;
  if (blocks < 1) return count * static_cast<int64_t>(sizeof(T)) + kBlockHead;
  const int64_t guessed = std::min(blocks, kGuessedBlocks);
  int64_t bytes = 0;
  for (int64_t i = 0; i < guessed; ++i)
    bytes +=
        kBlockHead + Block<T>(values + 1 + i * blocks / guessed * kBlock, kBlock).packed_bytes();
  return bytes * blocks / guessed + kBlockHead;
}

}  // namespace

void append_delta(const int32_t* values, int64_t count, ByteBuffer& out) {
  append(values, count, out);
}

void append_delta(const int64_t* values, int64_t count, ByteBuffer& out) {
  append(values, count, out);
}

int64_t guess_delta_bytes(const int32_t* values, int64_t count) {
  return guess(values, count);
}

int64_t guess_delta_bytes(const int64_t* values, int64_t count) {
  return guess(values, count);
}

}  // namespace hr::parquet
