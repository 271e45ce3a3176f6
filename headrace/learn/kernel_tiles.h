// SPDX-License-Identifier: Apache-2.0
// Values of a kernel between two sides of rows, in tiles.
#pragma once
#include "headrace/learn/svm.h"
#include "headrace/memory/adaptors/allocator.h"
#include "headrace/memory/buffer/buffer.h"

#include <cstdint>
#include <span>

namespace hr {

inline constexpr int64_t kKernelRows = 48;
inline constexpr int64_t kKernelColumns = 512;

/// What all rows have in common: the kernel, and the origin that distances are taken from.
struct KernelFrame {
  Kernel kernel;
  BudgetedVector<double> shift;  ///< of the columns; empty: none

  /// For distances the mean of a sample of rows, so that squares of large means cancel nothing.
  KernelFrame(const Kernel& of, const Tensor& x, std::span<const int64_t> rows);
};

/// Rows of a matrix, read and packed in groups for one side of products.
class KernelSide {
 public:
  enum Side : uint8_t { kLeft, kRight };  ///< groups of kKernelRows or kKernelColumns

  KernelSide(const KernelFrame& frame, const Tensor& x, std::span<const int64_t> rows, Side side);

  int64_t count() const { return static_cast<int64_t>(rows_.size()); }

  int64_t groups() const { return (count() + room_ - 1) / room_; }

  int64_t in_group(int64_t group) const {
    const int64_t left = count() - group * room_;
    return left < room_ ? left : room_;
  }

 private:
  friend void kernel_tile(const KernelFrame&, const Tensor&, const KernelSide&, int64_t,
                          const KernelSide&, int64_t, double*);

  int64_t room_;
  BudgetedVector<int64_t> rows_;
  Buffer panels_, norms_;
};

/// The kernel of a group of the left with one of the right: value (r, c) at
/// `out[r * kKernelColumns + c]`. Each depends on its two rows alone. `x` is read for kPrecomputed.
void kernel_tile(const KernelFrame& frame, const Tensor& x, const KernelSide& left, int64_t group,
                 const KernelSide& right, int64_t block, double* out);

}  // namespace hr
