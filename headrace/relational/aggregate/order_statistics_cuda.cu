// SPDX-License-Identifier: Apache-2.0
// Median, quantiles and numbers of distinct values of groups on a CUDA device, whose values lie in
// order.
#include "headrace/algo/reduce/quantile_math.h"
#include "headrace/relational/aggregate/group_outputs_device.h"
#include "headrace/relational/aggregate/order_statistics_kernels.h"

#include <algorithm>

namespace hr::cuda {

namespace {

using groups::GroupColumns;
using groups::word_of;

constexpr int kThreads = 256;
constexpr std::string_view kOp = "groupby";

template <class T>
struct Rows {
  const T* values;
  const uint8_t* valid;  // bits; null: no row is null
  int64_t offset;

  __device__ T operator[](int64_t row) const { return values[offset + row]; }

  __device__ bool is_there(int64_t row) const {
    if (valid && !bit_at(valid, offset + row)) return false;
    if constexpr (std::is_floating_point_v<T>) return !isnan(values[offset + row]);
    return true;
  }
};

template <class T>
Rows<T> rows_of(DeviceCall& call, const Column& column) {
  call.reads(column.values_buffer());
  const bool nulls = column.null_count() != 0;
  if (nulls) call.reads(column.validity_buffer());
  return {column.values_buffer().as<T>(), nulls ? column.validity() : nullptr, column.offset()};
}

/// Where the rows of each group begin, and behind the last one those of none.
__global__ void begins_kernel(const __grid_constant__ Rows<int32_t> numbers, int64_t rows,
                              int64_t groups, int64_t* __restrict__ begins) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i > rows) return;
  const auto group = [&](int64_t row) {
    return row < rows && numbers.is_there(row) ? int64_t{numbers[row]} : groups;
  };
  const int64_t before = i == 0 ? -1 : group(i - 1);
  const int64_t here = group(i);
  for (int64_t g = before + 1; g <= here; ++g) begins[g] = i;
}

/// How many values each group has: those that are missing are its last rows.
template <class T>
__global__ void counts_kernel(const __grid_constant__ Rows<T> values,
                              const int64_t* __restrict__ begins, int64_t groups,
                              uint32_t* __restrict__ counts) {
  const int64_t group = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (group >= groups) return;
  int64_t low = begins[group], high = begins[group + 1];
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (values.is_there(middle))
      low = middle + 1;
    else
      high = middle;
  }
  counts[group] = static_cast<uint32_t>(low - begins[group]);
}

/// Counts the values of each group that differ from the one before.
template <class T>
__global__ void distinct_kernel(const __grid_constant__ Rows<int32_t> numbers,
                                const __grid_constant__ Rows<T> values, int64_t rows,
                                unsigned long long* __restrict__ distinct) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const bool is_there = row < rows && numbers.is_there(row) && values.is_there(row);
  const int32_t group = is_there ? numbers[row] : -1;
  const bool is_new =
      is_there && (row == 0 || numbers[row - 1] != group || !(values[row - 1] == values[row]));
  // A warp mostly is in one group.
  const unsigned news = __ballot_sync(~0u, is_new);
  const unsigned peers = __match_any_sync(~0u, group);
  if (is_there && (peers & ((1u << threadIdx.x % 32) - 1)) == 0 && (news & peers) != 0)
    atomicAdd(&distinct[group], static_cast<unsigned long long>(__popc(news & peers)));
}

template <class T>
__global__ void quantiles_kernel(const __grid_constant__ Rows<T> values,
                                 const int64_t* __restrict__ begins,
                                 const uint32_t* __restrict__ counts, int64_t groups, double q,
                                 Interpolation interpolation, uint64_t* __restrict__ out) {
  const int64_t group = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (group >= groups) return;
  double result = 0;
  if (const int64_t count = counts[group]; count > 0) {
    const auto value = [&](int64_t rank) {
      return static_cast<double>(values[begins[group] + rank]);
    };
    const QuantilePlace place = quantile_place(count, q, interpolation);
    result = value_at(place, value(place.below), value(place.above)) + 0.0;
  }
  out[group] = word_of(result);
}

template <class T>
std::vector<Column> statistics_of(const Column& number_column, int64_t groups,
                                  const Column& value_column,
                                  std::span<const PlannedAggregate> wanted) {
  const Place place = value_column.place();
  const int64_t rows = value_column.num_rows();
  DeviceCall call(kOp, place);
  const auto stream = static_cast<cudaStream_t>(call.stream());
  const auto numbers = rows_of<int32_t>(call, number_column);
  const auto values = rows_of<T>(call, value_column);
  const unsigned row_blocks = blocks_of(rows + 1, kThreads);
  const unsigned group_blocks = blocks_of(groups, kThreads);
  const Buffer room[] = {call.scratch(8 * (groups + 1)), call.scratch(4 * groups),
                         call.scratch(8 * groups)};
  auto* const begins = call.writes_as<int64_t>(room[0]);
  auto* const counts = call.writes_as<uint32_t>(room[1]);
  auto* const words = call.writes_as<uint64_t>(room[2]);
  begins_kernel<<<row_blocks, kThreads, 0, stream>>>(numbers, rows, groups, begins);
  counts_kernel<T><<<group_blocks, kThreads, 0, stream>>>(values, begins, groups, counts);
  GroupColumns made(call, wanted, groups, place);
  for (size_t k = 0; k < wanted.size(); ++k) {
    const AggregateRequest& request = wanted[k].request;
    if (request.aggregate == Aggregate::kNunique) {
      call.fill(reinterpret_cast<std::byte*>(words), 0, 8 * groups);
      distinct_kernel<T><<<row_blocks, kThreads, 0, stream>>>(
          numbers, values, rows, reinterpret_cast<unsigned long long*>(words));
    } else {
      const double q = request.aggregate == Aggregate::kMedian ? 0.5 : request.quantile;
      quantiles_kernel<T><<<group_blocks, kThreads, 0, stream>>>(values, begins, counts, groups, q,
                                                                 request.interpolation, words);
    }
    made.write(k, words, counts, nullptr);
  }
  std::vector<Column> columns = made.columns();
  call.finish(cudaGetLastError());
  return columns;
}

}  // namespace

std::vector<Column> order_statistics(const Column& numbers, int64_t groups, const Column& values,
                                     std::span<const PlannedAggregate> wanted) {
  std::vector<Column> made;
  visit_real(values.dtype().storage(), [&]<class T>(std::type_identity<T>) {
    made = statistics_of<T>(numbers, groups, values, wanted);
  });
  return made;
}

}  // namespace hr::cuda
