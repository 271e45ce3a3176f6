// SPDX-License-Identifier: Apache-2.0
// Records of others (an array of structures) taken apart into columns (a structure of arrays).
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/column.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace hr {

/// Where in its record a number, bool or timestamp stands; it may be at any byte.
struct RecordField {
  Dtype dtype;
  int64_t offset = 0;
};

/// One column per field of `rows` records, `stride` bytes from one to the next (of any sign), in
/// one pass over the memory; the ledger shows the copy under `op`. NaT becomes null. Throws
/// InvalidArgumentError for a field out of range of its record, and TypeMismatchError for
/// dtypes that cannot be elements of arrays.
HR_API std::vector<Column> split_records(std::string_view op, const std::byte* data, int64_t rows,
                                         int64_t stride, int64_t record_bytes,
                                         std::span<const RecordField> fields);

}  // namespace hr
