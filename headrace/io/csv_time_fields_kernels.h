// SPDX-License-Identifier: Apache-2.0
// Kernels over a tile of CSV text: dates, times and categories, column by column.
#pragma once
#include "headrace/base/dtype.h"
#include "headrace/data/dictionary.h"
#include "headrace/io/csv_fields_kernels.h"

#include <cstdint>

namespace hr {

namespace cpu {

/// Parses the field `field` of each row as a day; rows with anything but "YYYY-MM-DD" are listed in
/// `others` in order, and their number is returned. kCsvPadding bytes behind the text are readable.
int64_t parse_date_fields(const CsvFields& fields, int64_t field, int32_t* values, int32_t* others);

/// The same for times that `unit` holds.
int64_t parse_time_fields(const CsvFields& fields, int64_t field, TimeUnit unit, int64_t* values,
                          int32_t* others);

/// Gives the text of the field `field` of each row its code in `entries`. Rows that are null, hold
/// doubled quotes or are not UTF-8 are listed in `others`. Behind a row with doubled quotes only
/// known strings get their code and the other rows are listed too: so new strings come in the order
/// of the rows when those listed are read in their order.
int64_t parse_category_fields(const CsvSyntax& syntax, const CsvFields& fields, int64_t field,
                              DictionaryBuilder& entries, int32_t* values, int32_t* others);

}  // namespace cpu

}  // namespace hr
