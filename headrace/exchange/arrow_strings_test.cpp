// SPDX-License-Identifier: Apache-2.0
// Categories through Arrow: codes of each width, shared codes, repeated entries, chunks, the way
// back.
#include "headrace/exchange/arrow_strings.h"

#include "headrace/algo/select/concat.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/dictionary.h"
#include "headrace/exchange/arrow.h"
#include "headrace/memory/log/ledger.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace hr {
namespace {

// A dictionary array as another producer would make it.
struct Foreign {
  std::string text;
  std::vector<int32_t> offsets{0};
  std::vector<const void*> entry_buffers, index_buffers;
  ArrowSchema entries{}, schema{};
  ArrowArray entry_array{}, array{};
  const uint8_t entry_validity = 0b011;

  Foreign(const char* index_format, const std::vector<std::string>& words, int64_t rows,
          const void* indices, const uint8_t* validity = nullptr, int64_t offset = 0,
          int64_t flags = 0, bool third_entry_is_null = false) {
    for (const std::string& word : words) {
      text += word;
      offsets.push_back(static_cast<int32_t>(text.size()));
    }
    entry_buffers = {third_entry_is_null ? &entry_validity : nullptr, offsets.data(), text.data()};
    index_buffers = {validity, indices};
    fill(entries, entry_array, "u", static_cast<int64_t>(words.size()), entry_buffers, 0);
    fill(schema, array, index_format, rows, index_buffers, offset);
    schema.flags = flags;
    schema.dictionary = &entries;
    array.dictionary = &entry_array;
  }

  static void fill(ArrowSchema& schema, ArrowArray& array, const char* format, int64_t length,
                   std::vector<const void*>& buffers, int64_t offset) {
    schema.format = format;
    schema.name = "s";
    schema.release = [](ArrowSchema* self) { self->release = nullptr; };
    array.length = length;
    array.offset = offset;
    array.null_count = -1;
    array.n_buffers = static_cast<int64_t>(buffers.size());
    array.buffers = buffers.data();
    array.release = [](ArrowArray* self) { self->release = nullptr; };
  }

