// SPDX-License-Identifier: Apache-2.0
// The rows that may come first on a CUDA device: histograms of the leading word, 12 bits at a time,
// tell how far its values go.
#include "headrace/algo/select/nonzero_kernels.h"
#include "headrace/algo/sort/device_sort_kernels.h"
#include "headrace/algo/sort/device_sort_keys_kernels.h"
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/data/device_launch.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kBlocksAProcessor = 4;
constexpr int kDigitBits = 12;
constexpr int kDigits = 1 << kDigitBits;

using Word = unsigned long long;

/// Counts rows by the digit at `shift`, of those whose word agrees with `prefix` above it.
template <class Key>
__global__ void digits_kernel(const Key* __restrict__ words, int64_t count, int shift, Word prefix,
                              bool has_prefix, unsigned* __restrict__ counts) {
  __shared__ unsigned own[kDigits];
  for (int i = threadIdx.x; i < kDigits; i += kThreads) own[i] = 0;
  __syncthreads();
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += step) {
    const Word word = static_cast<Word>(words[i]) >> shift;
    if (!has_prefix || word >> kDigitBits == prefix) atomicAdd(&own[word & (kDigits - 1)], 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kDigits; i += kThreads)
    if (own[i] > 0) atomicAdd(&counts[i], own[i]);
}

/// Bits of the rows whose words are at most `last`, from bit `shift` on.
template <class Key>
__global__ void at_most_kernel(const Key* __restrict__ words, int64_t count, int shift, Word last,
                               unsigned* __restrict__ bits) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const bool is_wanted = i < count && static_cast<Word>(words[i]) >> shift <= last;
  const unsigned word = __ballot_sync(~0u, is_wanted);
  if (threadIdx.x % 32 == 0 && i < count) bits[i / 32] = word;
}

/// The rows up to a digit's end, as bits; nothing where too many tie.
template <class Key>
std::optional<Buffer> first_bits(DeviceCall& call, const DeviceSortKeys& keys, Place place,
                                 int64_t rows, int64_t wanted) {
  const auto stream = static_cast<cudaStream_t>(call.stream());
  const Buffer room = call.scratch(rows * static_cast<int64_t>(sizeof(Key)));
  Key* const words = call.writes_as<Key>(room);
  keys.write(0, nullptr, words);
  constexpr int64_t kBytes = int64_t{kDigits} * 4;
  const Buffer counts = call.scratch(kBytes);
  const unsigned blocks = blocks_in_turn(rows, kThreads, place.index, kBlocksAProcessor);
  int shift = std::max(keys.bits(0) - kDigitBits, 0);
  Word prefix = 0;
  bool has_prefix = false;
  int64_t before = 0;  // rows below the prefix
  while (true) {
    call.fill(call.writes(counts), 0, kBytes);
    digits_kernel<Key><<<blocks, kThreads, 0, stream>>>(words, rows, shift, prefix, has_prefix,
                                                        call.writes_as<unsigned>(counts));
    std::vector<unsigned> found(kDigits);
    call.fetch(found.data(), counts.data(), kBytes);
    size_t digit = 0;
    while (digit + 1 < found.size() && before + found[digit] < wanted) before += found[digit++];
    prefix = prefix << kDigitBits | digit;
    has_prefix = true;
    const int64_t candidates = before + found[digit];
    if (candidates <= std::max(4 * wanted, rows / 64)) break;
    if (shift < kDigitBits) {
      if (candidates > rows / 8) return std::nullopt;
      break;
    }
    shift -= kDigitBits;
  }
  Buffer bits = allocate_result(round_up(bitmap_bytes(rows), 4), place);
  at_most_kernel<Key><<<blocks_of(rows, kThreads), kThreads, 0, stream>>>(
      words, rows, shift, prefix, call.writes_as<unsigned>(bits));
  return bits;
}

}  // namespace

std::optional<Tensor> first_candidates(const std::vector<Column>& keys,
                                       const std::vector<SortOrder>& orders, int64_t count) {
  const Place place = keys[0].place();
  const int64_t rows = keys[0].num_rows();
  if (rows > std::numeric_limits<unsigned>::max()) return std::nullopt;  // digits are counted
  std::optional<Buffer> bits;
  {
    DeviceCall call("sort", place);
    const DeviceSortKeys packed(call, place, keys, orders);
    if (packed.num_words() > 0)
      bits = packed.bits(0) > 32 ? first_bits<uint64_t>(call, packed, place, rows, count)
                                 : first_bits<uint32_t>(call, packed, place, rows, count);
    call.finish(cudaGetLastError());
  }
  if (!bits) return std::nullopt;
  return nonzero(Column(TypeId::kBool, rows, std::move(*bits)));
}

}  // namespace hr::cuda
