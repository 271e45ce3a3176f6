// SPDX-License-Identifier: Apache-2.0
// What is being made of one range of CSV rows: slots, nulls, text, and the rows that are bad.
#pragma once
#include "headrace/data/dictionary.h"
#include "headrace/io/csv_parse.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

/// Holds a piece while its rows are parsed. `row_` is the row whose fields are written; a function
/// that finds a field bad notes why and returns null.
class CsvPartialWriter {
 protected:
  CsvPartialWriter(const CsvParseJob& job, const char* text, const CsvRange& range,
                   int64_t first_slot, uint32_t text_buffer);

  CsvPartial finish();

  template <class T>
  T& slot(const CsvTarget& target) {
    return reinterpret_cast<T*>(target.values)[first_slot_ + row_];
  }

  CsvPartial::Part& part(const CsvTarget& target) {
    return piece_.parts[static_cast<size_t>(target.column)];
  }

  ByteBuffer& arena(const CsvTarget& target) {
    return job_.shares_text ? arenas_[0] : arenas_[static_cast<size_t>(target.column)];
  }

  /// Room for the text of a range that all columns share, so that it does not grow.
  void reserve_shared_text(int64_t bytes) { arenas_[0].reserve(bytes); }

  /// The strings that a category column has so far.
  DictionaryBuilder& entries(const CsvTarget& target) {
    return entries_[static_cast<size_t>(target.column)];
  }

  /// Remembers how many these are before a row, in case it is rejected: then it leaves none.
  void note_entries() {
    for (Noted& each : noted_entries_) each.size = entries_[each.column].size();
  }

  /// The row behind those that are done is parsed next.
  void begin_row() {
    row_ = piece_.rows;
    row_has_null_ = false;
  }

  void set_null(const CsvTarget& target);

  /// Remembers how much text and how many entries there are, and gives up what `rows` rows wrote
  /// since.
  void note_arenas();
  void forget_rows(int64_t rows);

  const char* defect(const CsvField& field);
  const char* type_error(const CsvTarget& target, const CsvField& field);
  const char* not_utf8(const CsvTarget& target, std::string_view text);
  /// Field `field` ended at `p`, and the row goes on or is over against expectation.
  const char* wrong_count(size_t field, const char* p, const char* end);
  /// Field `field` of the row that begins at `row` is bad; another number of fields than expected
  /// says more than what is wrong with one of them.
  void blame_field(size_t field, const char* row, const char* end);

  /// Sets the row that begins at `p` aside and gives the next one.
  const char* reject(const char* p, const char* end);

  const CsvParseJob& job_;
  const CsvSyntax& syntax_;
  const std::vector<CsvTarget>& targets_;
  uint32_t text_buffer_;
  CsvPartial piece_{};
  int64_t row_ = 0;

 private:
  const char* wrong_count(int64_t fields);

  struct Trouble {
    int64_t column = 0;
    std::string what{};
    std::string fix{};
  };

  const CsvRange& range_;
  int64_t first_slot_;
  std::vector<ByteBuffer> arenas_;  // one per column, or one for all
  std::vector<int64_t> noted_{};
  std::vector<DictionaryBuilder> entries_;  // one per column, filled for categories

  struct Noted {
    size_t column;
    int32_t size;
  };

  std::vector<Noted> noted_entries_{};  // one a category column
  Trouble trouble_{};
  bool row_has_null_ = false;
  const char* counted_to_;
  int64_t counted_lines_;
};

}  // namespace hr
