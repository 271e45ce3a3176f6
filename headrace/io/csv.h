// SPDX-License-Identifier: Apache-2.0
// CSV text to a table: sniffed schema, parsed by all workers straight into the final columns.
#pragma once
#include "headrace/data/table.h"
#include "headrace/io/source.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hr {

enum class CsvHeader : uint8_t {
  kInfer,  ///< the first row holds the names, unless `names` are given
  kYes,    ///< the first row holds names; given `names` replace them
  kNo,     ///< the first row is data; without `names` the columns are 0, 1, ...
};

/// What happens to a row that does not fit: stop at the first one, or set it aside.
enum class BadRows : uint8_t { kError, kReject };

struct CsvOptions {
  char delimiter = ',';
  /// Opens a field when it is the field's first byte; inside, a doubled one stands for itself.
  std::optional<char> quote = '"';
  /// The rest of a line from an unquoted one on is ignored; a line that begins with it is skipped.
  std::optional<char> comment{};
  CsvHeader header = CsvHeader::kInfer;
  std::vector<std::string> names{};
  /// Columns to read, in the order wanted, by name or by position (not both); empty: all.
  std::vector<std::string> columns{};
  std::vector<int64_t> column_indices{};
  /// Given dtypes by name; `dtype` holds for all columns that `dtypes` does not name.
  std::vector<std::pair<std::string, Dtype>> dtypes{};
  std::optional<Dtype> dtype{};
  /// Fields that are null. In a string column a quoted field is never null.
  std::vector<std::string> null_words = {"", "NA", "null", "NULL"};
  /// Fields that are bools, in addition to true, True, TRUE and false, False, FALSE.
  std::vector<std::string> true_words{};
  std::vector<std::string> false_words{};
  /// The fields that a row lacks at its end are null.
  bool null_padding = false;
  /// The fields of a row behind the last column are dropped.
  bool truncate_ragged_lines = false;
  /// Lines to leave out at the top, before the header.
  int64_t skip_rows = 0;
  /// Rows to read at most; -1: all.
  int64_t num_rows = -1;
  BadRows on_bad = BadRows::kError;
  Compression compression = Compression::kInfer;
  /// Infers dtypes from the first 32 KiB alone: of one of many files.
  bool few_samples = false;
};

/// Names and dtypes of the columns that will be read, in result order.
struct CsvSchema {
  std::vector<std::string> names{};
  std::vector<Dtype> dtypes{};
  /// Rows expected from the size of the text and of sampled rows; exact if the sample covers the
  /// whole text (up to bad rows), -1 for a longer stream.
  int64_t estimated_rows = 0;
};

struct CsvResult {
  Table table{};
  /// Rows set aside: `line` (int64, from 1, as an editor counts), `column` (int64, the field from
  /// 1, 0 for the whole row), `text` (string, invalid UTF-8 replaced, at most 64 KiB a row),
  /// `reason` (string). Empty with BadRows::kError. Rows in = rows of table + rows of rejects.
  Table rejects{};
};

/// The rows that a scan returns.
struct CsvFilter {
  /// Schema columns that `test` reads.
  std::vector<bool> reads{};
  /// Which rows of a batch to keep: a bool column, in which null is false. Gets the columns that it
  /// reads, in order; called for a batch of rows after the other.
  std::function<Column(const Table&)> test{};
};

/// A CSV source that is stamped and sniffed but not read: what a lazy scan holds. The schema is
/// fixed here from the head and from samples at places that the size alone decides; a later row
/// that does not fit it is a bad row. Copies share the state; `read` may be called again and again.
class HR_API CsvScan {
 public:
  /// Reads the head and the samples. Inferred dtypes: bool (true, True, TRUE and false), int64,
  /// uint64 when a value needs it, float64, date, timestamp (microseconds; nanoseconds when a
  /// sampled value needs them), else string; float64 when all is null. Categories only when asked
  /// for. Throws InvalidArgumentError for options that contradict, ColumnNotFoundError for unknown
  /// columns, InputError for an unreadable source, a first row of over 16 MiB or a NUL in a name,
  /// UnsupportedError for a codec that this build lacks.
  explicit CsvScan(Source source, CsvOptions options = {});

  /// Those of several paths with the same options, by all workers. Of several errors that of the
  /// first path is thrown.
  static std::vector<CsvScan> open_paths(const std::vector<std::string>& paths,
                                         const CsvOptions& options);

  const CsvSchema& schema() const;
  const CsvOptions& options() const;
  const Source& source() const;

  /// Reads the schema columns with true in `wanted` (empty: all; their order stays), at most
  /// `max_rows` rows (-1: as many as the options say). Only wanted columns are checked for values
  /// that do not fit; the number of fields of a row is always checked.
  ///
  /// The text is read twice in pieces of about 1 MiB a worker (counted, then parsed to place), so
  /// little more than the result is resident for a plain file; a compressed source or a stream is
  /// held unpacked as well. Floats are correctly rounded, float32 from the text. The same bits for
  /// any number of threads; codes of categories follow the order of the rows.
  ///
  /// The table is made at `place`, the rejects on the host. On a CUDA device the text is parsed
  /// there, with the same bits and errors, into columns of numbers, bools, dates, times without a
  /// zone and strings. Other columns, and text whose quotes are not all around whole fields, are
  /// read on the host and copied, which `fallbacks` tells (or strict() forbids: DeviceError).
  /// Throws InputError naming path, line and column for the first bad row (or a source that
  /// changed), OutOfMemoryError when the budget is too small.
  CsvResult read(const std::vector<bool>& wanted = {}, int64_t max_rows = -1,
                 Place place = host) const;

  /// Reads only the rows that a filter wants, on the host. The columns that it reads, and
  /// categories, are parsed for all rows; of the others only the fields of those rows are read
  /// and checked. Batches of rows are resident, and what is kept of them.
  /// Throws as `read`, for the first bad row of those that it reads; InvalidArgumentError for a
  /// scan that sets bad rows aside.
  /// `max_rows`: that many wanted rows at most (-1: all); what stands behind them is hardly read,
  /// and bad rows there are no error.
  CsvResult read_where(const CsvFilter& filter, const std::vector<bool>& wanted = {},
                       int64_t max_rows = -1) const;

  struct State;

  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

struct CsvFilesResult {
  Table table{};
  std::vector<int64_t> rows{};  ///< of each file
};

/// All rows of several files, one file after the other, as one read would give them: by name, the
/// columns of the first file, with `dtypes` (one for each of them) in place of the scans' own. All
/// workers parse pieces of any of the files; few files are open at a time. The table is made at
/// `place`, on a CUDA device as by `CsvScan::read` where all files have the same fields in the same
/// order. Throws InputError for the first bad row, and as `CsvScan::read`; InvalidArgumentError for
/// scans that set bad rows aside or have a number of rows.
HR_API CsvFilesResult read_csv_files(std::span<const CsvScan> scans, std::span<const Dtype> dtypes,
                                     Place place = host);

/// Scans and reads at once.
HR_API CsvResult read_csv(const Source& source, const CsvOptions& options = {}, Place place = host);

}  // namespace hr
