// SPDX-License-Identifier: Apache-2.0
// Arrow in and out: the same pointers, every layout of strings, and refusals that release all.
#include "headrace/exchange/arrow.h"

#include "headrace/algo/select/concat.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/memory/log/ledger.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace hr {
namespace {

template <class T>
Buffer buffer_of(const std::vector<T>& values) {
  Buffer buffer = Buffer::allocate(static_cast<int64_t>(values.size() * sizeof(T)));
  if (!values.empty()) std::memcpy(buffer.mutable_data(), values.data(), values.size() * sizeof(T));
  return buffer;
}

Column numbers(int64_t rows) {
  std::vector<double> values(static_cast<size_t>(rows));
  for (int64_t i = 0; i < rows; ++i) values[static_cast<size_t>(i)] = static_cast<double>(i) / 2;
  return Column(TypeId::kFloat64, rows, buffer_of(values));
}

Column roundtrip(const Column& column) {
  ArrowSchema schema{};
  ArrowArray array{};
  to_arrow_schema(column.dtype(), "x", &schema);
  to_arrow_array(column, &array);
  const ArrowColumns back = from_arrow("from_arrow", schema, &array);
  schema.release(&schema);
  EXPECT_EQ(array.release, nullptr);
  EXPECT_FALSE(back.is_table);
  EXPECT_EQ(back.names[0], "x");
  EXPECT_EQ(back.num_rows, column.num_rows());
  return back.chunks[0].empty() ? Column(back.dtypes[0], 0, {}) : back.chunks[0][0];
}

// An array as another producer would make it; counts its release.
struct Foreign {
  ArrowSchema schema{};
  ArrowArray array{};
  std::vector<const void*> buffers;
  static inline int released = 0;

  Foreign(const char* format, int64_t length, std::vector<const void*> given, int64_t offset = 0,
          int64_t null_count = -1)
      : buffers(std::move(given)) {
    schema.format = format;
    schema.name = "s";
    schema.release = [](ArrowSchema* self) { self->release = nullptr; };
    array.length = length;
    array.offset = offset;
    array.null_count = null_count;
    array.n_buffers = static_cast<int64_t>(buffers.size());
    array.buffers = buffers.data();
    array.release = [](ArrowArray* self) {
      ++released;
      self->release = nullptr;
    };
    released = 0;
  }

