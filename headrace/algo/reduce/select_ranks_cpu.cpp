// SPDX-License-Identifier: Apache-2.0
// Counts and collects values of a window.
#define HWY_TARGET_INCLUDE "headrace/algo/reduce/select_ranks_cpu.cpp"
#include "headrace/algo/reduce/select_ranks_kernels.h"
#include "headrace/base/simd_targets.h"

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

// Plain loops, which the compiler makes vectors of.
template <class T>
int64_t split(const T* values, int64_t count, T low, T high, WindowCounts& counts, T* between) {
  uint32_t below = 0, up_to_low = 0, up_to_high = 0;
  for (int64_t i = 0; i < count; ++i) {
    below += values[i] < low;
    up_to_low += values[i] <= low;
    up_to_high += values[i] <= high;
  }
  counts.below += below;
  counts.up_to_low += up_to_low;
  counts.up_to_high += up_to_high;
  if (up_to_high == up_to_low) return 0;
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i) {
    between[found] = values[i];  // the next one overwrites it unless it lies between
    found += static_cast<int64_t>(values[i] > low) & static_cast<int64_t>(values[i] < high);
  }
  return found;
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

template <class T>
int64_t split_window(const T* values, int64_t count, T low, T high, WindowCounts& counts,
                     T* between) {
  return HR_SIMD(split<T>)(values, count, low, high, counts, between);
}

#define HR_INSTANTIATE(T) template int64_t split_window(const T*, int64_t, T, T, WindowCounts&, T*);
HR_INSTANTIATE(int8_t)
HR_INSTANTIATE(int16_t)
HR_INSTANTIATE(int32_t)
HR_INSTANTIATE(int64_t)
HR_INSTANTIATE(uint8_t)
HR_INSTANTIATE(uint16_t)
HR_INSTANTIATE(uint32_t)
HR_INSTANTIATE(uint64_t)
HR_INSTANTIATE(float)
HR_INSTANTIATE(double)
#undef HR_INSTANTIATE

}  // namespace hr::cpu
#endif
