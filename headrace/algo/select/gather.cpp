// SPDX-License-Identifier: Apache-2.0
// Rows picked by position.
#include "headrace/algo/select/gather.h"

#include "headrace/algo/bits/value_width.h"
#include "headrace/algo/select/filter_kernels.h"
#include "headrace/algo/select/gather_kernels.h"
#include "headrace/base/bits.h"
#include "headrace/base/out_of_bounds.h"
#include "headrace/data/access_pattern.h"
#include "headrace/data/device.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

namespace hr {

namespace {

// Positions of any integer dtype and stride, checked as they are read.
class Positions {
 public:
  /// `or_none`: -1 stands for no row, and nothing counts from the end.
  Positions(const Tensor& tensor, int64_t num_rows, bool or_none = false)
      : tensor_(tensor), num_rows_(num_rows), or_none_(or_none) {
    if (!tensor.dtype().is_integer() || tensor.num_dimensions() != 1)
      throw_error<TypeMismatchError>(
          "take", "positions must be 1-D integers",
          {{"dtype", tensor.dtype().name()}, {"dimensions", tensor.num_dimensions()}});
  }

  int64_t count() const { return tensor_.num_elements(); }

  bool or_none() const { return or_none_; }

  Place place() const { return tensor_.place(); }

  /// As int64 rows, or -1 for none, on the CUDA device where they are.
  Tensor there() const {
    if constexpr (built_with_cuda) {
      int64_t bad = -1;
      Tensor rows = cuda::rows_at(tensor_, num_rows_, or_none_, bad);
      if (bad < 0) return rows;
      const Stream stream = current_stream(tensor_.place());
      const int64_t width = tensor_.dtype().size_bytes();
      const int64_t at = tensor_.byte_offset() + bad * tensor_.strides()[0] * width;
      const Tensor one =
          to_place(Tensor(tensor_.dtype(), {1}, {1}, tensor_.buffer(), at), host, stream);
      visit_real(one.dtype(), [&]<class T>(std::type_identity<T>) {
        fail(bad, std::to_string(one.as<T>()[0]));
      });
    }
    check_on_host("take", tensor_.place());
    return tensor_;
  }

  BufferAccess access() const { return reads(tensor_); }

  /// Throws for the first that is out of range.
  void check() const {
    visit({0, 0, count()}, [](int64_t, int64_t) {});
  }

  /// Calls `visit(k, row)` for the positions of a morsel.
  template <class F>
  void visit(Morsel morsel, F&& visit) const {
    visit_real(tensor_.dtype(), [&]<class T>(std::type_identity<T>) {
      const T* data = tensor_.as<T>();
      const int64_t stride = tensor_.strides()[0];
      for (int64_t begin = morsel.begin; begin < morsel.end; begin += kBlock) {
        const int64_t end = std::min(begin + kBlock, morsel.end);
        if constexpr (std::is_integral_v<T>)
          if (stride == 1 && are_rows(data + begin, end - begin)) {
            for (int64_t k = begin; k < end; ++k) visit(k, static_cast<int64_t>(data[k]));
            continue;
          }
        for (int64_t k = begin; k < end; ++k) {
          const T position = data[k * stride];
          if constexpr (std::is_same_v<T, uint64_t>)
            if (position > static_cast<uint64_t>(INT64_MAX)) fail(k, std::to_string(position));
          int64_t row = static_cast<int64_t>(position);
          if (row < 0 && !or_none_) row += num_rows_;
          if (row < (or_none_ ? -1 : 0) || row >= num_rows_) fail(k, std::to_string(position));
          visit(k, row);
        }
      }
    });
  }

 private:
  static constexpr int64_t kBlock = 1024;

  // Whether all are positions of rows as they stand: mostly so, and one look without a branch.
  template <class T>
  bool are_rows(const T* positions, int64_t count) const {
    using U = std::make_unsigned_t<T>;
    if (num_rows_ == 0) return false;
    constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<T>::max());
    const auto last = static_cast<U>(std::min(static_cast<uint64_t>(num_rows_ - 1), kMost));
    U beyond = 0;
    for (int64_t i = 0; i < count; ++i) beyond |= static_cast<U>(positions[i]) > last;
    return beyond == 0;
  }

  [[noreturn]] void fail(int64_t k, const std::string& position) const {
    throw_error<OutOfBoundsError>("take", "position out of range",
                                  {{"at", k}, {"position", position}, {"rows", num_rows_}});
  }

