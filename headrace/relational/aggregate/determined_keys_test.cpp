// SPDX-License-Identifier: Apache-2.0
#include "headrace/relational/aggregate/determined_keys.h"

#include "headrace/data/column_testing.h"
#include "headrace/data/device_testing.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

namespace hr {

namespace {

Column strings_of(const std::vector<std::string>& words) {
  std::vector<StringView> views;
  std::string text;
  for (const std::string& word : words) {
    StringView view{.size = static_cast<uint32_t>(word.size()), .inlined = {}};
    if (word.size() <= sizeof view.inlined)
      word.copy(view.inlined, word.size());
    else
      view.indirect = {.prefix = {word[0], word[1], word[2], word[3]},
                       .buffer = 0,
                       .offset = static_cast<uint32_t>(text.size())};
    if (word.size() > sizeof view.inlined) text += word;
    views.push_back(view);
  }
  const auto buffer_of = [](const auto& values) {
    const auto bytes = static_cast<int64_t>(values.size() * sizeof values[0]);
    Buffer buffer = Buffer::allocate(bytes);
    std::memcpy(buffer.mutable_data(), values.data(), static_cast<size_t>(bytes));
    buffer.seal();
    return buffer;
  };
  return Column::strings(static_cast<int64_t>(words.size()), buffer_of(views), {buffer_of(text)});
}

class DeterminedKeys : public ::testing::Test {
 protected:
  static bool may_be(const std::vector<Column>& keys, GroupOrder order = GroupOrder::kSorted) {
    static const Stream stream = testing::stream_at(simulated);
    const ScopedStream scope(simulated, stream);
    std::vector<Column> there;
    for (const Column& key : keys) there.push_back(to_place(key, simulated, stream));
    return may_be_determined(there, {.order = order});
  }
};

// A number a row, for 5000 rows, and the name that `name(row, number)` gives it.
template <class F>
std::vector<Column> numbered(F&& name) {
  std::mt19937 random(1);
  std::vector<int64_t> numbers;
  std::vector<std::string> words;
  for (int64_t row = 0; row < 5000; ++row) {
    numbers.push_back(static_cast<int64_t>(random() % 300) - 100);
    words.push_back(name(row, numbers.back()));
  }
  return {testing::column_of(numbers), strings_of(words)};
}

TEST_F(DeterminedKeys, NamesOfNumbersAreDetermined) {
  for (const std::string prefix : {"c", "a name of some length "}) {
    const auto keys =
        numbered([&](int64_t, int64_t number) { return prefix + std::to_string(number); });
    EXPECT_TRUE(find_determining_key(keys, {}));
    EXPECT_TRUE(may_be(keys));
    EXPECT_FALSE(find_determining_key({keys[1], keys[0]}, {}));
    EXPECT_FALSE(may_be({keys[1], keys[0]}));  // sorted groups: only the first key is tried
    EXPECT_TRUE(may_be({keys[1], keys[0]}, GroupOrder::kFirstSeen));
  }
}

TEST_F(DeterminedKeys, OtherNamesAmongTheFirstRowsTellThatTheyAreNot) {
  for (const std::string prefix : {"c", "name of a row"}) {
    const auto keys =
        numbered([&](int64_t row, int64_t) { return std::to_string(row % 7) + prefix; });
    EXPECT_FALSE(may_be(keys));
    EXPECT_FALSE(may_be(keys, GroupOrder::kFirstSeen));
  }
}

TEST_F(DeterminedKeys, WhatTheFirstRowsDoNotTellMayBe) {
  const auto late = numbered([](int64_t row, int64_t) { return row < 4096 ? "a" : "b"; });
  EXPECT_FALSE(find_determining_key(late, {}));
  EXPECT_TRUE(may_be(late));
  // Long strings of one size that begin alike may be equal.
  const auto ends =
      numbered([](int64_t row, int64_t) { return "a long string " + std::to_string(row % 10); });
  EXPECT_FALSE(find_determining_key(ends, {}));
  EXPECT_TRUE(may_be(ends));
}

TEST_F(DeterminedKeys, KeysThatAreNotTriedAreNot) {
  const auto keys = numbered([](int64_t, int64_t number) { return std::to_string(number); });
  EXPECT_FALSE(may_be({keys[0]}));
  EXPECT_FALSE(may_be({keys[0].slice(0, 1000), keys[1].slice(0, 1000)}));
  EXPECT_FALSE(may_be({keys[0], keys[0]}));
  std::vector<bool> valid(5000, true);
  valid[4999] = false;
  const Column missing = testing::column_of(std::vector<int64_t>(5000, 1), valid);
  EXPECT_FALSE(may_be({missing, keys[1]}));
  EXPECT_FALSE(may_be({keys[0], keys[1], missing}));
}

}  // namespace

}  // namespace hr
