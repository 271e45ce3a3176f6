// SPDX-License-Identifier: Apache-2.0
// Words of keys on a CUDA device: one pass for the range of each part, one to write it.
#include "headrace/algo/bits/ordered_word_math.h"
#include "headrace/algo/bits/validity_device.h"
#include "headrace/algo/sort/category_ranks.h"
#include "headrace/algo/sort/device_sort_keys_kernels.h"
#include "headrace/data/device_launch.h"

#include <algorithm>
#include <bit>
#include <type_traits>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kBlocksAProcessor = 8;
constexpr int kWordBits = 64;
// Rows for which it pays to sort by leading bits first, and how many bits more than the number of
// rows has.
constexpr int64_t kLeastRows = int64_t{1} << 17;
constexpr int kSpareBits = 4;
constexpr int kFloatBits = 8;  // signs and exponents, of which most are not used

using Word = unsigned long long;

// Kinds of parts other than numbers.
struct Bit {};
struct Rank {};
struct Missing {};
struct High {};
struct Low {};

/// The ascending word of a row; false where it is missing.
template <class T>
__device__ bool word_at(const DeviceKeyPart& part, int64_t row, Word& word) {
  const int64_t at = part.offset + row;
  const bool is_valid = !part.valid || bit_at(part.valid, at);
  if constexpr (std::is_same_v<T, Missing>) {
    word = is_valid;
    return true;
  } else {
    if (!is_valid) return false;
    if constexpr (std::is_same_v<T, Bit>) {
      word = bit_at(part.values, at);
    } else if constexpr (std::is_same_v<T, Rank>) {
      word = static_cast<Word>(part.ranks[static_cast<const int32_t*>(part.values)[at]]);
    } else if constexpr (std::is_same_v<T, High>) {
      word = ordered_word(static_cast<const int64_t*>(part.values)[2 * at + 1]);
    } else if constexpr (std::is_same_v<T, Low>) {
      word = static_cast<const Word*>(part.values)[2 * at];
    } else {
      const T value = static_cast<const T*>(part.values)[at];
      if constexpr (std::is_floating_point_v<T>)
        if (value != value) return false;
      word = ordered_word(value);
    }
    return true;
  }
}

struct Range {
  Word least;
  Word greatest;
  Word has_missing;
};

template <class T>
__global__ void range_kernel(DeviceKeyPart part, int64_t count, Range* range) {
  Word least = ~Word{0};
  Word greatest = 0;
  bool has_missing = false;
  const int64_t step = int64_t{gridDim.x} * kThreads;
#pragma unroll 4
  for (int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x; row < count; row += step) {
    Word word = 0;
    const bool is_there = word_at<T>(part, row, word);
    has_missing |= !is_there;
    least = is_there && word < least ? word : least;
    greatest = is_there && word > greatest ? word : greatest;
  }
  for (int lane = 16; lane > 0; lane /= 2) {
    const Word low = __shfl_xor_sync(~0u, least, lane);
    const Word high = __shfl_xor_sync(~0u, greatest, lane);
    least = low < least ? low : least;
    greatest = high > greatest ? high : greatest;
  }
  const bool any_missing = __any_sync(~0u, has_missing) != 0;
  if (threadIdx.x % 32 != 0) return;
  atomicMin(&range->least, least);
  atomicMax(&range->greatest, greatest);
  if (any_missing) range->has_missing = 1;  // all write the same
}

template <class T, class Key>
__global__ void write_kernel(DeviceKeyPart part, const unsigned* __restrict__ order, int64_t count,
                             bool adds, Key* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  Word word = 0;
  Word code = part.missing;
  if (word_at<T>(part, order ? order[i] : i, word))
    code = (part.descending ? part.base - word : word - part.base) + part.first;
  const auto key = static_cast<Key>(code << part.left);
  out[i] = adds ? out[i] | key : key;
}

template <class T, class Key>
__global__ void integers_kernel(const Key* __restrict__ words, DeviceKeyPart part, int64_t count,
                                T* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  const Word code = words ? words[i] : 0;
  out[i] = value_of_ordered_word<T>(
      static_cast<WordOf<T>>(part.descending ? part.base - code : part.base + code));
}

