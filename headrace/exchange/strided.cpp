// SPDX-License-Identifier: Apache-2.0
// Foreign strided memory as a tensor, and columns as dense tensors.
#include "headrace/exchange/strided.h"

#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/data/copy_strided.h"
#include "headrace/exchange/numpy_datetime.h"
#include "headrace/exchange/protocol.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/log/ledger.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace hr {

namespace {

Tensor bytes_of_bits(const Column& column) {
  Buffer buffer = Buffer::allocate(column.num_rows());
  auto* out = buffer.mutable_as<uint8_t>();
  parallel_morsels(column.num_rows(), [&](Morsel morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; ++row) out[row] = column.bit(row);
  });
  return Tensor(TypeId::kBool, {column.num_rows()}, std::move(buffer));
}

template <class T>
Tensor nulls_as_nan(const Column& column) {
  Buffer buffer = Buffer::allocate(column.num_rows() * static_cast<int64_t>(sizeof(T)));
  T* out = buffer.mutable_as<T>();
  const T* in = column.values<T>().data();
  const uint8_t* valid = column.validity();
  parallel_morsels(column.num_rows(), [&](Morsel morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; ++row)
      out[row] =
          get_bit(valid, column.offset() + row) ? in[row] : std::numeric_limits<T>::quiet_NaN();
  });
  return Tensor(column.dtype(), {column.num_rows()}, std::move(buffer));
}

// Strings, categories, dates of 32 bits and times with a zone are no elements of arrays.
void require_array_form(std::string_view op, Dtype dtype) {
  if (dtype.has_zone())
    throw_error<ExchangeError>(op, "arrays have no time zones", {{"dtype", dtype.name()}},
                               "use dt.tz_convert(None) for UTC, or dt.tz_localize(None)");
  if (dtype.is_string() || dtype.is_category() || dtype.is_date() || dtype.is_decimal() ||
      dtype.is_nested())
    throw_error<ExchangeError>(op, "the dtype cannot be an array of numbers",
                               {{"dtype", dtype.name()}},
                               "use to_list(), to_arrow() or to_numpy()");
}

[[noreturn]] void refuse_nulls(std::string_view op, const Column& column, std::string_view fix) {
  throw_error<ExchangeError>(op, "the column has nulls",
                             {{"dtype", column.dtype().name()}, {"nulls", column.null_count()}},
                             fix);
}

}  // namespace

Tensor adopt_strided(std::string_view op, Dtype dtype, const void* data, Shape shape, Shape strides,
                     Owner owner, Place place, bool fresh) {
  const int64_t width = dtype.size_bytes();
  int64_t lowest = 0, highest = 0;
  const int64_t count = num_elements(shape);
  if (strides.size() != shape.size())
    throw_error<InvalidArgumentError>(op, "shape and strides differ in length",
                                      {{"shape", shape.size()}, {"strides", strides.size()}});
  for (size_t i = 0; count > 0 && i < shape.size(); ++i) {
    const int64_t reach = checked_multiply(op, shape[i] - 1, strides[i]);
    int64_t& end = reach < 0 ? lowest : highest;
    end = checked_add(op, end, reach);
  }
  if (count > 0 && !data)
    throw_error<InvalidArgumentError>(op, "the pointer is missing", {{"elements", count}});
  if (count > 0 &&
      reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(width == 16 ? 8 : width))
    throw_error<InvalidArgumentError>(op, "the memory is not aligned to its elements",
                                      {{"dtype", dtype.name()}},
                                      "pass a copy, for example numpy.array(x)");
  const int64_t bytes =
      count == 0 ? 0 : checked_multiply(op, checked_add(op, highest - lowest, 1), width);
  const int64_t before = checked_multiply(op, lowest, width);
  Buffer buffer =
      Buffer::adopt(static_cast<const std::byte*>(data) + before, bytes, owner, place, fresh);
  return Tensor(dtype, std::move(shape), std::move(strides), std::move(buffer), -before);
}

Tensor dense(std::string_view op, const Column& column) {
  require_array_form(op, column.dtype());
  if (column.dtype().has_unit()) return times_of(op, column);
  if (column.dtype().is_floating() && column.null_count() > 0) {
    record_copy(op, "nulls become NaN", column.num_rows() * column.dtype().size_bytes(), false);
    return visit_floating(column.dtype(), [&](auto type) {
      return nulls_as_nan<typename decltype(type)::type>(column);
    });
  }
  if (column.null_count() > 0)
    refuse_nulls(op, column, "use fillna(value), dropna() or astype('float64') first");
  if (!column.dtype().is_bool()) return as_tensor(column);
  record_copy(op, "bits become bytes", column.num_rows(), false);
  return bytes_of_bits(column);
}

