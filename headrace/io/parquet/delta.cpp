// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/delta.h"

#include "headrace/io/parquet/bit_packing_kernels.h"
#include "headrace/io/parquet/refusal.h"

#include <algorithm>
#include <cstring>

namespace hr::parquet {

namespace {

constexpr const char* kEarly = "packed differences end early";

// 32 integers of 33 to 64 bits.
void unpack_wide(const uint8_t* in, int width, int64_t count, uint64_t* out) {
  const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t bit = i * width;
    uint64_t low, high = in[(bit >> 3) + 8];
    std::memcpy(&low, in + (bit >> 3), 8);
    const int shift = static_cast<int>(bit & 7);
    out[i] = (shift == 0 ? low : low >> shift | high << (64 - shift)) & mask;
  }
}

}  // namespace

DeltaReader::DeltaReader(std::string_view bytes)
    : at_(reinterpret_cast<const uint8_t*>(bytes.data())), end_(at_ + bytes.size()) {
  const uint64_t block = varint(), miniblocks = varint(), count = varint();
  const uint64_t first = varint();
  if (block == 0 || block > (uint64_t{1} << 31) || miniblocks == 0 || miniblocks > block ||
      block % miniblocks != 0 || block / miniblocks % 32 != 0 || count > (uint64_t{1} << 31))
    damaged("packed differences have blocks of a wrong size");
  miniblocks_ = static_cast<int64_t>(miniblocks);
  per_miniblock_ = static_cast<int64_t>(block / miniblocks);
  miniblock_ = miniblocks_;
  count_ = static_cast<int64_t>(count);
  last_ = (first >> 1) ^ -(first & 1);
}

uint64_t DeltaReader::varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at_ == end_) damaged(kEarly);
    const uint64_t part = *at_++;
    value |= (part & 127) << shift;
    if (part < 128) return value;
  }
  damaged("packed differences have a number that is too long");
}

void DeltaReader::next_block() {
  const uint64_t least = varint();
  least_ = (least >> 1) ^ -(least & 1);
  if (end_ - at_ < miniblocks_) damaged(kEarly);
  widths_ = at_;
  at_ += miniblocks_;
  miniblock_ = 0;
  left_in_miniblock_ = per_miniblock_;
}

// Of the current miniblock.
int DeltaReader::width() const {
  const int bits = widths_[miniblock_];
  if (bits > 64) damaged("packed differences have more than 64 bits");
  return bits;
}

// Unpacks the next 32 integers. The end of the last miniblock may be missing.
void DeltaReader::next_step(int64_t* out) {
  if (left_in_miniblock_ == 0 && ++miniblock_ < miniblocks_) left_in_miniblock_ = per_miniblock_;
  if (miniblock_ >= miniblocks_) next_block();
  const int bits = width();
  const int64_t wanted = std::min(count_ - given_, kStep);
  const int64_t bytes = 4 * int64_t{bits}, there = std::min<int64_t>(bytes, end_ - at_);
  if (there * 8 < wanted * bits) damaged(kEarly);
  constexpr int64_t kReadBehind = 16;
  uint8_t copy[4 * 64 + kReadBehind];
  const uint8_t* packed = at_;
  if (end_ - at_ < bytes + kReadBehind) {
    std::memset(copy, 0, sizeof copy);
    if (there > 0) std::memcpy(copy, at_, static_cast<size_t>(there));
    packed = copy;
  }
  at_ += there;
  left_in_miniblock_ -= kStep;
  uint64_t sum = last_;
  if (bits == 0 && least_ == 0) {
    std::fill_n(out, kStep, static_cast<int64_t>(sum));
  } else if (bits == 0) {
    for (int64_t i = 0; i < kStep; ++i) out[i] = static_cast<int64_t>(sum += least_);
  } else if (bits <= 32) {
    uint32_t differences[kStep];
    cpu::unpack_bits(packed, packed + bytes + kReadBehind, 0, bits, kStep, differences);
    for (int64_t i = 0; i < kStep; ++i)
      out[i] = static_cast<int64_t>(sum += differences[i] + least_);
  } else {
    uint64_t differences[kStep];
    unpack_wide(packed, bits, kStep, differences);
    for (int64_t i = 0; i < kStep; ++i)
      out[i] = static_cast<int64_t>(sum += differences[i] + least_);
  }
  last_ = static_cast<uint64_t>(out[wanted - 1]);
}

void DeltaReader::read(int64_t count, int64_t* out) {
  if (count > count_ - given_) damaged("there are fewer packed differences than values");
  if (count > 0 && given_ == 0) {
    *out++ = static_cast<int64_t>(last_);
    ++given_;
    --count;
  }
  while (count > 0) {
    int64_t some = kStep;
    if (step_at_ == kStep && count >= kStep) {
      next_step(out);
    } else {
      if (step_at_ == kStep) {
        next_step(step_);
        step_at_ = 0;
      }
      some = std::min(count, kStep - step_at_);
      std::memcpy(out, step_ + step_at_, static_cast<size_t>(some) * sizeof *out);
      step_at_ += some;
    }
    given_ += some;
    out += some;
    count -= some;
  }
}

std::string_view DeltaReader::rest() const {
  // The current miniblock goes on behind what was unpacked of it; later ones of the block, which
  // have no values, have no bytes either.
  int64_t behind = 0;
  if (widths_ && miniblock_ < miniblocks_) behind = left_in_miniblock_ / 8 * widths_[miniblock_];
  behind = std::min<int64_t>(behind, end_ - at_);
  return {reinterpret_cast<const char*>(at_ + behind), static_cast<size_t>(end_ - at_ - behind)};
}

std::string_view DeltaReader::behind() const {
  DeltaReader other = *this;
  for (int64_t left = count_ - 1; left > 0; left -= per_miniblock_) {
    if (++other.miniblock_ >= miniblocks_) other.next_block();
    other.at_ += std::min<int64_t>(per_miniblock_ / 8 * other.width(), end_ - other.at_);
  }
  return {reinterpret_cast<const char*>(other.at_), static_cast<size_t>(end_ - other.at_)};
}

}  // namespace hr::parquet
