// SPDX-License-Identifier: Apache-2.0
// Ranges of integer keys on a CUDA device: one kernel a column, one wait.
#include "headrace/algo/keys/normalized_keys_kernels.h"
#include "headrace/data/device_launch.h"

#include <limits>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kAhead = 8;  // loads of a thread under way together
constexpr int kBlocksAProcessor = 8;

// Signed numbers with the sign turned order as unsigned ones, so both kinds fold alike.
template <class T>
__global__ void __launch_bounds__(kThreads)
    range_kernel(const T* __restrict__ values, int64_t rows, unsigned long long* range) {
  constexpr uint64_t kTurn = std::is_signed_v<T> ? uint64_t{1} << 63 : 0;
  T least = std::numeric_limits<T>::max();
  T greatest = std::numeric_limits<T>::min();
  const int64_t step = int64_t{gridDim.x} * kThreads * kAhead;
  for (int64_t first = int64_t{blockIdx.x} * kThreads * kAhead + threadIdx.x; first < rows;
       first += step) {
    T ahead[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      const int64_t row = first + k * kThreads;
      ahead[k] = values[row < rows ? row : first];
    }
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      least = ahead[k] < least ? ahead[k] : least;
      greatest = ahead[k] > greatest ? ahead[k] : greatest;
    }
  }
  auto low = static_cast<unsigned long long>(least) ^ kTurn;
  auto high = static_cast<unsigned long long>(greatest) ^ kTurn;
  for (int half = 16; half > 0; half /= 2) {
    const auto lower = __shfl_xor_sync(~0u, low, half);
    const auto higher = __shfl_xor_sync(~0u, high, half);
    low = lower < low ? lower : low;
    high = higher > high ? higher : high;
  }
  if (threadIdx.x % 32 != 0) return;
  atomicMin(&range[0], low);
  atomicMax(&range[1], high);
}

}  // namespace

std::vector<std::pair<uint64_t, uint64_t>> integer_ranges(const std::vector<Column>& columns) {
  const Place place = columns[0].place();
  DeviceCall call("groupby", place);
  std::vector<unsigned long long> found;
  for (size_t k = 0; k < columns.size(); ++k) found.insert(found.end(), {~0ull, 0ull});
  const auto bytes = static_cast<int64_t>(found.size() * sizeof found[0]);
  const Buffer ranges = call.table(found.data(), bytes);
  auto* range = call.writes_as<unsigned long long>(ranges);
  for (const Column& column : columns) {
    call.reads(column.values_buffer());
    const int64_t rows = column.num_rows();
    visit_real(column.dtype().storage(), [&]<class T>(std::type_identity<T>) {
      if constexpr (std::is_integral_v<T>)
        range_kernel<T><<<blocks_in_turn(rows, kThreads * kAhead, place.index, kBlocksAProcessor),
                          kThreads, 0, static_cast<cudaStream_t>(call.stream())>>>(
            column.values_buffer().as<T>() + column.offset(), rows, range);
    });
    range += 2;
  }
  call.finish(cudaGetLastError());
  call.fetch(found.data(), ranges.data(), bytes);
  std::vector<std::pair<uint64_t, uint64_t>> result;
  for (size_t k = 0; k < columns.size(); ++k) {
    const uint64_t turn = columns[k].dtype().storage().is_signed() ? uint64_t{1} << 63 : 0;
    result.emplace_back(found[2 * k] ^ turn, found[2 * k + 1] ^ turn);
  }
  return result;
}

}  // namespace hr::cuda
