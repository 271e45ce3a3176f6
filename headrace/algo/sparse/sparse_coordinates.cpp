// SPDX-License-Identifier: Apache-2.0
// Checks coordinates, and shares or groups them.
#include "headrace/algo/sparse/sparse_coordinates.h"

#include "headrace/algo/sparse/new_sparse.h"
#include "headrace/algo/sparse/sparse_coordinates_kernels.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <atomic>

namespace hr {
namespace {

constexpr const char* kOp = "csr_matrix";
constexpr int64_t kBlock = 2048;  // entries, whose places stay in the L1 cache

void check_parts(int64_t rows, int64_t columns, const Tensor& row, const Tensor& column,
                 const Tensor& data) {
  const int64_t entries = data.num_elements();
  for (const Tensor* part : {&row, &column, &data}) {
    if (part->num_dimensions() != 1 || part->num_elements() != entries)
      throw_error<InvalidArgumentError>("coo_matrix", "data, rows and columns differ in length",
                                        {{"data", entries}, {"other", part->num_elements()}});
    check_on_host("coo_matrix", part->place());
  }
  if (rows < 0 || columns < 0)
    throw_error<InvalidArgumentError>("coo_matrix", "a negative size",
                                      {{"rows", rows}, {"columns", columns}});
  const Dtype place = row.dtype();
  if (column.dtype() != place || (place != dtype_of<int32_t>() && place != dtype_of<int64_t>()))
    throw_error<TypeMismatchError>("coo_matrix",
                                   "rows and columns must be int32 or int64, both the same",
                                   {{"rows", place.name()}, {"columns", column.dtype().name()}});
}

/// What all places say; those outside of the shape are refused. While rows ascend, `visit(begin,
/// end)` is called for blocks of entries.
template <class Place, class Visit>
cpu::PlaceOrder check_places(const cpu::Places<Place>& places, Visit&& visit) {
  std::atomic<bool> ascends = true, canonical = true;
  parallel_morsels(places.entries, [&](const Morsel& morsel) {
    for (int64_t begin = morsel.begin; begin < morsel.end; begin += kBlock) {
      const int64_t end = std::min(begin + kBlock, morsel.end);
      const cpu::PlaceOrder order = cpu::place_order(places, begin, end);
      for (int64_t k = begin; !order.is_inside && k < end; ++k)
        if (const int64_t row = places.row[k], column = places.column[k];
            row < 0 || row >= places.rows || column < 0 || column >= places.columns)
          refuse_place(kOp, k, row, column, places.rows, places.columns);
      if (!order.ascends) ascends = false;
      if (!order.is_canonical) canonical = false;
      if (ascends.load(std::memory_order_relaxed)) visit(begin, end);
    }
  });
  return {true, ascends, ascends && canonical};
}

/// A matrix, and whether its rows are known to be canonical.
struct OfCoordinates {
  Sparse matrix;
  bool is_canonical;
};

/// Entries in the order of their rows, those of a row in their own; shares what is in order.
template <class Index, class Place>
OfCoordinates by_rows(const cpu::Places<Place>& places, const Tensor& row, const Tensor& column,
                      const Tensor& data) {
  const int64_t rows = places.rows, entries = places.entries;
  // Few entries in disorder are enough to expect no order.
  const bool may_ascend = std::is_sorted(places.row, places.row + std::min(entries, kBlock));
  Buffer indptr = may_ascend ? room_for<Index>(checked_add(kOp, rows, 1)) : Buffer();
  auto* const pointer = may_ascend ? indptr.mutable_as<Index>() : nullptr;
  const cpu::PlaceOrder order = check_places(places, [&](int64_t begin, int64_t end) {
    if (may_ascend) cpu::find_row_ends(places, begin, end, pointer);
  });
  const Tensor index = as_indices(column, dtype_of<Index>());
  if (!order.ascends) {
    indptr = Buffer();
    return {grouped<Index>(row, rows, places.columns, index, data), false};
  }
  pointer[0] = 0;
  const int64_t last = entries == 0 ? -1 : int64_t{places.row[entries - 1]};
  std::fill(pointer + last + 2, pointer + rows + 1, static_cast<Index>(entries));
  return {Sparse(rows, places.columns, Tensor(dtype_of<Index>(), {rows + 1}, std::move(indptr)),
                 index, data),
          order.is_canonical};
}

OfCoordinates of_coordinates(int64_t rows, int64_t columns, const Tensor& row, const Tensor& column,
                             const Tensor& data) {
  const ScopedTag tag(kOp);
  check_parts(rows, columns, row, column, data);
  const Tensor at_row = contiguous(row, kOp), at_column = contiguous(column, kOp),
               values = contiguous(data, kOp);
  const int64_t entries = data.num_elements();
  const auto of_places = [&]<class Place>(Place) {
    const cpu::Places<Place> places{at_row.as<Place>(), at_column.as<Place>(), entries, rows,
                                    columns};
    if (index_dtype(rows, columns, entries) == dtype_of<int32_t>())
      return by_rows<int32_t>(places, at_row, at_column, values);
    return by_rows<int64_t>(places, at_row, at_column, values);
  };
  return row.dtype() == dtype_of<int32_t>() ? of_places(int32_t()) : of_places(int64_t());
}

}  // namespace

void check_coordinates(int64_t rows, int64_t columns, const Tensor& row, const Tensor& column,
                       const Tensor& data) {
  check_parts(rows, columns, row, column, data);
  const Tensor at_row = contiguous(row, kOp), at_column = contiguous(column, kOp);
  const auto check = [&]<class Place>(Place) {
    check_places(cpu::Places<Place>{at_row.as<Place>(), at_column.as<Place>(), data.num_elements(),
                                    rows, columns},
                 [](int64_t, int64_t) {});
  };
  row.dtype() == dtype_of<int32_t>() ? check(int32_t()) : check(int64_t());
}

Sparse sparse_from_coordinates(int64_t rows, int64_t columns, const Tensor& row,
                               const Tensor& column, const Tensor& data) {
  return of_coordinates(rows, columns, row, column, data).matrix;
}

Sparse canonical_from_coordinates(int64_t rows, int64_t columns, const Tensor& row,
                                  const Tensor& column, const Tensor& data) {
  const OfCoordinates made = of_coordinates(rows, columns, row, column, data);
  return made.is_canonical ? made.matrix : canonical(made.matrix);
}

}  // namespace hr
