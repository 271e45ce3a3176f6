// SPDX-License-Identifier: Apache-2.0
// Tables are read back as they were: every dtype, nulls, row groups, lists, structs and maps; the
// same bytes for any number of threads.
#include "headrace/io/parquet/write.h"

#include "headrace/base/error.h"
#include "headrace/data/column_testing.h"
#include "headrace/data/dictionary.h"
#include "headrace/exec/simd_and_threads_testing.h"
#include "headrace/io/parquet/parquet_testing.h"
#include "headrace/plan/graph/node.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace hr {
namespace {

using parquet::testing::read_file;
using testing::column_of;

std::string written(const Table& table, const ParquetWriteOptions& options = {}) {
  std::string bytes;
  write_parquet(table, [&](std::string_view piece) { bytes += piece; }, options);
  return bytes;
}

std::string cell(const Column& column, int64_t row) {
  if (column.is_null(row)) return "null";
  if (column.dtype().is_struct()) {
    const int64_t place = column.values<int64_t>()[static_cast<size_t>(row)];
    std::string text = "{";
    for (const Column& field : *column.fields()) text += cell(field, place) + ";";
    return text + "}";
  }
  if (column.dtype().has_items()) {
    const Column items = column.list(row);
    std::string text = "[";
    for (int64_t i = 0; i < items.num_rows(); ++i) text += cell(items, i) + ",";
    return text + "]";
  }
  if (column.dtype().has_text()) return std::string(column.string(row));
  if (column.dtype().is_bool()) return column.bit(row) ? "1" : "0";
  const auto size = static_cast<size_t>(column.dtype().size_bytes());
  return {reinterpret_cast<const char*>(column.values_buffer().data()) +
              static_cast<size_t>(column.offset() + row) * size,
          size};
}

void expect_equal(const Table& a, const Table& b) {
  ASSERT_EQ(a.names(), b.names());
  ASSERT_EQ(a.num_rows(), b.num_rows());
  for (int64_t c = 0; c < a.num_columns(); ++c) {
    ASSERT_EQ(a.column(c).dtype().name(), b.column(c).dtype().name()) << a.names()[c];
    for (int64_t row = 0; row < a.num_rows(); ++row)
      ASSERT_EQ(cell(a.column(c), row), cell(b.column(c), row)) << a.names()[c] << " " << row;
  }
}

template <class T>
Column numbers(int64_t rows, uint64_t range, bool with_nulls) {
  std::mt19937_64 random(static_cast<uint64_t>(rows) + range);
  std::vector<T> values(static_cast<size_t>(rows));
  std::vector<bool> valid(values.size(), true);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<T>(range > 0 ? random() % range : random());
    if (with_nulls && random() % 3 == 0) {
      valid[i] = false;
      values[i] = T{};
    }
  }
  return column_of(values, with_nulls ? valid : std::vector<bool>{});
}

Column texts(int64_t rows, uint64_t range, bool with_nulls) {
  std::mt19937_64 random(static_cast<uint64_t>(rows) + range);
  DictionaryBuilder builder;
  std::vector<int32_t> codes;
  std::vector<bool> valid;
  for (int64_t i = 0; i < rows; ++i) {
    const uint64_t value = random() % range;
    codes.push_back(builder.add(std::string(value % 30, 'x') + std::to_string(value)));
    valid.push_back(!with_nulls || random() % 3 != 0);
  }
  const Column coded = column_of(codes, with_nulls ? valid : std::vector<bool>{});
  return Column::categories(rows, coded.values_buffer(), builder.finish(), coded.validity_buffer(),
                            -1);
}

Column strings_of(const Column& categories) {
  std::vector<StringView> views;
  const Column& values = categories.dictionary()->values();
  for (int64_t i = 0; i < categories.num_rows(); ++i)
    views.push_back(categories.is_null(i)
                        ? StringView{}
                        : values.values<StringView>()[static_cast<size_t>(
                              categories.values<int32_t>()[static_cast<size_t>(i)])]);
  Buffer buffer = Buffer::allocate(16 * std::ssize(views));
  if (!views.empty()) std::memcpy(buffer.mutable_data(), views.data(), 16 * views.size());
  return Column::strings(categories.num_rows(), buffer, values.text_buffers(),
                         categories.validity_buffer(), -1);
}

