// SPDX-License-Identifier: Apache-2.0
// Offsets from positions, and rows moved by them.
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

}  // namespace

BadPosition element_offsets(const std::vector<Tensor>& indices, const Shape& sizes,
                            const Shape& steps, int64_t* offsets) {
  const int64_t count = indices[0].num_elements();
  std::vector<BadPosition> bad(static_cast<size_t>(num_morsels(count)));
  parallel_morsels(count, [&](Morsel morsel) {
    std::fill(offsets + morsel.begin, offsets + morsel.end, 0);
    BadPosition& problem = bad[static_cast<size_t>(morsel.index)];
    for (size_t d = 0; d < indices.size(); ++d) {
      Positions positions(indices[d], morsel.begin);
      for (int64_t k = morsel.begin; k < morsel.end; ++k) {
        const int64_t position = positions.next();
        const int64_t row = position < 0 ? position + sizes[d] : position;
        if ((row < 0 || row >= sizes[d]) && problem.axis < 0)
          problem = {static_cast<int64_t>(d), position};
        offsets[k] += row * steps[d];
      }
    }
  });
  const auto first =
      std::find_if(bad.begin(), bad.end(), [](const BadPosition& each) { return each.axis >= 0; });
  return first == bad.end() ? BadPosition{} : *first;
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
  if (whole && row == 1 && width == 8) {  // most often
    const auto* in = reinterpret_cast<const uint64_t*>(from.data());
    auto* to = reinterpret_cast<uint64_t*>(out);
    parallel_morsels(count, [&](Morsel morsel) {
      for (int64_t k = morsel.begin; k < morsel.end; ++k) to[k] = in[offsets[k]];
    });
    return;
  }
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