template <class F>
void visit_part(SortKeyPart kind, Dtype dtype, F&& f) {
  switch (kind) {
    case SortKeyPart::kMissing:
      return f(std::type_identity<Missing>{});
    case SortKeyPart::kHigh:
      return f(std::type_identity<High>{});
    case SortKeyPart::kLow:
      return f(std::type_identity<Low>{});
    default:
      if (dtype.is_bool()) return f(std::type_identity<Bit>{});
      if (dtype.is_category()) return f(std::type_identity<Rank>{});
      visit_real(dtype.storage(), f);
  }
}

cudaStream_t stream_of(const DeviceCall& call) {
  return static_cast<cudaStream_t>(call.stream());
}

bool is_integral(Dtype dtype) {
  return !dtype.is_bool() && !dtype.is_category() && !dtype.is_decimal() && !dtype.is_floating();
}

}  // namespace

DeviceSortKeys::DeviceSortKeys(DeviceCall& call, Place place, const std::vector<Column>& keys,
                               const std::vector<SortOrder>& orders, MissingKeys missing)
    : call_(call), place_(place), keys_(keys), orders_(orders), rows_(keys[0].num_rows()) {
  for (const Column& key : keys) {
    call.reads(key.values_buffer());
    if (key.null_count() > 0) call.reads(key.validity_buffer());
  }
  for (size_t k = 0; k < keys.size(); ++k) add_key(k, keys[k], missing);
  find_ranges();
  settle();
  place_words();
  gives_back_ = keys.size() == 1 && is_integral(keys[0].dtype()) && parts_.size() == 1 &&
                !parts_[0].takes_missing;
}

// The parts of a key.
void DeviceSortKeys::add_key(size_t k, const Column& column, MissingKeys missing) {
  const bool nullable = column.null_count() > 0;
  Part part;
  part.key = k;
  part.part.values = column.values_buffer().data();
  part.part.valid = nullable ? column.validity_buffer().as<uint8_t>() : nullptr;
  part.part.offset = column.offset();
  part.part.descending = orders_[k].descending;
  const auto add = [&](SortKeyPart kind) {
    part.kind = kind;
    parts_.push_back(part);
  };
  const Dtype dtype = column.dtype();
  if (!dtype.is_decimal()) {
    if (dtype.is_category()) {
      const Buffer ranks = category_ranks(*column.dictionary());
      tables_.push_back(call_.table(ranks.data(), ranks.size_bytes()));
      part.part.ranks = tables_.back().as<int32_t>();
    }
    if (nullable && dtype.is_floating() && missing == MissingKeys::kNullAndNan)
      add(SortKeyPart::kMissing);  // of the values NaN alone is missing then
    part.takes_missing = true;
    return add(SortKeyPart::kValue);
  }
  if (nullable) add(SortKeyPart::kMissing);
  add(SortKeyPart::kHigh);
  add(SortKeyPart::kLow);
}

void DeviceSortKeys::find_ranges() {
  std::vector<Range> found(parts_.size(), Range{~Word{0}, 0, 0});
  const auto bytes = static_cast<int64_t>(found.size() * sizeof(Range));
  const Buffer room = call_.table(found.data(), bytes);
  const unsigned blocks = blocks_in_turn(rows_, kThreads, place_.index, kBlocksAProcessor);
  for (size_t p = 0; p < parts_.size(); ++p) {
    if (parts_[p].kind == SortKeyPart::kMissing) continue;
    Range* const range = call_.writes_as<Range>(room) + p;
    visit_part(parts_[p].kind, keys_[parts_[p].key].dtype(), [&]<class T>(std::type_identity<T>) {
      range_kernel<T><<<blocks, kThreads, 0, stream_of(call_)>>>(parts_[p].part, rows_, range);
    });
  }
  call_.fetch(found.data(), room.data(), bytes);
  for (size_t p = 0; p < parts_.size(); ++p) {
    Part& part = parts_[p];
    const bool first = orders_[part.key].missing_first;
    if (part.kind == SortKeyPart::kMissing) {
      part.part.descending = !first;
      part.part.base = first ? 0 : 1;
      part.span = 1;
      continue;
    }
    const bool is_empty = found[p].least > found[p].greatest;
    part.span = is_empty ? 0 : found[p].greatest - found[p].least;
    part.part.base = is_empty ? 0 : part.part.descending ? found[p].greatest : found[p].least;
    part.takes_missing &= found[p].has_missing != 0;
  }
}

