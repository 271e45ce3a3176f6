// SPDX-License-Identifier: Apache-2.0
// Fields of struct columns in the order of their rows.
#include "headrace/data/struct_fields.h"

#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/log/ledger.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

namespace hr {

namespace {

constexpr int64_t kNone = -1;

// The row of the fields that belongs to row 0, where each struct that is not null has the row
// behind that of the struct before it; kNone where they are in another order.
int64_t first_place(const Column& structs) {
  const int64_t rows = structs.num_rows();
  const int64_t* const places = structs.values<int64_t>().data();
  int64_t row = 0;
  while (row < rows && structs.is_null(row)) ++row;
  if (row == rows) return rows == 0 ? 0 : kNone;
  const int64_t first = places[row] - row;
  for (const Column& field : *structs.fields())
    if (first < 0 || first > field.num_rows() - rows) return kNone;
  const bool nullable = structs.null_count() > 0;
  std::atomic<bool> in_order{true};
  parallel_morsels(rows, {reads(structs)}, [&](Morsel morsel) {
    if (!in_order) return;
    int64_t wrong = 0;
    if (nullable)
      for (int64_t at = morsel.begin; at < morsel.end; ++at)
        wrong |= structs.is_null(at) ? 0 : places[at] ^ (first + at);
    else
      for (int64_t at = morsel.begin; at < morsel.end; ++at) wrong |= places[at] ^ (first + at);
    if (wrong != 0) in_order = false;
  });
  return in_order ? first : kNone;
}

// One bit a struct: that of `bits` at its place; 0 for null structs.
Buffer bits_at(const uint8_t* bits, int64_t offset, const Column& structs) {
  const int64_t rows = structs.num_rows();
  Buffer made = Buffer::allocate_zeroed(bitmap_bytes(rows));
  auto* const out = made.mutable_as<uint8_t>();
  const int64_t* const places = structs.values<int64_t>().data();
  // Morsels begin at whole bytes.
  parallel_morsels(rows, {reads(structs)}, [&](Morsel morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; ++row)
      if (!structs.is_null(row) && (!bits || get_bit(bits, offset + places[row])))
        set_bit(out, row, true);
  });
  return made;
}

// The values of a field at the places of the structs; zeros for null structs.
Buffer values_at(std::string_view op, const Column& field, const Column& structs) {
  const int64_t rows = structs.num_rows(), width = field.dtype().size_bytes();
  Buffer made = Buffer::allocate_spillable(checked_multiply(op, rows, width));
  std::byte* const out = made.mutable_data();
  const std::byte* const from = field.values_buffer().data() + field.offset() * width;
  const int64_t* const places = structs.values<int64_t>().data();
  parallel_morsels(rows, {reads(structs), writes(made, width)}, [&](Morsel morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; ++row)
      if (structs.is_null(row))
        std::memset(out + row * width, 0, static_cast<size_t>(width));
      else
        std::memcpy(out + row * width, from + places[row] * width, static_cast<size_t>(width));
  });
  return made;
}

Column field_at(std::string_view op, const Column& field, const Column& structs) {
  const int64_t rows = structs.num_rows();
  if (rows == 0) return field.slice(0, 0);
  record_copy(op, "fields of structs put in order", rows * field.dtype().size_bytes(), false);
  const bool nullable = field.null_count() > 0 || structs.null_count() > 0;
  Buffer validity = nullable ? bits_at(field.validity(), field.offset(), structs) : Buffer();
  Buffer values = field.dtype().is_bool() ? bits_at(field.bits(), field.offset(), structs)
                                          : values_at(op, field, structs);
  return field.with_rows(rows, std::move(values), std::move(validity), nullable ? -1 : 0);
}

// The field's values with the nulls of the structs too.
Column with_nulls(const Column& field, const Column& structs) {
  const int64_t rows = structs.num_rows(), offset = field.offset();
  Buffer validity = Buffer::allocate_zeroed(bitmap_bytes(checked_add("struct", offset, rows)));
  auto* const out = validity.mutable_as<uint8_t>();
  for (int64_t row = 0; row < rows; ++row)
    if (!structs.is_null(row) && !field.is_null(row)) set_bit(out, offset + row, true);
  return field.with_validity(std::move(validity));
}

}  // namespace

Column struct_field(std::string_view op, const Column& structs, int64_t index) {
  if (index < 0 || index >= std::ssize(*structs.fields()))
    throw_error<InternalError>(op, "a struct has no such field", {{"index", index}});
  const Column& field = (*structs.fields())[static_cast<size_t>(index)];
  const int64_t first = first_place(structs);
  if (first == kNone) return field_at(op, field, structs);
  const Column shared = field.slice(first, structs.num_rows());
  return structs.null_count() > 0 ? with_nulls(shared, structs) : shared;
}

std::vector<Column> struct_fields(std::string_view op, const Column& structs) {
  const int64_t first = first_place(structs);
  std::vector<Column> fields;
  for (const Column& field : *structs.fields())
    fields.push_back(first == kNone ? field_at(op, field, structs)
                                    : field.slice(first, structs.num_rows()));
  return fields;
}

void check_structs(std::string_view op, std::string_view name, const Column& structs) {
  int64_t most = std::numeric_limits<int64_t>::max();
  for (const Column& field : *structs.fields()) most = std::min(most, field.num_rows());
  for (int64_t row = 0; row < structs.num_rows(); ++row) {
    const int64_t place = structs.values<int64_t>()[static_cast<size_t>(row)];
    if (!structs.is_null(row) && (place < 0 || place >= most))
      throw_error<InvalidArgumentError>(
          op, "a struct leaves its fields",
          {{"column", name}, {"row", row}, {"place", place}, {"rows", most}},
          "the message is corrupt");
  }
}

}  // namespace hr
