// SPDX-License-Identifier: Apache-2.0
// Packs rows and multiplies their tiles.
#include "headrace/learn/kernel_tiles.h"

#include "headrace/algo/linalg/matmul_kernels.h"
#include "headrace/algo/linalg/row_tiles.h"
#include "headrace/learn/svm_kernels.h"
#include "headrace/memory/adaptors/allocator.h"

#include <algorithm>

namespace hr {
namespace {

constexpr int64_t kDouble = static_cast<int64_t>(sizeof(double));

}  // namespace

KernelFrame::KernelFrame(const Kernel& of, const Tensor& x, std::span<const int64_t> rows)
    : kernel(of) {
  if (kernel.kind != KernelKind::kRbf) return;
  const RowTiles tiles(x);
  const auto size = static_cast<int64_t>(rows.size());
  const int64_t count = std::min<int64_t>(size, 1024);
  shift.resize(static_cast<size_t>(x.shape()[1]));
  BudgetedVector<double> row(shift.size());
  for (int64_t i = 0; i < count; ++i) {
    tiles.read(rows[static_cast<size_t>(i * size / count)], 1, TileForm::kRows, nullptr, nullptr,
               row.data());
    for (size_t j = 0; j < row.size(); ++j) shift[j] += row[j] / static_cast<double>(count);
  }
}

KernelSide::KernelSide(const KernelFrame& frame, const Tensor& x, std::span<const int64_t> rows,
                       Side side)
    : room_(side == kLeft ? kKernelRows : kKernelColumns), rows_(rows.begin(), rows.end()) {
  if (frame.kernel.kind == KernelKind::kPrecomputed) return;
  const RowTiles tiles(x);
  const int64_t d = x.shape()[1];
  const int64_t width = side == kLeft ? cpu::left_width<double>() : cpu::right_width<double>();
  const double* shift = frame.shift.empty() ? nullptr : frame.shift.data();
  panels_ = Buffer::allocate(groups() * room_ * d * kDouble);
  norms_ = Buffer::allocate(count() * kDouble);
  Buffer scratch = Buffer::allocate(room_ * d * kDouble);
  auto* read = scratch.mutable_as<double>();
  for (int64_t group = 0; group < groups(); ++group) {
    const int64_t size = in_group(group);
    for (int64_t i = 0; i < size; ++i) {
      const auto place = static_cast<size_t>(group * room_ + i);
      tiles.read(rows_[place], 1, TileForm::kRows, shift, nullptr, read + i * d);
      norms_.mutable_as<double>()[place] = cpu::squared_length(read + i * d, d);
    }
    double* to = panels_.mutable_as<double>() + group * room_ * d;
    for (int64_t k = 0; k < d; k += kSumBlock) {
      const int64_t depth = std::min(kSumBlock, d - k);
      cpu::pack(AnyMatrix(MatrixView<const double>{read + k, size, depth, d}), width,
                to + k * room_);
    }
  }
}

void kernel_tile(const KernelFrame& frame, const Tensor& x, const KernelSide& left, int64_t group,
                 const KernelSide& right, int64_t block, double* out) {
  const int64_t rows = left.in_group(group), columns = right.in_group(block);
  const int64_t first = group * kKernelRows, begin = block * kKernelColumns;
  if (frame.kernel.kind == KernelKind::kPrecomputed) {
    visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
      for (int64_t r = 0; r < rows; ++r) {
        const T* row = x.as<T>() + left.rows_[static_cast<size_t>(first + r)] * x.strides()[0];
        for (int64_t c = 0; c < columns; ++c)
          out[r * kKernelColumns + c] = static_cast<double>(
              row[right.rows_[static_cast<size_t>(begin + c)] * x.strides()[1]]);
      }
    });
    return;
  }
  const int64_t d = x.shape()[1];
  const double* a = left.panels_.as<double>() + first * d;
  const double* b = right.panels_.as<double>() + begin * d;
  for (int64_t k = 0; k < d; k += kSumBlock)
    cpu::multiply_packed(a + k * kKernelRows, b + k * kKernelColumns, std::min(kSumBlock, d - k),
                         MatrixView<double>{out, rows, columns, kKernelColumns},
                         k == 0 ? Update::kSet : Update::kAdd);
  for (int64_t r = 0; r < rows; ++r)
    cpu::kernel_values(frame.kernel, left.norms_.as<double>()[first + r],
                       right.norms_.as<double>() + begin, columns, out + r * kKernelColumns);
}

}  // namespace hr