  Column take() { return from_arrow("from_arrow", schema, &array).chunks[0].at(0); }
};

std::vector<std::string> words_of(const Column& column) {
  std::vector<std::string> words;
  for (int64_t row = 0; row < column.num_rows(); ++row)
    words.emplace_back(column.is_null(row) ? "<null>" : column.string(row));
  return words;
}

const std::vector<std::string> kWords = {"low", "a rather high value"};
using Words = std::vector<std::string>;

template <class Index>
void check_index(const char* format) {
  const std::vector<Index> indices = {99, 1, 0, 1, static_cast<Index>(-1)};
  const uint8_t validity = 0b01110;
  Foreign foreign(format, kWords, 4, indices.data(), &validity, 1);
  const Column column = foreign.take();
  EXPECT_EQ(column.dtype(), Dtype(TypeId::kCategory));
  EXPECT_EQ(words_of(column), (Words{kWords[1], kWords[0], kWords[1], "<null>"})) << format;
  EXPECT_EQ(column.dictionary()->values().string(1).data(), foreign.text.data() + 3);
  if (sizeof(Index) == 4) {
    EXPECT_EQ(column.values<Index>().data(), indices.data() + 1);
  }
  Foreign wrong(format, kWords, 5, indices.data());
  EXPECT_THROW(wrong.take(), InvalidArgumentError) << format;
}

TEST(ArrowCategories, IndicesOfEachWidth) {
  check_index<int8_t>("c");
  check_index<int16_t>("s");
  check_index<int32_t>("i");
  check_index<int64_t>("l");
  check_index<uint8_t>("C");
  check_index<uint16_t>("S");
  check_index<uint32_t>("I");
  check_index<uint64_t>("L");
  clear_ledger();
}

TEST(ArrowCategories, RepeatedAndNullEntries) {
  const std::vector<int32_t> indices = {0, 1, 2, 1};
  Foreign repeats("i", {"a", "a", "b"}, 4, indices.data());
  const Column column = repeats.take();
  EXPECT_EQ(words_of(column), (Words{"a", "a", "b", "a"}));
  EXPECT_EQ(column.dictionary()->size(), 2);
  Foreign nulls("i", {"a", "b", ""}, 4, indices.data(), nullptr, 0, 0, true);
  EXPECT_EQ(words_of(nulls.take()), (Words{"a", "b", "<null>", "b"}));
  clear_ledger();
}

TEST(ArrowCategories, UnsupportedValuesAreRefused) {
  const std::vector<int32_t> indices = {0};
  Foreign foreign("i", {"12345678"}, 1, indices.data());
  foreign.entries.format = "z";
  EXPECT_THROW(foreign.take(), UnsupportedError);
  Foreign floats("g", {"a"}, 1, indices.data());
  EXPECT_THROW(floats.take(), InvalidArgumentError);
}

TEST(ArrowCategories, RoundTripKeepsCodesAndIdentity) {
  for (const bool ordered : {false, true}) {
    const std::vector<int32_t> indices = {1, 0, 1, 1};
    const uint8_t validity = 0b1011;
    Foreign foreign("i", kWords, 4, indices.data(), &validity, 0,
                    ordered ? ARROW_FLAG_DICTIONARY_ORDERED : 0);
    const Column column = foreign.take().slice(1, 3);
    EXPECT_EQ(column.dictionary()->is_ordered(), ordered);
    ArrowSchema schema{};
    ArrowArray array{};
    to_arrow_schema(column, &schema);
    to_arrow_array(column, &array);
    EXPECT_EQ(std::string(schema.format), "i");
    EXPECT_EQ(std::string(schema.dictionary->format), "u");
    const Column back = from_arrow("from_arrow", schema, &array).chunks[0].at(0);
    schema.release(&schema);
    EXPECT_EQ(words_of(back), words_of(column));
    EXPECT_EQ(back.values<int32_t>().data(), column.values<int32_t>().data());
    EXPECT_EQ(back.dictionary(), column.dictionary());
  }
  clear_ledger();
}

TEST(ArrowCategories, EmptyOnesKeepTheirDictionary) {
  Foreign foreign("c", kWords, 0, nullptr);
  const ArrowColumns columns = from_arrow("from_arrow", foreign.schema, &foreign.array);
  const Column column = concat_chunks("from_arrow", columns.dtypes[0], columns.chunks[0]);
  EXPECT_EQ(column.num_rows(), 0);
  EXPECT_EQ(column.dictionary()->size(), 2);
  clear_ledger();
}

TEST(ArrowCategories, ChunksGetOneDictionary) {
  const std::vector<int32_t> indices = {1, 0};
  Foreign a("i", {"a", "b"}, 2, indices.data()), b("i", {"c", "b"}, 2, indices.data()),
      c("i", {"a", "b"}, 2, indices.data());
  const std::vector<Column> chunks = {a.take(), b.take(), c.take()};
  EXPECT_EQ(chunks[0].dictionary(), chunks[2].dictionary());
  const Column joined = concat_chunks("from_arrow", TypeId::kCategory, chunks);
  EXPECT_EQ(words_of(joined), (Words{"b", "a", "b", "c", "b", "a"}));
  EXPECT_EQ(joined.dictionary()->size(), 3);
  const std::vector<Column> same = {chunks[0], chunks[2]};
  EXPECT_EQ(concat_chunks("from_arrow", TypeId::kCategory, same).dictionary(),
            chunks[0].dictionary());
  clear_ledger();
}

TEST(ArrowText, IsUtf8) {
  const std::vector<int32_t> indices = {0, 1};
  Foreign bad("i", {"good", "caf\xE9"}, 2, indices.data());
  try {
    bad.take();
    FAIL();
  } catch (const InvalidArgumentError& error) {
    EXPECT_NE(std::string(error.what()).find("column='s', category=1, byte=3"), std::string::npos)
        << error.what();
  }
  clear_ledger();
}

}  // namespace
}  // namespace hr
