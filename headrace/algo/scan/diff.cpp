// SPDX-License-Identifier: Apache-2.0
// Differences of neighbouring elements: checks and dispatch.
#include "headrace/algo/scan/diff.h"

#include "headrace/algo/bits/strided_view.h"
#include "headrace/algo/scan/diff_kernels.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace hr {

namespace {

void dispatch(const Tensor& x, Buffer& out) {
  if constexpr (built_with_cuda)
    if (x.place().is_gpu()) return cuda::diff(x, out);
  const int64_t step = x.strides()[0], count = x.num_elements() - 1;
  const auto from = [&](int64_t row) {
    return Tensor(x.dtype(), {count}, {step}, x.buffer(),
                  x.byte_offset() + row * step * x.dtype().size_bytes());
  };
  return cpu::subtract(from(1), from(0), out, 0);
}

void require_numbers(Dtype dtype) {
  if (!dtype.is_real())
    throw_error<TypeMismatchError>("diff", "expected integers or floats", {{"dtype", dtype.name()}},
                                   "use astype first");
}

}  // namespace

Tensor diff(const Tensor& x) {
  const ScopedTag tag("diff");
  check_one_dimension("diff", x);
  require_numbers(x.dtype());
  const int64_t count = std::max<int64_t>(0, x.num_elements() - 1);
  Buffer out = allocate_result(count * x.dtype().size_bytes(), x.place());
  if (count > 0) dispatch(x, out);
  return Tensor(x.dtype(), {count}, std::move(out));
}

Column diff(const Column& x, int64_t periods) {
  const ScopedTag tag("diff");
  require_numbers(x.dtype());
  const int64_t rows = x.num_rows(), width = x.dtype().size_bytes();
  if constexpr (built_with_cuda)
    if (x.place().is_gpu()) return rows == 0 ? x : cuda::diff(x, periods);
  const int64_t by = std::min(periods < 0 ? -std::max(periods, -rows) : periods, rows);
  const int64_t both = rows - by;              // rows that have another
  const int64_t begin = periods > 0 ? by : 0;  // the first of them
  const int64_t other = periods > 0 ? 0 : by;  // the one that it has
  Buffer out = Buffer::allocate_spillable(rows * width);
  const auto from = [&](int64_t row) {
    return Tensor(x.dtype(), {both}, {1}, x.values_buffer(), (x.offset() + row) * width);
  };
  const int64_t alone = periods > 0 ? 0 : both;
  if (by > 0) {
    const Pin pin{{&out, alone * width, (alone + by) * width, true}};
    std::memset(out.mutable_data() + alone * width, 0, static_cast<size_t>(by * width));
  }
  if (both > 0) cpu::subtract(from(begin), from(other), out, begin);
  if (by == 0 && x.null_count() == 0) return x.with_rows(rows, std::move(out), {}, 0);
  Buffer validity = Buffer::allocate_zeroed(bitmap_bytes(rows));
  auto* const bits = validity.mutable_as<uint8_t>();
  const uint8_t* const valid = x.validity();
  int64_t there = 0;
  for (int64_t row = 0; row < rows; row += 64) {
    const int64_t first = std::max(row, begin), last = std::min({row + 64, begin + both, rows});
    if (first >= last) continue;
    uint64_t word = ~uint64_t{0} >> (64 - (last - first));
    if (valid)
      word &= load_bits(valid, x.offset() + first, last - first) &
              load_bits(valid, x.offset() + first - begin + other, last - first);
    there += std::popcount(word);
    word <<= first - row;
    std::memcpy(bits + row / 8, &word,
                static_cast<size_t>(std::min<int64_t>(8, bitmap_bytes(rows) - row / 8)));
  }
  return x.with_rows(rows, std::move(out), std::move(validity), rows - there);
}

}  // namespace hr