// Lists of `items`, or maps of such entries.
Column lists_of(const Column& items, int64_t rows, bool are_maps = false) {
  std::vector<ListSpan> spans;
  std::vector<bool> valid;
  std::mt19937_64 random(static_cast<uint64_t>(rows));
  for (int64_t i = 0; i < rows; ++i) {
    valid.push_back(random() % 4 != 0);
    const auto size = static_cast<int64_t>(random() % 4);
    const auto most = static_cast<uint64_t>(items.num_rows() - size + 1);
    spans.push_back(valid.back() && items.num_rows() >= size
                        ? ListSpan{static_cast<int64_t>(random() % most), size}
                        : ListSpan{0, 0});
  }
  Buffer buffer = Buffer::allocate(16 * rows);
  if (rows > 0) std::memcpy(buffer.mutable_data(), spans.data(), 16 * spans.size());
  const Column flags = column_of(std::vector<int8_t>(spans.size()), valid);
  return are_maps ? Column::maps(rows, buffer, items, flags.validity_buffer(), -1)
                  : Column::lists(rows, buffer, items, flags.validity_buffer(), -1);
}

// Structs in an order of their own, some of which share fields.
Column structs_of(const std::vector<std::string>& names, std::vector<Column> columns, int64_t rows,
                  bool with_nulls) {
  std::vector<Field> fields;
  for (size_t f = 0; f < names.size(); ++f) fields.push_back({names[f], columns[f].dtype()});
  std::mt19937_64 random(static_cast<uint64_t>(rows) + names.size());
  std::vector<int64_t> places;
  std::vector<bool> valid;
  for (int64_t i = 0; i < rows; ++i) {
    valid.push_back(!with_nulls || random() % 3 != 0);
    const auto most = static_cast<uint64_t>(columns[0].num_rows());
    places.push_back(valid.back() ? static_cast<int64_t>(random() % most) : -7);
  }
  const Column numbers = column_of(places, valid);
  return Column::structs_at(Dtype::structure(fields), rows, numbers.values_buffer(),
                            std::move(columns), numbers.validity_buffer(), -1);
}

