// SPDX-License-Identifier: Apache-2.0
// The Ricker wavelet on the CPU: one half is computed, the other mirrors it.
#define HWY_TARGET_INCLUDE "headrace/signal/ricker_cpu.cpp"
#include "headrace/base/simd_targets.h"
#include "headrace/exec/workers.h"
#include "headrace/signal/ricker_kernels.h"
#include "headrace/signal/ricker_math.h"

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

/// Samples [begin, end) of the first half and their mirror images. Flattened, so that fma is one
/// instruction where the level has it.
template <class T>
__attribute__((flatten)) void mirrored_samples(int64_t begin, int64_t end, int64_t points,
                                               const RickerShape& shape, T* out) {
  // A pointer that walks: g++ 12 for aarch64 takes `out[points - 1 - i]` for a store through a null
  // pointer (of -O3's own making), hence the function for one without effects, and drops its calls.
  T* mirrored = out + points - begin;
  for (int64_t i = begin; i < end; ++i) {
    const double x = static_cast<double>(2 * i - (points - 1)) / 2;
    out[i] = *--mirrored = static_cast<T>(ricker_sample(x, shape));
  }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

void ricker(int64_t points, double width, Dtype dtype, Buffer& out) {
  constexpr int64_t rows = 8192;  // a sample costs as much as a sum over many
  const RickerShape shape = ricker_shape(width);
  const int64_t half = (points + 1) / 2;
  visit_floating(dtype, [&]<class T>(std::type_identity<T>) {
    T* result = out.mutable_as<T>();
    parallel_for((half + rows - 1) / rows, [&](int64_t task) {
      const int64_t end = half < (task + 1) * rows ? half : (task + 1) * rows;
      HR_SIMD(mirrored_samples<T>)(task * rows, end, points, shape, result);
    });
  });
}

}  // namespace hr::cpu
#endif
