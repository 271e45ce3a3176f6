// SPDX-License-Identifier: Apache-2.0
// Checks, and adds up the parts.
#include "headrace/algo/linalg/column_statistics.h"

#include "headrace/algo/linalg/column_statistics_kernels.h"
#include "headrace/algo/linalg/matrix_stack.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <limits>

namespace hr {

Tensor column_statistics(const Tensor& x, bool squares) {
  if (x.num_dimensions() != 2 || !x.dtype().is_floating())
    throw_error<TypeMismatchError>(
        "column_statistics", "expected a 2-D float32 or float64 array",
        {{"dimensions", x.num_dimensions()}, {"dtype", x.dtype().name()}});
  const ScopedTag tag("column_statistics");
  const int64_t rows = x.shape()[0], columns = x.shape()[1];
  const int64_t size = statistics_part_rows(rows), count = (rows + size - 1) / size;
  Buffer made = doubles(5 * columns);
  auto* const out = made.mutable_as<double>();
  std::fill_n(out, 5 * columns, 0.0);
  std::fill_n(out + 2 * columns, columns, std::numeric_limits<double>::infinity());
  std::fill_n(out + 3 * columns, columns, -std::numeric_limits<double>::infinity());
  const auto done = [&] { return Tensor(dtype_of<double>(), {5, columns}, std::move(made)); };
  if (count == 0 || columns == 0) return done();
  Buffer room = doubles(count * 4 * columns);
  auto* const parts = room.mutable_as<double>();
  if (x.place().is_gpu()) {
    if constexpr (built_with_cuda) cuda::column_statistics(x, parts);
  } else {
    cpu::column_statistics(x, parts);
  }
  for (int64_t part = 0; part < count; ++part) {
    const double* const from = parts + part * 4 * columns;
    for (int64_t j = 0; j < columns; ++j) {
      out[j] += from[j];
      out[columns + j] += from[columns + j];
      out[2 * columns + j] = std::min(out[2 * columns + j], from[2 * columns + j]);
      out[3 * columns + j] = std::max(out[3 * columns + j], from[3 * columns + j]);
    }
  }
  if (!squares) return done();
  Buffer means = doubles(columns);
  for (int64_t j = 0; j < columns; ++j) means.mutable_as<double>()[j] = out[columns + j] / out[j];
  if (x.place().is_gpu()) {
    if constexpr (built_with_cuda) cuda::column_squares(x, means.as<double>(), parts);
  } else {
    cpu::column_squares(x, means.as<double>(), parts);
  }
  for (int64_t part = 0; part < count; ++part)
    for (int64_t j = 0; j < columns; ++j) out[4 * columns + j] += parts[part * columns + j];
  return done();
}

}  // namespace hr
