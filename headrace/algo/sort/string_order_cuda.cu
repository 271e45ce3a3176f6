// SPDX-License-Identifier: Apache-2.0
// The order of distinct strings on a CUDA device. Eight bytes of text are a number; of these the
// bits that differ at all are put side by side, as far as 64 go, and sorted by radix. Only strings
// that tie go on to the next bytes; where there are none left, their lengths differ.
#include "headrace/algo/sort/radix_sort_kernels.h"
#include "headrace/algo/sort/row_codes.h"
#include "headrace/algo/sort/string_codes_kernels.h"
#include "headrace/algo/sort/string_words_device.h"
#include "headrace/base/error.h"

#include <algorithm>
#include <bit>
#include <cub/device/device_scan.cuh>
#include <type_traits>
#include <utility>
#include <vector>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kBlocksAProcessor = 8;
constexpr int kPieces = 4;  // that are tried together
constexpr int kWordBits = 64;

using Bits = unsigned long long;

/// Bits of a number side by side, in order: "compress" of Hacker's Delight, 7-4.
struct Compress {
  static constexpr int kSteps = 6;

  uint64_t mask = 0;
  uint64_t moved[kSteps] = {};  // by 1, 2, 4, ...
  int bits = 0;

  Compress() = default;

  explicit Compress(uint64_t wanted) : mask(wanted), bits(std::popcount(wanted)) {
    uint64_t gaps = ~wanted << 1;
    for (int step = 0; step < kSteps; ++step) {
      uint64_t odd = gaps;
      for (int by = 1; by < kWordBits; by *= 2) odd ^= odd << by;
      moved[step] = odd & wanted;
      wanted = (wanted ^ moved[step]) | moved[step] >> (1 << step);
      gaps &= ~odd;
    }
  }

  __device__ uint64_t operator()(uint64_t word) const {
    word &= mask;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const uint64_t part = word & moved[step];
      word = (word ^ part) | part >> (1 << step);
    }
    return word;
  }
};

/// Strings as a row of numbers: their pieces, then their length.
struct StringPieces {
  DeviceStrings strings;
  int64_t text_pieces;

  __device__ uint64_t operator()(int64_t row, int64_t piece) const {
    return piece < text_pieces ? piece_of(strings, row, piece) : strings.view(row)[0];
  }
};

struct WordOfPieces {
  int64_t first;
  int count;
  Compress parts[kPieces];
};

__global__ void numbers_kernel(int64_t count, uint32_t* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) out[i] = static_cast<uint32_t>(i);
}

__global__ void longest_kernel(const __grid_constant__ DeviceStrings strings, int64_t count,
                               unsigned* longest) {
  unsigned most = 0;
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x; row < count; row += step)
    most = max(most, strings.view(row)[0]);
  most = __reduce_max_sync(~0u, most);
  if (threadIdx.x % 32 == 0) atomicMax(longest, most);
}

/// Bits of each piece that are not the same in all rows.
__global__ void __launch_bounds__(kThreads)
    differences_kernel(const __grid_constant__ StringPieces pieces,
                       const uint32_t* __restrict__ rows, int64_t count, int64_t first, int wanted,
                       Bits* found) {
  uint64_t differ[kPieces] = {};
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += step)
#pragma unroll
    for (int k = 0; k < kPieces; ++k)
      if (k < wanted) differ[k] |= pieces(rows[i], first + k) ^ pieces(rows[0], first + k);
#pragma unroll
  for (int k = 0; k < kPieces; ++k) {
    const uint64_t all = uint64_t{__reduce_or_sync(~0u, static_cast<uint32_t>(differ[k] >> 32))}
                             << 32 |
                         __reduce_or_sync(~0u, static_cast<uint32_t>(differ[k]));
    if (threadIdx.x % 32 == 0 && all != 0) atomicOr(&found[k], Bits{all});
  }
}

/// The word of each row, twice: one to be sorted, one to be kept.
template <class Key>
__global__ void __launch_bounds__(kThreads)
    words_kernel(const __grid_constant__ StringPieces pieces,
                 const __grid_constant__ WordOfPieces word, const uint32_t* __restrict__ rows,
                 int64_t count, Key* __restrict__ out, Key* __restrict__ kept) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  uint64_t all = 0;
#pragma unroll
  for (int k = 0; k < kPieces; ++k)
    if (k < word.count) {
      const Compress& part = word.parts[k];
      all = (part.bits < kWordBits ? all << part.bits : 0) | part(pieces(rows[i], word.first + k));
    }
  out[i] = kept[i] = static_cast<Key>(all);
}

