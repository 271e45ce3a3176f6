// SPDX-License-Identifier: Apache-2.0
// Dates, times and categories of a tile of CSV text, column by column.
#include "headrace/algo/math/iso_time_math.h"
#include "headrace/base/utf8.h"
#include "headrace/io/csv_time_fields_kernels.h"

#include <string_view>

namespace hr::cpu {

int64_t parse_date_fields(const CsvFields& fields, int64_t field, int32_t* values,
                          int32_t* others) {
  int64_t num_others = 0;
  for (int64_t row = 0; row < fields.rows; ++row) {
    const int64_t begin = fields.begin(row, field);
    int64_t days = 0;
    const bool good =
        fields.end(row, field) - begin == 10 && parse_iso_date(fields.text + begin, &days);
    values[row] = static_cast<int32_t>(days);
    others[num_others] = static_cast<int32_t>(row);
    num_others += !good;
  }
  return num_others;
}

int64_t parse_time_fields(const CsvFields& fields, int64_t field, TimeUnit unit, int64_t* values,
                          int32_t* others) {
  int64_t num_others = 0;
  for (int64_t row = 0; row < fields.rows; ++row) {
    const char* const end = fields.text + fields.end(row, field);
    const IsoTime time = parse_iso_time(fields.text + fields.begin(row, field), end);
    if (time.end != end || !fit_time(time, unit, values + row))
      others[num_others++] = static_cast<int32_t>(row);
  }
  return num_others;
}

int64_t parse_category_fields(const CsvSyntax& syntax, const CsvFields& fields, int64_t field,
                              DictionaryBuilder& entries, int32_t* values, int32_t* others) {
  int64_t num_others = 0;
  bool takes_new = true;
  for (int64_t row = 0; row < fields.rows; ++row) {
    const char* begin = fields.text + fields.begin(row, field);
    const char* end = fields.text + fields.end(row, field);
    const bool quoted = fields.quotes && syntax.is_quote(*begin);
    if (quoted) {
      ++begin;
      --end;
    }
    const std::string_view text(begin, static_cast<size_t>(end - begin));
    const bool doubled = quoted && text.find(static_cast<char>(syntax.quote)) != text.npos;
    if (!doubled && (quoted || !syntax.is_null(begin, end))) {
      int32_t code = entries.find(text);
      if (code < 0 && takes_new && (fields.ascii || is_valid_utf8(text))) code = entries.add(text);
      if (code >= 0) {
        values[row] = code;
        continue;
      }
    }
    takes_new &= !doubled;
    others[num_others++] = static_cast<int32_t>(row);
  }
  return num_others;
}

}  // namespace hr::cpu
