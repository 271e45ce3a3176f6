// SPDX-License-Identifier: Apache-2.0
// The rows of a chunk that a mask picks, or a test of their codes in a dictionary.
#include "headrace/algo/bits/bitmap_writer.h"
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/io/parquet/bit_packing_kernels.h"
#include "headrace/io/parquet/chunk_reader.h"
#include "headrace/io/parquet/convert.h"
#include "headrace/io/parquet/refusal.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace hr::parquet {

namespace {

constexpr int64_t kFewPicks = 16;  // below one in 16, each index is unpacked alone

// A bit for each of up to 64 indices: the byte of 0 or 1 that it stands for. In groups of eight,
// which do not wait for each other.
uint64_t true_bits(const uint8_t* is_true, const uint32_t* indices, int64_t count) {
  uint64_t word = 0;
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    uint64_t eight = 0;
    for (int64_t k = 0; k < 8; ++k) eight |= uint64_t{is_true[indices[i + k]]} << k;
    word |= eight << i;
  }
  for (; i < count; ++i) word |= uint64_t{is_true[indices[i]]} << i;
  return word;
}

}  // namespace

void ChunkReader::pick(int64_t count, const uint8_t* mask, int64_t first, const FlatRows& rows,
                       RowsTarget& to) {
  const int64_t width = leaf_.dtype.is_bool() ? 0 : leaf_.dtype.size_bytes();
  while (count > 0) {
    const int64_t passed = skip_pages(count, mask, first);
    count -= passed;
    first += passed;
    const int64_t some = std::min({count, slots_ - slot_, kPinnedRows});
    const int64_t wanted = count_bits(mask, first, some);
    const Pin pin{{&rows.values, to.row * width, (to.row + wanted) * width, true}};
    if (wanted == some && some > 0)
      read_slots(some, to);
    else
      for (int64_t done = 0; done < some; done += kBlock)
        pick_slots(std::min(some - done, kBlock), mask, first + done, to);
    count -= some;
    first += some;
  }
}

void ChunkReader::skip(int64_t count) {
  constexpr std::array<uint8_t, kBlock / 8> kNone{};
  RowsTarget nowhere;
  std::array<uint64_t, 1> validity{};
  if (leaf_.max_definition > 0) nowhere.validity = validity.data();
  while (count > 0) {
    count -= skip_pages(count, nullptr, 0);
    const int64_t some = std::min({count, slots_ - slot_, kBlock});
    if (some > 0) pick_slots(some, kNone.data(), 0, nowhere);
    count -= some;
  }
}

// Of at most a block.
void ChunkReader::pick_slots(int64_t count, const uint8_t* mask, int64_t first, RowsTarget& to) {
  const int64_t all = count_bits(mask, first, count);
  if (all == count) return read_slots(count, to);
  if (all_valid_ && pick_together(count, mask, first, all, to)) return;
  const uint8_t* const valid = all_valid_ ? nullptr : valid_.as<uint8_t>();
  std::array<uint32_t, kBlock> picks;  // among the values that are there
  std::array<uint64_t, kBlock / 64 + 1> picked_valid{};
  int64_t dense = 0, picked = 0, wanted = 0;
  for (int64_t i = 0; i < count; i += 64) {
    const int64_t some = std::min<int64_t>(count - i, 64);
    const uint64_t there = valid ? load_bits(valid, slot_ + i, some) : ~uint64_t{0} >> (64 - some);
    for (uint64_t bits = load_bits(mask, first + i, some); bits != 0; bits &= bits - 1, ++wanted) {
      const int bit = std::countr_zero(bits);
      if ((there >> bit & 1) == 0) continue;
      const int64_t before = valid ? std::popcount(there & ((uint64_t{1} << bit) - 1)) : bit;
      picks[static_cast<size_t>(picked++)] = static_cast<uint32_t>(dense + before);
      picked_valid[static_cast<size_t>(wanted >> 6)] |= uint64_t{1} << (wanted & 63);
    }
    dense += valid ? std::popcount(there) : some;
  }
  const auto* const bits = reinterpret_cast<const uint8_t*>(picked_valid.data());
  if (to.validity)
    put_bits(BitmapWriter(to.validity), to.row, bits, 0, wanted);
  else if (dense < count)
    damaged("a column without nulls has a null");
  const int64_t width = leaf_.dtype.is_bool() ? 0 : leaf_.dtype.size_bytes();
  std::byte* const out = to.values + to.row * width;
  if (leaf_.dtype.is_bool()) {
    BlockBits values;
    const uint8_t* const there = bool_block(dense, values);
    const BitmapWriter rows(to.values);
    for (int64_t i = 0, next = 0; i < wanted; ++i)
      if (get_bit(bits, i))
        rows.put(to.row + i, get_bit(there, picks[static_cast<size_t>(next++)]), 1);
  } else {
    pick_dense(dense, picks.data(), picked, out, to);
    if (picked < wanted) spread(out, width, bits, 0, wanted, picked);
  }
  to.nulls += wanted - picked;
  to.row += wanted;
  slot_ += count;
}

