// SPDX-License-Identifier: Apache-2.0
// Rows picked by a mask: count by morsel, then move each morsel to its place.
#include "headrace/algo/select/filter.h"

#include "headrace/algo/bits/bitmap_writer.h"
#include "headrace/algo/bits/count_bits.h"
#include "headrace/algo/select/compact_offsets.h"
#include "headrace/algo/select/filter_kernels.h"
#include "headrace/algo/select/mask_cursor.h"
#include "headrace/algo/select/nonzero.h"
#include "headrace/algo/select/nonzero_kernels.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/data/device.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace hr {

Mask::Mask(const Column& column)
    : column_(&column),
      num_rows_(column.num_rows()),
      bits_(column.bits()),
      validity_(column.validity()),
      offset_(column.offset()) {
  if (!column.dtype().is_bool())
    throw_error<TypeMismatchError>("getitem", "the mask must be bool",
                                   {{"dtype", column.dtype().name()}});
}

Mask::Mask(const Tensor& tensor)
    : tensor_(&tensor), num_rows_(tensor.num_elements()), bytes_(tensor.as<uint8_t>()) {
  if (!tensor.dtype().is_bool() || tensor.num_dimensions() != 1)
    throw_error<TypeMismatchError>(
        "getitem", "the mask must be a 1-D bool array",
        {{"dtype", tensor.dtype().name()}, {"dimensions", tensor.num_dimensions()}});
  stride_ = tensor.strides()[0];
}

uint64_t Mask::word_of_bytes(int64_t row, int64_t count) const {
  uint64_t word = 0;
  const uint8_t* byte = bytes_ + row * stride_;
  for (int64_t i = 0; i < count; ++i, byte += stride_)
    word |= static_cast<uint64_t>(*byte != 0) << i;
  return word;
}

int64_t Mask::count(int64_t begin, int64_t end) const {
  int64_t picked = 0;
  if (bits_ && offset_ % 8 == 0) {
    const int64_t first = (offset_ + begin) / 8, bytes = (end - begin) / 8;
    picked = cpu::count_set_bits(bits_ + first, validity_ ? validity_ + first : nullptr, bytes);
    begin += 8 * bytes;
  }
  for (; begin < end; begin += 64)
    picked += std::popcount(word(begin, std::min<int64_t>(64, end - begin)));
  return picked;
}

bool Mask::is_all() const {
  const Buffer& buffer = column_ ? column_->values_buffer() : tensor_->buffer();
  if (!buffer.place().is_host()) return false;
  int64_t row = 0;
  if (bits_ && !validity_ && offset_ % 8 == 0)
    for (uint64_t word = 0; row + 64 <= num_rows_; row += 64) {
      std::memcpy(&word, bits_ + (offset_ + row) / 8, sizeof word);
      if (word != ~uint64_t{0}) return false;
    }
  for (int64_t count = 0; row < num_rows_; row += count) {
    count = std::min<int64_t>(64, num_rows_ - row);
    if (std::popcount(word(row, count)) != count) return false;
  }
  return true;
}

std::vector<int64_t> mask_offsets(const Mask& mask) {
  return compact_offsets(mask.num_rows(), {},
                         [&](Morsel morsel) { return mask.count(morsel.begin, morsel.end); });
}

Buffer bitmap_from_mask(const Mask& mask) {
  Buffer bits = Buffer::allocate_zeroed(bitmap_bytes(mask.num_rows()) + 8);
  auto* const out = bits.mutable_as<uint8_t>();
  for_each_mask_word(mask, 0, mask.num_rows(), [&](int64_t row, int64_t, uint64_t word) {
    std::memcpy(out + row / 8, &word, sizeof word);
  });
  return bits;
}

Tensor Mask::positions() const {
  if constexpr (built_with_cuda)
    if (column_ && column_->place().is_gpu()) return cuda::nonzero(*column_);  // nulls are false
  return column_ ? nonzero(*column_) : nonzero(*tensor_);
}

namespace {

void check_rows(const Mask& mask, int64_t num_rows) {
  if (mask.num_rows() != num_rows)
    throw_error<InvalidArgumentError>("getitem", "mask and rows differ in length",
                                      {{"mask", mask.num_rows()}, {"rows", num_rows}});
}

/// What a morsel reads of the rows, and writes of those that stay, `width` bytes each.
struct Move {
  BufferAccess rows;
  const Buffer& out;
  int64_t width;