__global__ void pick_kernel(const uint32_t* __restrict__ from, const uint32_t* __restrict__ at,
                            int64_t count, uint32_t* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) out[i] = from[at[i]];
}

/// Strings that still tie with others: their rows, their places in the order, and of which run of
/// ties they are.
struct Ties {
  uint32_t* rows;
  uint32_t* places;
  uint32_t* runs;
};

template <class Key>
struct SortedTies {
  const Key* words;
  const uint32_t* runs;  // null: all are of one
  const uint32_t* at;

  /// Whether a row differs from the one before.
  __device__ bool is_head(int64_t i) const {
    if (i == 0) return true;
    const uint32_t own = at[i], before = at[i - 1];
    return words[own] != words[before] || (runs && runs[own] != runs[before]);
  }
};

/// Puts rows into their places, and counts what ties: heads of runs above, rows below.
template <class Key>
__global__ void place_kernel(SortedTies<Key> sorted, Ties ties, int64_t count,
                             uint32_t* __restrict__ order, Bits* __restrict__ counts) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  order[ties.places[i]] = ties.rows[sorted.at[i]];
  const bool is_head = sorted.is_head(i);
  const bool is_alone = is_head && (i + 1 == count || sorted.is_head(i + 1));
  counts[i] = is_alone ? 0 : (is_head ? Bits{1} << 32 : Bits{0}) | 1;
}

/// The ties that go on; `sums` has the counts up to each row.
__global__ void keep_kernel(const uint32_t* __restrict__ at, Ties ties,
                            const Bits* __restrict__ sums, int64_t count, Ties next) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  const Bits own = sums[i], before = i == 0 ? 0 : sums[i - 1];
  if (own == before) return;
  const auto to = static_cast<uint32_t>(own) - 1;
  next.rows[to] = ties.rows[at[i]];
  next.places[to] = ties.places[i];
  next.runs[to] = static_cast<uint32_t>(own >> 32) - 1;
}

class StringOrder {
 public:
  StringOrder(const Column& strings)
      : place_(strings.place()), rows_(strings.num_rows()), call_(kRowsOp, place_) {
    pieces_.strings = strings_of(call_, strings, buffers_);
  }

  Buffer run() {
    Buffer order = allocate_result(4 * rows_, place_);
    order_ = call_.writes_as<uint32_t>(order);
    pieces_.text_pieces = num_pieces();
    const int64_t pieces = pieces_.text_pieces + 1;  // the length is the last one
    for (Ties& each : ties_)
      each = {scratch<uint32_t>(rows_), scratch<uint32_t>(rows_), scratch<uint32_t>(rows_)};
    number(ties_[0].rows, rows_);
    number(ties_[0].places, rows_);
    for (Pair& pair : numbers_) pair = {scratch<uint32_t>(rows_), scratch<uint32_t>(rows_)};
    counts_ = scratch<Bits>(rows_);
    differ_ = scratch<Bits>(kPieces);
    for (Bits*& words : words_) words = scratch<Bits>(rows_);
    count_ = rows_;
    runs_ = 1;
    for (int64_t first = 0; count_ > 0;) {
      if (first >= pieces)
        throw_error<InternalError>(kRowsOp, "strings are not distinct", {{"rows", count_}});
      const WordOfPieces word = next_word(first, pieces);
      first += word.count;
      const int bits = bits_of(word);
      if (bits > 32)
        sort<Bits>(word, bits);
      else if (bits > 0)
        sort<uint32_t>(word, bits);
    }
    call_.finish(cudaGetLastError());
    return order;
  }

 private:
  struct Pair {
    uint32_t* places[2];
  };

  template <class T>
  T* scratch(int64_t count) {
    buffers_.push_back(call_.scratch(count * static_cast<int64_t>(sizeof(T))));
    return call_.writes_as<T>(buffers_.back());
  }

  cudaStream_t stream() const { return static_cast<cudaStream_t>(call_.stream()); }

  void number(uint32_t* out, int64_t count) {
    numbers_kernel<<<blocks_of(count, kThreads), kThreads, 0, stream()>>>(count, out);
  }

  int64_t num_pieces() {
    auto* const longest = scratch<unsigned>(1);
    call_.fill(reinterpret_cast<std::byte*>(longest), 0, 4);
    longest_kernel<<<blocks_in_turn(rows_, kThreads, place_.index, kBlocksAProcessor), kThreads, 0,
                     stream()>>>(pieces_.strings, rows_, longest);
    unsigned found = 0;
    call_.fetch(&found, longest, 4);
    return (int64_t{found} + kPieceBytes - 1) / kPieceBytes;
  }

