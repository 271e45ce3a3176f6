// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/file.h"

#include "headrace/algo/select/concat.h"
#include "headrace/algo/select/filter.h"
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/base/utf8.h"
#include "headrace/exec/scratch_pool.h"
#include "headrace/exec/workers.h"
#include "headrace/io/concat_row_groups.h"
#include "headrace/io/counted_source.h"
#include "headrace/io/parquet/bloom_filter_reader.h"
#include "headrace/io/parquet/bounds.h"
#include "headrace/io/parquet/chunk_reader.h"
#include "headrace/io/parquet/column_reading.h"
#include "headrace/io/parquet/nested_column.h"
#include "headrace/io/parquet/refusal.h"
#include "headrace/io/parquet_device/device_reader.h"
#include "headrace/io/row_groups.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/plan/graph/placement.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <deque>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>

namespace hr {

namespace {

using namespace parquet;

constexpr int64_t kFewBytes = int64_t{1} << 17;  // read at once where few rows may be wanted
constexpr int64_t kManyBytes = int64_t{1} << 20;
constexpr size_t kManyChunks = 8;  // for each worker
constexpr int64_t kSmallDictionary = int64_t{1} << 16;

std::vector<Leaf> leaves_of(const ColumnSchema& column) {
  return column.is_tree() ? column.leaves : std::vector{column.leaf};
}

}  // namespace

struct ParquetFile::State {
  // One of the files whose rows are read one after the other. It is open while it is read, unless
  // it is given open.
  struct FileColumns {
    const State& file;
    std::vector<ColumnSchema> columns;
    std::shared_ptr<ByteSource> source;
    int64_t tasks = 0;  // that have not ended
    std::mutex mutex{};

    FileColumns(const State& of, std::vector<ColumnSchema> some,
                std::shared_ptr<ByteSource> at = {})
        : file(of), columns(std::move(some)), source(std::move(at)) {}

    std::shared_ptr<ByteSource> opened() {
      const std::lock_guard lock(mutex);
      if (!source) source = file.opened();
      return source;
    }

    void end_task() {
      const std::lock_guard lock(mutex);
      if (--tasks == 0 && source) std::exchange(source, {})->check_unchanged();
    }
  };

  State(std::string op_, std::string name_, Open open_, bool stays_open, int64_t begin,
        std::optional<int64_t> end)
      : op(std::move(op_)),
        name(std::move(name_)),
        open(std::move(open_)),
        first(opened()),
        file_bytes(first->known_size()) {
    with_origin({op, name}, [&] {
      footer = read_footer(*first);
      metadata = parse_file_metadata({footer.as<char>(), static_cast<size_t>(footer.size_bytes())});
      columns = read_schema(metadata);
    });
    for (const ColumnSchema& column : columns) names.push_back(column.name);
    keep_groups(begin, end.value_or(std::ssize(metadata.row_groups)));
    if (!stays_open) first.reset();
  }

  void keep_groups(int64_t begin, int64_t end) {
    const auto count = std::ssize(metadata.row_groups);
    if (begin < 0 || begin > end || end > count)
      throw InputError(
          error_message(op, "the file has other row groups than before",
                        {{"path", name}, {"row_groups", count}, {"end", end}}, "call again"),
          name);
    metadata.row_groups.erase(metadata.row_groups.begin() + end, metadata.row_groups.end());
    metadata.row_groups.erase(metadata.row_groups.begin(), metadata.row_groups.begin() + begin);
  }

  std::shared_ptr<ByteSource> opened() const {
    auto source = std::make_shared<CountedSource>(open(), bytes_read);
    source->load(std::numeric_limits<int64_t>::max());
    return source;
  }

  Origin origin(const ColumnSchema& column, int64_t group) const {
    return {op, name, column.name, group};
  }

  const RowGroupMetadata& group(int64_t g) const {
    return metadata.row_groups[static_cast<size_t>(g)];
  }

  const ColumnChunk& chunk(const Leaf& leaf, int64_t g) const {
    const ColumnChunk& found = group(g).chunks[static_cast<size_t>(leaf.index)];
    if (found.is_encrypted) unsupported("the column is encrypted");
    if (found.is_elsewhere) unsupported("the column is in another file");
    return found;
  }

