// SPDX-License-Identifier: Apache-2.0
// Positions as row numbers on a CUDA device, checked.
#include "headrace/algo/select/gather_kernels.h"
#include "headrace/data/device_launch.h"

#include <type_traits>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;

struct Found {
  unsigned long long first_bad;
  unsigned long long first_negative;
};

// `rows` may be null: then the positions are only checked.
template <class T>
__global__ void rows_kernel(View<T> positions, int64_t num_rows, bool or_none,
                            int64_t* __restrict__ rows, Found* found) {
  const int64_t k = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (k >= positions.size) return;
  const T position = positions[k];
  int64_t row = static_cast<int64_t>(position);
  bool is_bad = false;
  if constexpr (std::is_same_v<T, uint64_t>) is_bad = row < 0;
  if (row < 0 && !or_none) {
    row += num_rows;
    if (!rows) found->first_negative = 0;  // all write the same
  }
  if (is_bad || row < (or_none ? -1 : 0) || row >= num_rows)
    atomicMin(&found->first_bad, static_cast<unsigned long long>(k));
  if (rows) rows[k] = row;
}

}  // namespace

Tensor rows_at(const Tensor& positions, int64_t num_rows, bool or_none, int64_t& first_bad) {
  const int64_t count = positions.num_elements();
  first_bad = -1;
  if (count == 0) return Tensor(TypeId::kInt64, {0}, Buffer());
  DeviceCall call("take", positions.place());
  call.reads(positions.buffer());
  const Buffer room = call.scratch(sizeof(Found));
  const auto look = [&](int64_t* rows) {
    call.fill(call.writes(room), 0xFF, sizeof(Found));
    visit_real(positions.dtype(), [&]<class T>(std::type_identity<T>) {
      if constexpr (std::is_integral_v<T>)
        rows_kernel<T>
            <<<blocks_of(count, kThreads), kThreads, 0, static_cast<cudaStream_t>(call.stream())>>>(
                view_of<T>(positions), num_rows, or_none, rows, call.writes_as<Found>(room));
    });
    Found found{};
    call.fetch(&found, room.data(), sizeof found);
    first_bad = static_cast<int64_t>(found.first_bad);
    return found.first_negative == 0;
  };
  // Numbers that are rows as they stand are not written once more.
  if (positions.dtype() == Dtype(TypeId::kInt64) && positions.is_contiguous()) {
    const bool has_negative = look(nullptr);
    if (!has_negative || first_bad >= 0) {
      call.finish(cudaGetLastError());
      return positions;
    }
  }
  const Buffer rows = allocate_result(count * 8, positions.place());
  look(call.writes_as<int64_t>(rows));
  call.finish(cudaGetLastError());
  return Tensor(TypeId::kInt64, {count}, rows);
}

}  // namespace hr::cuda
