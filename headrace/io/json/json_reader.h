// SPDX-License-Identifier: Apache-2.0
// One reading of a JSON text: pieces parsed by all workers, joined to columns.
#pragma once
#include "headrace/io/csv_columns.h"
#include "headrace/io/csv_row_splitter.h"
#include "headrace/io/json/json.h"
#include "headrace/io/json/row_parser_kernels.h"
#include "headrace/io/json/row_splitter.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hr {

/// `read_json` with another size of pieces, for tests.
HR_API JsonResult read_in_chunks(const Source& source, const JsonOptions& options, int64_t bytes);

namespace json {

/// Where the rows begin, and how they are written.
struct Start {
  bool is_array = false;
  int64_t begin = 0;
};

/// Looks behind blanks and a byte order mark. Throws InputError for text without any value,
/// unless it is said to be lines, and for what cannot be an array of objects.
Start find_start(ByteSource& text, const std::string& name, JsonForm form);

class Reader {
 public:
  Reader(ByteSource& text, const std::string& name, Start start, BadRows on_bad,
         int64_t chunk_bytes);

  /// Parses up to `max_rows` rows (-1: all) to builders like those of `root`. Values without a
  /// dtype together make it parse again, with the kinds that came first given. Throws InputError
  /// for the first bad row unless such rows are set aside.
  void read(const Builder& root, int64_t max_rows);

  /// Names and dtypes of what was read, as the options want them.
  JsonSchema infer_schema(const JsonOptions& options) const;

  /// The builders of the rows, without them.
  std::shared_ptr<const Builder> prototype() const;

  /// The table, which uses up what was read, and the rejects.
  JsonResult finish(const JsonSchema& schema);

 private:
  void parse_all(const Builder& root, bool is_careful);
  Piece parse(const Range& range, const Builder& root, bool is_careful, int64_t max_rows);
  bool has_enough(size_t& checked, int64_t& rows) const;
  void end_at_limit(size_t last, const Builder& root, bool is_careful);
  void check_end(bool is_complete) const;
  std::vector<const Builder*> roots() const;
  bool has_clashes() const;
  Column finish_column(const std::string& key, Dtype dtype);
  [[noreturn]] void fail(const Range& range, const BadRow& bad) const;
  Table find_rejects() const;

  ByteSource& text_;
  const std::string name_;
  Start start_;
  BadRows on_bad_;
  int64_t chunk_bytes_;
  int64_t limit_ = 0;
  int64_t rows_ = 0;
  std::vector<Range> ranges_{};
  std::vector<Piece> pieces_{};
  BufferPool stock_{};
};

}  // namespace json
}  // namespace hr