  // These columns; throws for those that cannot be read.
  std::vector<ColumnSchema> chosen(const std::vector<int64_t>& places) const {
    std::vector<ColumnSchema> found;
    for (const int64_t place : places) {
      const ColumnSchema& column = columns[static_cast<size_t>(place)];
      if (!column.refusal.empty())
        throw_error<UnsupportedError>(
            op, "a column has values that cannot be read",
            {{"column", column.name}, {"type", column.refusal}, {"path", name}},
            "cast it before the file is written, or leave the column out: columns=[...]");
      const auto has_its_name = [&](const ColumnSchema& of) { return of.name == column.name; };
      if (std::any_of(found.begin(), found.end(), has_its_name))
        throw InputError(error_message(op, "two columns have the same name",
                                       {{"column", column.name}, {"path", name}},
                                       "name each column once: columns=[...]"),
                         name);
      found.push_back(column);
    }
    return found;
  }

  // Places of columns: those with the most bytes in a row group first, so that no worker begins one
  // when the others are done.
  std::vector<size_t> longest_first(const std::vector<ColumnSchema>& wanted, int64_t g) const {
    std::vector<size_t> order(wanted.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto bytes = [&](size_t c) {
      int64_t sum = 0;
      for (const Leaf& leaf : leaves_of(wanted[c]))
        sum += group(g).chunks[static_cast<size_t>(leaf.index)].compressed_bytes;
      return sum;
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return bytes(a) > bytes(b); });
    return order;
  }

  // All rows of a column of a row group, which is not flat.
  Column read_whole(const ByteSource& source, const ColumnSchema& column, int64_t g,
                    int64_t read_bytes) const {
    const int64_t rows = group(g).num_rows;
    if (!column.is_tree() && column.leaf.lists.empty())
      return ChunkReader(source, column.leaf, chunk(column.leaf, g), rows, read_bytes).read_all();
    const std::vector<Leaf> leaves = leaves_of(column);
    std::vector<std::unique_ptr<ChunkReader>> readers(leaves.size());
    std::vector<LeafItems> items(leaves.size());
    parallel_for(std::ssize(items), [&](int64_t task) {
      const auto l = static_cast<size_t>(task);
      const Leaf& leaf = leaves[l];
      readers[l] = std::make_unique<ChunkReader>(source, leaf, chunk(leaf, g), rows, read_bytes);
      items[l].items = readers[l]->read_items();
      items[l].levels = readers[l]->levels();
    });
    return nested_column(column.tree, items);
  }

  Buffer index_of(const ByteSource& source, FileRange range) const;
  std::vector<PagePlace> places(const ByteSource& source, const ColumnSchema& column,
                                int64_t g) const;
  std::vector<int64_t> borders(const std::vector<ColumnSchema>& wanted, int64_t g) const;
  ColumnBounds part_bounds(const ColumnSchema& column, int64_t g,
                           const std::vector<int64_t>& borders) const;
  bool may_have(const ColumnSchema& column, int64_t g, const Column& values) const;
  std::optional<Column> distinct_values(const ColumnSchema& column, int64_t g) const;
  Table none(const std::vector<ColumnSchema>& wanted) const;
  static std::vector<ColumnReading> readings_of(const std::deque<FileColumns>& files, int64_t rows,
                                                size_t groups);
  // A column of a row group of one of several files.
  struct Chunk {
    FileColumns* of;
    int64_t group;
    size_t place;  // of the group among those that are read
    size_t column;

    const ColumnSchema& schema() const { return of->columns[column]; }

    const ColumnChunk& metadata() const { return of->file.chunk(schema().leaf, group); }

    int64_t rows() const { return of->file.group(group).num_rows; }

    Origin origin() const { return of->file.origin(schema(), group); }
  };

  template <class Read>
  static void read_chunks(std::span<const Chunk> some, bool picks,
                          ScratchPool<PageMemory>& memories, const Read& read);
  static Table read(std::deque<FileColumns>& files, const std::vector<bool>& wanted);
  static Table read_at(Place place, std::deque<FileColumns>& files,
                       const std::vector<bool>& wanted);
  static Table read_there(std::deque<FileColumns>& files, const std::vector<bool>& wanted) {
    return made_at_default_place([&](Place place) { return read_at(place, files, wanted); });
  }
  std::unique_ptr<ColumnCursor> cursor(const ByteSource& source, const ColumnSchema& column,
                                       int64_t g) const;
  Column no_rows(const ByteSource& source, const ColumnSchema& column, int64_t g) const;

