// SPDX-License-Identifier: Apache-2.0
// Stretches of a signal that is zero beyond its ends.
#pragma once
#include "headrace/algo/bits/strided_view.h"
#include "headrace/signal/fft_convolve_plan.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hr::cpu {

/// x[begin + i] for i < count into `out`, zeros where the signal has nothing.
template <class T>
void fetch(const StridedView<T>& x, int64_t begin, int64_t count, T* out) {
  const int64_t first = std::clamp<int64_t>(-begin, 0, count);
  const int64_t last = std::clamp<int64_t>(x.size - begin, first, count);
  std::fill(out, out + first, T{0});
  for (int64_t i = first; i < last; ++i) out[i] = x[begin + i];
  std::fill(out + last, out + count, T{0});
}

/// Elements [begin, begin + count) where they lie, or fetched into `block`.
template <class T>
const T* fetch_or_borrow(const StridedView<T>& x, int64_t begin, int64_t count, T* block) {
  if (x.stride == 1 && begin >= 0 && begin + count <= x.size) return x.data + begin;
  fetch(x, begin, count, block);
  return block;
}

/// What the outputs of a job need.
template <class T>
std::vector<BufferAccess> accesses_of(const ConvolveJob& job, const StridedView<T>& signal,
                                      const Buffer& out) {
  BufferAccess outputs = writes(out, sizeof(T));
  outputs.first_bit += job.first_output * outputs.item_bits;
  outputs.items = job.num_outputs;
  return {signal.access(job.num_taps - 1 - job.first_position, job.first_position), outputs};
}

}  // namespace hr::cpu