// The same where no slot is null and many rows are picked of values of a fixed width: these are
// copied together, eight at a time. False of others.
bool ChunkReader::pick_together(int64_t count, const uint8_t* mask, int64_t first, int64_t wanted,
                                RowsTarget& to) {
  const bool is_stored = leaf_.conversion == Conversion::kNone && !leaf_.dtype.is_bool();
  const bool fits = is_coded_ ? leaf_.conversion != Conversion::kNull : is_stored && values_;
  if (!fits || wanted == 0 || wanted < count / kFewPicks) return false;
  picked_.count = wanted;
  picked_.words.clear();
  for (int64_t i = 0; i < count; i += 64)
    if (const uint64_t bits = load_bits(mask, first + i, std::min<int64_t>(count - i, 64)))
      picked_.words.push_back({i, bits});
  const int64_t width = leaf_.dtype.size_bytes();
  std::byte* const out = to.values + to.row * width;
  if (is_coded_) {
    std::array<uint32_t, kBlock> indices, picks;
    indices_.read(count, indices.data());
    copy_picked(reinterpret_cast<const std::byte*>(indices.data()), sizeof indices[0], picked_,
                reinterpret_cast<std::byte*>(picks.data()));
    put_indices(picks.data(), wanted, out);
  } else {
    std::byte* const block = stored_block();
    values_->fixed(count, block);
    copy_picked(block, width, picked_, out);
  }
  if (to.validity) put_ones(BitmapWriter(to.validity), to.row, wanted);
  to.row += wanted;
  slot_ += count;
  return true;
}

// The values at `picks` of the next `count`.
void ChunkReader::pick_dense(int64_t count, const uint32_t* picks, int64_t picked, std::byte* out,
                             RowsTarget& to) {
  if (count == 0) return;
  if (leaf_.conversion == Conversion::kNull) damaged("a column of nulls has a value");
  if (is_coded_) {
    std::array<uint32_t, kBlock> indices;
    if (picked < count / kFewPicks) {
      indices_.pick(count, picks, picked, indices.data());
    } else {
      indices_.read(count, indices.data());
      for (int64_t i = 0; i < picked; ++i) indices[static_cast<size_t>(i)] = indices[picks[i]];
    }
    if (picked == 0) return;
    put_indices(indices.data(), picked, out);
  } else if (leaf_.physical == PhysicalType::kByteArray) {
    std::array<std::string_view, kBlock> texts;
    values_->texts(count, texts.data());
    for (int64_t i = 0; i < picked; ++i) texts[static_cast<size_t>(i)] = texts[picks[i]];
    put_texts(texts.data(), picked, out, to);
  } else {
    const int64_t stored = leaf_.stored_bytes;
    std::byte* const block = stored_block();
    const std::byte* values = values_->in_place(count);
    if (!values) {
      values_->fixed(count, block);
      values = block;
    }
    for (int64_t i = 0; i < picked; ++i)
      std::memmove(block + i * stored, values + picks[i] * stored, static_cast<size_t>(stored));
    put_fixed(block, picked, out, to);
  }
}

Buffer ChunkReader::test_rows(const Column& test) {
  const int64_t entries = test.num_rows() - 1;
  Buffer known = Buffer::allocate(entries + 1);  // a byte a value, which is fast to look up
  uint8_t* const is_true = known.mutable_as<uint8_t>();
  for (int64_t i = 0; i <= entries; ++i)
    is_true[i] = !test.is_null(i) && get_bit(test.bits(), test.offset() + i) ? 1 : 0;
  Buffer made = Buffer::allocate_zeroed(divide_up(rows_, 64) * 8);
  const BitmapWriter out(made.mutable_data());
  std::array<uint32_t, kBlock> indices;
  for (int64_t row = 0; row < rows_;) {
    if (slot_ == slots_) {
      next_page();
      continue;
    }
    if (!has_dictionary_ || dictionary_size_ != entries)
      damaged("a column has another dictionary than before");
    const uint8_t* const valid = all_valid_ ? nullptr : valid_.as<uint8_t>();
    const int64_t some = std::min(slots_ - slot_, kBlock);
    const int64_t dense = valid ? count_bits(valid, slot_, some) : some;
    if (dense > 0) {
      if (!is_coded_) damaged("a column has values outside of its dictionary");
      indices_.read(dense, indices.data());
      if (cpu::greatest(indices.data(), dense) >= dictionary_size_)
        damaged("an index lies outside of its dictionary");
    }
    if (dense == some) {
      for (int64_t i = 0; i < some; i += 64) {
        const int64_t count = std::min<int64_t>(some - i, 64);
        out.put(row + i, true_bits(is_true, indices.data() + i, count), count);
      }
    } else {
      const uint32_t* index = indices.data();
      for (int64_t i = 0; i < some; i += 64) {
        const int64_t count = std::min<int64_t>(some - i, 64);
        const uint64_t there = load_bits(valid, slot_ + i, count);
        uint64_t word = 0;
        for (int64_t k = 0; k < count; ++k)
          word |= uint64_t{is_true[there >> k & 1 ? *index++ : entries]} << k;
        out.put(row + i, word, count);
      }
    }
    row += some;
    slot_ += some;
  }
  return made;
}

}  // namespace hr::parquet
