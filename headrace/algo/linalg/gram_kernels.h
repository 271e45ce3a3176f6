// SPDX-License-Identifier: Apache-2.0
// Kernels of gram. Inputs are checked, outputs are allocated.
#pragma once
#include "headrace/data/tensor.h"

#include <cstdint>
#include <vector>

namespace hr::cpu {

// A block of rows is packed as panels of a few columns, element (row, j) of panel p at
// `panels[p * panel_stride() + row * panel_columns() + j]`, with zeros for columns that are not
// there. The same panels are both sides of the product. Products are the lower triangle of a matrix
// of squares of panels, row of squares after row, each [panel_columns(), panel_columns()]: square
// (p, q) is number p (p + 1) / 2 + q.

/// Columns of a panel at the SIMD level in use. No width changes a sum.
int64_t panel_columns();

/// Numbers from one panel to the next: a line more than kSumBlock rows, as lines at a distance of
/// pages share few places of the L1 cache (packing took 67 ms, then 34).
int64_t panel_stride();

/// Packs `count` rows that lie one after the other as rows `first` on. `weights` are null or of
/// each row.
void pack_panels(const double* rows, int64_t count, int64_t columns, const double* weights,
                 int64_t first, double* panels);

/// A part of the squares: rows [row, last_row) and columns [column, last_column) of them.
struct Squares {
  int64_t row;
  int64_t last_row;
  int64_t column;
  int64_t last_column;
};

/// Memory that is needed next, to be fetched meanwhile.
struct Ahead {
  const std::byte* from = nullptr;
  int64_t bytes = 0;
};

/// Adds the products of `depth` rows, each by fma from zero and in order.
void multiply_panels(const double* left, const double* right, int64_t depth, int64_t columns,
                     const Squares& part, const Ahead& ahead, double* products);

/// Adds rows that lie one after the other, each times its weight (null: 1), to `sums`, in order.
void add_rows(const double* rows, int64_t count, int64_t columns, const double* weights,
              double* sums);

}  // namespace hr::cpu

namespace hr::cuda {

// `parts` are one matrix of floats, and perhaps another of float64 next to it; `weights` may be
// null. Results are on the host.

/// The lower triangle of the products of all columns less `shift` (on the host, or null).
void gram(const std::vector<Tensor>& parts, const double* shift, const Tensor* weights,
          double* products);

void column_sums(const std::vector<Tensor>& parts, const Tensor* weights, double* sums);

}  // namespace hr::cuda