  const Tensor& tensor_;
  int64_t num_rows_;
  bool or_none_;
};

// Zeros where there is no row.
void gather_rows(const std::byte* in, Buffer& buffer, int64_t width, const Positions& positions) {
  std::byte* const out = buffer.mutable_data();
  const std::vector<BufferAccess> accesses{positions.access(), writes(buffer, width)};
  const auto as = [&]<class T>(std::type_identity<T>) {
    parallel_morsels(positions.count(), accesses, [&](Morsel morsel) {
      positions.visit(morsel, [&](int64_t k, int64_t row) {
        reinterpret_cast<T*>(out)[k] = row < 0 ? T{} : reinterpret_cast<const T*>(in)[row];
      });
    });
  };
  if (width <= 16 && std::has_single_bit(static_cast<uint64_t>(width)))
    return visit_width(width, as);
  parallel_morsels(positions.count(), accesses, [&](Morsel morsel) {
    positions.visit(morsel, [&](int64_t k, int64_t row) {
      std::memcpy(out + k * width, in + row * width, static_cast<size_t>(width));
    });
  });
}

// Of no bitmap the bit is that there is a row.
Buffer gather_bits(const uint8_t* in, int64_t offset, const Positions& positions) {
  Buffer buffer = Buffer::allocate_zeroed(bitmap_bytes(positions.count()));
  if (positions.count() == 0) return buffer;
  // Morsels begin at multiples of 64 bits, so workers share no byte.
  uint8_t* out = buffer.mutable_as<uint8_t>();
  parallel_morsels(positions.count(), [&](Morsel morsel) {
    positions.visit(morsel, [&](int64_t k, int64_t row) {
      set_bit(out, k, row >= 0 && (!in || get_bit(in, offset + row)));
    });
  });
  return buffer;
}

Column gather_there(const Column& column, const Positions& positions) {
  const Tensor rows = positions.there();
  if constexpr (built_with_cuda) return cuda::take_rows("take", column, rows, positions.or_none());
  return column;
}

Column gather_column(const Column& column, const Positions& positions) {
  if (column.place().is_gpu() || positions.place().is_gpu()) return gather_there(column, positions);
  const int64_t rows = positions.count();
  const bool nullable = column.null_count() > 0 || positions.or_none();
  Buffer validity;
  if (nullable) validity = gather_bits(column.validity(), column.offset(), positions);
  const int64_t unknown = nullable ? -1 : 0;
  if (column.dtype().is_bool())
    return Column(column.dtype(), rows, gather_bits(column.bits(), column.offset(), positions),
                  std::move(validity), unknown);
  const int64_t width = column.dtype().size_bytes();
  Buffer values = Buffer::allocate_spillable(rows * width);
  if (rows > 0)
    gather_rows(column.values_buffer().data() + column.offset() * width, values, width, positions);
  return column.with_rows(rows, std::move(values), std::move(validity), unknown);
}

}  // namespace

Column gather(const Column& column, const Tensor& positions) {
  return gather_column(column, Positions(positions, column.num_rows()));
}

Column gather_or_null(const Column& column, const Tensor& positions) {
  return gather_column(column, Positions(positions, column.num_rows(), true));
}

Tensor gather(const Tensor& tensor, const Tensor& at) {
  if (tensor.num_dimensions() == 0)
    throw_error<InvalidArgumentError>("take", "a 0-d array has no rows");
  const Tensor source = contiguous(tensor, "take");
  const Positions positions(at, source.shape()[0]);
  Shape shape = source.shape();
  int64_t width = source.dtype().size_bytes();
  for (size_t d = 1; d < shape.size(); ++d) width *= shape[d];
  shape[0] = positions.count();
  if (source.place().is_gpu() || positions.place().is_gpu()) {
    const Tensor rows = positions.there();
    if constexpr (built_with_cuda)
      return Tensor(source.dtype(), std::move(shape),
                    cuda::take_rows("take", source.buffer(), source.byte_offset(), width,
                                    std::min<int64_t>(source.dtype().size_bytes(), 8), rows));
  }
  Buffer buffer = Buffer::allocate_spillable(shape[0] * width);
  if (buffer.size_bytes() > 0)
    gather_rows(source.data(), buffer, width, positions);
  else
    positions.check();
  return Tensor(source.dtype(), std::move(shape), std::move(buffer));
}

}  // namespace hr