  // Rows of a row group of one of several files.
  struct Picked {
    FileColumns* of;
    PickedGroup group;
  };
  static Table read_picked(std::deque<FileColumns>& files, std::span<const Picked> groups);

  std::string op;
  std::string name;
  Open open;
  mutable std::atomic<int64_t> bytes_read{0};
  std::shared_ptr<ByteSource> first;  // null unless it stays open
  int64_t file_bytes;
  Buffer footer{};
  FileMetadata metadata{};
  std::vector<ColumnSchema> columns{};
  std::vector<std::string> names{};
};

// The bytes of a page index.
Buffer ParquetFile::State::index_of(const ByteSource& source, FileRange range) const {
  const int64_t size = source.known_size();
  if (range.offset > size || range.bytes > size - range.offset)
    damaged("a page index lies behind the file");
  Buffer bytes = Buffer::allocate(range.bytes);
  source.read(range.offset, bytes.mutable_as<char>(), range.bytes);
  return bytes;
}

// Of the pages of a flat column; none when the file does not say it.
std::vector<PagePlace> ParquetFile::State::places(const ByteSource& source,
                                                  const ColumnSchema& column, int64_t g) const {
  if (!is_flat(column)) return {};
  const ColumnChunk& found = chunk(column.leaf, g);
  if (found.offset_index.bytes == 0) return {};
  const Buffer bytes = index_of(source, found.offset_index);
  return parse_offset_index({bytes.as<char>(), static_cast<size_t>(bytes.size_bytes())}, found,
                            group(g).num_rows);
}

// Rows at which pages with bounds begin, and the end; none where there are no such pages.
std::vector<int64_t> ParquetFile::State::borders(const std::vector<ColumnSchema>& wanted,
                                                 int64_t g) const {
  std::shared_ptr<ByteSource> source;
  std::vector<int64_t> rows;
  for (const ColumnSchema& column : wanted)
    with_origin(origin(column, g), [&] {
      if (!is_flat(column) || chunk(column.leaf, g).column_index.bytes == 0) return;
      if (!source) source = opened();
      for (const PagePlace& page : places(*source, column, g)) rows.push_back(page.first_row);
    });
  if (rows.empty()) return rows;
  rows.push_back(group(g).num_rows);
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

// Of a column between neighbours of these rows: what its page says, or the whole group.
ColumnBounds ParquetFile::State::part_bounds(const ColumnSchema& column, int64_t g,
                                             const std::vector<int64_t>& borders) const {
  if (!is_flat(column)) return column_bounds(column, std::vector<Statistics>(borders.size() - 1));
  const std::shared_ptr<ByteSource> source = opened();
  const ColumnChunk& found = chunk(column.leaf, g);
  const int64_t rows = group(g).num_rows;
  std::vector<PagePlace> pages = places(*source, column, g);
  std::vector<Statistics> known{found.statistics};
  Buffer bytes;
  if (pages.empty() || found.column_index.bytes == 0) {
    pages = {{}};
  } else {
    bytes = index_of(*source, found.column_index);
    known = parse_column_index({bytes.as<char>(), static_cast<size_t>(bytes.size_bytes())},
                               pages.size());
  }
  std::vector<Statistics> parts;
  for (size_t part = 0, page = 0; part + 1 < borders.size(); ++part) {
    while (page + 1 < pages.size() && pages[page + 1].first_row <= borders[part]) ++page;
    const int64_t end = page + 1 < pages.size() ? pages[page + 1].first_row : rows;
    parts.push_back(known[page]);
    std::optional<int64_t>& nulls = parts.back().null_count;
    // Of a page of which some values are null, a part may have any number of them.
    if (nulls == end - pages[page].first_row)
      nulls = borders[part + 1] - borders[part];
    else if (nulls > 0)
      nulls = std::nullopt;
  }
  return column_bounds(column, parts);
}

// By the Bloom filter of its chunk.
bool ParquetFile::State::may_have(const ColumnSchema& column, int64_t g,
                                  const Column& values) const {
  if (column.is_tree() || !column.leaf.lists.empty()) return true;
  const ColumnChunk& found = chunk(column.leaf, g);
  return found.filter.offset == 0 || filter_may_have(*opened(), found, column.leaf, values);
}

// Those of a dictionary that all pages refer to, where reading it costs little of reading all.
std::optional<Column> ParquetFile::State::distinct_values(const ColumnSchema& column,
                                                          int64_t g) const {
  if (column.is_tree() || !column.leaf.lists.empty()) return {};
  const ColumnChunk& found = chunk(column.leaf, g);
  const int64_t bytes = found.data_page_offset - found.begin();
  if (!found.is_all_coded || bytes == 0 ||
      bytes > std::max(kSmallDictionary, found.compressed_bytes / 4))
    return {};
  const std::shared_ptr<ByteSource> source = opened();
  return ChunkReader(*source, column.leaf, found, group(g).num_rows, bytes).read_dictionary();
}

Table ParquetFile::State::none(const std::vector<ColumnSchema>& wanted) const {
  std::vector<std::string> labels;
  std::vector<Column> values;
  for (const ColumnSchema& column : wanted) {
    labels.push_back(column.name);
    values.emplace_back(column.dtype, 0, Buffer());
  }
  return Table(std::move(labels), std::move(values));
}

// The columns of all files, of which some row groups are read.
std::vector<ColumnReading> ParquetFile::State::readings_of(const std::deque<FileColumns>& files,
                                                           int64_t rows, size_t groups) {
  const std::vector<ColumnSchema>& first = files[0].columns;
  std::vector<ColumnReading> readings;
  readings.reserve(first.size());
  for (size_t c = 0; c < first.size(); ++c)
    readings.emplace_back(first[c], rows, groups,
                          std::all_of(files.begin(), files.end(), [&](const FileColumns& each) {
                            return shares_rows(first[c], each.columns[c]);
                          }));
  return readings;
}

namespace {

// How many chunks of a column a worker takes at once: two, whose first pages are unpacked together,
// where there are enough for all workers and memory for another page is not limited.
size_t chunks_together(size_t chunks) {
  if (memory_limit() != std::numeric_limits<int64_t>::max()) return 1;
  return chunks >= kManyChunks * static_cast<size_t>(threads()) ? 2 : 1;
}

}  // namespace

// Of one or two chunks of a flat column, by one worker: all rows, or those that it picks.
template <class Read>
void ParquetFile::State::read_chunks(std::span<const Chunk> some, bool picks,
                                     ScratchPool<PageMemory>& memories, const Read& read) {
  memories.lend([&](PageMemory& first) {
    memories.lend([&](PageMemory& second) {
      const std::array<PageMemory*, 2> memory{&first, &second};
      std::array<std::shared_ptr<ByteSource>, 2> sources;
      std::array<std::optional<ChunkReader>, 2> readers;
      for (size_t k = 0; k < some.size(); ++k) {
        const Chunk& chunk = some[k];
        if (chunk.rows() == 0) continue;
        sources[k] = chunk.of->opened();
        with_origin(chunk.origin(), [&] {
          readers[k].emplace(*sources[k], chunk.schema().leaf, chunk.metadata(), chunk.rows(),
                             picks ? kFewBytes : kManyBytes, ColumnReading::first_text(chunk.place),
                             std::move(*memory[k]));
          if (picks)
            readers[k]->set_places(chunk.of->file.places(*sources[k], chunk.schema(), chunk.group));
        });
      }
      if (readers[0] && readers[1]) ChunkReader::unpack_together(*readers[0], *readers[1]);
      for (size_t k = 0; k < some.size(); ++k) {
        if (readers[k])
          with_origin(some[k].origin(), [&] {
            read(*readers[k], some[k]);
            *memory[k] = std::move(*readers[k]).take_memory();
          });
        some[k].of->end_task();
      }
    });
  });
}

// The row groups with true in `wanted`, of those of all files; none of these: all.
Table ParquetFile::State::read(std::deque<FileColumns>& files, const std::vector<bool>& wanted) {
  struct Group {
    FileColumns* of;
    int64_t group;
    int64_t first_row;
  };
  const std::vector<ColumnSchema>& first = files[0].columns;
  std::vector<Group> groups;
  int64_t rows = 0;
  auto is_wanted = wanted.begin();
  for (FileColumns& each : files) {
    const auto count = std::ssize(each.file.metadata.row_groups);
    for (int64_t g = 0; g < count; ++g) {
      if (!wanted.empty() && !*is_wanted++) continue;
      groups.push_back({&each, g, rows});
      rows += each.file.group(g).num_rows;
      each.tasks += std::ssize(first);
    }
  }
  std::vector<ColumnReading> readings = readings_of(files, rows, groups.size());
  std::vector<std::vector<Chunk>> work;
  const size_t together = chunks_together(groups.size() * first.size());
  for (size_t begin = 0; begin < groups.size(); begin += together)
    for (size_t c = 0; c < first.size(); ++c) {
      std::vector<Chunk>& some = work.emplace_back();
      for (size_t place = begin; place < std::min(begin + together, groups.size()); ++place)
        some.push_back({groups[place].of, groups[place].group, place, c});
    }
  ScratchPool<PageMemory> memories;
  parallel_for(std::ssize(work), [&](int64_t task) {
    const std::vector<Chunk>& some = work[static_cast<size_t>(task)];
    ColumnReading& reading = readings[some[0].column];
    if (reading.is_flat())
      return read_chunks(some, false, memories, [&](ChunkReader& reader, const Chunk& chunk) {
        reading.read(reader, chunk.place, groups[chunk.place].first_row, chunk.rows());
      });
    for (const Chunk& chunk : some) {
      const std::shared_ptr<ByteSource> source = chunk.of->opened();
      with_origin(chunk.origin(), [&] {
        reading.put(chunk.place,
                    chunk.of->file.read_whole(*source, chunk.schema(), chunk.group, kManyBytes));
      });
      chunk.of->end_task();
    }
  });
  return finished(files[0].file.op, readings, rows);
}

// The same at a place. A CUDA device decodes the columns that it has kernels for.
Table ParquetFile::State::read_at(Place place, std::deque<FileColumns>& files,
                                  const std::vector<bool>& wanted) {
  if (!place.is_gpu()) return std::get<Table>(to_place(Value(read(files, wanted)), place));
  std::vector<ChunkSource> chunks;
  std::vector<std::shared_ptr<ByteSource>> sources;
  int64_t rows = 0;
  size_t groups = 0;
  auto is_wanted = wanted.begin();
  for (FileColumns& each : files) {
    sources.push_back(each.opened());
    for (int64_t g = 0; g < std::ssize(each.file.metadata.row_groups); ++g) {
      if (!wanted.empty() && !*is_wanted++) continue;
      const int64_t count = each.file.group(g).num_rows;
      for (size_t c = 0; c < each.columns.size(); ++c) {
        const ColumnSchema& column = each.columns[c];
        if (column.dtype.is_nested() || count == 0) continue;
        with_origin(each.file.origin(column, g), [&] {
          const ColumnChunk& found = each.file.chunk(column.leaf, g);
          chunks.push_back({sources.back(), &column.leaf, &found, c, groups, rows, count});
        });
      }
      rows += count;
      ++groups;
    }
  }
  const auto read_here = [&](const std::vector<size_t>& places) {
    std::deque<FileColumns> some;
    for (size_t f = 0; f < files.size(); ++f) {
      std::vector<ColumnSchema> columns;
      for (const size_t c : places) columns.push_back(files[f].columns[c]);
      some.emplace_back(files[f].file, std::move(columns), sources[f]);
    }
    return read(some, wanted).columns();
  };
  std::vector<std::string> labels;
  for (const ColumnSchema& column : files[0].columns) labels.push_back(column.name);
  std::vector<Column> values =
      read_columns_at(place, files[0].file.op, files[0].columns, chunks, groups, rows, read_here);
  for (const auto& source : sources) source->check_unchanged();
  return Table(std::move(labels), std::move(values));
}

std::unique_ptr<ColumnCursor> ParquetFile::State::cursor(const ByteSource& source,
                                                         const ColumnSchema& column,
                                                         int64_t g) const {
  if (!is_flat(column))
    return std::make_unique<ColumnCursor>(column, read_whole(source, column, g, kFewBytes));
  auto reader = std::make_unique<ChunkReader>(source, column.leaf, chunk(column.leaf, g),
                                              group(g).num_rows, kFewBytes);
  reader->set_places(places(source, column, g));
  return std::make_unique<ColumnCursor>(column, std::move(reader));
}

// Categories with the dictionary of a row group. Pages are read where they may have other values.
Column ParquetFile::State::no_rows(const ByteSource& source, const ColumnSchema& column,
                                   int64_t g) const {
  const ColumnChunk& found = chunk(column.leaf, g);
  const int64_t bytes = found.data_page_offset - found.begin();
  if (!found.is_all_coded || bytes == 0)
    return read_whole(source, column, g, kFewBytes).slice(0, 0);
  return ChunkReader(source, column.leaf, found, group(g).num_rows, bytes)
      .read_dictionary()
      .slice(0, 0);
}

// Of flat columns straight to their place, as the number of rows is known.
Table ParquetFile::State::read_picked(std::deque<FileColumns>& files,
                                      std::span<const Picked> groups) {
  const std::vector<ColumnSchema>& first = files[0].columns;
  std::vector<WantedRows> picked;
  std::vector<int64_t> begins{0};  // row of each group, then the end
  for (const Picked& each : groups) {
    picked.emplace_back(each.group.test);
    begins.push_back(begins.back() + picked.back().count);
  }
  std::vector<std::vector<Chunk>> work;
  const size_t together = chunks_together(groups.size() * first.size());
  for (size_t begin = 0; begin < groups.size(); begin += together) {
    const FileColumns& of = *groups[begin].of;
    for (const size_t c : of.file.longest_first(of.columns, groups[begin].group.group)) {
      std::vector<Chunk> some;
      for (size_t place = begin; place < std::min(begin + together, groups.size()); ++place) {
        if (picked[place].count == 0 && !first[c].dtype.is_category()) continue;
        some.push_back({groups[place].of, groups[place].group.group, place, c});
        ++groups[place].of->tasks;
      }
      if (!some.empty()) work.push_back(std::move(some));
    }
  }
  std::vector<ColumnReading> readings = readings_of(files, begins.back(), groups.size());
  ScratchPool<PageMemory> memories;
  parallel_for(std::ssize(work), [&](int64_t task) {
    const std::vector<Chunk>& some = work[static_cast<size_t>(task)];
    ColumnReading& reading = readings[some[0].column];
    if (reading.is_flat())
      return read_chunks(some, true, memories, [&](ChunkReader& reader, const Chunk& chunk) {
        reading.pick(reader, chunk.place, begins[chunk.place], picked[chunk.place]);
      });
    for (const Chunk& chunk : some) {
      const std::shared_ptr<ByteSource> source = chunk.of->opened();
      const State& file = chunk.of->file;
      const Column& test = groups[chunk.place].group.test;
      with_origin(chunk.origin(), [&] {
        if (picked[chunk.place].count == 0)
          return reading.put(chunk.place, file.no_rows(*source, chunk.schema(), chunk.group));
        const Column all = file.read_whole(*source, chunk.schema(), chunk.group, kFewBytes);
        reading.put(chunk.place, filter(all.slice(0, test.num_rows()), Mask(test)));
      });
      chunk.of->end_task();
    }
  });
  return finished(files[0].file.op, readings, begins.back());
}

ParquetFile::ParquetFile(std::string op, std::string name, Open open, bool stays_open,
                         int64_t begin, std::optional<int64_t> end)
    : state_(std::make_shared<State>(std::move(op), std::move(name), std::move(open), stays_open,
                                     begin, end)) {}

const std::vector<std::string>& ParquetFile::names() const {
  return state_->names;
}

std::vector<std::pair<int64_t, int64_t>> ParquetFile::row_group_sizes() const {
  std::vector<std::pair<int64_t, int64_t>> sizes;
  for (const RowGroupMetadata& group : state_->metadata.row_groups) {
    double bytes = 0;  // the file may claim any
    for (const ColumnChunk& chunk : group.chunks)
      bytes += static_cast<double>(chunk.compressed_bytes);
    sizes.emplace_back(group.num_rows,
                       static_cast<int64_t>(std::min(bytes, double(state_->file_bytes))));
  }
  return sizes;
}

Table ParquetFile::read(const std::vector<int64_t>& columns) const {
  std::deque<State::FileColumns> files;
  files.emplace_back(*state_, state_->chosen(columns), state_->first);
  return State::read_there(files, {});
}

// Some columns of a file. Readings share what they need: plans may outlive the file's object.
struct ParquetFile::Scan {
  std::shared_ptr<const State> file;
  std::vector<ColumnSchema> columns;

  std::vector<ColumnSchema> some(const std::vector<bool>& wanted) const {
    std::vector<ColumnSchema> found;
    for (size_t c = 0; c < wanted.size(); ++c)
      if (wanted[c]) found.push_back(columns[c]);
    return found;
  }

  // Of several files, one after the other.
  static Table read(const std::vector<std::shared_ptr<const Scan>>& scans,
                    const std::vector<bool>& wanted, const std::vector<bool>& groups) {
    std::deque<State::FileColumns> files;
    for (const auto& scan : scans) files.emplace_back(*scan->file, scan->some(wanted));
    return State::read_there(files, groups);
  }

  static Table read_picked(const std::vector<std::shared_ptr<const Scan>>& scans,
                           std::span<const PickedSource> sources, const std::vector<bool>& wanted) {
    std::deque<State::FileColumns> files;
    std::vector<State::Picked> picked;
    for (const PickedSource& source : sources) {
      const Scan& scan = *scans[source.source];
      State::FileColumns& of = files.emplace_back(*scan.file, scan.some(wanted));
      for (const PickedGroup& group : source.groups) picked.push_back({&of, group});
    }
    return State::read_picked(files, picked);
  }

  static std::vector<std::shared_ptr<const Scan>> of(
      std::span<const ParquetFile> files, const std::vector<std::vector<int64_t>>& columns) {
    std::vector<std::shared_ptr<const Scan>> scans;
    for (size_t f = 0; f < files.size(); ++f) {
      const State& file = *files[f].state_;
      scans.push_back(std::make_shared<const Scan>(Scan{files[f].state_, file.chosen(columns[f])}));
      for (size_t c = 0; c < columns[f].size(); ++c) {
        const ColumnSchema &own = scans[f]->columns[c], &first = scans[0]->columns[c];
        if (own.dtype == first.dtype) continue;
        throw InputError(
            error_message(file.op, "a column has another dtype than in the first file",
                          {{"column", own.name},
                           {"dtype", own.dtype.name()},
                           {"first_dtype", first.dtype.name()},
                           {"path", file.name},
                           {"first", scans[0]->file->name}},
                          "read the files apart and cast, or leave the column out: columns=[...]"),
            file.name);
      }
    }
    return scans;
  }

  struct GroupReading;

  static RowGroups row_groups(const std::shared_ptr<const Scan>& scan);
};

// Ranges of rows of a group, of some columns, batch by batch.
struct ParquetFile::Scan::GroupReading {
  std::shared_ptr<const Scan> scan;
  std::shared_ptr<ByteSource> source;
  std::vector<ColumnSchema> columns;
  std::vector<std::unique_ptr<ColumnCursor>> cursors{};
  int64_t group;
  std::vector<RowRange> ranges;
  size_t range = 0;
  int64_t at = 0;

  std::optional<Table> next(int64_t most) {
    if (range == ranges.size()) return std::nullopt;
    const int64_t passed = std::max<int64_t>(ranges[range].begin - at, 0);
    at += passed;
    const int64_t count = std::min(ranges[range].end - at, most);
    std::vector<std::string> labels;
    std::vector<Column> values(columns.size());
    for (const ColumnSchema& column : columns) labels.push_back(column.name);
    parallel_for(std::ssize(columns), [&](int64_t c) {
      const auto place = static_cast<size_t>(c);
      const State& file = *scan->file;
      with_origin(file.origin(columns[place], group), [&] {
        if (!cursors[place]) cursors[place] = file.cursor(*source, columns[place], group);
        if (passed > 0) cursors[place]->skip(passed);
        values[place] = cursors[place]->next(count);
      });
    });
    source->check_unchanged();
    at += count;
    if (at == ranges[range].end) ++range;
    return Table(std::move(labels), std::move(values));
  }
};

RowGroups ParquetFile::Scan::row_groups(const std::shared_ptr<const Scan>& scan) {
  const auto read = [scan](int64_t group, const std::vector<bool>& wanted, int64_t batch_rows,
                           const std::vector<RowRange>& ranges) {
    auto reading = std::make_shared<GroupReading>(GroupReading{.scan = scan,
                                                               .source = scan->file->opened(),
                                                               .columns = scan->some(wanted),
                                                               .group = group,
                                                               .ranges = ranges});
    reading->cursors.resize(reading->columns.size());
    return [reading, batch_rows] { return reading->next(batch_rows); };
  };
  const State& state = *scan->file;
  std::vector<int64_t> rows;
  for (const RowGroupMetadata& group : state.metadata.row_groups) rows.push_back(group.num_rows);
  return {
      .op = state.op,
      .name = state.name.substr(state.name.rfind('/') + 1),
      .none = state.none(scan->columns),
      .rows = std::move(rows),
      .bytes = state.file_bytes,
      .bytes_read = [scan] { return scan->file->bytes_read.load(); },
      .bounds =
          [scan](int64_t column) {
            return column_bounds(scan->file->metadata, scan->columns[static_cast<size_t>(column)]);
          },
      .read = [scan](
                  const std::vector<bool>& wanted,
                  const std::vector<bool>& groups) { return Scan::read({scan}, wanted, groups); },
      .read_group =
          [scan, read](int64_t group, const std::vector<bool>& wanted, int64_t batch_rows) {
            return read(group, wanted, batch_rows, {{0, scan->file->group(group).num_rows}});
          },
      .read_picked =
          [scan](std::span<const PickedGroup> groups, const std::vector<bool>& wanted) {
            std::deque<State::FileColumns> files;
            files.emplace_back(*scan->file, scan->some(wanted), scan->file->opened());
            std::vector<State::Picked> picked;
            for (const PickedGroup& group : groups) picked.push_back({&files[0], group});
            return State::read_picked(files, picked);
          },
      .may_have =
          [scan](int64_t group, int64_t column, const Column& values) {
            const ColumnSchema& of = scan->columns[static_cast<size_t>(column)];
            return with_origin(scan->file->origin(of, group),
                               [&] { return scan->file->may_have(of, group, values); });
          },
      .distinct_values =
          [scan](int64_t group, int64_t column) {
            const ColumnSchema& of = scan->columns[static_cast<size_t>(column)];
            return with_origin(scan->file->origin(of, group),
                               [&] { return scan->file->distinct_values(of, group); });
          },
      .test_rows =
          [scan](int64_t group, int64_t column, const Column& test) {
            const State& file = *scan->file;
            const ColumnSchema& of = scan->columns[static_cast<size_t>(column)];
            const std::shared_ptr<ByteSource> source = file.opened();
            return with_origin(file.origin(of, group), [&] {
              return ChunkReader(*source, of.leaf, file.chunk(of.leaf, group),
                                 file.group(group).num_rows, kManyBytes)
                  .test_rows(test);
            });
          },
      .borders =
          [scan](int64_t group, const std::vector<bool>& wanted) {
            return scan->file->borders(scan->some(wanted), group);
          },
      .part_bounds =
          [scan](int64_t group, int64_t column, const std::vector<int64_t>& borders) {
            const ColumnSchema& of = scan->columns[static_cast<size_t>(column)];
            return with_origin(scan->file->origin(of, group),
                               [&] { return scan->file->part_bounds(of, group, borders); });
          },
      .read_ranges = read};
}

NodePtr ParquetFile::scan(const std::vector<int64_t>& columns) const {
  return scan_row_groups(
      Scan::row_groups(std::make_shared<const Scan>(Scan{state_, state_->chosen(columns)})));
}

RowGroups ParquetFile::row_groups(std::span<const ParquetFile> files,
                                  const std::vector<std::vector<int64_t>>& columns, Table values,
                                  std::string name) {
  const auto scans = Scan::of(files, columns);
  std::vector<RowGroups> groups;
  for (const auto& scan : scans) groups.push_back(Scan::row_groups(scan));
  return concat_row_groups(
      std::move(name), std::move(groups), std::move(values),
      [scans](const std::vector<bool>& wanted, const std::vector<bool>& some) {
        return Scan::read(scans, wanted, some);
      },
      [scans](std::span<const PickedSource> picked, const std::vector<bool>& wanted) {
        return Scan::read_picked(scans, picked, wanted);
      });
}

Table ParquetFile::read_files(std::span<const ParquetFile> files,
                              const std::vector<std::vector<int64_t>>& columns,
                              const Table& values) {
  return row_groups(files, columns, values, "")
      .read(std::vector<bool>(columns[0].size() + values.names().size(), true), {});
}

NodePtr ParquetFile::scan_files(std::span<const ParquetFile> files,
                                const std::vector<std::vector<int64_t>>& columns, Table values,
                                std::string name) {
  return scan_row_groups(row_groups(files, columns, std::move(values), std::move(name)));
}

}  // namespace hr
