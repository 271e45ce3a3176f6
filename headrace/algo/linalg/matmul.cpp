// SPDX-License-Identifier: Apache-2.0
// Cuts products into tasks. As each sum has its own order, where the cuts lie changes no bit.
#include "headrace/algo/linalg/matmul.h"

#include "headrace/algo/linalg/matmul_kernels.h"
#include "headrace/algo/linalg/matrix_stack.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>

namespace hr {
namespace {

constexpr int64_t kTaskRows = 96;        // of a task; they fit in the L2 cache with its panels
constexpr int64_t kTaskColumns = 512;    // where there are few rows
constexpr int64_t kManyRows = 16;        // tasks of them
constexpr int64_t kFewColumns = 128;     // packed by their task
constexpr int64_t kPanelColumns = 2048;  // packed together
constexpr int64_t kPanelBytes = int64_t{4} << 20;
constexpr int64_t kPartialBytes = int64_t{16} << 20;
constexpr int64_t kSmallLeft = 256;                  // elements of a left matrix that is not packed
constexpr int64_t kTaskProducts = int64_t{1} << 18;  // of a stack of small matrices

template <class T>
Buffer panels(int64_t rows, int64_t width, int64_t depth) {
  return Buffer::allocate(divide_up(rows, width) * width * depth * static_cast<int64_t>(sizeof(T)));
}

template <class T>
MatrixView<const T> view_of(const AnyMatrix& x) {
  return {reinterpret_cast<const T*>(x.data), x.rows, x.columns, x.row_stride, x.column_stride};
}

/// What the block after the first does.
Update next_update(Update update) {
  return update == Update::kSubtract ? update : Update::kAdd;
}

/// Tasks are tiles of the result.
template <class T>
void multiply_by_tiles(const AnyMatrix& a, const AnyMatrix& b, const MatrixView<T>& out,
                       Update update) {
  const int64_t width = cpu::right_width<T>(), height = cpu::left_width<T>();
  const int64_t row_tasks = divide_up(out.rows, kTaskRows);
  const int64_t most_columns = row_tasks < kManyRows ? kTaskColumns : kPanelColumns;
  for (int64_t j0 = 0; j0 < out.columns; j0 += kPanelColumns) {
    const int64_t columns = std::min(kPanelColumns, out.columns - j0);
    const int64_t padded = divide_up(columns, width) * width;
    const int64_t column_tasks = divide_up(columns, most_columns);
    const int64_t task_columns = round_up(divide_up(columns, column_tasks), width);
    const int64_t step =
        std::max<int64_t>(1, kPanelBytes / (padded * kSumBlock * int64_t{sizeof(T)})) * kSumBlock;
    Buffer packed = panels<T>(columns, width, std::min(step, a.columns));
    auto* right = packed.mutable_as<T>();
    for (int64_t k0 = 0; k0 < a.columns; k0 += step) {
      const int64_t depth = std::min(step, a.columns - k0);
      const int64_t blocks = divide_up(depth, kSumBlock);
      const int64_t pack_tasks = divide_up(columns, kTaskColumns);
      parallel_for(blocks * pack_tasks, [&](int64_t task) {
        const int64_t k = task / pack_tasks * kSumBlock, j = task % pack_tasks * kTaskColumns;
        const int64_t deep = std::min(kSumBlock, depth - k);
        cpu::pack(b.block(k0 + k, j0 + j, deep, std::min(kTaskColumns, columns - j)).transposed(),
                  width, right + k * padded + j * deep);
      });
      parallel_for(row_tasks * column_tasks, [&](int64_t task) {
        const int64_t i = task / column_tasks * kTaskRows, j = task % column_tasks * task_columns;
        const int64_t rows = std::min(kTaskRows, out.rows - i);
        Buffer scratch = panels<T>(rows, height, std::min(kSumBlock, depth));
        auto* left = scratch.mutable_as<T>();
        for (int64_t k = 0; k < depth; k += kSumBlock) {
          const int64_t deep = std::min(kSumBlock, depth - k);
          cpu::pack(a.block(i, k0 + k, rows, deep), height, left);
          cpu::multiply_packed(left, right + k * padded + j * deep, deep,
                               out.block(i, j0 + j, rows, std::min(task_columns, columns - j)),
                               k0 + k == 0 ? update : next_update(update));
        }
      });
    }
  }
}

/// Tasks are columns of the result, of which each packs its own: where few rows use them.
template <class T>
void multiply_by_columns(const AnyMatrix& a, const AnyMatrix& b, const MatrixView<T>& out,
                         Update update) {
  const int64_t width = cpu::right_width<T>(), height = cpu::left_width<T>();
  parallel_for(divide_up(out.columns, kFewColumns), [&](int64_t task) {
    const int64_t j = task * kFewColumns, columns = std::min(kFewColumns, out.columns - j);
    const int64_t most = std::min(kSumBlock, a.columns);
    Buffer left = panels<T>(out.rows, height, most), right = panels<T>(columns, width, most);
    for (int64_t k = 0; k < a.columns; k += kSumBlock) {
      const int64_t deep = std::min(kSumBlock, a.columns - k);
      cpu::pack(a.block(0, k, out.rows, deep), height, left.mutable_as<T>());
      cpu::pack(b.block(k, j, deep, columns).transposed(), width, right.mutable_as<T>());
      cpu::multiply_packed(left.as<T>(), right.as<T>(), deep, out.block(0, j, out.rows, columns),
                           k == 0 ? update : next_update(update));
    }
  });
}

/// Tasks are blocks of the sums: of a small result of long sums.
template <class T>
void multiply_by_depth(const AnyMatrix& a, const AnyMatrix& b, const MatrixView<T>& out,
                       Update update) {
  const int64_t width = cpu::right_width<T>(), height = cpu::left_width<T>();
  const int64_t size = out.rows * out.columns;
  const int64_t blocks = divide_up(a.columns, kSumBlock);
  const int64_t at_once =
      std::min(blocks, std::max<int64_t>(4, kPartialBytes / (size * int64_t{sizeof(T)})));
  Buffer partial = Buffer::allocate(at_once * size * int64_t{sizeof(T)});
  auto* products = partial.mutable_as<T>();
  for (int64_t first = 0; first < blocks; first += at_once) {
    const int64_t count = std::min(at_once, blocks - first);
    parallel_for(count, [&](int64_t task) {
      const int64_t k = (first + task) * kSumBlock;
      const int64_t deep = std::min(kSumBlock, a.columns - k);
      Buffer left = panels<T>(out.rows, height, deep), right = panels<T>(out.columns, width, deep);
      cpu::pack(a.block(0, k, out.rows, deep), height, left.mutable_as<T>());
      cpu::pack(b.block(k, 0, deep, out.columns).transposed(), width, right.mutable_as<T>());
      cpu::multiply_packed(
          left.as<T>(), right.as<T>(), deep,
          MatrixView<T>{products + task * size, out.rows, out.columns, out.columns}, Update::kSet);
    });
    parallel_for(divide_up(out.rows, kTaskRows), [&](int64_t task) {
      const int64_t end = std::min(out.rows, (task + 1) * kTaskRows);
      for (int64_t block = 0; block < count; ++block) {
        const Update now = first + block == 0 ? update : next_update(update);
        for (int64_t i = task * kTaskRows; i < end; ++i) {
          const T* from = products + block * size + i * out.columns;
          for (int64_t j = 0; j < out.columns; ++j) {
            T& to = out(i, j);
            to = now == Update::kSet ? from[j] : now == Update::kAdd ? to + from[j] : to - from[j];
          }
        }
      }
    });
  }
}

template <class T>
Tensor matmul_as(const Tensor& a, const Tensor& b, Dtype dtype) {
  const MatrixStack left("matmul", a), right("matmul", b);
  Shape shape = broadcast("matmul", left.lead, right.lead);
  const MatrixStack lefts = left.broadcast_to(shape), rights = right.broadcast_to(shape);
  const int64_t count = num_elements(shape);
  const int64_t rows = a.shape()[a.shape().size() - 2], columns = b.shape().back();
  shape.insert(shape.end(), {rows, columns});
  const int64_t size = num_elements(shape);
  Buffer made = Buffer::allocate(checked_multiply("matmul", size, int64_t{sizeof(T)}));
  if (size == 0) return Tensor(dtype, std::move(shape), std::move(made));
  auto* out = made.mutable_as<T>();
  const int64_t products = std::max<int64_t>(1, rows * columns * a.shape().back());
  const int64_t step = std::max<int64_t>(1, kTaskProducts / products);
  parallel_for(divide_up(count, step), [&](int64_t task) {
    for (int64_t place = task * step; place < std::min(count, (task + 1) * step); ++place) {
      multiply(lefts[place], rights[place],
               MatrixView<T>{out + place * rows * columns, rows, columns, columns});
    }
  });
  return Tensor(dtype, std::move(shape), std::move(made));
}

template <class T>
void multiply_by_vector(const MatrixView<const T>& a, const MatrixView<const T>& b,
                        const MatrixView<T>& out, Update update) {
  Buffer room = Buffer::allocate(b.row_stride == 1 ? 0 : b.rows * int64_t{sizeof(T)});
  const T* x = b.data;
  if (b.row_stride != 1) {
    T* packed = room.mutable_as<T>();
    for (int64_t k = 0; k < b.rows; ++k) packed[k] = b(k, 0);
    x = packed;
  }
  const int64_t step = std::max<int64_t>(32, kTaskProducts / a.columns / 32 * 32);
  parallel_for(divide_up(out.rows, step), [&](int64_t task) {
    const int64_t i = task * step, rows = std::min(step, out.rows - i);
    cpu::multiply_vector(a.block(i, 0, rows, a.columns), x, out.block(i, 0, rows, 1), update);
  });
}

}  // namespace

template <class T>
void multiply(const AnyMatrix& a, const AnyMatrix& b, const MatrixView<T>& out, Update update) {
  if (out.rows == 0 || out.columns == 0) return;
  if (a.columns == 0) {
    for (int64_t i = 0; i < out.rows && update == Update::kSet; ++i)
      for (int64_t j = 0; j < out.columns; ++j) out(i, j) = T{};
    return;
  }
  if constexpr (std::is_floating_point_v<T>) {
    const bool as_they_are = a.dtype == dtype_of<T>() && b.dtype == dtype_of<T>();
    if (out.columns == 1 && out.rows >= 64 && as_they_are && a.column_stride == 1)
      return multiply_by_vector(view_of<T>(a), view_of<T>(b), out, update);
    if (out.columns <= cpu::kSmallColumns && out.rows * a.columns <= kSmallLeft &&
        a.columns <= kSumBlock && as_they_are)
      return cpu::multiply_small(view_of<T>(a), view_of<T>(b), out, update);
  }
  // The vectors of the kernels lie along the columns.
  if ((out.columns < 8 && out.columns < out.rows) ||
      (out.column_stride != 1 && out.row_stride == 1 && out.rows >= 8))
    return multiply(b.transposed(), a.transposed(), out.transposed(), update);
  const int64_t tiles = divide_up(out.rows, kTaskRows) * divide_up(out.columns, kTaskColumns);
  if (tiles < 4 && a.columns >= 4 * kSumBlock)
    multiply_by_depth(a, b, out, update);
  else if (out.rows <= kTaskRows)
    multiply_by_columns(a, b, out, update);
  else
    multiply_by_tiles(a, b, out, update);
}

template void multiply(const AnyMatrix&, const AnyMatrix&, const MatrixView<float>&, Update);
template void multiply(const AnyMatrix&, const AnyMatrix&, const MatrixView<double>&, Update);
template void multiply(const AnyMatrix&, const AnyMatrix&, const MatrixView<uint64_t>&, Update);

std::string why_no_matmul_kernel(const Tensor& a, const Tensor& b, Dtype dtype) {
  const bool floats = dtype.is_floating() && a.dtype().is_floating() && b.dtype().is_floating();
  const Dtype wide = TypeId::kInt64;
  const bool integers = dtype == wide && a.dtype() == wide && b.dtype() == wide;
  return floats || integers ? "" : "this dtype has no kernel for CUDA";
}

Tensor matmul(const Tensor& a, const Tensor& b, Dtype dtype) {
  const MatrixStack left("matmul", a), right("matmul", b);
  const int64_t inner = b.shape()[b.shape().size() - 2];
  if (a.shape().back() != inner)
    throw_error<InvalidArgumentError>("matmul", "columns of the left are not rows of the right",
                                      {{"columns", a.shape().back()}, {"rows", inner}});
  const ScopedTag tag("matmul");
  if constexpr (built_with_cuda)
    if (a.place().is_gpu()) {
      if (!why_no_matmul_kernel(a, b, dtype).empty())
        throw_error<UnsupportedError>("matmul", "no CUDA kernel takes these operands",
                                      {{"reason", why_no_matmul_kernel(a, b, dtype)}},
                                      "move the values first: x.to('cpu')");
      Shape shape = broadcast("matmul", left.lead, right.lead);
      const MatrixStack lefts = left.broadcast_to(shape), rights = right.broadcast_to(shape);
      std::vector<int64_t> begins;
      const int64_t count = num_elements(shape);
      for (const MatrixStack* stack : {&lefts, &rights})
        for (int64_t place = 0; place < count; ++place)
          begins.push_back(((*stack)[place].data - stack->x.data()) /
                           stack->x.dtype().size_bytes());
      shape.insert(shape.end(), {left.rows(), right.columns()});
      const int64_t size = num_elements(shape);
      Buffer made =
          allocate_result(checked_multiply("matmul", size, dtype.size_bytes()), a.place());
      if (size > 0) cuda::matmul(a, b, begins, dtype, made);
      return Tensor(dtype, std::move(shape), std::move(made));
    }
  if (dtype == TypeId::kFloat64) return matmul_as<double>(a, b, dtype);
  if (dtype == TypeId::kFloat32) return matmul_as<float>(a, b, dtype);
  if (dtype != TypeId::kInt64)
    throw_error<TypeMismatchError>("matmul", "sums are float32, float64 or int64",
                                   {{"dtype", dtype.name()}});
  return matmul_as<uint64_t>(a, b, dtype);
}

}  // namespace hr
