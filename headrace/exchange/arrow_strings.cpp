// SPDX-License-Identifier: Apache-2.0
// Categories from dictionaries, and their export.
#include "headrace/exchange/arrow_strings.h"

#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/base/utf8.h"
#include "headrace/data/dictionary.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/log/ledger.h"

#include <cstring>
#include <limits>

namespace hr {

namespace {

bool is_valid(const uint8_t* validity, int64_t bit) {
  return !validity || get_bit(validity, bit);
}

}  // namespace

void check_name(std::string_view op, std::string_view name) {
  if (!is_valid_utf8(name))
    throw_error<InvalidArgumentError>(op, "the name is not UTF-8", {{"name", printable(name)}},
                                      "rename the column first");
}

StringOffsets offsets_of(std::string_view op, const Column& strings) {
  const int64_t rows = strings.num_rows();
  int64_t bytes = 0;
  for (int64_t row = 0; row < rows; ++row)
    bytes += static_cast<int64_t>(strings.string(row).size());
  if (bytes > std::numeric_limits<int32_t>::max())
    throw_error<UnsupportedError>(op, "the dictionary has more than 2 GiB of strings",
                                  {{"bytes", bytes}}, "use astype('string') first");
  record_copy(op, "dictionary strings get offsets", bytes + (rows + 1) * 4, false);
  StringOffsets result{Buffer::allocate((rows + 1) * 4), Buffer::allocate(bytes)};
  auto* offsets = result.offsets.mutable_as<int32_t>();
  char* text = bytes > 0 ? result.text.mutable_as<char>() : nullptr;
  int32_t used = 0;
  for (int64_t row = 0; row < rows; ++row) {
    offsets[row] = used;
    const std::string_view from = strings.string(row);
    if (!from.empty()) std::memcpy(text + used, from.data(), from.size());
    used += static_cast<int32_t>(from.size());
  }
  offsets[rows] = used;
  return result;
}

namespace {

template <class Index>
[[noreturn]] void refuse_index(std::string_view op, int64_t row, Index index, int64_t num_entries) {
  throw_error<InvalidArgumentError>(op, "an index is out of range of its dictionary",
                                    {{"row", row}, {"index", index}, {"entries", num_entries}});
}

}  // namespace

template <class Index>
Column categories_from_indices(std::string_view op, int64_t num_rows, const Index* indices,
                               const DictionaryPtr& dictionary, int64_t num_entries,
                               const Buffer& codes, const uint8_t* validity,
                               int64_t validity_offset) {
  record_copy(op, "dictionary indices become codes", num_rows * 4, false);
  Buffer buffer = Buffer::allocate(num_rows * 4);
  Buffer new_validity = Buffer::allocate_zeroed(bitmap_bytes(num_rows));
  auto* out = buffer.mutable_as<int32_t>();
  auto* bits = new_validity.mutable_as<uint8_t>();
  const int32_t* lookup = codes ? codes.as<int32_t>() : nullptr;
  parallel_morsels(num_rows, [&](Morsel morsel) {  // morsels begin at whole bytes
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      out[row] = 0;
      if (!is_valid(validity, validity_offset + row)) continue;
      const auto index = static_cast<uint64_t>(indices[row]);
      if (index >= static_cast<uint64_t>(num_entries))
        refuse_index(op, row, indices[row], num_entries);
      const int32_t code = lookup ? lookup[index] : static_cast<int32_t>(index);
      if (code < 0) continue;
      out[row] = code;
      set_bit(bits, row, true);
    }
  });
  return Column::categories(num_rows, std::move(buffer), dictionary, std::move(new_validity), -1);
}

void check_indices(std::string_view op, const Column& indices, int64_t num_entries) {
  if (indices.num_rows() == 0) return;
  const uint32_t* values = indices.values<uint32_t>().data();
  parallel_morsels(indices.num_rows(), [&](Morsel morsel) {
    // A negative index is a large one here; without nulls the loop has no branch but this one.
    bool good = true;
    for (int64_t row = morsel.begin; row < morsel.end; ++row)
      good &= values[row] < static_cast<uint64_t>(num_entries);
    for (int64_t row = morsel.begin; !good && row < morsel.end; ++row)
      if (values[row] >= static_cast<uint64_t>(num_entries) && !indices.is_null(row))
        refuse_index(op, row, static_cast<int32_t>(values[row]), num_entries);
  });
}

#define HR_INDEX(T)                                                                     \
  template Column categories_from_indices(std::string_view, int64_t, const T*,          \
                                          const DictionaryPtr&, int64_t, const Buffer&, \
                                          const uint8_t*, int64_t);
HR_INDEX(int8_t)
HR_INDEX(int16_t)
HR_INDEX(int32_t)
HR_INDEX(int64_t)
HR_INDEX(uint8_t)
HR_INDEX(uint16_t)
HR_INDEX(uint32_t)
HR_INDEX(uint64_t)
#undef HR_INDEX

}  // namespace hr