// Bits of the parts. Missing rows take one more value of numbers, or where all 64 bits are used, a
// part of their own.
void DeviceSortKeys::settle() {
  std::vector<Part> settled;
  for (Part& part : parts_) {
    const bool first = orders_[part.key].missing_first;
    if (part.takes_missing && part.span == ~uint64_t{0}) {
      Part missing = part;
      missing.kind = SortKeyPart::kMissing;
      missing.part.descending = !first;
      missing.part.base = first ? 0 : 1;
      missing.span = 1;
      missing.bits = 1;
      settled.push_back(missing);
      part.takes_missing = false;
    }
    const uint64_t last = part.span + (part.takes_missing ? 1 : 0);
    if (part.takes_missing) {
      part.part.first = first ? 1 : 0;
      part.part.missing = first ? 0 : last;
    }
    part.bits = std::bit_width(last);
    settled.push_back(part);
  }
  parts_ = std::move(settled);
}

// From the last part to the first; a word that has no room for the next one is full.
void DeviceSortKeys::place_words() {
  std::vector<WordParts> words;
  for (size_t p = parts_.size(); p-- > 0;) {
    Part part = parts_[p];
    if (part.bits == 0) continue;
    if (words.empty() || words.back().bits + part.bits > kWordBits) words.emplace_back();
    part.part.left = words.back().bits;
    words.back().bits += part.bits;
    words.back().parts.push_back(part);
  }
  words_.assign(words.rbegin(), words.rend());
}

int DeviceSortKeys::leading_bits(int word) const {
  const WordParts& one = words_[static_cast<size_t>(word)];
  if (rows_ < kLeastRows || one.parts.size() > 1 || one.parts[0].kind != SortKeyPart::kValue)
    return one.bits;
  int lead = std::bit_width(static_cast<uint64_t>(rows_)) + kSpareBits;
  if (keys_[one.parts[0].key].dtype().is_floating()) lead += kFloatBits;
  lead = (lead + 7) / 8 * 8;
  return std::min(lead, one.bits);
}

template <class Key>
void DeviceSortKeys::write_as(int word, const uint32_t* order, Key* out) const {
  bool adds = false;
  for (const Part& part : words_[static_cast<size_t>(word)].parts) {
    visit_part(part.kind, keys_[part.key].dtype(), [&]<class T>(std::type_identity<T>) {
      write_kernel<T, Key><<<blocks_of(rows_, kThreads), kThreads, 0, stream_of(call_)>>>(
          part.part, order, rows_, adds, out);
    });
    adds = true;
  }
}

void DeviceSortKeys::write(int word, const uint32_t* order, uint32_t* out) const {
  write_as(word, order, out);
}

void DeviceSortKeys::write(int word, const uint32_t* order, uint64_t* out) const {
  write_as(word, order, out);
}

template <class Key>
void DeviceSortKeys::give_back_as(const Key* words, std::byte* out) const {
  visit_real(keys_[0].dtype().storage(), [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>)
      integers_kernel<T, Key><<<blocks_of(rows_, kThreads), kThreads, 0, stream_of(call_)>>>(
          words, parts_[0].part, rows_, reinterpret_cast<T*>(out));
  });
}

void DeviceSortKeys::give_back(const uint32_t* words, std::byte* out) const {
  give_back_as(words, out);
}

void DeviceSortKeys::give_back(const uint64_t* words, std::byte* out) const {
  give_back_as(words, out);
}

}  // namespace hr::cuda
