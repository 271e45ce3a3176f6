// SPDX-License-Identifier: Apache-2.0
// Numbers are the ranks of the keys, whatever the way, the threads and the limit.
#include "headrace/algo/keys/factorize_partitioned.h"

#include "headrace/exec/workers.h"
#include "headrace/memory/budget/budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

namespace hr {
namespace {

std::vector<uint64_t> random_keys(int64_t rows, uint64_t distinct) {
  std::mt19937_64 random(7);
  std::vector<uint64_t> keys;
  for (int64_t i = 0; i < rows; ++i) keys.push_back(random() % distinct * 0x9E3779B97F4A7C15u);
  return keys;
}

void check(const std::vector<uint64_t>& keys, std::optional<uint64_t> last) {
  std::vector<uint64_t> wanted = keys;
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  if (last && std::erase(wanted, *last) > 0) wanted.push_back(*last);
  const auto rows = static_cast<int64_t>(keys.size());
  const SortedFactorizedKeys found = factorize_sorted(
      rows,
      [&](int64_t row, int64_t count, uint64_t* out) {
        std::copy_n(keys.begin() + row, count, out);
      },
      {}, last);
  ASSERT_EQ(found.count, static_cast<int64_t>(wanted.size()));
  ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), found.keys.as<uint64_t>()));
  for (int64_t row = 0; row < rows; ++row)
    ASSERT_EQ(wanted[found.numbers.as<uint32_t>()[row]], keys[static_cast<size_t>(row)]) << row;
}

TEST(NumberInOrder, GivesRanks) {
  for (const int64_t rows : {1L, kMorselRows + 1, 9 * kMorselRows})
    for (const uint64_t distinct : {1ul, 150'000ul, ~0ul})
      for (const int count : {1, 4}) {
        set_threads(count);
        const std::vector<uint64_t> keys = random_keys(rows, distinct);
        check(keys, {});
        check(keys, keys[keys.size() / 2]);
        check(keys, 12345);  // which none has
      }
}

TEST(NumberInOrder, TakesKeysOfOneRangeAndHeavyOnes) {
  std::vector<uint64_t> keys = random_keys(9 * kMorselRows, ~0ul);
  for (size_t i = 0; i < keys.size(); i += 2) keys[i] = 5;
  check(keys, {});
  check(keys, 5);
}

// 12 MB more than there are, for two workers: each has about 1 MB in hand.
class FewBytes {
 public:
  FewBytes() {
    set_memory_limit(memory_statistics().used_bytes + (12 << 20));
    set_threads(2);
  }
  ~FewBytes() {
    set_memory_limit(limit_);
    set_threads(threads_);
  }
  FewBytes(const FewBytes&) = delete;
  FewBytes& operator=(const FewBytes&) = delete;

 private:
  int64_t limit_ = memory_limit();
  int threads_ = threads();
};

TEST(NumberInOrder, UnderALimit) {
  const std::vector<uint64_t> keys = random_keys(20 * kMorselRows, ~0ul);
  const FewBytes few;
  check(keys, keys[77]);
}

Column texts_of(const std::vector<uint64_t>& keys, bool nulls, size_t pad) {
  std::vector<std::string> texts;
  std::vector<bool> there;
  for (size_t i = 0; i < keys.size(); ++i) {
    texts.push_back(std::string(pad, 'a') + std::to_string(keys[i]));
    there.push_back(!nulls || i % 7 != 3);
  }
  int64_t bytes = 0;
  for (const std::string& text : texts) bytes += static_cast<int64_t>(text.size());
  const auto rows = static_cast<int64_t>(texts.size());
  Buffer text = Buffer::allocate(bytes), views = Buffer::allocate(16 * rows);
  Buffer validity = Buffer::allocate_zeroed((rows + 7) / 8);
  int64_t at = 0, missing = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const std::string& own = texts[static_cast<size_t>(i)];
    StringView view{};
    view.size = static_cast<uint32_t>(own.size());
    if (own.size() <= sizeof view.inlined) {
      std::copy(own.begin(), own.end(), view.inlined);
    } else {
      std::copy_n(own.begin(), 4, view.indirect.prefix);
      view.indirect.buffer = 0;
      view.indirect.offset = static_cast<uint32_t>(at);
      std::copy(own.begin(), own.end(), text.mutable_as<char>() + at);
      at += view.size;
    }
    views.mutable_as<StringView>()[i] = view;
    if (there[static_cast<size_t>(i)])
      validity.mutable_as<uint8_t>()[i / 8] |= static_cast<uint8_t>(1 << (i % 8));
    else
      ++missing;
  }
  views.seal();
  return Column::strings(rows, std::move(views), {std::move(text)},
                         nulls ? std::move(validity) : Buffer(), nulls ? missing : 0);
}

void check_texts(const Column& strings) {
  for (const bool ordered : {false, true}) {
    const FactorizedStrings found = factorize_strings(strings, ordered);
    std::set<std::string_view> seen;
    for (int64_t k = 0; k < found.texts.num_rows(); ++k) {
      ASSERT_TRUE(seen.insert(found.texts.string(k)).second);
      if (ordered && k > 0) {
        ASSERT_LT(found.texts.string(k - 1), found.texts.string(k));
      }
    }
    for (int64_t row = 0; row < strings.num_rows(); ++row) {
      if (strings.is_null(row)) continue;
      ASSERT_EQ(found.texts.string(found.numbers.as<uint32_t>()[row]), strings.string(row));
    }
  }
}

TEST(NumberTexts, GivesEachStringItsNumber) {
  for (const size_t pad : {0u, 20u})  // as views alone, and with one beginning for all
    for (const bool nulls : {false, true})
      for (const int count : {1, 4}) {
        set_threads(count);
        check_texts(texts_of(random_keys(3 * kMorselRows, 200'000), nulls, pad));
        check_texts(texts_of(random_keys(100, 3), nulls, pad).slice(13, 50));
      }
}

TEST(NumberTexts, TakesAHeavyOneAmongMany) {
  std::vector<uint64_t> keys = random_keys(9 * kMorselRows, ~0ul);
  for (size_t i = 0; i < keys.size(); ++i)
    if (i % 3 != 0) keys[i] = 5;
  check_texts(texts_of(keys, false, 0));
}

// A few rows, whose strings would fill what the limit leaves.
TEST(NumberTexts, AreManyWhereADictionaryWouldNotFit) {
  const Column differing = texts_of(random_keys(60'000, ~0ul), true, 300),
               repeating = texts_of(random_keys(60'000, 1000), true, 300);
  EXPECT_FALSE(has_many_strings(differing));
  const int64_t before = memory_limit();
  set_memory_limit(memory_statistics().used_bytes + (12 << 20));
  EXPECT_TRUE(has_many_strings(differing));
  EXPECT_FALSE(has_many_strings(repeating));
  check_texts(differing);
  set_memory_limit(before);
}

TEST(NumberTexts, UnderALimit) {
  const Column strings = texts_of(random_keys(10 * kMorselRows, 900'000), true, 0);
  EXPECT_TRUE(has_many_strings(strings));
  const FewBytes few;
  check_texts(strings);
}

}  // namespace
}  // namespace hr
