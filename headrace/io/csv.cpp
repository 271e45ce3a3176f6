// SPDX-License-Identifier: Apache-2.0
// The CSV reader: checks, sniffs, finds the rows, has them parsed, reports what is bad.
#include "headrace/io/csv.h"

#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/io/chunk_bytes.h"
#include "headrace/io/csv_device_reader.h"
#include "headrace/io/csv_reader.h"
#include "headrace/io/csv_reader_testing.h"
#include "headrace/io/csv_sniff.h"
#include "headrace/io/parse_number_math.h"
#include "headrace/memory/budget/budget.h"

#include <algorithm>

namespace hr {

int64_t csv_chunk_bytes() {
  constexpr int64_t kShareOfLimit = 16, kLeast = int64_t{128} << 10;
  return chunk_bytes(kShareOfLimit, kLeast, kCsvChunkBytes);
}

namespace {

constexpr std::string_view kOp = "read_csv";

int64_t chunk_bytes_at(Place place) {
  return place.is_gpu() ? kLineBlockBytes : csv_chunk_bytes();
}

void check_byte(std::string_view what, char byte) {
  if (byte == '\n' || byte == '\r' || byte == '\0' || static_cast<uint8_t>(byte) >= 0x80 ||
      is_digit(byte))
    throw_error<InvalidArgumentError>(kOp, "this byte cannot be a special character",
                                      {{"option", what}, {"byte", static_cast<uint8_t>(byte)}},
                                      "pass one ASCII character other than a digit or a line end");
}

CsvSyntax checked_syntax(const CsvOptions& options) {
  check_byte("delimiter", options.delimiter);
  if (options.quote) check_byte("quote", *options.quote);
  if (options.comment) check_byte("comment", *options.comment);
  if (options.quote == options.delimiter || options.comment == options.delimiter ||
      (options.quote && options.quote == options.comment))
    throw_error<InvalidArgumentError>(kOp, "delimiter, quote and comment must differ");
  if (options.skip_rows < 0 || options.num_rows < -1)
    throw_error<InvalidArgumentError>(
        kOp, "a number of rows is negative",
        {{"skip_rows", options.skip_rows}, {"num_rows", options.num_rows}});
  if (!options.columns.empty() && !options.column_indices.empty())
    throw_error<InvalidArgumentError>(kOp, "columns are given by name and by position", {},
                                      "pass one of the two");
  const auto check_dtype = [](std::string_view name, Dtype dtype) {
    if (dtype.has_zone()) timezone_rules(kOp, dtype);  // throws where they are not known
    if (dtype.is_complex())
      throw_error<TypeMismatchError>(kOp, "complex numbers cannot be read from text",
                                     {{"column", name}, {"dtype", dtype.name()}},
                                     "read two float columns");
  };
  if (options.dtype) check_dtype("*", *options.dtype);
  for (const auto& [name, dtype] : options.dtypes) check_dtype(name, dtype);
  CsvSyntax syntax{.delimiter = options.delimiter,
                   .quote = options.quote ? static_cast<uint8_t>(*options.quote) : -1,
                   .comment = options.comment ? static_cast<uint8_t>(*options.comment) : -1,
                   .null_words = options.null_words,
                   .true_words = options.true_words,
                   .false_words = options.false_words,
                   .null_padding = options.null_padding,
                   .truncate_ragged_lines = options.truncate_ragged_lines};
  syntax.prepare();
  return syntax;
}

// The fields that the options choose, in their order.
std::vector<int64_t> chosen_fields(const CsvOptions& options, const CsvLayout& layout) {
  const auto count = static_cast<int64_t>(layout.names.size());
  std::vector<int64_t> fields;
  for (const std::string& name : options.columns)
    fields.push_back(find_column(kOp, layout.names, name));
  for (const int64_t index : options.column_indices) {
    if (index < 0 || index >= count)
      throw_error<ColumnNotFoundError>(kOp, "no column at this position",
                                       {{"position", index}, {"columns", count}});
    fields.push_back(index);
  }
  if (options.columns.empty() && options.column_indices.empty())
    for (int64_t f = 0; f < count; ++f) fields.push_back(f);
  return fields;
}

std::shared_ptr<const CsvScan::State> make_state(Source source, CsvOptions options,
                                                 const CsvSyntax& syntax, ByteSource& text) {
  auto state = std::make_shared<CsvScan::State>(
      CsvScan::State{.source = std::move(source), .options = std::move(options), .syntax = syntax});
  state->layout = sniff_csv(kOp, text, state->source.name(), state->options, syntax);
  state->fields = chosen_fields(state->options, state->layout);
  for (const int64_t field : state->fields) {
    const auto f = static_cast<size_t>(field);
    state->schema.names.push_back(state->layout.names[f]);
    state->schema.dtypes.push_back(state->layout.dtypes[f]);
  }
  const Table check(state->schema.names, std::vector<Column>(state->schema.names.size()));
  state->schema.estimated_rows = state->layout.estimated_rows;
  if (const int64_t limit = state->options.num_rows; limit >= 0)
    state->schema.estimated_rows = std::min(state->schema.estimated_rows, limit);
  return state;
}

}  // namespace

CsvScan::CsvScan(Source source, CsvOptions options) {
  const ScopedTag tag(kOp);
  const CsvSyntax syntax = checked_syntax(options);
  const std::shared_ptr<ByteSource> text = source.open(kOp, options.compression);
  state_ = make_state(std::move(source), std::move(options), syntax, *text);
}

const CsvSchema& CsvScan::schema() const {
  return state_->schema;
}

const CsvOptions& CsvScan::options() const {
  return state_->options;
}

const Source& CsvScan::source() const {
  return state_->source;
}

CsvResult CsvScan::read(const std::vector<bool>& wanted, int64_t max_rows, Place place) const {
  return read_in_chunks(*this, wanted, max_rows, chunk_bytes_at(place), place);
}

CsvResult CsvScan::read_where(const CsvFilter& filter, const std::vector<bool>& wanted,
                              int64_t max_rows) const {
  return read_in_chunks(*this, wanted, max_rows, csv_chunk_bytes(), host, &filter);
}

CsvResult read_in_chunks(const CsvScan& scan, const std::vector<bool>& wanted, int64_t max_rows,
                         int64_t chunk_bytes, Place place, const CsvFilter* filter) {
  const ScopedTag tag(kOp);
  const CsvScan::State& state = scan.state();
  if (!wanted.empty() && wanted.size() != state.schema.names.size())
    throw_error<InvalidArgumentError>(
        kOp, "expected one flag per column",
        {{"flags", wanted.size()}, {"columns", state.schema.names.size()}});
  const std::shared_ptr<ByteSource> text = state.source.open(kOp, state.options.compression);
  CsvReader reading(state, filter ? -1 : max_rows, chunk_bytes, *text);
  return filter ? reading.read_where(*filter, wanted, max_rows) : reading.read(wanted, place);
}

CsvResult read_csv(const Source& source, const CsvOptions& options, Place place) {
  const ScopedTag tag(kOp);
  const CsvSyntax syntax = checked_syntax(options);
  const std::shared_ptr<ByteSource> text = source.open(kOp, options.compression);
  const auto state = make_state(source, options, syntax, *text);
  return CsvReader(*state, -1, chunk_bytes_at(place), *text).read({}, place);
}

}  // namespace hr
