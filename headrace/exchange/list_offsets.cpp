// SPDX-License-Identifier: Apache-2.0
// Spans of lists as offsets, and offsets as spans.
#include "headrace/exchange/list_offsets.h"

#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/memory/log/ledger.h"

#include <cstring>
#include <limits>

namespace hr {

namespace {

Buffer picked_bits(const uint8_t* bits, int64_t offset, const Column& lists, int64_t total) {
  Buffer made = Buffer::allocate_zeroed(bitmap_bytes(total));
  int64_t to = 0;
  for (int64_t row = 0; row < lists.num_rows(); ++row) {
    const ListSpan span = lists.values<ListSpan>()[static_cast<size_t>(row)];
    for (int64_t k = 0; k < span.size; ++k)
      set_bit(made.mutable_as<uint8_t>(), to++, get_bit(bits, offset + span.begin + k));
  }
  return made;
}

// The items of the rows one after the other.
Column picked_items(const Column& lists, int64_t total) {
  const Column& items = *lists.items();
  const int64_t width = items.dtype().size_bytes();
  Buffer validity, values;
  if (items.null_count() > 0)
    validity = picked_bits(items.validity(), items.offset(), lists, total);
  if (items.dtype().is_bool()) {
    values = picked_bits(items.bits(), items.offset(), lists, total);
  } else if (total > 0) {
    values = Buffer::allocate(checked_multiply("to_arrow", total, width));
    std::byte* to = values.mutable_data();
    const std::byte* const from = items.values_buffer().data() + items.offset() * width;
    for (int64_t row = 0; row < lists.num_rows(); ++row) {
      const ListSpan span = lists.values<ListSpan>()[static_cast<size_t>(row)];
      if (span.size == 0) continue;
      std::memcpy(to, from + span.begin * width, static_cast<size_t>(span.size * width));
      to += span.size * width;
    }
  }
  const int64_t nulls = validity ? -1 : 0;
  return items.with_rows(total, std::move(values), std::move(validity), nulls);
}

}  // namespace

ListOffsets offsets_of_lists(std::string_view op, const Column& lists) {
  const int64_t rows = lists.num_rows();
  ListOffsets made{Buffer::allocate((rows + 1) * 8), *lists.items()};
  auto* const out = made.offsets.mutable_as<int64_t>();
  bool in_order = true;
  int64_t end = -1, total = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const ListSpan span = lists.values<ListSpan>()[static_cast<size_t>(row)];
    out[row] = total;
    total = checked_add(op, total, span.size);
    if (span.size == 0) continue;
    in_order &= end < 0 || span.begin == end;
    end = span.begin + span.size;
  }
  out[rows] = total;
  if (in_order) {
    made.items = lists.items()->slice(total == 0 ? 0 : end - total, total);
    return made;
  }
  made.items = picked_items(lists, total);
  record_copy(op, "items of lists put in order", total * lists.dtype().item().size_bytes(), false);
  return made;
}

Buffer narrow_offsets(std::string_view op, const Buffer& offsets, int64_t num_rows) {
  const auto* const wide = offsets.as<int64_t>();
  if (wide[num_rows] > std::numeric_limits<int32_t>::max())
    throw_error<UnsupportedError>(op, "Arrow's maps hold at most 2^31 - 1 entries",
                                  {{"entries", wide[num_rows]}}, "export it in parts");
  Buffer made = Buffer::allocate((num_rows + 1) * 4);
  auto* const out = made.mutable_as<int32_t>();
  for (int64_t row = 0; row <= num_rows; ++row) out[row] = static_cast<int32_t>(wide[row]);
  return made;
}

template <class Offset>
Buffer spans_from_offsets(std::string_view op, std::string_view name, int64_t num_rows,
                          const Offset* offsets, int64_t num_items, const uint8_t* validity,
                          int64_t validity_offset) {
  record_copy(op, "list offsets become spans", num_rows * 16, false);
  Buffer spans = Buffer::allocate(num_rows * 16);
  auto* const out = num_rows > 0 ? spans.mutable_as<ListSpan>() : nullptr;
  for (int64_t row = 0; row < num_rows; ++row) {
    const int64_t begin = offsets[row], end = offsets[row + 1];
    if (begin < 0 || end < begin || end > num_items)
      throw_error<InvalidArgumentError>(
          op, "a list leaves its items",
          {{"column", name}, {"row", row}, {"begin", begin}, {"end", end}, {"items", num_items}},
          "the producer broke the Arrow C data interface");
    const bool null = validity && !get_bit(validity, validity_offset + row);
    out[row] = null || begin == end ? ListSpan{} : ListSpan{begin, end - begin};
  }
  return spans;
}

template Buffer spans_from_offsets<int32_t>(std::string_view, std::string_view, int64_t,
                                            const int32_t*, int64_t, const uint8_t*, int64_t);
template Buffer spans_from_offsets<int64_t>(std::string_view, std::string_view, int64_t,
                                            const int64_t*, int64_t, const uint8_t*, int64_t);

Column check_lists(std::string_view op, std::string_view name, const Column& lists) {
  const int64_t num_items = lists.items()->num_rows();
  for (int64_t row = 0; row < lists.num_rows(); ++row) {
    const auto [begin, size] = lists.values<ListSpan>()[static_cast<size_t>(row)];
    const bool is_null = lists.is_null(row) && (begin != 0 || size != 0);
    if (is_null || begin < 0 || size < 0 || size > num_items || begin > num_items - size)
      throw_error<InvalidArgumentError>(
          op, "a list leaves its items",
          {{"column", name}, {"row", row}, {"begin", begin}, {"size", size}, {"items", num_items}},
          "the message is corrupt");
  }
  return lists;
}

}  // namespace hr
