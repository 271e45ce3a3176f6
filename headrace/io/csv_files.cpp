// SPDX-License-Identifier: Apache-2.0
// Several CSV files read as one: the pieces of all of them parsed into the same columns.
#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/io/csv_device_reader.h"
#include "headrace/io/csv_reader.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/plan/graph/placement.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>

namespace hr {

namespace {

constexpr std::string_view kOp = "read_csv";

// One file: its text is open while pieces of it are parsed, or as long as it cannot be opened
// again.
struct FileRows {
  explicit FileRows(const CsvScan& of) : scan(of) {}

  std::shared_ptr<ByteSource> opened() {
    const std::lock_guard lock(mutex);
    if (!text) text = scan.source().open(kOp, scan.options().compression);
    return text;
  }

  void close() {
    const std::lock_guard lock(mutex);
    text->check_unchanged();
    if (text->can_open_again()) text.reset();
  }

  void end_piece() {
    bool is_last;
    {
      const std::lock_guard lock(mutex);
      is_last = --left == 0;
    }
    if (is_last) close();
  }

  const CsvScan& scan;
  std::shared_ptr<ByteSource> text{};
  CsvRanges ranges{};
  std::vector<CsvTarget> targets{};
  size_t first_piece = 0;
  int64_t left = 0;  // pieces
  std::mutex mutex{};
};

// What becomes of the fields of a file; its columns may stand in another order.
std::vector<CsvTarget> targets_of(const CsvScan::State& state, const CsvSchema& schema) {
  std::vector<CsvTarget> targets(state.layout.names.size());
  for (size_t f = 0; f < targets.size(); ++f) targets[f].name = state.layout.names[f];
  for (const int64_t field : state.fields) {
    CsvTarget& target = targets[static_cast<size_t>(field)];
    target.column = find_column(kOp, schema.names, target.name);
    target.dtype = schema.dtypes[static_cast<size_t>(target.column)];
    if (target.dtype.has_zone()) target.zone = timezone_rules(kOp, target.dtype);
  }
  return targets;
}

// Opens all files, and finds the rows of each.
void find_rows(std::deque<FileRows>& files, int64_t chunk_bytes, BufferPool& stock) {
  const auto find = [&](FileRows& file) {
    const CsvScan::State& state = file.scan.state();
    file.ranges =
        find_ranges(kOp, *file.opened(), state.source.name(), state.syntax, state.layout.data_begin,
                    state.layout.first_line, -1, chunk_bytes, stock);
    file.left = std::ssize(file.ranges.ranges);
    file.close();
  };
  parallel_for(std::ssize(files), [&](int64_t f) {
    FileRows& file = files[static_cast<size_t>(f)];
    if (file.opened()->can_open_again()) find(file);
  });
  // What is no plain file is loaded by this thread, and stays.
  std::vector<FileRows*> loaded;
  for (FileRows& file : files) {
    if (!file.text) continue;
    file.text->load(std::numeric_limits<int64_t>::max());
    loaded.push_back(&file);
  }
  parallel_for(std::ssize(loaded), [&](int64_t f) { find(*loaded[static_cast<size_t>(f)]); });
}

// The number of rows of each file; throws for the first bad row of all.
std::vector<int64_t> checked_rows(std::deque<FileRows>& files, std::vector<CsvPartial>& pieces,
                                  int64_t chunk_bytes) {
  std::vector<int64_t> rows;
  for (FileRows& file : files) {
    const auto begin = pieces.begin() + static_cast<std::ptrdiff_t>(file.first_piece);
    const auto end = begin + std::ssize(file.ranges.ranges);
    int64_t& count = rows.emplace_back(0);
    for (auto piece = begin; piece != end; ++piece) count += piece->rows;
    const auto is_good = [](const CsvPartial& piece) { return piece.bad_rows.empty(); };
    if (file.ranges.rest < 0 && std::all_of(begin, end, is_good)) continue;
    const std::vector<CsvPartial> own(std::make_move_iterator(begin), std::make_move_iterator(end));
    CsvReader(file.scan.state(), -1, chunk_bytes, *file.opened()).check(file.ranges, own);
  }
  return rows;
}

CsvFilesResult read_here(std::deque<FileRows>& files, const CsvSchema& schema) {
  BufferPool stock;
  const int64_t chunk_bytes = csv_chunk_bytes();
  find_rows(files, chunk_bytes, stock);

  struct Piece {
    FileRows* file;
    const CsvRange* range;
  };
  std::vector<Piece> places;
  std::vector<int64_t> first_slots;
  int64_t slots = 0, text_bytes = 0;
  for (FileRows& file : files) {
    file.first_piece = places.size();
    for (const CsvRange& range : file.ranges.ranges) {
      places.push_back({&file, &range});
      first_slots.push_back(slots);
      slots += range.max_rows;
      text_bytes += range.end - range.begin;
    }
  }
  CsvColumns columns(schema, slots);
  for (FileRows& file : files)
    for (CsvTarget& target : file.targets)
      if (target.column >= 0) target.values = columns.values(target.column);
  const std::vector<BufferAccess> accesses = columns.accesses();
  const bool shares_text = memory_limit() != std::numeric_limits<int64_t>::max();
  std::vector<CsvPartial> pieces(places.size());
  parallel_for(std::ssize(places), [&](int64_t k) {
    const auto at = static_cast<size_t>(k);
    FileRows& file = *places[at].file;
    const CsvRange& range = *places[at].range;
    const int64_t size = range.end - range.begin;
    Buffer buffer = stock.take(std::max(size, chunk_bytes + chunk_bytes / 16) + 2 * kCsvPadding);
    char* const text = buffer.mutable_as<char>() + kCsvPadding;
    file.opened()->read(range.begin, text, size);
    std::fill_n(text + size, kCsvPadding, '\0');
    text[size] = '\n';
    const CsvParseJob job{.syntax = file.scan.state().syntax,
                          .targets = file.targets,
                          .num_columns = std::ssize(schema.names),
                          .max_rows = std::numeric_limits<int64_t>::max(),
                          .stop_at_bad_row = true,
                          .shares_text = shares_text};
    {
      const Pin pin(ranges_of(accesses, first_slots[at], first_slots[at] + range.max_rows));
      pieces[at] =
          cpu::parse_range(job, text, size, range, first_slots[at], static_cast<uint32_t>(at));
    }
    if (shares_text) columns.keep_text(pieces[at], first_slots[at], text_bytes);
    stock.give(std::move(buffer));
    file.end_piece();
  });
  CsvFilesResult result{.rows = checked_rows(files, pieces, chunk_bytes)};
  result.table = columns.finish(pieces, first_slots, std::numeric_limits<int64_t>::max());
  return result;
}

// By kernels of a CUDA device; UnsupportedError where they cannot.
CsvFilesResult read_there(std::deque<FileRows>& files, const CsvSchema& schema, Place place) {
  const FileRows& first = files.front();
  std::vector<CsvDeviceText> texts;
  for (FileRows& file : files) {
    const CsvScan::State& state = file.scan.state();
    const auto is_same = [](const CsvTarget& a, const CsvTarget& b) {
      return a.column == b.column;
    };
    if (!std::equal(file.targets.begin(), file.targets.end(), first.targets.begin(),
                    first.targets.end(), is_same) ||
        state.syntax != first.scan.state().syntax)
      throw_error<UnsupportedError>(kOp, "the files have other fields or other syntax");
    const auto open = [&file] {
      std::shared_ptr<ByteSource> text = file.opened();
      file.close();
      return text;
    };
    texts.push_back({.open = open,
                     .begin = state.layout.data_begin,
                     .first_line = state.layout.first_line,
                     .estimated_rows = state.layout.estimated_rows});
  }
  CsvDeviceRows found = parse_on_device({.syntax = first.scan.state().syntax,
                                         .targets = first.targets,
                                         .schema = schema,
                                         .texts = texts,
                                         .place = place});
  if (found.piece.bad_rows.empty())
    return {.table = std::move(found.table), .rows = std::move(found.rows_of_texts)};
  CsvFilesResult result = read_here(files, schema);  // throws for the first one, of its file
  result.table = std::get<Table>(to_place(result.table, place));
  return result;
}

}  // namespace

std::vector<CsvScan> CsvScan::open_paths(const std::vector<std::string>& paths,
                                         const CsvOptions& options) {
  const ScopedTag tag(kOp);
  std::vector<std::optional<CsvScan>> opened(paths.size());
  parallel_for(std::ssize(paths), [&](int64_t task) {
    const auto at = static_cast<size_t>(task);
    opened[at].emplace(Source::path(paths[at]), options);
  });
  std::vector<CsvScan> scans;
  for (std::optional<CsvScan>& scan : opened) scans.push_back(*std::move(scan));
  return scans;
}

CsvFilesResult read_csv_files(std::span<const CsvScan> scans, std::span<const Dtype> dtypes,
                              Place place) {
  const ScopedTag tag(kOp);
  CsvSchema schema{.names = scans[0].schema().names,
                   .dtypes = std::vector<Dtype>(dtypes.begin(), dtypes.end())};
  std::deque<FileRows> files;
  for (const CsvScan& scan : scans) {
    if (scan.options().on_bad != BadRows::kError || scan.options().num_rows >= 0)
      throw_error<InvalidArgumentError>(kOp, "these options are for one file at a time",
                                        {{"path", scan.source().name()}},
                                        "read the files one by one");
    files.emplace_back(scan).targets = targets_of(scan.state(), schema);
  }
  CsvFilesResult result;
  if (!place.is_gpu()) {
    result = read_here(files, schema);
    result.table = std::get<Table>(to_place(result.table, place));
    return result;
  }
  try {
    return read_there(files, schema, place);
  } catch (const UnsupportedError& error) {
    result.table = std::get<Table>(run_on_host(kOp, error.what(), place, {}, [&](const auto&) {
      result = read_here(files, schema);
      return std::vector<Value>{result.table};
    })[0]);
  }
  return result;
}

}  // namespace hr
