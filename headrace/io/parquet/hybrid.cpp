// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/hybrid.h"

#include "headrace/base/bits.h"
#include "headrace/io/parquet/bit_packing_kernels.h"
#include "headrace/io/parquet/refusal.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace hr::parquet {

namespace {

void or_word(uint64_t* bitmap, int64_t at, uint64_t bits, int64_t count) {
  const int shift = static_cast<int>(at & 63);
  bitmap[at >> 6] |= bits << shift;
  if (shift + count > 64) bitmap[(at >> 6) + 1] |= bits >> (64 - shift);
}

}  // namespace

int64_t append_bits(uint64_t* bitmap, int64_t at, const uint8_t* source, int64_t from,
                    int64_t count) {
  int64_t ones = 0;
  for (int64_t i = 0; i < count; i += 64) {
    const int64_t some = std::min<int64_t>(count - i, 64);
    const uint64_t bits = load_bits(source, from + i, some);
    ones += std::popcount(bits);
    or_word(bitmap, at + i, bits, some);
  }
  return ones;
}

void append_ones(uint64_t* bitmap, int64_t at, int64_t count) {
  for (int64_t i = 0; i < count;) {
    const int64_t some = std::min(count - i, 64 - ((at + i) & 63));
    or_word(bitmap, at + i, some == 64 ? ~uint64_t{0} : (uint64_t{1} << some) - 1, some);
    i += some;
  }
}

HybridReader::HybridReader(std::string_view bytes, int width)
    : at_(reinterpret_cast<const uint8_t*>(bytes.data())), end_(at_ + bytes.size()), width_(width) {
  if (width < 0 || width > 32) damaged("packed integers have more than 32 bits");
}

void HybridReader::next_header() {
  uint64_t head = 0;
  for (int shift = 0;; shift += 7) {
    if (at_ == end_ || shift > 28) damaged("packed integers end early");
    const uint64_t part = *at_++;
    head |= (part & 127) << shift;
    if (part < 128) break;
  }
  is_repeated_ = (head & 1) == 0;
  left_ = static_cast<int64_t>(head >> 1);
  if (is_repeated_) {
    const int64_t bytes = (width_ + 7) / 8;
    if (end_ - at_ < bytes) damaged("packed integers end early");
    value_ = 0;
    if (bytes > 0) std::memcpy(&value_, at_, static_cast<size_t>(bytes));
    at_ += bytes;
    if (width_ < 32 && value_ >> width_ != 0) damaged("a repeated integer is out of range");
    return;
  }
  left_ *= 8;
  packed_ = at_;
  bit_ = 0;
  if (width_ == 0) return;
  // Some writers leave out what follows the last value of a page.
  const int64_t bytes = std::min(left_ / 8 * width_, static_cast<int64_t>(end_ - at_));
  left_ = std::min(left_, bytes * 8 / width_);
  at_ += bytes;
}

HybridReader::Run HybridReader::next(int64_t most) {
  while (left_ == 0) next_header();
  Run run{.count = std::min(left_, most),
          .is_repeated = is_repeated_ || width_ == 0,
          .value = is_repeated_ ? value_ : 0,
          .first_bit = bit_,
          .bytes = packed_,
          .end = end_};
  left_ -= run.count;
  if (!is_repeated_) bit_ += run.count * width_;
  return run;
}

void HybridReader::read(int64_t count, uint32_t* out) {
  while (count > 0) {
    const Run run = next(count);
    if (run.is_repeated)
      std::fill_n(out, run.count, run.value);
    else
      cpu::unpack_bits(run.bytes, run.end, run.first_bit, width_, run.count, out);
    out += run.count;
    count -= run.count;
  }
}

namespace {

// One value of a packed run.
uint32_t value_at(const HybridReader::Run& run, int width, int64_t place) {
  const int64_t bit = run.first_bit + place * width;
  const uint8_t* const from = run.bytes + (bit >> 3);
  uint64_t word = 0;
  if (run.end - from >= 8)
    std::memcpy(&word, from, 8);
  else
    std::memcpy(&word, from, static_cast<size_t>(run.end - from));
  return static_cast<uint32_t>(word >> (bit & 7) & ((uint64_t{1} << width) - 1));
}

}  // namespace

void HybridReader::pick(int64_t count, const uint32_t* picks, int64_t picked, uint32_t* out) {
  int64_t next_pick = 0;
  for (int64_t begin = 0; begin < count;) {
    const Run run = next(count - begin);
    for (; next_pick < picked && picks[next_pick] < begin + run.count; ++next_pick)
      out[next_pick] =
          run.is_repeated ? run.value : value_at(run, width_, picks[next_pick] - begin);
    begin += run.count;
  }
}

int64_t HybridReader::read_bits(int64_t count, uint64_t* bitmap, int64_t at) {
  int64_t ones = 0;
  while (count > 0) {
    const Run run = next(count);
    if (!run.is_repeated) {
      ones += append_bits(bitmap, at, run.bytes, run.first_bit, run.count);
    } else if (run.value != 0) {
      append_ones(bitmap, at, run.count);
      ones += run.count;
    }
    at += run.count;
    count -= run.count;
  }
  return ones;
}

void put_ones(const BitmapWriter& to, int64_t at, int64_t count) {
  for (int64_t i = 0; i < count;) {
    const int64_t some = std::min(count - i, 64 - ((at + i) & 63));
    to.put(at + i, some == 64 ? ~uint64_t{0} : (uint64_t{1} << some) - 1, some);
    i += some;
  }
}

void put_bits(const BitmapWriter& to, int64_t at, const uint8_t* bits, int64_t from,
              int64_t count) {
  for (int64_t i = 0; i < count; i += 64) {
    const int64_t some = std::min<int64_t>(count - i, 64);
    to.put(at + i, load_bits(bits, from + i, some), some);
  }
}

}  // namespace hr::parquet
