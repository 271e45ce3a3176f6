// SPDX-License-Identifier: Apache-2.0
// Terms and counts of documents by their definition; python/tests/test_learn_text.py compares them
// with scikit-learn.
#include "headrace/learn/text_counts.h"

#include "headrace/algo/sparse/sparse_layout.h"
#include "headrace/base/error.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/learn/murmur3.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace hr {
namespace {

using namespace testing;
using Strings = std::vector<std::string>;

Column string_column(const Strings& texts) {
  const auto rows = static_cast<int64_t>(texts.size());
  std::string all;
  std::vector<StringView> views(texts.size());
  for (size_t row = 0; row < texts.size(); ++row) {
    StringView& view = views[row];
    view = {};
    view.size = static_cast<uint32_t>(texts[row].size());
    if (view.size <= sizeof view.inlined) {
      std::memcpy(view.inlined, texts[row].data(), view.size);
      continue;
    }
    std::memcpy(view.indirect.prefix, texts[row].data(), sizeof view.indirect.prefix);
    view.indirect.offset = static_cast<uint32_t>(all.size());
    all += texts[row];
  }
  Buffer text = Buffer::allocate(static_cast<int64_t>(all.size()));
  if (!all.empty()) std::memcpy(text.mutable_data(), all.data(), all.size());
  Buffer buffer = Buffer::allocate(rows * static_cast<int64_t>(sizeof(StringView)));
  std::memcpy(buffer.mutable_data(), views.data(), views.size() * sizeof(StringView));
  return Column::strings(rows, buffer, {text});
}

// Values that other programs publish for these documents.
TEST(Murmur3, GivesKnownHashes) {
  EXPECT_EQ(murmur3_32("", 0), 0u);
  EXPECT_EQ(murmur3_32("", 1), 0x514E28B7u);
  EXPECT_EQ(murmur3_32("hello", 0), 0x248BFA47u);
  EXPECT_EQ(murmur3_32("hello, world", 0), 0x149BBB7Fu);
  EXPECT_EQ(murmur3_32("The quick brown fox jumps over the lazy dog", 0), 0x2E4FF723u);
}

TEST(TermMap, NumbersTermsAsTheyAreSeenFirst) {
  TermMap map;
  for (int round = 0; round < 2; ++round)
    for (uint32_t k = 0; k < 5000; ++k) {
      const std::string term = std::string(k % 23, 'x') + std::to_string(k);
      EXPECT_EQ(map.add(term, hash_term(term)), k);
    }
  EXPECT_EQ(map.size(), 5000u);
  EXPECT_EQ(map.term(24), "x24");
  EXPECT_EQ(map.add("", hash_term("")), 5000u);
  EXPECT_EQ(map.find("absent", hash_term("absent")), TermMap::kAbsent);
}

Strings terms_of(const std::string& text, const TextOptions& options) {
  TextAnalyzer analyzer(options);
  analyzer.analyze(text);
  return Strings(analyzer.terms().begin(), analyzer.terms().end());
}

TEST(TextAnalyzer, CutsTexts) {
  TextOptions options;
  EXPECT_EQ(terms_of("A mill, a_b THE-x\xC3\xA9!", options),
            (Strings{"mill", "a_b", "the", "x\xC3\xA9"}));
  options.most = 2;
  options.stop_words = string_column({"the"});
  EXPECT_EQ(terms_of("see the old mill", options),
            (Strings{"see", "old", "mill", "see old", "old mill"}));
  options = {TextUnit::kCharacter, true, 1, 2, 2, options.stop_words};
  EXPECT_EQ(terms_of("A \n b\tc", options), (Strings{"a ", " b", "b\t", "\tc"}));
  options.unit = TextUnit::kCharacterInWords;
  options.least = 3;
  options.most = 4;
  EXPECT_EQ(terms_of("ab c", options), (Strings{" ab", "ab ", " ab ", " c "}));
  EXPECT_EQ(terms_of("", options), Strings());
  EXPECT_EQ(terms_of("\xC3", options).size(), 1u);  // no UTF-8
}

TEST(CountTerms, CountsManyMorselsForAnyThreads) {
  Strings texts;
  std::map<std::string, int64_t> total;
  for (int64_t row = 0; row < 3000; ++row) {
    std::string text;
    for (int64_t k = 0; k < row % 7; ++k) {
      const std::string word = "w" + std::to_string(row * (k + 3) % 101);
      text += word + " ";
      ++total[word];
    }
    texts.push_back(text);
  }
  const Column column = string_column(texts);
  const auto count = [&] {
    return count_terms(column, {}, VocabularyLimits(), false, dtype_of<int64_t>());
  };
  const CountedTerms made = count();
  Strings words;
  std::vector<int64_t> sums;
  for (const auto& [word, sum] : total) {
    words.push_back(word);
    sums.push_back(sum);
  }
  ASSERT_EQ(made.terms.num_rows(), static_cast<int64_t>(words.size()));
  for (size_t k = 0; k < words.size(); ++k)
    EXPECT_EQ(made.terms.string(static_cast<int64_t>(k)), words[k]);
  const auto dense = values_of<int64_t>(to_dense(made.counts));
  for (size_t k = 0; k < dense.size(); ++k) sums[k % words.size()] -= dense[k];
  EXPECT_EQ(sums, std::vector<int64_t>(words.size(), 0));
  EXPECT_TRUE(same_for_any_threads([&] { return count().counts.indices(); }));
  const Sparse again = count_terms(column, {}, made.terms, false, dtype_of<int64_t>());
  EXPECT_TRUE(same_bits(again.indices(), made.counts.indices()));
  EXPECT_TRUE(same_bits(again.data(), made.counts.data()));
}

TEST(CountTerms, RefusesWhatIsNoText) {
  const Column column = string_column({"ab"});
  EXPECT_THROW(count_terms(column, {TextUnit::kWord, true, 2, 2, 1, {}}, VocabularyLimits(), false,
                           dtype_of<int64_t>()),
               InvalidArgumentError);
  EXPECT_THROW(hash_terms(column, {}, 0, true, false, dtype_of<double>()), InvalidArgumentError);
  EXPECT_THROW(hash_terms(Column(), {}, 9, true, false, dtype_of<double>()), TypeMismatchError);
}

}  // namespace
}  // namespace hr
