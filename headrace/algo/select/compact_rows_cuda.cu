// SPDX-License-Identifier: Apache-2.0
// Rows that a mask picks on a CUDA device: a warp reads 32 rows at a time and writes those that
// stay side by side. Each column is read and written once, without positions.
#include "headrace/algo/select/compact_rows_kernels.h"
#include "headrace/algo/select/exclusive_scan_kernels.h"
#include "headrace/algo/select/mask_tiles.h"
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace hr::cuda {

namespace {

template <class Mask, class T>
__global__ void compact_kernel(Mask mask, const T* __restrict__ in,
                               const int64_t* __restrict__ before, int64_t rows,
                               T* __restrict__ out) {
  const int64_t tile = int64_t{blockIdx.x} * kMaskTile;
  const unsigned own = mask.mask(tile + int64_t{threadIdx.x} * kMaskRows);
  const int own_begin = items_before(__popc(own));
  T* const to = out + before[blockIdx.x];
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int64_t first = tile + int64_t{threadIdx.x - static_cast<unsigned>(lane)} * kMaskRows;
  if (first >= rows) return;
#pragma unroll 8
  for (int k = 0; k < 32; ++k) {  // rows of lane k
    const unsigned bits = __shfl_sync(~0u, own, k);
    const int begin = __shfl_sync(~0u, own_begin, k);
    if (bits >> lane & 1)
      to[begin + __popc(bits & ((1u << lane) - 1))] = in[first + k * kMaskRows + lane];
  }
}

/// The bits of `word` where `mask` has ones, side by side.
__device__ unsigned extract_bits(unsigned word, unsigned mask) {
  unsigned out = 0;
  for (int at = 0; mask != 0; mask &= mask - 1, ++at)
    out |= (word >> (__ffs(static_cast<int>(mask)) - 1) & 1) << at;
  return out;
}

/// Into zeroed words; counts ones.
template <class Mask>
__global__ void compact_bits_kernel(Mask mask, const uint8_t* __restrict__ bits, int64_t offset,
                                    const int64_t* __restrict__ before, int64_t rows,
                                    unsigned* __restrict__ out, unsigned long long* ones) {
  const int64_t first = int64_t{blockIdx.x} * kMaskTile + int64_t{threadIdx.x} * kMaskRows;
  const unsigned own = mask.mask(first);
  const int64_t at = before[blockIdx.x] + items_before(__popc(own));
  const int64_t count = rows - first < kMaskRows ? rows - first : kMaskRows;
  const unsigned kept = extract_bits(bits_from(bits, offset + first, count), own);
  if (kept != 0) {
    const int shift = static_cast<int>(at % 32);
    atomicOr(&out[at / 32], kept << shift);
    if (shift > 0 && kept >> (32 - shift) != 0) atomicOr(&out[at / 32 + 1], kept >> (32 - shift));
  }
  const int sum = __reduce_add_sync(~0u, __popc(kept));
  if (threadIdx.x % 32 == 0 && sum > 0) atomicAdd(ones, static_cast<unsigned long long>(sum));
}

/// Calls `work` with the mask as kernels read it, which stays where it is meanwhile.
template <class F>
void with_mask(DeviceCall& call, const DeviceMask& mask, F&& work) {
  if (mask.tensor) {
    call.reads(mask.tensor->buffer());
    return work(ByteMask{view_of<uint8_t>(*mask.tensor)});
  }
  const Column& column = *mask.column;
  call.reads(column.values_buffer());
  const bool has_nulls = column.null_count() > 0;
  if (has_nulls) call.reads(column.validity_buffer());
  work(BitMask{column.values_buffer().as<uint8_t>(),
               has_nulls ? column.validity_buffer().as<uint8_t>() : nullptr, column.offset(),
               column.num_rows()});
}

Place place_of(const DeviceMask& mask) {
  return mask.column ? mask.column->place() : mask.tensor->place();
}

struct Bits {
  Buffer words{};
  int64_t ones = 0;
};

/// Bits of a bitmap from bit `offset` on, those that the mask picks.
Bits compact_bits(std::string_view op, const Buffer& bitmap, int64_t offset, const DeviceMask& mask,
                  const MaskOffsets& offsets, bool counts) {
  const Place place = bitmap.place();
  const int64_t bytes = round_up(bitmap_bytes(offsets.picked), 4);
  Bits made{allocate_result(bytes, place), 0};
  if (bytes == 0) return made;
  DeviceCall call(op, place);
  call.reads(bitmap);
  call.reads(offsets.before);
  const Buffer ones = call.scratch(8);
  call.fill(call.writes(ones), 0, 8);
  call.fill(call.writes(made.words), 0, bytes);
  const int64_t rows = mask.num_rows();
  with_mask(call, mask, [&]<class Mask>(const Mask& by) {
    compact_bits_kernel<Mask>
        <<<blocks_of(rows, kMaskTile), kMaskThreads, 0, static_cast<cudaStream_t>(call.stream())>>>(
            by, bitmap.as<uint8_t>(), offset, offsets.before.as<int64_t>(), rows,
            call.writes_as<unsigned>(made.words), call.writes_as<unsigned long long>(ones));
  });
  call.finish(cudaGetLastError());
  if (counts) call.fetch(&made.ones, ones.data(), 8);
  return made;
}

}  // namespace

MaskOffsets mask_offsets(std::string_view op, const DeviceMask& mask) {
  const Place place = place_of(mask);
  const unsigned tiles = blocks_of(mask.num_rows(), kMaskTile);
  MaskOffsets offsets;
  if (mask.num_rows() == 0) return offsets;
  DeviceCall call(op, place);
  offsets.before = call.scratch((int64_t{tiles} + 1) * 8);
  auto* const before = call.writes_as<int64_t>(offsets.before);
  with_mask(call, mask, [&]<class Mask>(const Mask& by) {
    count_tiles_kernel<Mask>
        <<<tiles, kMaskThreads, 0, static_cast<cudaStream_t>(call.stream())>>>(by, before);
  });
  exclusive_scan(call, before, tiles, before + tiles, false);
  call.finish(cudaGetLastError());
  call.fetch(&offsets.picked, before + tiles, 8);
  return offsets;
}

Buffer compact_rows(std::string_view op, const Buffer& rows, int64_t begin, int64_t width,
                    const DeviceMask& mask, const MaskOffsets& offsets) {
  const Place place = rows.place();
  Buffer out = allocate_result(checked_multiply(op, offsets.picked, width), place);
  if (offsets.picked == 0 || width == 0) return out;
  DeviceCall call(op, place);
  call.reads(rows);
  call.reads(offsets.before);
  const int64_t count = mask.num_rows();
  const auto compact = [&]<class T>(std::type_identity<T>) {
    with_mask(call, mask, [&]<class Mask>(const Mask& by) {
      compact_kernel<Mask, T><<<blocks_of(count, kMaskTile), kMaskThreads, 0,
                                static_cast<cudaStream_t>(call.stream())>>>(
          by, reinterpret_cast<const T*>(rows.data() + begin), offsets.before.as<int64_t>(), count,
          call.writes_as<T>(out));
    });
  };
  if (width == 1)
    compact(std::type_identity<uint8_t>{});
  else if (width == 2)
    compact(std::type_identity<uint16_t>{});
  else if (width == 4)
    compact(std::type_identity<uint32_t>{});
  else if (width == 8)
    compact(std::type_identity<uint64_t>{});
  else if (reinterpret_cast<uintptr_t>(rows.data() + begin) % sizeof(ulonglong2) == 0)
    compact(std::type_identity<ulonglong2>{});
  else  // views that others made
    compact(std::type_identity<std::array<uint32_t, 4>>{});
  call.finish(cudaGetLastError());
  return out;
}

Column compact_rows(std::string_view op, const Column& column, const DeviceMask& mask,
                    const MaskOffsets& offsets) {
  const int64_t width = column.dtype().size_bytes();
  const bool has_nulls = column.null_count() > 0;
  Bits validity;
  if (has_nulls)
    validity = compact_bits(op, column.validity_buffer(), column.offset(), mask, offsets, true);
  Buffer values =
      column.dtype().is_bool()
          ? compact_bits(op, column.values_buffer(), column.offset(), mask, offsets, false).words
          : compact_rows(op, column.values_buffer(), column.offset() * width, width, mask, offsets);
  const int64_t nulls = has_nulls ? offsets.picked - validity.ones : 0;
  return column.with_rows(offsets.picked, std::move(values),
                          nulls > 0 ? std::move(validity.words) : Buffer(), nulls);
}

}  // namespace hr::cuda
