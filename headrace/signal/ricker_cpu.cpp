// SPDX-License-Identifier: Apache-2.0
// The Ricker wavelet on the CPU: one half is computed, the other mirrors it.
#include "headrace/exec/workers.h"
#include "headrace/signal/ricker_kernels.h"
#include "headrace/signal/ricker_math.h"

namespace hr::cpu {

void ricker(int64_t points, double width, Dtype dtype, Buffer& out) {
  // A sample costs about a microsecond, so tasks are far smaller than a morsel.
  constexpr int64_t rows = 1024;
  const int64_t half = (points + 1) / 2;
  visit_floating(dtype, [&]<class T>(std::type_identity<T>) {
    T* result = out.mutable_as<T>();
    parallel_for((half + rows - 1) / rows, [&](int64_t task) {
      const int64_t end = half < (task + 1) * rows ? half : (task + 1) * rows;
      for (int64_t i = task * rows; i < end; ++i) {
        const double x = static_cast<double>(2 * i - (points - 1)) / 2;
        result[i] = result[points - 1 - i] = static_cast<T>(ricker_sample(x, width));
      }
    });
  });
}

}  // namespace hr::cpu
