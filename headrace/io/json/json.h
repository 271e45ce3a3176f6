// SPDX-License-Identifier: Apache-2.0
// JSON lines and arrays of objects to a table: schema inferred over all rows, parsed by all
// workers.
#pragma once
#include "headrace/data/table.h"
#include "headrace/io/csv.h"
#include "headrace/io/source.h"
#include "headrace/plan/graph/node.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hr {

enum class JsonForm : uint8_t {
  kInfer,  ///< an array if the text begins with a bracket, else lines
  kLines,  ///< an object a line; blank lines are skipped
  kArray,  ///< one array of objects
};

struct JsonOptions {
  JsonForm form = JsonForm::kInfer;
  /// Columns to read, in the order wanted; empty: all, in order of first appearance.
  std::vector<std::string> columns{};
  /// Given dtypes by name: bool, numbers, string, date, timestamp or category. A string column
  /// keeps numbers, bools, arrays and objects as their JSON text.
  std::vector<std::pair<std::string, Dtype>> dtypes{};
  /// Rows to read at most; -1: all.
  int64_t num_rows = -1;
  BadRows on_bad = BadRows::kError;
  Compression compression = Compression::kInfer;
};

struct JsonResult {
  Table table{};
  /// Rows set aside, as `CsvResult::rejects`; `column` is the character of the line.
  Table rejects{};
};

struct JsonSchema {
  std::vector<std::string> names{};
  std::vector<Dtype> dtypes{};
  int64_t num_rows = 0;
};

/// A JSON source whose schema is known: what a lazy scan holds. Copies share the state; `read` may
/// be called again and again.
class HR_API JsonScan {
 public:
  /// Reads all rows (or `num_rows` of them) for their schema: int64, uint64 when a value needs it,
  /// float64 when one has a point, an exponent or more digits; bool; date and timestamp where all
  /// strings of a column are ISO dates or times, else string; lists of these, structs of objects;
  /// float64 when all is null. A key that a row lacks is null there; of equal keys the last one
  /// counts. Throws as `read_json`.
  explicit JsonScan(Source source, JsonOptions options = {});

  const JsonSchema& schema() const;
  const JsonOptions& options() const;
  const Source& source() const;

  /// Reads the schema columns with true in `wanted` (empty: all), at most `max_rows` rows (-1: as
  /// many as the options say). All of the text is checked, also what is not read. Throws as
  /// `read_json`.
  JsonResult read(const std::vector<bool>& wanted = {}, int64_t max_rows = -1) const;

  struct State;

 private:
  std::shared_ptr<const State> state_;
};

/// Scans and reads at once, in one pass over the text. The same bits for any number of threads.
/// Held at a time: a piece of about 1 MiB a worker and the columns of all pieces; a compressed
/// source or a stream is held unpacked as well. Throws InputError naming path, line and column for
/// text that is not JSON, a row that is not an object, and values of one column that have no
/// dtype together, as numbers and strings (with BadRows::kReject such rows are set aside: the first
/// value of a column counts); UnsupportedError for a column of objects without keys, unless it is
/// read as text; ColumnNotFoundError; OutOfMemoryError.
HR_API JsonResult read_json(const Source& source, const JsonOptions& options = {});

/// The table of a scan. A plan builds only the columns that it needs, its prefix reads only the
/// first rows.
HR_API NodePtr scan_json(const JsonScan& scan);

}  // namespace hr
