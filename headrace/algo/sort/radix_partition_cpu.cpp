// SPDX-License-Identifier: Apache-2.0
// Kernels of partition on the CPU.
#define HWY_TARGET_INCLUDE "headrace/algo/sort/radix_partition_cpu.cpp"
#include "headrace/algo/bits/value_width.h"
#include "headrace/algo/sort/radix_partition_kernels.h"
#include "headrace/base/simd_targets.h"

#include <hwy/cache_control.h>

#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
constexpr int64_t kLine = 64;
constexpr int64_t kLeastStreamed =
    256;  // below, the two ends cost more than the reads that it saves
#endif

void copy_lines(const std::byte* from, int64_t bytes, std::byte* to) {
#if HWY_TARGET != HWY_SCALAR
  if (bytes >= kLeastStreamed) {
    const auto misaligned = static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kLine);
    const int64_t head = (kLine - misaligned) % kLine;
    std::memcpy(to, from, static_cast<size_t>(head));
    from += head, to += head, bytes -= head;
    const hn::CappedTag<uint8_t, kLine> d;
    const auto step = static_cast<int64_t>(hn::Lanes(d));
    int64_t at = 0;
    for (; at + kLine <= bytes; at += kLine)
      for (int64_t part = 0; part < kLine; part += step)
        hn::Stream(hn::LoadU(d, reinterpret_cast<const uint8_t*>(from + at + part)), d,
                   reinterpret_cast<uint8_t*>(to + at + part));
    from += at, to += at, bytes -= at;
  }
#endif
  std::memcpy(to, from, static_cast<size_t>(bytes));
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

namespace {

template <class T>
void stage(const std::byte* values, int64_t rows, const uint32_t* places, std::byte* staged) {
  const T* in = reinterpret_cast<const T*>(values);
  T* out = reinterpret_cast<T*>(staged);
  for (int64_t row = 0; row < rows; ++row) out[places[row]] = in[row];
}

template <class T>
void number(int64_t first, int64_t rows, const uint32_t* places, std::byte* staged) {
  T* out = reinterpret_cast<T*>(staged);
  for (int64_t row = 0; row < rows; ++row) out[places[row]] = static_cast<T>(first + row);
}

}  // namespace

void count_buckets(const uint16_t* buckets, int64_t rows, uint32_t* counts) {
  for (int64_t row = 0; row < rows; ++row) ++counts[buckets[row]];
}

void bucket_places(const uint16_t* buckets, int64_t rows, uint32_t* next, uint32_t* places) {
  for (int64_t row = 0; row < rows; ++row) places[row] = next[buckets[row]]++;
}

void stage_values(const std::byte* values, int64_t rows, const uint32_t* places, int64_t width,
                  std::byte* staged) {
  visit_width(width,
              [&]<class T>(std::type_identity<T>) { stage<T>(values, rows, places, staged); });
}

void stage_rows(int64_t first, int64_t rows, const uint32_t* places, int64_t width,
                std::byte* staged) {
  if (width == 4) return number<uint32_t>(first, rows, places, staged);
  return number<int64_t>(first, rows, places, staged);
}

void copy_out(const std::byte* from, int64_t bytes, std::byte* to) {
  HR_SIMD(copy_lines)(from, bytes, to);
}

void finish_copies() {
  hwy::FlushStream();
}

}  // namespace hr::cpu
#endif