  Column take() {
    ArrowColumns columns = from_arrow("from_arrow", schema, &array);
    return columns.chunks[0].at(0);
  }
};

TEST(Arrow, NumbersKeepTheirPointer) {
  for (const int64_t rows : {0, 1, 63, 64, 65, 1000}) {
    const Column column = numbers(rows);
    const Column back = roundtrip(column);
    EXPECT_EQ(back.dtype(), column.dtype());
    if (rows > 0) {
      EXPECT_EQ(back.values<double>().data(), column.values<double>().data());
    }
  }
  EXPECT_EQ(ledger_bytes(), 0);
}

TEST(Arrow, SlicesKeepOffsetAndNulls) {
  Buffer validity = Buffer::allocate_zeroed(bitmap_bytes(100));
  for (int64_t i = 0; i < 100; i += 3) set_bit(validity.mutable_as<uint8_t>(), i, true);
  const Column column(TypeId::kFloat64, 100, numbers(100).values_buffer(), validity, -1);
  const Column slice = column.slice(13, 70);
  const Column back = roundtrip(slice);
  EXPECT_EQ(back.null_count(), slice.null_count());
  EXPECT_EQ(back.values<double>().data(), slice.values<double>().data());
  for (int64_t i = 0; i < 70; ++i) EXPECT_EQ(back.is_null(i), slice.is_null(i));
}

TEST(Arrow, BoolsAreBits) {
  Buffer bits = Buffer::allocate_zeroed(bitmap_bytes(70));
  for (int64_t i = 0; i < 70; i += 2) set_bit(bits.mutable_as<uint8_t>(), i, true);
  const Column column = Column(TypeId::kBool, 70, bits).slice(5, 60);
  const Column back = roundtrip(column);
  EXPECT_EQ(back.bits(), column.bits());
  for (int64_t i = 0; i < 60; ++i) EXPECT_EQ(back.bit(i), column.bit(i));
}

TEST(Arrow, TableIsAStructAndAStream) {
  const Table table({"a", "b"}, {numbers(10), numbers(10).slice(0, 10)});
  ArrowArrayStream stream{};
  to_arrow_stream(table, &stream);
  const ArrowColumns back = from_arrow("from_arrow", &stream);
  EXPECT_EQ(stream.release, nullptr);
  EXPECT_TRUE(back.is_table);
  EXPECT_EQ(back.names, table.names());
  EXPECT_EQ(back.chunks[1][0].values<double>().data(), table.column(1).values<double>().data());
}

TEST(Arrow, ChunksStayChunks) {
  const Column column = numbers(10);
  ArrowArrayStream stream{};
  to_arrow_stream(column.dtype(), {column.slice(0, 4), column.slice(4, 0), column.slice(4, 6)},
                  &stream);
  const ArrowColumns back = from_arrow("from_arrow", &stream);
  ASSERT_EQ(back.chunks[0].size(), 2u);
  EXPECT_EQ(back.num_rows, 10);
  EXPECT_EQ(back.chunks[0][1].values<double>().data(), column.values<double>().data() + 4);
}

TEST(Arrow, JoinedChunksEqualTheWhole) {
  constexpr int64_t kRows = 150;
  Buffer validity = Buffer::allocate_zeroed(bitmap_bytes(kRows));
  Buffer views = Buffer::allocate_zeroed(kRows * 16);
  Buffer text = Buffer::allocate(kRows * 13);
  for (int64_t i = 0; i < kRows; ++i) {
    if (i % 5 == 0) continue;
    set_bit(validity.mutable_as<uint8_t>(), i, true);
    StringView& view = views.mutable_as<StringView>()[i];
    view.size = 13;
    view.indirect.offset = static_cast<uint32_t>(i * 13);
    std::memset(text.mutable_as<char>() + i * 13, 'a' + static_cast<int>(i % 26), 13);
  }
  const Column strings = Column::strings(kRows, views, {text}, validity, -1);
  const Column doubles(TypeId::kFloat64, kRows, numbers(kRows).values_buffer(), validity, -1);
  const Column bools(TypeId::kBool, kRows, validity);
  for (const Column& whole : {strings, doubles, bools}) {
    const std::vector<Column> chunks = {whole.slice(3, 70), whole.slice(73, 1),
                                        whole.slice(74, 76)};
    const Column joined = concat_chunks("join", whole.dtype(), chunks);
    ASSERT_EQ(joined.num_rows(), 147);
    EXPECT_EQ(joined.null_count(), whole.slice(3, 147).null_count());
    for (int64_t i = 0; i < 147; ++i) {
      ASSERT_EQ(joined.is_null(i), whole.is_null(i + 3));
      if (joined.is_null(i)) continue;
      if (whole.dtype().is_string()) {
        ASSERT_EQ(joined.string(i), whole.string(i + 3));
        ASSERT_EQ(joined.string(i).data(), whole.string(i + 3).data());
      } else if (whole.dtype().is_bool()) {
        ASSERT_EQ(joined.bit(i), whole.bit(i + 3));
      } else {
        ASSERT_EQ(joined.values<double>()[static_cast<size_t>(i)],
                  whole.values<double>()[static_cast<size_t>(i + 3)]);
      }
    }
  }
  EXPECT_EQ(concat_chunks("join", TypeId::kInt8, {}).num_rows(), 0);
  clear_ledger();
}

TEST(Arrow, OffsetStringsBecomeViewsOverTheSameText) {
  clear_ledger();
  const std::string text = "shortthis one is longer than twelvex";
  const std::vector<int32_t> offsets = {0, 5, 5, 35, 36};
  const uint8_t validity = 0b1101;
  Foreign foreign("u", 3, {&validity, offsets.data(), text.data()}, 1);
  {
    const Column column = foreign.take();
    EXPECT_EQ(Foreign::released, 0);
    EXPECT_EQ(column.null_count(), 1);
    EXPECT_TRUE(column.is_null(0));
    EXPECT_EQ(column.string(1), "this one is longer than twelve");
    EXPECT_EQ(column.string(1).data(), text.data() + 5);
    EXPECT_EQ(column.string(2), "x");
    ASSERT_EQ(ledger_entries().size(), 1u);
    EXPECT_EQ(ledger_entries()[0].reason, "string offsets become views");
    EXPECT_EQ(ledger_entries()[0].bytes, 3 * 16);
    const Column back = roundtrip(column);
    EXPECT_EQ(back.string(1).data(), column.string(1).data());
  }
  EXPECT_EQ(Foreign::released, 1);
  clear_ledger();
}

TEST(Arrow, BadOffsetsAreRefusedAndReleased) {
  const std::string text = "abc";
  for (const std::vector<int64_t>& offsets :
       {std::vector<int64_t>{0, 2, 1}, std::vector<int64_t>{-1, 0, 1}}) {
    Foreign foreign("U", 2, {nullptr, offsets.data(), text.data()});
    EXPECT_THROW(foreign.take(), InvalidArgumentError);
    EXPECT_EQ(Foreign::released, 1);
  }
  clear_ledger();
}

TEST(Arrow, ViewsThatLeaveTheirTextAreRefused) {
  StringView view{};
  view.size = 20;
  view.indirect = {{'a', 'b', 'c', 'd'}, 0, 90};
  const std::string text(100, 'a');
  const int64_t sizes[] = {100};
  Foreign bad("vu", 1, {nullptr, &view, text.data(), sizes});
  EXPECT_THROW(bad.take(), InvalidArgumentError);
  view.indirect.offset = 80;
  Foreign good("vu", 1, {nullptr, &view, text.data(), sizes});
  EXPECT_EQ(good.take().string(0).data(), text.data() + 80);
  const uint8_t none = 0;
  Foreign null("vu", 1, {&none, &view, text.data(), sizes});
  const Column cleaned = null.take();
  EXPECT_EQ(cleaned.values<StringView>()[0].size, 0u);
  clear_ledger();
}

TEST(Arrow, NullTypeIsAllNull) {
  Foreign foreign("n", 5, {}, 0, 5);
  const Column column = foreign.take();
  EXPECT_EQ(column.null_count(), 5);
  EXPECT_EQ(column.values<double>()[4], 0.0);
}

TEST(Arrow, UnknownFormatsAreRefusedAndReleased) {
  const int64_t value = 0;
  for (const char* format : {"ttm", "tsu:a b", "tDD", "d:10,2,256", "d:40,2", "d:5,-2", "d:x", "z",
                             "+vl", "e", "w:4", ""}) {
    Foreign foreign(format, 1, {nullptr, &value});
    try {
      foreign.take();
      ADD_FAILURE() << format;
    } catch (const UnsupportedError& error) {
      EXPECT_NE(std::string(error.what()).find("column='s'"), std::string::npos) << error.what();
    }
    EXPECT_EQ(Foreign::released, 1);
  }
}

TEST(Arrow, BrokenStructuresAreRefused) {
  const double value = 0;
  const std::vector<const void*> fine = {nullptr, &value};
  EXPECT_THROW(Foreign("g", -1, fine).take(), InvalidArgumentError);
  EXPECT_THROW(Foreign("g", 1, fine, -1).take(), InvalidArgumentError);
  EXPECT_THROW(Foreign("g", 1, {nullptr}).take(), InvalidArgumentError);
  EXPECT_THROW(Foreign("g", 1, {nullptr, nullptr}).take(), InvalidArgumentError);
  EXPECT_THROW(Foreign("g", 1, fine, 0, 1).take(), InvalidArgumentError);
  EXPECT_THROW(Foreign("g", INT64_MAX, fine, INT64_MAX).take(), InvalidArgumentError);
}

TEST(Arrow, MisalignedValuesAreCopiedOnce) {
  clear_ledger();
  alignas(8) char bytes[25] = {};
  const double value = 1.5;
  std::memcpy(bytes + 1, &value, 8);
  Foreign foreign("g", 1, {nullptr, bytes + 1});
  EXPECT_EQ(foreign.take().values<double>()[0], 1.5);
  EXPECT_EQ(ledger_bytes(), 8);
  clear_ledger();
}

TEST(Arrow, ComplexAndNulNamesAreRefused) {
  ArrowSchema schema{};
  EXPECT_THROW(to_arrow_schema(TypeId::kComplex64, "z", &schema), UnsupportedError);
  EXPECT_THROW(to_arrow_schema(TypeId::kInt8, std::string_view("a\0b", 3), &schema),
               InvalidArgumentError);
  EXPECT_THROW(
      to_arrow_schema({"a", std::string("\0", 1)}, {TypeId::kInt8, TypeId::kInt8}, &schema),
      InvalidArgumentError);
  EXPECT_EQ(schema.release, nullptr);
}

TEST(Arrow, AFailingProducerIsAnInputError) {
  ArrowArrayStream stream{};
  stream.get_schema = [](ArrowArrayStream*, ArrowSchema*) { return 5; };
  stream.get_last_error = [](ArrowArrayStream*) { return "no such thing"; };
  stream.release = [](ArrowArrayStream* self) { self->release = nullptr; };
  try {
    from_arrow("from_arrow", &stream);
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_EQ(error.code, 5);
    EXPECT_NE(std::string(error.what()).find("no such thing"), std::string::npos);
  }
  EXPECT_EQ(stream.release, nullptr);
}

}  // namespace
}  // namespace hr
