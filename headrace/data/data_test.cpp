// SPDX-License-Identifier: Apache-2.0
// Columns, tensors and tables: checks at their making, shared slices, views of each other.
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/table.h"
#include "headrace/data/tensor.h"
#include "headrace/memory/log/ledger.h"

#include <gtest/gtest.h>

#include <cstring>

namespace hr {

namespace {

Column counting(int64_t rows) {
  Buffer buffer = Buffer::allocate(rows * 4);
  for (int64_t i = 0; i < rows; ++i) buffer.mutable_as<int32_t>()[i] = static_cast<int32_t>(i);
  return Column(TypeId::kInt32, rows, buffer);
}

TEST(Column, SlicesShareTheBufferAndCountTheirNulls) {
  Buffer valid = Buffer::allocate_zeroed(16);
  for (int64_t i = 0; i < 100; i += 3) set_bit(valid.mutable_as<uint8_t>(), i, true);
  const Column column(TypeId::kInt32, 100, counting(100).values_buffer(), valid, -1);
  EXPECT_EQ(column.null_count(), 66);
  const Column part = column.slice(65, 10);
  EXPECT_EQ(part.values<int32_t>()[0], 65);
  EXPECT_FALSE(part.is_null(1));
  EXPECT_EQ(part.null_count(), 7);
  EXPECT_EQ(part.values_buffer(), column.values_buffer());
  EXPECT_THROW(column.slice(95, 6), InvalidArgumentError);
  EXPECT_THROW(column.slice(-1, 2), InvalidArgumentError);
}

TEST(Column, RefusesShortBuffers) {
  EXPECT_THROW(Column(TypeId::kInt64, 100, counting(100).values_buffer()), InternalError);
  EXPECT_THROW(Column(TypeId::kInt64, INT64_MAX / 2, counting(1).values_buffer()),
               InvalidArgumentError);
}

TEST(Column, StringsNearAndFar) {
  Buffer text = Buffer::allocate(20);
  std::memcpy(text.mutable_data(), "a string of 20 bytes", 20);
  Buffer views = Buffer::allocate_zeroed(32);
  StringView& near = views.mutable_as<StringView>()[0];
  near.size = 2;
  std::memcpy(near.inlined, "hi", 2);
  StringView& far = views.mutable_as<StringView>()[1];
  far.size = 20;
  std::memcpy(far.indirect.prefix, "a st", 4);
  const Column column = Column::strings(2, views, {text});
  EXPECT_EQ(column.string(0), "hi");
  EXPECT_EQ(column.slice(1, 1).string(0), "a string of 20 bytes");
}

TEST(Bits, LoadAnyOffset) {
  uint8_t bytes[24];
  for (size_t i = 0; i < sizeof bytes; ++i) bytes[i] = static_cast<uint8_t>(37 * i + 11);
  for (int64_t start = 0; start < 70; ++start)
    for (const int64_t count : {1, 7, 8, 63, 64}) {
      const uint64_t word = load_bits(bytes, start, count);
      for (int64_t i = 0; i < 64; ++i)
        ASSERT_EQ((word >> i) & 1, i < count && get_bit(bytes, start + i) ? 1u : 0u);
    }
}

TEST(Tensor, ColumnsAndTensorsAreTheSameBytes) {
  const Column column = counting(10).slice(2, 5);
  const Tensor tensor = as_tensor(column);
  EXPECT_EQ(tensor.as<int32_t>()[0], 2);
  EXPECT_EQ(tensor.buffer(), column.values_buffer());
  EXPECT_EQ(as_column(tensor).values<int32_t>()[4], 6);
  EXPECT_THROW(as_tensor(Column::strings(0, {}, {})), TypeMismatchError);
  Buffer valid = Buffer::allocate_zeroed(8);
  EXPECT_THROW(as_tensor(Column(TypeId::kInt32, 10, column.values_buffer(), valid, -1)),
               InvalidArgumentError);
}

TEST(Tensor, AStridedOneBecomesContiguousByACountedCopy) {
  const Column column = counting(12);
  const Tensor transposed(TypeId::kInt32, {4, 3}, {1, 4}, column.values_buffer(), 0);
  EXPECT_FALSE(transposed.is_contiguous());
  clear_ledger();
  const Tensor packed = contiguous(transposed, "test");
  EXPECT_EQ(ledger_bytes(), 48);
  EXPECT_EQ(packed.as<int32_t>()[1], 4);
  EXPECT_EQ(contiguous(packed, "test").buffer(), packed.buffer());
  EXPECT_EQ(ledger_bytes(), 48);
}

TEST(Tensor, RefusesShapesThatDoNotFit) {
  EXPECT_THROW(Tensor(TypeId::kFloat64, {3}, Buffer::allocate(16)), InternalError);
  EXPECT_THROW(num_elements({INT64_MAX, 2}), InvalidArgumentError);
  EXPECT_THROW(num_elements({-1}), InvalidArgumentError);
}

TEST(Table, ChecksNamesAndLengths) {
  EXPECT_THROW(Table({"a", "a"}, {counting(1), counting(1)}), InvalidArgumentError);
  EXPECT_THROW(Table({"a", "b"}, {counting(1), counting(2)}), InvalidArgumentError);
  EXPECT_THROW(Table({"a"}, {}), InvalidArgumentError);
  const Table table({"heart", "rate"}, {counting(3), counting(3)});
  EXPECT_EQ(table.column("rate").num_rows(), 3);
  EXPECT_EQ(table.slice(1, 2).num_rows(), 2);
  try {
    table.column("haert");
    FAIL();
  } catch (const ColumnNotFoundError& error) {
    EXPECT_STREQ(error.what(), "column: no such column: name='haert'; did you mean 'heart'?");
  }
}

TEST(Table, NamesWhatIsNearAlone) {
  const auto said = [](std::vector<std::string> names, std::string_view name) -> std::string {
    try {
      find_column("column", names, name);
    } catch (const ColumnNotFoundError& error) {
      return std::string(error.what()).substr(std::string(error.what()).find(';') + 2);
    }
    return "found";
  };
  EXPECT_EQ(said({"alpha", "v"}, "alfa"), "did you mean 'alpha'?");
  EXPECT_EQ(said({"price", "Price_EUR"}, "PRICE"), "did you mean 'price'?");
  EXPECT_EQ(said({"key", "value"}, "kye"), "did you mean 'key'?");
  EXPECT_EQ(said({"a", "v"}, "x"), "the columns are a, v");
  EXPECT_EQ(said({"id", "x1"}, "it"), "the columns are id, x1");
  EXPECT_EQ(said({"x1"}, "x"), "the columns are x1");
  EXPECT_EQ(said({""}, ""), "found");
  EXPECT_EQ(said({"a"}, ""), "the columns are a");
}

TEST(Dtype, WordsAndSizes) {
  EXPECT_EQ(dtype_from_name("float"), Dtype(TypeId::kFloat64));
  EXPECT_EQ(dtype_from_name("uint16").size_bytes(), 2);
  EXPECT_THROW(dtype_from_name("object"), TypeMismatchError);
  EXPECT_EQ(Dtype(TypeId::kComplex64).name(), "complex64");
}

}  // namespace

}  // namespace hr
