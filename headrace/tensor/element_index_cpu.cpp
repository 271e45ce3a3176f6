// SPDX-License-Identifier: Apache-2.0
// Offsets from positions, and rows moved by them.
#include "headrace/algo/bits/value_width.h"
#include "headrace/data/copy_strided.h"
#include "headrace/exec/workers.h"
#include "headrace/tensor/element_index_kernels.h"

#include <algorithm>
#include <cstring>

namespace hr::cpu {

namespace {

// Positions of one index with any strides, from element `begin` of its shape on.
class Positions {
 public:
  Positions(const Tensor& tensor, int64_t begin) : tensor_(tensor), at_(tensor.shape().size()) {
    for (size_t d = at_.size(); d-- > 0; begin /= tensor.shape()[d]) {
      at_[d] = begin % tensor.shape()[d];
      element_ += at_[d] * tensor.strides()[d];
    }
  }

  int64_t next() {
    const int64_t position = tensor_.as<int64_t>()[element_];
    for (size_t d = at_.size(); d-- > 0;) {
      element_ += tensor_.strides()[d];
      if (++at_[d] < tensor_.shape()[d]) break;
      element_ -= tensor_.strides()[d] * tensor_.shape()[d];
      at_[d] = 0;
    }
    return position;
  }

 private:
  const Tensor& tensor_;
  Shape at_;
  int64_t element_ = 0;
};

/// offsets[k] += the step of the k-th of `count` positions from element `begin` of an index on.
void add_offsets(const Tensor& index, int64_t begin, int64_t count, int64_t axis, int64_t size,
                 int64_t step, int64_t* offsets, BadPosition& bad) {
  const auto add = [&](auto&& next) {
    bool fits = true;
    for (int64_t k = 0; k < count; ++k) {
      const int64_t position = next(k);
      const int64_t row = position < 0 ? position + size : position;
      fits &= row >= 0 && row < size;
      offsets[k] += static_cast<int64_t>(static_cast<uint64_t>(row) * static_cast<uint64_t>(step));
    }
    return fits;
  };
  bool fits = false;
  if (index.is_contiguous()) {
    const int64_t* const positions = index.as<int64_t>() + begin;
    fits = add([&](int64_t k) { return positions[k]; });
  } else {
    Positions positions(index, begin);
    fits = add([&](int64_t) { return positions.next(); });
  }
  if (fits || bad.axis >= 0) return;
  Positions positions(index, begin);
  do bad = {axis, positions.next()};
  while (bad.position >= -size && bad.position < size);
}

/// The first problem of the first block that has one.
BadPosition first_bad(const std::vector<BadPosition>& bad) {
  const auto first =
      std::find_if(bad.begin(), bad.end(), [](const BadPosition& each) { return each.axis >= 0; });
  return first == bad.end() ? BadPosition{} : *first;
}

}  // namespace

BadPosition element_offsets(const std::vector<Tensor>& indices, const Shape& sizes,
                            const Shape& steps, int64_t* offsets) {
  const int64_t count = indices[0].num_elements();
  std::vector<BadPosition> bad(static_cast<size_t>(num_morsels(count)));
  parallel_morsels(count, [&](Morsel morsel) {
    std::fill(offsets + morsel.begin, offsets + morsel.end, 0);
    for (size_t d = 0; d < indices.size(); ++d)
      add_offsets(indices[d], morsel.begin, morsel.end - morsel.begin, static_cast<int64_t>(d),
                  sizes[d], steps[d], offsets + morsel.begin,
                  bad[static_cast<size_t>(morsel.index)]);
  });
  return first_bad(bad);
}

BadPosition gather_elements(const Tensor& from, const std::vector<Tensor>& indices,
                            std::byte* out) {
  const int64_t count = indices[0].num_elements();
  std::vector<BadPosition> bad(static_cast<size_t>(num_morsels(count)));
  visit_width(from.dtype().size_bytes(), [&]<class T>(std::type_identity<T>) {
    const T* const in = reinterpret_cast<const T*>(from.data());
    T* const to = reinterpret_cast<T*>(out);
    parallel_morsels(count, [&](Morsel morsel) {
      BadPosition& problem = bad[static_cast<size_t>(morsel.index)];
      for (int64_t begin = morsel.begin; begin < morsel.end; begin += kBlockRows) {
        const int64_t rows = std::min(kBlockRows, morsel.end - begin);
        int64_t offsets[kBlockRows] = {};
        for (size_t d = 0; d < indices.size(); ++d)
          add_offsets(indices[d], begin, rows, static_cast<int64_t>(d), from.shape()[d],
                      from.strides()[d], offsets, problem);
        if (problem.axis >= 0) return;
        for (int64_t k = 0; k < rows; ++k) to[begin + k] = in[offsets[k]];
      }
    });
  });
  return first_bad(bad);
}

void gather_at(const Tensor& from, size_t first, const int64_t* offsets, int64_t count,
               std::byte* out) {
  const int64_t width = from.dtype().size_bytes();
  const auto begin = static_cast<int64_t>(first);
  const Shape shape(from.shape().begin() + begin, from.shape().end());
  const Shape strides(from.strides().begin() + begin, from.strides().end());
  const Shape packed = row_major(shape);
  const int64_t row = num_elements(shape), bytes = row * width;
  if (row == 0 || count == 0) return;
  const bool whole = Tensor(from.dtype(), shape, strides, {}, 0).is_contiguous();
  const auto move_row = [&](int64_t k) {
    const int64_t at = from.byte_offset() + offsets[k] * width;
    if (whole)
      std::memcpy(out + k * bytes, from.buffer().data() + at, static_cast<size_t>(bytes));
    else
      copy_strided(Tensor(from.dtype(), shape, strides, from.buffer(), at), out + k * bytes,
                   packed);
  };
  const int64_t step = std::max<int64_t>(1, kMorselRows / row);
  parallel_for((count + step - 1) / step, [&](int64_t task) {
    const int64_t end = std::min(count, (task + 1) * step);
    for (int64_t k = task * step; k < end; ++k) move_row(k);
  });
}

void scatter_at(const Tensor& values, const int64_t* offsets, int64_t count, int64_t row,
                std::byte* out) {
  const int64_t width = values.dtype().size_bytes(), bytes = row * width;
  if (bytes == 0) return;
  const std::byte* in = values.data();
  for (int64_t k = 0; k < count; ++k)
    std::memcpy(out + offsets[k] * width, in + k * bytes, static_cast<size_t>(bytes));
}

}  // namespace hr::cpu