Table every_dtype(int64_t rows, bool with_nulls) {
  std::vector<std::string> names;
  std::vector<Column> columns;
  const auto add = [&](const std::string& name, Column column) {
    names.push_back(name);
    columns.push_back(std::move(column));
  };
  for (const uint64_t range : {uint64_t{1}, uint64_t{5}, uint64_t{3000}, uint64_t{0}}) {
    const std::string end = std::to_string(range);
    add("i8 " + end, numbers<int8_t>(rows, range, with_nulls));
    add("i16 " + end, numbers<int16_t>(rows, range, with_nulls));
    add("i32 " + end, numbers<int32_t>(rows, range, with_nulls));
    add("i64 " + end, numbers<int64_t>(rows, range, with_nulls));
    add("u8 " + end, numbers<uint8_t>(rows, range, with_nulls));
    add("u16 " + end, numbers<uint16_t>(rows, range, with_nulls));
    add("u32 " + end, numbers<uint32_t>(rows, range, with_nulls));
    add("u64 " + end, numbers<uint64_t>(rows, range, with_nulls));
    add("f32 " + end, numbers<float>(rows, range, with_nulls));
    add("f64 " + end, numbers<double>(rows, range, with_nulls));
  }
  for (const uint64_t range : {uint64_t{1}, uint64_t{300}, uint64_t{1} << 40}) {
    const Column categories = texts(rows, range, with_nulls);
    add("c " + std::to_string(range), categories);
    add("s " + std::to_string(range), strings_of(categories));
  }
  for (const TimeUnit unit :
       {TimeUnit::kSecond, TimeUnit::kMilli, TimeUnit::kMicro, TimeUnit::kNano}) {
    const Column ticks = numbers<int64_t>(rows, 1'000'000'007, with_nulls);
    const std::string end = std::to_string(static_cast<int>(unit));
    add("t" + end, ticks.with_dtype(Dtype::timestamp(unit)));
    add("z" + end, ticks.with_dtype(Dtype::timestamp(unit, "Europe/Berlin")));
    add("d" + end, ticks.with_dtype(Dtype::duration(unit)));
  }
  add("date", numbers<int32_t>(rows, 20'000, with_nulls).with_dtype(TypeId::kDate));
  add("list", lists_of(numbers<int64_t>(rows, 50, with_nulls), rows));
  add("lists", lists_of(lists_of(strings_of(texts(rows, 10, with_nulls)), rows), rows));
  return Table(std::move(names), std::move(columns));
}

// Structs and maps in each other, and around and inside of lists.
Table nested_dtypes(int64_t rows, bool with_nulls) {
  const Column number = numbers<int32_t>(rows, 50, with_nulls);
  const Column text = strings_of(texts(rows, 10, with_nulls));
  const Column flag = lists_of(numbers<double>(rows, 0, with_nulls), rows);
  const Column point = structs_of({"x", "y"}, {number, text}, rows, with_nulls);
  const Column deep =
      structs_of({"p", "l", "c"}, {point, flag, texts(rows, 20, with_nulls)}, rows, with_nulls);
  const auto map_of = [&](const Column& value) {
    return lists_of(
        structs_of({"key", "value"}, {numbers<int64_t>(rows, 0, false), value}, rows, false), rows,
        true);
  };
  std::vector<bool> none(static_cast<size_t>(rows), false);
  const Column gone = column_of(std::vector<int16_t>(static_cast<size_t>(rows)), none);
  return Table({"struct", "deep", "map", "list", "map of structs", "map of maps", "all null"},
               {point, deep, map_of(text), lists_of(point, rows), map_of(deep),
                lists_of(map_of(map_of(number)), rows),
                structs_of({"a", "b"}, {gone, point}, rows, with_nulls)});
}

class ParquetWriter : public testing::SimdAndThreadsTest {};

TEST_F(ParquetWriter, WhatIsWrittenIsReadBack) {
  for (const int64_t rows : {0, 1, 2, 63, 64, 65, 1000, 40'000})
    for (const bool with_nulls : {false, true}) {
      const Table table = every_dtype(rows, with_nulls);
      expect_equal(table, read_file(written(table)));
      if (HasFatalFailure()) return;
    }
}

TEST_F(ParquetWriter, StructsAndMapsAreReadBack) {
  for (const int64_t rows : {0, 1, 2, 63, 64, 65, 1000, 40'000})
    for (const bool with_nulls : {false, true}) {
      const Table table = nested_dtypes(rows, with_nulls);
      for (const int64_t group : {int64_t{1} << 20, rows / 3 + 1}) {
        expect_equal(table, read_file(written(table, {.row_group_rows = group})));
        if (HasFatalFailure()) return;
      }
      const Table slice = table.slice(rows / 3, rows / 2);
      expect_equal(slice, read_file(written(slice, {.bloom_filter = {"deep"}})));
      if (HasFatalFailure()) return;
    }
}

TEST_F(ParquetWriter, NestedInAsManyLevelsAsDtypesHave) {
  const int64_t rows = 50;
  Buffer buffer = Buffer::allocate(16 * rows);
  for (int64_t i = 0; i < rows; ++i) buffer.mutable_as<ListSpan>()[i] = {i, i > 0 ? 1 : 0};
  Column lists = numbers<int64_t>(rows, 9, true), structs = lists, maps = lists;
  for (int level = 0; level < kMostNestedLevels; ++level) {
    lists = Column::lists(rows, buffer, lists);
    structs = structs_of({"x"}, {structs}, rows, false);
    if (level + 1 == kMostNestedLevels) break;  // maps are lists too
    const std::vector<Field> fields{{"key", TypeId::kInt8}, {"value", maps.dtype()}};
    maps = Column::maps(
        rows, buffer,
        Column::structs(Dtype::structure(fields), rows, {numbers<int8_t>(rows, 0, false), maps}));
  }
  const Table table({"lists", "structs", "maps"}, {lists, structs, maps});
  expect_equal(table, read_file(written(table)));
}

TEST_F(ParquetWriter, WhatParquetHasNoFormFor) {
  const Column keys = column_of<int64_t>({1, 2}, {true, false});
  const Column entries = Column::structs(
      Dtype::structure({{"key", TypeId::kInt64}, {"value", TypeId::kInt64}}), 2, {keys, keys});
  const std::vector<ListSpan> spans{{0, 2}};
  Buffer buffer = Buffer::allocate(16);
  std::memcpy(buffer.mutable_data(), spans.data(), 16);
  EXPECT_THROW(written(Table({"m"}, {Column::maps(1, buffer, entries)})), InvalidArgumentError);
  const Column empty = Column::structs(Dtype::structure({}), 2, {});
  EXPECT_THROW(written(Table({"s"}, {empty})), UnsupportedError);
}

TEST_F(ParquetWriter, EachCodecAndOption) {
  const Table table = every_dtype(3000, true);
  for (const char* codec : {"none", "snappy", "gzip", "zstd", "lz4", "brotli"})
    for (const int64_t group : {7, 1000, 1 << 20}) {
      if (group == 7 && std::string(codec) != "snappy") continue;
      ParquetWriteOptions options{.compression = codec, .row_group_rows = group};
      options.bloom_filter = {"i64 3000", "s 300", "list"};
      options.checksums = true;
      options.layout = group == 1000 ? "gpu" : "default";
      expect_equal(table, read_file(written(table, options)));
      if (HasFatalFailure()) return;
    }
}

TEST_F(ParquetWriter, SlicesAndSortedColumns) {
  const Table table = every_dtype(5000, true);
  const Table slice = table.slice(1234, 2345);
  expect_equal(slice, read_file(written(slice)));
  std::vector<int64_t> sorted(200'000), stepped(sorted.size());
  std::iota(sorted.begin(), sorted.end(), int64_t{-77});
  for (size_t i = 0; i < sorted.size(); ++i) stepped[i] = static_cast<int64_t>(i / 5000);
  const Table columns({"a", "b"}, {column_of(sorted), column_of(stepped)});
  const std::string file = written(columns, {.compression = "none"});
  EXPECT_LT(file.size(), 30'000u);
  expect_equal(columns, read_file(file));
}

TEST_F(ParquetWriter, TheSameBytesForAnyNumberOfThreads) {
  for (const Table& table : {every_dtype(20'000, true), nested_dtypes(20'000, true)}) {
    set_threads(1);
    const std::string bytes = written(table, {.row_group_rows = 3000});
    for (const int count : {2, 4, 7}) {
      set_threads(count);
      EXPECT_EQ(written(table, {.row_group_rows = 3000}), bytes);
    }
  }
}

TEST_F(ParquetWriter, NoColumns) {
  const Table none = read_file(written(Table()));
  EXPECT_EQ(none.num_columns(), 0);
}

TEST_F(ParquetWriter, BadOptions) {
  const Table table({"x"}, {column_of<int64_t>({1})});
  EXPECT_THROW(written(table, {.compression = "lzo"}), InvalidArgumentError);
  EXPECT_THROW(written(table, {.level = 3}), InvalidArgumentError);
  EXPECT_THROW(written(table, {.compression = "zstd", .level = 23}), InvalidArgumentError);
  EXPECT_THROW(written(table, {.row_group_rows = 0}), InvalidArgumentError);
  EXPECT_THROW(written(table, {.layout = "tpu"}), InvalidArgumentError);
  EXPECT_THROW(written(table, {.bloom_filter = {"y"}}), ColumnNotFoundError);
  const Table complex({"x"}, {column_of<std::complex<double>>({{1, 2}})});
  EXPECT_THROW(written(complex), TypeMismatchError);
}

}  // namespace
}  // namespace hr
