// SPDX-License-Identifier: Apache-2.0
// Numbers of strings on a CUDA device against those of a map: all lengths, shared starts and ends,
// NUL and high bytes.
#include "headrace/algo/sort/string_codes.h"

#include "headrace/base/bits.h"
#include "headrace/data/device_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace hr {

namespace {

using Texts = std::vector<std::optional<std::string>>;

class StringCodesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
  }
};

// A column on the device, behind `skipped` rows of its buffers.
Column sent(const Texts& texts, int64_t skipped) {
  const auto rows = static_cast<int64_t>(texts.size());
  std::string text;
  Buffer views = Buffer::allocate_zeroed(rows * static_cast<int64_t>(sizeof(StringView)) + 16);
  Buffer valid = Buffer::allocate_zeroed(rows / 8 + 8);
  int64_t nulls = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const auto& each = texts[static_cast<size_t>(i)];
    nulls += !each;
    set_bit(valid.mutable_as<uint8_t>(), i, each.has_value());
    if (!each) continue;
    StringView& view = views.mutable_as<StringView>()[i];
    view.size = static_cast<uint32_t>(each->size());
    if (each->size() <= sizeof view.inlined) {
      std::memcpy(view.inlined, each->data(), each->size());
    } else {
      std::memcpy(view.indirect.prefix, each->data(), 4);
      view.indirect.offset = static_cast<uint32_t>(text.size());
      text += *each;
    }
  }
  Buffer bytes = Buffer::allocate_zeroed(static_cast<int64_t>(text.size()) + 1);
  std::memcpy(bytes.mutable_data(), text.data(), text.size());
  const Column column =
      Column::strings(rows, views, {bytes}, nulls > 0 ? valid : Buffer(), nulls > 0 ? -1 : 0);
  const Stream stream = current_stream(cuda_place());
  return to_place(column, cuda_place(), stream).slice(skipped, rows - skipped);
}

Texts drawn(int64_t rows, uint32_t seed, size_t longest, int letters, bool nulls) {
  std::mt19937 random(seed);
  const std::string starts[] = {"",
                                "",
                                std::string(3, '\0'),
                                "eight by",
                                "twelve bytes",
                                "a start of more than 32 bytes, the same for many"};
  Texts texts;
  for (int64_t i = 0; i < rows; ++i) {
    if (nulls && random() % 7 == 0) {
      texts.emplace_back();
      continue;
    }
    std::string each = starts[random() % std::size(starts)];
    for (size_t k = random() % (longest + 1); k > 0; --k) {
      const auto drawn = static_cast<int>(random() % static_cast<unsigned>(letters));
      each += static_cast<char>(drawn == 0 ? 0 : drawn == 1 ? 0xFF : 'a' + drawn);
    }
    texts.push_back(each);
  }
  return texts;
}

Column fetched(const Column& column) {
  return to_place(column, host, current_stream(cuda_place()));
}

void expect_codes(const Texts& texts, int64_t skipped, bool ordered, const std::string& what) {
  const Texts own(texts.begin() + skipped, texts.end());
  std::map<std::string, int64_t> numbers;
  std::vector<int64_t> first;
  for (size_t i = 0; i < own.size(); ++i)
    if (own[i] && numbers.try_emplace(*own[i], static_cast<int64_t>(first.size())).second)
      first.push_back(static_cast<int64_t>(i));
  if (ordered) {
    std::vector<int64_t> rows;
    for (auto& [text, number] : numbers) {
      rows.push_back(first[static_cast<size_t>(number)]);
      number = static_cast<int64_t>(rows.size()) - 1;
    }
    first = rows;
  }
  const RowCodes made = encode_strings(sent(texts, skipped), ordered);
  const Column codes = fetched(made.codes);
  ASSERT_EQ(codes.num_rows(), static_cast<int64_t>(own.size()));
  for (size_t i = 0; i < own.size(); ++i) {
    ASSERT_EQ(codes.is_null(static_cast<int64_t>(i)), !own[i]) << what << ", row " << i;
    if (!own[i]) continue;
    ASSERT_EQ(codes.values<int32_t>()[i], numbers[*own[i]]) << what << ", row " << i;
  }
  ASSERT_EQ(made.first_rows.num_elements(), static_cast<int64_t>(first.size())) << what;
  const Tensor rows = testing::fetched(made.first_rows);
  for (size_t i = 0; i < first.size(); ++i)
    ASSERT_EQ(rows.as<uint32_t>()[i], first[i]) << what << ", number " << i;
}

constexpr int64_t kSizes[] = {1, 2, 31, 32, 33, 64, 65, 1000, 70'000};

}  // namespace

TEST_F(StringCodesTest, AreThoseOfAMap) {
  for (const int64_t rows : kSizes)
    for (const size_t longest : {size_t{0}, size_t{3}, size_t{12}, size_t{40}})
      for (const int letters : {2, 20})
        for (const bool nulls : {false, true}) {
          const Texts texts =
              drawn(rows + 3, static_cast<uint32_t>(rows) + 7, longest, letters, nulls);
          for (const bool ordered : {false, true})
            expect_codes(texts, 3, ordered,
                         "rows " + std::to_string(rows) + ", longest " + std::to_string(longest) +
                             ", letters " + std::to_string(letters));
        }
}

TEST_F(StringCodesTest, OfEveryLengthInOrder) {
  std::mt19937 random(3);
  Texts texts;
  for (size_t size = 0; size <= 40; ++size)
    for (const char last : {'\0', '\x01', 'z', '\x7F', '\x80', '\xFF'})
      for (int copies = 0; copies < 3; ++copies) {
        std::string each(size, '\0');
        if (size > 0) each.back() = last;
        texts.emplace_back(each);
        each.insert(0, std::string(size % 3, 'q'));
        texts.emplace_back(each);
      }
  std::ranges::shuffle(texts, random);
  expect_codes(texts, 0, true, "zeros");
  expect_codes(texts, 5, false, "zeros");
}

TEST_F(StringCodesTest, OfTwoColumns) {
  for (const int64_t rows : {1, 65, 3000})
    for (const bool nulls : {false, true}) {
      const Texts left = drawn(rows, 11, 12, 3, nulls),
                  right = drawn(rows / 2 + 1, 12, 12, 3, nulls);
      const std::array<Column, 2> made = encode_strings(sent(left, 0), sent(right, 0));
      const Column numbers[] = {fetched(made[0]), fetched(made[1])};
      for (const size_t side : {0, 1}) {
        const Texts& own = side == 0 ? left : right;
        for (size_t i = 0; i < own.size(); ++i) {
          ASSERT_EQ(numbers[side].is_null(static_cast<int64_t>(i)), !own[i]);
          if (!own[i]) continue;
          const auto found = std::ranges::find(right, own[i]) - right.begin();
          ASSERT_EQ(numbers[side].values<int32_t>()[i], found) << "side " << side << ", row " << i;
        }
      }
    }
}

TEST_F(StringCodesTest, OfNoRowsAndOfNulls) {
  const Column none = sent({}, 0);
  EXPECT_EQ(encode_strings(none, true).first_rows.num_elements(), 0);
  const Column nulls = sent(Texts(70), 0);
  EXPECT_EQ(encode_strings(nulls, true).first_rows.num_elements(), 0);
  EXPECT_EQ(encode_strings(nulls, false).codes.null_count(), 70);
}

}  // namespace hr
