// SPDX-License-Identifier: Apache-2.0
// Positions of the true elements on a CUDA device: count by tile, add up, write each tile in its
// place.
#include "headrace/algo/select/exclusive_scan_kernels.h"
#include "headrace/algo/select/mask_tiles.h"
#include "headrace/algo/select/nonzero_kernels.h"

namespace hr::cuda {

namespace {

template <class Gate>
__global__ void write_kernel(Gate gate, const int64_t* __restrict__ before,
                             int64_t* __restrict__ out) {
  const int64_t first = int64_t{blockIdx.x} * kMaskTile + int64_t{threadIdx.x} * kMaskRows;
  unsigned bits = gate.mask(first);
  int64_t at = before[blockIdx.x] + items_before(__popc(bits));
  for (; bits != 0; bits &= bits - 1) out[at++] = first + __ffs(static_cast<int>(bits)) - 1;
}

template <class Gate>
Tensor positions(const Gate& gate, int64_t rows, const Buffer& source, const Buffer& valid = {}) {
  DeviceCall call("nonzero", source.place());
  call.reads(source);
  call.reads(valid);
  const auto stream = static_cast<cudaStream_t>(call.stream());
  const unsigned tiles = blocks_of(rows, kMaskTile);
  const Buffer counts = call.scratch((int64_t{tiles} + 1) * 8);
  auto* const before = reinterpret_cast<int64_t*>(call.writes(counts));
  count_tiles_kernel<<<tiles, kMaskThreads, 0, stream>>>(gate, before);
  exclusive_scan(call, before, tiles, before + tiles, false);
  call.finish(cudaGetLastError());
  int64_t total = 0;
  call.fetch(&total, before + tiles, 8);
  const Buffer out = allocate_result(total * 8, source.place());
  if (total > 0) {
    write_kernel<<<tiles, kMaskThreads, 0, stream>>>(gate, before, call.writes_as<int64_t>(out));
    call.finish(cudaGetLastError());
  }
  return Tensor(TypeId::kInt64, {total}, out);
}

}  // namespace

Tensor nonzero(const Tensor& gate) {
  const DevicePin pin(gate.buffer());  // before its address is taken
  return positions(ByteMask{view_of<uint8_t>(gate)}, gate.num_elements(), gate.buffer());
}

Tensor nonzero(const Column& gate) {
  const DevicePin pin(gate.values_buffer());
  const Buffer& valid = gate.null_count() > 0 ? gate.validity_buffer() : Buffer();
  const DevicePin valid_pin(valid);
  return positions(
      BitMask{gate.bits(), valid ? valid.as<uint8_t>() : nullptr, gate.offset(), gate.num_rows()},
      gate.num_rows(), gate.values_buffer(), valid);
}

}  // namespace hr::cuda
