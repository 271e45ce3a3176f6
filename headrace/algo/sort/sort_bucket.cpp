// SPDX-License-Identifier: Apache-2.0
// Rows that fit in cache: pack what tells them apart with the row's number in one word, sort, and
// look closer where that ties.
#include "headrace/algo/sort/sort_bucket.h"

#include "headrace/algo/sort/sort_kernels.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace hr {

namespace {

constexpr int kWordBits = 64;
constexpr int64_t kShortRun = 24;

}  // namespace

BucketOrder::BucketOrder(const SortKeys& sort, std::span<const KeyRows> keys, int64_t rows,
                         int64_t first_word)
    : sort_(sort),
      keys_(keys),
      rows_(rows),
      first_word_(first_word),
      buffer_(Buffer::allocate(rows * (3 * static_cast<int64_t>(sizeof(uint64_t)) +
                                       static_cast<int64_t>(sizeof(uint32_t))))),
      packed_(buffer_.mutable_as<uint64_t>()),
      scratch_(packed_ + rows),
      first_words_(scratch_ + rows),
      at_(reinterpret_cast<uint32_t*>(first_words_ + rows)),
      words_(static_cast<size_t>(sort.num_words())) {}

const uint64_t* BucketOrder::all_words(int64_t word) {
  const uint64_t*& known = words_[static_cast<size_t>(word)];
  if (known) return known;
  uint64_t* words = first_words_;
  if (word != first_word_) {
    later_words_.push_back(Buffer::allocate(rows_ * static_cast<int64_t>(sizeof(uint64_t))));
    words = later_words_.back().mutable_as<uint64_t>();
  }
  sort_.words(word, keys_, 0, rows_, words);
  return known = words;
}

bool BucketOrder::find() {
  for (int64_t word = first_word_; word < sort_.num_words(); ++word)
    if (sort_all(word)) return true;
  if (sort_.is_exact()) return false;
  std::iota(at_, at_ + rows_, 0);
  compare_run(0, rows_);
  return true;
}

// False when the word says nothing: it is the same in all rows.
bool BucketOrder::sort_all(int64_t word) {
  const uint64_t* const words = all_words(word);
  const cpu::WordRange range = cpu::word_range(words, rows_);
  if (range.least == range.greatest) return false;
  const int index_bits = std::bit_width(static_cast<uint64_t>(rows_ - 1));
  const int bits = std::bit_width(range.greatest - range.least);
  const int drop = std::max(0, bits + index_bits - kWordBits);
  cpu::pack_words(words, rows_, range.least, drop, index_bits, packed_);
  cpu::sort_packed(packed_, scratch_, rows_, index_bits, bits - drop);
  const uint64_t mask = (uint64_t{1} << index_bits) - 1;
  for (int64_t i = 0; i < rows_; ++i) at_[i] = static_cast<uint32_t>(packed_[i] & mask);
  sort_ties(0, rows_, word, index_bits, drop > 0);
  return true;
}

// What `packed_` does not tell apart. `dropped`: it has only the leading bits of the word.
void BucketOrder::sort_ties(int64_t begin, int64_t count, int64_t word, int index_bits,
                            bool dropped) {
  const bool last = word + 1 == sort_.num_words();
  if (last && !dropped && sort_.is_exact()) return;
  // Runs are found before one is sorted: that takes the room of what tells them.
  std::vector<std::pair<int64_t, int64_t>> runs;
  const uint64_t* const x = packed_ + begin;
  for (int64_t i = 1, first = 0; i <= count; ++i) {
    if (i < count && x[i] >> index_bits == x[first] >> index_bits) continue;
    if (i - first > 1) runs.emplace_back(begin + first, i - first);
    first = i;
  }
  for (const auto& [first, size] : runs) sort_run(first, size, dropped ? word : word + 1);
}

// Places [begin, begin + count), whose rows agree in all words before and ascend.
void BucketOrder::sort_run(int64_t begin, int64_t count, int64_t word) {
  for (; word < sort_.num_words(); ++word) {
    if (count <= kShortRun) return sort_short_run(begin, count, word);
    const uint64_t* const words = all_words(word);
    uint64_t* const own = scratch_ + begin;
    for (int64_t i = 0; i < count; ++i) own[i] = words[at_[begin + i]];
    const cpu::WordRange range = cpu::word_range(own, count);
    if (range.least == range.greatest) continue;
    const int index_bits = std::bit_width(static_cast<uint64_t>(count - 1));
    const int bits = std::bit_width(range.greatest - range.least);
    const int drop = std::max(0, bits + index_bits - kWordBits);
    uint64_t* const packed = packed_ + begin;
    cpu::pack_words(own, count, range.least, drop, index_bits, packed);
    cpu::sort_packed(packed, own, count, index_bits, bits - drop);
    const uint64_t mask = (uint64_t{1} << index_bits) - 1;
    uint32_t* const rows = reinterpret_cast<uint32_t*>(own);
    for (int64_t i = 0; i < count; ++i)
      rows[i] = at_[begin + static_cast<int64_t>(packed[i] & mask)];
    std::copy(rows, rows + count, at_ + begin);
    return sort_ties(begin, count, word, index_bits, drop > 0);
  }
  if (!sort_.is_exact()) compare_run(begin, count);
}

// By insertion, word after word only where one ties.
void BucketOrder::sort_short_run(int64_t begin, int64_t count, int64_t word) {
  uint64_t own[kShortRun];
  uint32_t* const rows = at_ + begin;
  const uint64_t* const known = words_[static_cast<size_t>(word)];
  for (int64_t i = 0; i < count; ++i) {
    if (known)
      own[i] = known[rows[i]];
    else
      sort_.words(word, keys_, rows[i], int64_t{rows[i]} + 1, &own[i]);
  }
  for (int64_t i = 1; i < count; ++i) {
    const uint64_t key = own[i];
    const uint32_t row = rows[i];
    int64_t at = i;
    for (; at > 0 && own[at - 1] > key; --at) own[at] = own[at - 1], rows[at] = rows[at - 1];
    own[at] = key, rows[at] = row;
  }
  if (word + 1 == sort_.num_words() && sort_.is_exact()) return;
  for (int64_t i = 1, first = 0; i <= count; ++i) {
    if (i < count && own[i] == own[first]) continue;
    if (i - first > 1) sort_run(begin + first, i - first, word + 1);
    first = i;
  }
}

void BucketOrder::compare_run(int64_t begin, int64_t count) {
  uint32_t* const rows = at_ + begin;
  const auto less = [&](uint32_t a, uint32_t b) { return sort_.compare(keys_, a, b) < 0; };
  if (!std::is_sorted(rows, rows + count, less)) std::stable_sort(rows, rows + count, less);
}

}  // namespace hr