Tensor dense_view(std::string_view op, const Column& column) {
  require_array_form(op, column.dtype());
  if (column.null_count() > 0)
    refuse_nulls(op, column, "use fillna(value) or dropna() first, or to_numpy()");
  if (column.dtype().is_bool())
    throw_error<ExchangeError>(op, "a bool column is a bitmap", {},
                               "use to_numpy() or astype('uint8'), which make bytes");
  return as_tensor(column);
}

void fill_matrix(const std::vector<Column>& columns, Dtype dtype, std::byte* out) {
  constexpr int64_t kBlockBytes = int64_t{1} << 15;  // of the matrix, in L1
  if (columns.empty()) return;
  const int64_t rows = columns[0].num_rows(), width = dtype.size_bytes();
  const auto step = static_cast<int64_t>(columns.size());
  const int64_t block = std::max<int64_t>(1, kBlockBytes / (step * width));
  const auto put = [&]<class In, class Out>(const Column& column, int64_t begin, int64_t end,
                                            Out* to) {
    const In* const from = column.values<In>().data();
    const bool has_nulls = column.null_count() > 0;
    for (int64_t row = begin; row < end; ++row, to += step) {
      *to = static_cast<Out>(from[row]);
      if constexpr (std::is_floating_point_v<Out>)
        if (has_nulls && column.is_null(row)) *to = std::numeric_limits<Out>::quiet_NaN();
    }
  };
  visit_real(dtype, [&]<class Out>(std::type_identity<Out>) {
    Out* const matrix = reinterpret_cast<Out*>(out);
    parallel_morsels(rows, [&](Morsel morsel) {
      for (int64_t begin = morsel.begin; begin < morsel.end; begin += block) {
        const int64_t end = std::min(begin + block, morsel.end);
        for (int64_t c = 0; c < step; ++c) {
          const Column& column = columns[static_cast<size_t>(c)];
          Out* const to = matrix + begin * step + c;
          if (column.dtype() == dtype)
            put.template operator()<Out, Out>(column, begin, end, to);
          else if constexpr (std::is_same_v<Out, double>)
            visit_real(column.dtype(), [&]<class In>(std::type_identity<In>) {
              put.template operator()<In, Out>(column, begin, end, to);
            });
        }
      }
    });
  });
}

Tensor snapshot(std::string_view op, const Tensor& tensor, bool asked) {
  if (!tensor.place().is_host() || tensor.dtype().is_bool() || !tensor.is_contiguous())
    return tensor;
  const int64_t count = tensor.num_elements(), width = tensor.dtype().size_bytes();
  record_copy(op, "snapshot", count * width, asked, host, host,
              "pass copy=False or hr.asarray(x), which share the memory, or make it read-only: "
              "x.flags.writeable = False");
  Buffer buffer = Buffer::allocate(count * width);
  if (count == 0) return Tensor(tensor.dtype(), tensor.shape(), std::move(buffer));
  std::byte* const out = buffer.mutable_data();
  const std::byte* const in = tensor.data();
  parallel_morsels(count, [&](Morsel morsel) {
    const int64_t begin = morsel.begin * width, end = morsel.end * width;
    std::memcpy(out + begin, in + begin, static_cast<size_t>(end - begin));
  });
  return Tensor(tensor.dtype(), tensor.shape(), std::move(buffer));
}

Column column_of(std::string_view op, const Tensor& tensor) {
  if (tensor.dtype().has_unit()) return column_of_times(op, tensor);
  if (!tensor.dtype().is_bool() || tensor.num_dimensions() != 1)
    return as_column(tensor.num_dimensions() == 1 ? contiguous(tensor, op) : tensor);
  const int64_t rows = tensor.num_elements();
  record_copy(op, "bytes become bits", bitmap_bytes(rows), false);
  Buffer buffer = Buffer::allocate_zeroed(bitmap_bytes(rows));
  auto* out = buffer.mutable_as<uint8_t>();
  const auto* in = tensor.as<uint8_t>();
  const int64_t step = tensor.strides()[0];
  parallel_morsels(rows, [&](Morsel morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; ++row)
      if (in[row * step]) set_bit(out, row, true);
  });
  return Column(TypeId::kBool, rows, std::move(buffer));
}

Tensor copy_of(std::string_view op, const Tensor& tensor, std::string_view reason) {
  const int64_t width = tensor.dtype().size_bytes();
  const int64_t count = tensor.num_elements();
  const bool asked = reason.empty();
  record_copy(op, asked ? "copy=True" : reason, count * width, asked);
  Buffer buffer = Buffer::allocate(count * width);
  std::byte* out = buffer.mutable_data();
  if (tensor.is_contiguous()) {
    if (count > 0) std::memcpy(out, tensor.data(), static_cast<size_t>(count * width));
    return Tensor(tensor.dtype(), tensor.shape(), std::move(buffer));
  }
  copy_strided(tensor, out, row_major(tensor.shape()));
  return Tensor(tensor.dtype(), tensor.shape(), std::move(buffer));
}

}  // namespace hr
