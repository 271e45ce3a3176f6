// SPDX-License-Identifier: Apache-2.0
// Rows of columns, numbered until the values are needed.
#include "headrace/plan/graph/late_column.h"

#include "headrace/algo/bits/set_bits.h"
#include "headrace/algo/select/gather.h"
#include "headrace/data/access_pattern.h"
#include "headrace/exec/workers.h"

#include <bit>
#include <utility>
#include <vector>

namespace hr {

namespace {

Tensor as_numbers(Buffer numbers, int64_t rows) {
  numbers.seal();
  return Tensor(TypeId::kInt32, {rows}, std::move(numbers));
}

Tensor numbers_of(const Mask& mask) {
  const std::vector<int64_t> offsets = mask_offsets(mask);
  Buffer numbers = Buffer::allocate_spillable(4 * offsets.back());
  if (offsets.back() == 0) return as_numbers(std::move(numbers), 0);
  auto* const out = numbers.mutable_as<int32_t>();
  parallel_morsels(mask.num_rows(), [&](Morsel morsel) {
    const auto index = static_cast<size_t>(morsel.index);
    const Pin pin{{&numbers, 4 * offsets[index], 4 * offsets[index + 1], true}};
    int32_t* to = out + offsets[index];
    const int32_t* const end = out + offsets[index + 1];
    for_each_mask_word(mask, morsel.begin, morsel.end, [&](int64_t first, int64_t, uint64_t bits) {
      auto row = static_cast<int32_t>(first);
      // Eight numbers are written for each byte; the next byte overwrites those in excess.
      for (; bits != 0 && end - to >= 8; bits >>= 8, row += 8) {
        for (size_t k = 0; k < 8; ++k) to[k] = row + kSetBits[bits & 255][k];
        to += kSetBitCounts[bits & 255];
      }
      for (; bits != 0; bits &= bits - 1) *to++ = row + std::countr_zero(bits);
    });
  });
  return as_numbers(std::move(numbers), offsets.back());
}

}  // namespace

RowSelection::RowSelection(Value mask)
    : mask_(std::move(mask)), is_mask_(true), is_numbered_(false) {}

RowSelection::RowSelection(Tensor numbers, bool may_miss)
    : numbers_(std::move(numbers)), is_mask_(false), is_numbered_(true), may_miss_(may_miss) {}

const Tensor& RowSelection::numbers() {
  if (!std::exchange(is_numbered_, true)) numbers_ = numbers_of(mask_of(mask_));
  return numbers_;
}

int64_t RowSelection::num_rows() {
  return is_numbered_ ? numbers_.num_elements() : mask_offsets(mask_of(mask_)).back();
}

Column RowSelection::of(const Column& column) const {
  if (is_mask_) return filter(column, mask_of(mask_));
  return may_miss_ ? gather_or_null(column, numbers_) : gather(column, numbers_);
}

std::shared_ptr<RowSelection> RowSelection::at(const Tensor& rows, bool may_miss) {
  const auto* const own = numbers().as<int32_t>();
  const auto* const from = rows.as<int32_t>();
  const int64_t count = rows.num_elements();
  Buffer made = Buffer::allocate_spillable(4 * count);
  if (count > 0) {
    auto* const out = made.mutable_as<int32_t>();
    parallel_morsels(count, {reads(rows), writes(made, 4)}, [&](Morsel morsel) {
      for (int64_t row = morsel.begin; row < morsel.end; ++row)
        out[row] = may_miss && from[row] < 0 ? from[row] : own[from[row]];
    });
  }
  return std::make_shared<RowSelection>(as_numbers(std::move(made), count), may_miss || may_miss_);
}

}  // namespace hr