  std::vector<PinnedRange> ranges(Morsel morsel, const std::vector<int64_t>& offsets) const {
    const auto index = static_cast<size_t>(morsel.index);
    std::vector<PinnedRange> result = ranges_of({&rows, 1}, morsel.begin, morsel.end);
    result.push_back({&out, offsets[index] * width, offsets[index + 1] * width, true});
    return result;
  }
};

// Picked rows that are moved at once: what is noted of them stays in the cache.
constexpr int64_t kMovedRows = 8 * kBlockRows;

// Rows of any width.
void move_rows(const std::byte* in, Buffer& buffer, const Mask& mask,
               const std::vector<int64_t>& offsets, const BufferAccess& rows) {
  const int64_t width = rows.item_bits / 8;
  const Move move{rows, buffer, width};
  std::byte* const out = buffer.mutable_data();
  parallel_morsels(mask.num_rows(), [&](Morsel morsel) {
    const Pin pin(move.ranges(morsel, offsets));
    MaskCursor cursor(mask, morsel.begin);
    PickedRows picked;
    const auto index = static_cast<size_t>(morsel.index);
    const int64_t end = offsets[index + 1];
    for (int64_t to = offsets[index]; to < end; to += picked.count) {
      cursor.next(std::min(kMovedRows, end - to), picked);
      copy_picked(in, width, picked, out + to * width);
    }
  });
}

Buffer move_bits(const uint8_t* in, int64_t offset, const Mask& mask,
                 const std::vector<int64_t>& offsets) {
  Buffer buffer = Buffer::allocate_zeroed(bitmap_bytes(offsets.back()));
  if (offsets.back() == 0) return buffer;
  const BitmapWriter out(buffer.mutable_data());
  parallel_morsels(mask.num_rows(), [&](Morsel morsel) {
    int64_t to = offsets[static_cast<size_t>(morsel.index)];
    for_each_mask_word(
        mask, morsel.begin, morsel.end, [&](int64_t row, int64_t count, uint64_t word) {
          const int picked = std::popcount(word);
          out.put(to, extract_bits(load_bits(in, offset + row, count), word), picked);
          to += picked;
        });
  });
  return buffer;
}

Column filter_on_device(const Column& column, const Mask& mask) {
  check_rows(mask, column.num_rows());
  if constexpr (built_with_cuda) return cuda::take_rows("getitem", column, mask.positions());
  check_on_host("getitem", column.place());
  return column;
}

}  // namespace

Column filter(const Column& column, const Mask& mask) {
  if (column.place().is_gpu()) return filter_on_device(column, mask);
  check_rows(mask, column.num_rows());
  const std::vector<int64_t> offsets = mask_offsets(mask);
  const int64_t rows = offsets.back();
  Buffer validity;
  if (column.null_count() > 0)
    validity = move_bits(column.validity(), column.offset(), mask, offsets);
  Buffer values;
  if (column.dtype().is_bool()) {
    values = move_bits(column.bits(), column.offset(), mask, offsets);
  } else {
    const int64_t width = column.dtype().size_bytes();
    values = Buffer::allocate_spillable(rows * width);
    move_rows(column.values_buffer().data() + column.offset() * width, values, mask, offsets,
              reads(column));
  }
  const int64_t unknown = column.null_count() > 0 ? -1 : 0;
  return column.with_rows(rows, std::move(values), std::move(validity), unknown);
}

Tensor filter(const Tensor& tensor, const Mask& mask) {
  if (tensor.num_dimensions() == 0)
    throw_error<InvalidArgumentError>("getitem", "a 0-d array has no rows");
  const Tensor rows = contiguous(tensor, "getitem");
  Shape shape = rows.shape();
  int64_t width = rows.dtype().size_bytes();
  for (size_t d = 1; d < shape.size(); ++d) width *= shape[d];
  if (rows.place().is_gpu()) {
    check_rows(mask, shape[0]);
    if constexpr (built_with_cuda) {
      const Tensor positions = mask.positions();
      shape[0] = positions.num_elements();
      Buffer taken = cuda::take_rows("getitem", rows.buffer(), rows.byte_offset(), width,
                                     std::min<int64_t>(rows.dtype().size_bytes(), 8), positions);
      return Tensor(rows.dtype(), std::move(shape), std::move(taken));
    }
    check_on_host("getitem", rows.place());
  }
  check_rows(mask, shape[0]);
  const std::vector<int64_t> offsets = mask_offsets(mask);
  shape[0] = offsets.back();
  Buffer buffer = Buffer::allocate_spillable(offsets.back() * width);
  BufferAccess access = reads(rows);
  access.items = rows.shape()[0];
  access.step_bits = access.item_bits = 8 * width;
  if (width > 0) move_rows(rows.data(), buffer, mask, offsets, access);
  return Tensor(rows.dtype(), std::move(shape), std::move(buffer));
}

}  // namespace hr
