// SPDX-License-Identifier: Apache-2.0
// Values taken apart and put together: the same values, no copies, and no damage that reads
// outside.
#include "headrace/exchange/serialize.h"

#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/dictionary.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/exchange/serialize_testing.h"
#include "headrace/memory/log/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

namespace hr {

namespace {

using testing::column_of_kind;
using ::testing::HasSubstr;
using testing::kColumnKinds;
using testing::kFirstDictionary;
using testing::same;

// Each piece ends at a page that may not be touched.
Buffer guarded(const std::byte* data, int64_t bytes) {
  const auto page = static_cast<int64_t>(sysconf(_SC_PAGESIZE));
  const int64_t room = (bytes + page - 1) / page * page;
  auto* base =
      static_cast<std::byte*>(mmap(nullptr, static_cast<size_t>(room + page),
                                   PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(base + room, static_cast<size_t>(page), PROT_NONE);
  // As near to the end as the alignment of 16 bytes allows.
  std::byte* at = base + (room - bytes) / 16 * 16;
  std::memcpy(at, data, static_cast<size_t>(bytes));
  struct Mapping {
    std::byte* base;
    size_t bytes;
  };
  return Buffer::adopt(
      at, bytes,
      Owner{new Mapping{base, static_cast<size_t>(room + page)}, [](void* context) noexcept {
              auto* mapping = static_cast<Mapping*>(context);
              munmap(mapping->base, mapping->bytes);
              delete mapping;
            }});
}

std::vector<Buffer> copies(const Serialized& packed) {
  std::vector<Buffer> buffers;
  for (const SerializedBuffer& piece : packed.pieces)
    buffers.push_back(guarded(piece.data(), piece.size_bytes));
  return buffers;
}

// Reads every value, so that a wrong one would be seen by the guard pages.
int64_t walk(const Column& column) {
  int64_t sum = column.null_count();
  for (int64_t row = 0; row < column.num_rows(); ++row) {
    if (column.is_null(row)) continue;
    if (column.dtype().is_string() || column.dtype().is_category())
      for (const char c : column.string(row)) sum += c;
    else if (column.dtype().is_bool())
      sum += column.bit(row);
    else
      sum += static_cast<int64_t>(
          column.values_buffer().data()[(column.offset() + row) * column.dtype().size_bytes()]);
  }
  return sum;
}

void walk(const Serializable& value) {
  volatile int64_t sink = 0;
  if (const auto* column = std::get_if<Column>(&value)) sink = sink + walk(*column);
  if (const auto* table = std::get_if<Table>(&value))
    for (const Column& column : table->columns()) sink = sink + walk(column);
  if (const auto* tensor = std::get_if<Tensor>(&value))
    for (int64_t i = 0; i < tensor->num_elements() * tensor->dtype().size_bytes(); ++i)
      sink = sink + static_cast<int64_t>(tensor->data()[i]);
}

}  // namespace

TEST(Pack, EveryDtypeComesBackWithoutACopy) {
  clear_ledger();
  for (const int kind : kColumnKinds)
    for (const bool nulls : {false, true})
      for (const int64_t rows : {0, 1, 63, 64, 65, 511, 512, 513, 5000}) {
        const Column whole = column_of_kind(kind, rows + 700, nulls);
        for (const int64_t begin : {0, 1, 64, 511, 512, 700}) {
          const Column column = whole.slice(begin, rows);
          const Serialized packed = serialize("test", column);
          for (const SerializedBuffer& piece : packed.pieces)
            ASSERT_EQ(reinterpret_cast<uintptr_t>(piece.data()) % 64, 0u);
          const Deserialized back = deserialize("test", packed.header, copies(packed));
          ASSERT_TRUE(same(std::get<Column>(back.value), column))
              << column.dtype().name() << " rows=" << rows << " begin=" << begin;
          ASSERT_FALSE(back.label.has_value());
        }
      }
  for (const LedgerEntry& entry : ledger_entries())
    EXPECT_EQ(entry.reason, "the text of a few rows") << entry.bytes;
  clear_ledger();
}

TEST(Pack, AWholeColumnIsItsOwnBuffers) {
  clear_ledger();
  const Column column = column_of_kind(kFirstDictionary - 1, 5000, true);
  const Serialized packed = serialize("test", column, "name");
  ASSERT_EQ(packed.pieces.size(), 3u);
  EXPECT_EQ(packed.pieces[0].buffer, column.values_buffer());
  EXPECT_EQ(packed.pieces[1].buffer, column.validity_buffer());
  EXPECT_EQ(packed.pieces[2].buffer, column.text_buffers()[0]);
  EXPECT_EQ(ledger_bytes(), 0);
  std::vector<Buffer> pieces;
  for (const SerializedBuffer& piece : packed.pieces) pieces.push_back(piece.buffer);
  const Deserialized back = deserialize("test", packed.header, pieces);
  EXPECT_EQ(back.label, "name");
  EXPECT_EQ(std::get<Column>(back.value).values_buffer(), column.values_buffer());
  EXPECT_EQ(ledger_bytes(), 0);
}

TEST(Pack, AFewRowsTakeAFewBytes) {
  clear_ledger();
  const Column column = column_of_kind(kFirstDictionary - 1, 100'000, true);
  const Serialized packed = serialize("test", column.slice(50'000, 20));
  int64_t bytes = 0;
  for (const SerializedBuffer& piece : packed.pieces) bytes += piece.size_bytes;
  EXPECT_LT(bytes, 3'000);
  EXPECT_GT(ledger_bytes(), 0);
  EXPECT_TRUE(same(std::get<Column>(deserialize("test", packed.header, copies(packed)).value),
                   column.slice(50'000, 20)));
  clear_ledger();
}

TEST(Pack, EqualDictionariesAreOneObject) {
  const Column column = column_of_kind(kFirstDictionary, 100, true);
  const Serialized packed = serialize("test", column);
  const Column back = std::get<Column>(deserialize("test", packed.header, copies(packed)).value);
  EXPECT_EQ(back.dictionary(), column.dictionary());
}

TEST(Pack, Tensors) {
  clear_ledger();
  const Tensor plain = testing::tensor_of(std::vector<double>{1, 2, 3, 4, 5, 6});
  const Tensor cube(TypeId::kFloat64, {1, 2, 3}, plain.buffer());
  const Tensor tail(TypeId::kFloat64, {2}, plain.buffer(), 32);
  const Tensor scalar = scalar_tensor(int32_t{-7});
  const Tensor empty(TypeId::kComplex128, {3, 0, 2}, Buffer{});
  for (const Tensor& tensor : {plain, cube, tail, scalar, empty, Tensor()}) {
    const Serialized packed = serialize("test", tensor);
    EXPECT_TRUE(testing::same_bits(
        std::get<Tensor>(deserialize("test", packed.header, copies(packed)).value), tensor));
  }
  EXPECT_EQ(ledger_bytes(), 0);
  const Tensor reversed = testing::tensor_of(std::vector<int16_t>{1, 2, 3}, -2);
  const Serialized packed = serialize("test", reversed);
  EXPECT_EQ(ledger_bytes(), 6);
  EXPECT_EQ(testing::values_of<int16_t>(
                std::get<Tensor>(deserialize("test", packed.header, copies(packed)).value)),
            (std::vector<int16_t>{1, 2, 3}));
  clear_ledger();
}

TEST(Pack, TablesKeepNamesAndShareEqualPieces) {
  const Column column = column_of_kind(4, 100, false);
  const Table table({"a", "", "c"}, {column, column.slice(0, 100), column_of_kind(0, 100, true)});
  const Serialized packed = serialize("test", table);
  EXPECT_EQ(packed.pieces.size(), 3u);
  const Table back = std::get<Table>(deserialize("test", packed.header, copies(packed)).value);
  EXPECT_EQ(back.names(), table.names());
  for (int64_t i = 0; i < 3; ++i) EXPECT_TRUE(same(back.column(i), table.column(i)));
  const Serialized none = serialize("test", Table());
  EXPECT_EQ(std::get<Table>(deserialize("test", none.header, {}).value).num_columns(), 0);
}

TEST(Pack, UnalignedPiecesAreCopiedOnce) {
  clear_ledger();
  const Column column = column_of_kind(10, 100, false);  // float64
  const Serialized packed = serialize("test", column);
  Buffer shifted = Buffer::allocate(801);
  std::memcpy(shifted.mutable_data() + 1, packed.pieces[0].data(), 800);
  std::vector<Buffer> pieces;
  pieces.push_back(Buffer::adopt(shifted.data() + 1, 800, Owner{}));
  const Deserialized back = deserialize("test", packed.header, pieces);
  EXPECT_TRUE(same(std::get<Column>(back.value), column));
  EXPECT_EQ(ledger_bytes(), 800);
  clear_ledger();
}

TEST(Pack, ForeignValuesGoIntoOwnMemory) {
  for (const int64_t rows : {0, 1, 65, 100'000}) {
    for (const bool nulls : {false, true}) {
      const Column strings = column_of_kind(kFirstDictionary - 1, rows, nulls);
      const Column numbers = column_of_kind(10, rows, nulls);
      const Serialized packed = serialize("test", Table({"s", "n"}, {strings, numbers}));
      std::vector<Buffer> pieces;
      int64_t bytes = 0;
      for (const SerializedBuffer& piece : packed.pieces) {
        pieces.push_back(Buffer::adopt(piece.data(), piece.size_bytes, Owner{}));
        bytes += piece.size_bytes;
      }
      const Serializable came = deserialize("test", packed.header, pieces).value;
      clear_ledger();
      const auto own = std::get<Table>(in_own_memory("test", came));
      EXPECT_EQ(ledger_bytes(), bytes);
      clear_ledger();
      EXPECT_TRUE(same(own.column(0), strings));
      EXPECT_TRUE(same(own.column(1), numbers));
      for (const SerializedBuffer& piece : serialize("test", own).pieces)
        EXPECT_FALSE(piece.buffer.is_foreign());
    }
  }
}

TEST(Pack, NullsAreCountedAnew) {
  const Column column = column_of_kind(4, 100, true);
  const Serialized packed = serialize("test", column);
  std::vector<Buffer> pieces = copies(packed);
  Buffer none = Buffer::allocate_zeroed(bitmap_bytes(100));
  pieces[1] = none;
  EXPECT_EQ(std::get<Column>(deserialize("test", packed.header, pieces).value).null_count(), 100);
}

TEST(Pack, RefusesValuesThatLeaveTheirPieces) {
  const auto refusal = [](const Serialized& packed, std::vector<Buffer> pieces) -> std::string {
    try {
      walk(deserialize("attach", packed.header, std::move(pieces)).value);
    } catch (const InvalidArgumentError& error) {
      return error.what();
    }
    return "";
  };
  const Serialized strings = serialize("test", column_of_kind(kFirstDictionary - 1, 100, false));
  std::vector<Buffer> pieces;
  for (const SerializedBuffer& piece : strings.pieces) {
    pieces.push_back(Buffer::allocate(piece.size_bytes));
    std::memcpy(pieces.back().mutable_data(), piece.data(), static_cast<size_t>(piece.size_bytes));
  }
  EXPECT_EQ(refusal(strings, pieces), "");
  const auto with_view = [&](uint32_t size, uint32_t buffer, uint32_t offset) {
    Buffer views = Buffer::allocate(pieces[0].size_bytes());
    std::memcpy(views.mutable_data(), pieces[0].data(), static_cast<size_t>(views.size_bytes()));
    StringView& view = views.mutable_as<StringView>()[99];
    view.size = size;
    view.indirect.buffer = buffer;
    view.indirect.offset = offset;
    std::vector<Buffer> other = pieces;
    other[0] = views;
    return refusal(strings, other);
  };
  const auto text = static_cast<uint32_t>(pieces[1].size_bytes());
  EXPECT_EQ(with_view(13, 0, text - 13), "");
  EXPECT_THAT(with_view(13, 0, text - 12),
              HasSubstr("a string view is out of range of its buffer"));
  EXPECT_THAT(with_view(13, 1, 0), HasSubstr("a string view is out of range of its buffer"));
  EXPECT_THAT(with_view(0xFFFFFFFF, 0, 0xFFFFFFFF),
              HasSubstr("a string view is out of range of its buffer"));
  std::vector<Buffer> fewer(pieces.begin(), pieces.begin() + 1);
  EXPECT_THAT(refusal(strings, fewer), HasSubstr("the number of segments differs"));
  fewer.push_back(Buffer::allocate(text - 1));
  EXPECT_THAT(refusal(strings, fewer), HasSubstr("a segment is shorter"));

  const Column categories = column_of_kind(kFirstDictionary, 100, false);
  const Serialized packed = serialize("test", categories);
  for (const int32_t code : {-1, categories.dictionary()->size(), INT32_MAX, INT32_MIN}) {
    std::vector<Buffer> wrong = copies(packed);
    Buffer codes = Buffer::allocate(400);
    std::memcpy(codes.mutable_data(), wrong[0].data(), 400);
    codes.mutable_as<int32_t>()[99] = code;
    wrong[0] = codes;
    EXPECT_THAT(refusal(packed, wrong), HasSubstr("out of range of its dictionary")) << code;
  }
}

TEST(Pack, DamagedHeadersNeverReadOutside) {
  std::mt19937 random(11);
  const Column strings = column_of_kind(kFirstDictionary - 1, 200, true);
  std::vector<Serialized> all;
  for (const int kind : kColumnKinds)
    all.push_back(serialize("test", column_of_kind(kind, 200, true).slice(3, 150), "label"));
  all.push_back(
      serialize("test", Tensor(TypeId::kFloat32, {2, 3, 4},
                               testing::tensor_of(std::vector<float>(24, 1.5f)).buffer())));
  all.push_back(
      serialize("test", Table({"x", "y"}, {strings, column_of_kind(kFirstDictionary, 200, true)})));
  int refused = 0, accepted = 0;
  const auto attempt = [&](const std::string& header, const std::vector<Buffer>& pieces) {
    try {
      walk(deserialize("attach", header, pieces).value);
      ++accepted;
    } catch (const InvalidArgumentError&) {
      ++refused;
    } catch (const OutOfMemoryError&) {
      ++refused;
    }
  };
  for (const Serialized& packed : all) {
    const std::vector<Buffer> pieces = copies(packed);
    for (size_t size = 0; size < packed.header.size(); ++size) {
      const int before = refused;
      attempt(packed.header.substr(0, size), pieces);
      ASSERT_EQ(refused, before + 1) << size;
    }
    attempt(packed.header + "x", pieces);
    for (int turn = 0; turn < 2000; ++turn) {
      std::string header = packed.header;
      for (unsigned flips = 1 + random() % 3; flips > 0; --flips) {
        const size_t at = random() % header.size();
        switch (random() % 3) {
          case 0:
            header[at] = static_cast<char>(random());
            break;
          case 1:
            header[at] = static_cast<char>(header[at] ^ (1 << random() % 8));
            break;
          default:
            header[at] = static_cast<char>(random() % 2 ? 0xFF : 0x7F);
        }
      }
      attempt(header, pieces);
    }
  }
  EXPECT_GT(refused, 10'000);
  EXPECT_GT(accepted, 100);  // some flips leave a good header: a label, a smaller count of rows
  clear_ledger();
}

}  // namespace hr
