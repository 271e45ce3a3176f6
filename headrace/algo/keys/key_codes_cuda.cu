// SPDX-License-Identifier: Apache-2.0
// Normalized keys as numbers without gaps, on a CUDA device.
#include "headrace/algo/keys/normalized_keys_device.h"
#include "headrace/algo/sort/radix_sort_kernels.h"
#include "headrace/algo/sort/row_codes_kernels.h"
#include "headrace/algo/sort/row_table_device.h"

#include <bit>
#include <vector>

namespace hr::cuda {

namespace {

using rows::kThreads;

struct WordRows {
  const uint64_t* words;
  bool drops;
  uint64_t missing;

  __device__ bool is_there(int64_t row) const { return !drops || words[row] != missing; }

  __device__ uint64_t hash(int64_t row) const {
    uint64_t key = words[row];
    key = (key ^ key >> 33) * 0xFF51AFD7ED558CCDu;
    key = (key ^ key >> 33) * 0xC4CEB9FE1A85EC53u;
    return key ^ key >> 33;
  }

  __device__ static bool equal(const WordRows& a, int64_t i, const WordRows& b, int64_t j) {
    return a.words[i] == b.words[j];
  }
};

template <class Keys>
__global__ void words_kernel(const __grid_constant__ Keys keys, int64_t count,
                             uint64_t* __restrict__ out) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row < count) out[row] = keys(row);
}

__global__ void distinct_kernel(const uint64_t* __restrict__ words,
                                const uint32_t* __restrict__ first, int64_t count,
                                uint64_t* __restrict__ out, uint32_t* __restrict__ numbers) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  out[i] = words[first[i]];
  numbers[i] = static_cast<uint32_t>(i);
}

}  // namespace

RowCodes encode_keys(const NormalizedKeys& packed, bool ordered) {
  const int64_t rows = packed.num_rows();
  const Place place = packed.key_fields()[0].column.place();
  RowCodes made;
  Buffer order;
  {
    DeviceCall call(kRowsOp, place);
    std::vector<Buffer> tables;
    const Buffer room = call.scratch(8 * rows);
    auto* const words = call.writes_as<uint64_t>(room);
    with_keys(call, packed, tables, [&]<class Keys>(const Keys& keys) {
      words_kernel<Keys>
          <<<blocks_of(rows, kThreads), kThreads, 0, row_stream(call)>>>(keys, rows, words);
    });
    const WordRows keys{words, packed.has_missing(), packed.missing()};
    made = encode_rows(call, keys, rows, packed.has_missing() ? -1 : 0, place);
    const int64_t distinct = made.first_rows.num_elements();
    if (ordered && distinct > 1) {
      const Buffer sorted[] = {call.scratch(8 * distinct), call.scratch(8 * distinct)};
      const Buffer numbers[] = {allocate_result(4 * distinct, place),
                                allocate_result(4 * distinct, place)};
      uint64_t* const own[2] = {call.writes_as<uint64_t>(sorted[0]),
                                call.writes_as<uint64_t>(sorted[1])};
      uint32_t* const places[2] = {call.writes_as<uint32_t>(numbers[0]),
                                   call.writes_as<uint32_t>(numbers[1])};
      distinct_kernel<<<blocks_of(distinct, kThreads), kThreads, 0, row_stream(call)>>>(
          words, call.writes_as<uint32_t>(made.first_rows.buffer()), distinct, own[0], places[0]);
      order =
          numbers[radix_sort(call, own, places, distinct, 0, std::bit_width(packed.domain() - 1))];
    }
    call.finish(cudaGetLastError());
  }
  return order ? renumbered(made, order) : made;
}

}  // namespace hr::cuda