  static int bits_of(const WordOfPieces& word) {
    int bits = 0;
    for (int k = 0; k < word.count; ++k) bits += word.parts[k].bits;
    return bits;
  }

  // The pieces from the first on that go into one word.
  WordOfPieces next_word(int64_t first, int64_t pieces) {
    const int wanted = static_cast<int>(std::min<int64_t>(kPieces, pieces - first));
    call_.fill(reinterpret_cast<std::byte*>(differ_), 0, 8 * kPieces);
    differences_kernel<<<blocks_in_turn(count_, kThreads, place_.index, kBlocksAProcessor),
                         kThreads, 0, stream()>>>(pieces_, ties_[0].rows, count_, first, wanted,
                                                  differ_);
    Bits found[kPieces];
    call_.fetch(found, differ_, sizeof found);
    WordOfPieces word{first, 0, {}};
    for (int bits = 0; word.count < wanted; ++word.count) {
      const Compress part(found[word.count]);
      bits += part.bits;
      if (bits > kWordBits) break;
      word.parts[word.count] = part;
    }
    return word;
  }

  template <class Key>
  void sort(const WordOfPieces& word, int bits) {
    Key* const sorted[2] = {reinterpret_cast<Key*>(words_[0]), reinterpret_cast<Key*>(words_[1])};
    auto* const kept = reinterpret_cast<Key*>(words_[2]);
    const Ties ties = ties_[0];
    words_kernel<Key><<<blocks_of(count_, kThreads), kThreads, 0, stream()>>>(
        pieces_, word, ties.rows, count_, sorted[0], kept);
    number(numbers_[0].places[0], count_);
    uint32_t* places[2] = {numbers_[0].places[0], numbers_[0].places[1]};
    const auto swap_if = [&](int at) {
      if (at == 1) std::swap(places[0], places[1]);
    };
    swap_if(sort_keys(sorted, places, bits));
    if (runs_ > 1) {
      uint32_t* const runs[2] = {numbers_[1].places[0], numbers_[1].places[1]};
      pick_kernel<<<blocks_of(count_, kThreads), kThreads, 0, stream()>>>(ties.runs, places[0],
                                                                          count_, runs[0]);
      swap_if(sort_keys(runs, places, std::bit_width(static_cast<uint64_t>(runs_ - 1))));
    }
    const SortedTies<Key> ordered{kept, runs_ > 1 ? ties.runs : nullptr, places[0]};
    place_kernel<Key><<<blocks_of(count_, kThreads), kThreads, 0, stream()>>>(ordered, ties, count_,
                                                                              order_, counts_);
    keep_ties(places[0]);
  }

  template <class Key>
  int sort_keys(Key* const (&keys)[2], uint32_t* const (&places)[2], int bits) {
    if constexpr (sizeof(Key) == 8) {
      uint64_t* const words[2] = {reinterpret_cast<uint64_t*>(keys[0]),
                                  reinterpret_cast<uint64_t*>(keys[1])};
      return radix_sort(call_, words, places, count_, 0, bits);
    } else {
      return radix_sort(call_, keys, places, count_, 0, bits);
    }
  }

  void keep_ties(const uint32_t* at) {
    size_t bytes = 0;
    check_cuda(kRowsOp,
               cub::DeviceScan::InclusiveSum(nullptr, bytes, counts_, counts_, count_, stream()));
    const Buffer room = call_.scratch(static_cast<int64_t>(bytes));
    check_cuda(kRowsOp, cub::DeviceScan::InclusiveSum(call_.writes(room), bytes, counts_, counts_,
                                                      count_, stream()));
    Bits left = 0;
    call_.fetch(&left, counts_ + count_ - 1, sizeof left);
    keep_kernel<<<blocks_of(count_, kThreads), kThreads, 0, stream()>>>(at, ties_[0], counts_,
                                                                        count_, ties_[1]);
    std::swap(ties_[0], ties_[1]);
    count_ = static_cast<int64_t>(left & ~uint32_t{0});
    runs_ = static_cast<int64_t>(left >> 32);
  }

  const Place place_;
  const int64_t rows_;
  DeviceCall call_;
  std::vector<Buffer> buffers_{};
  StringPieces pieces_{};
  uint32_t* order_ = nullptr;
  Ties ties_[2]{};  // what ties now, and what will
  Pair numbers_[2]{};
  Bits* counts_ = nullptr;
  Bits* differ_ = nullptr;
  Bits* words_[3]{};
  int64_t count_ = 0;
  int64_t runs_ = 1;
};

}  // namespace

Buffer order_of_distinct(const Column& strings) {
  return StringOrder(strings).run();
}

}  // namespace hr::cuda
