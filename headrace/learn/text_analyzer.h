// SPDX-License-Identifier: Apache-2.0
// The terms of a document: words or runs of characters, as scikit-learn's vectorizers cut them.
#pragma once
#include "headrace/data/column.h"
#include "headrace/learn/text_terms.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

/// What a term is made of.
enum class TextUnit : uint8_t {
  kWord,              ///< n words with a space between them
  kCharacter,         ///< n characters; runs of white space count as one space
  kCharacterInWords,  ///< the same inside words that have a space at each end
};

/// "word", "char", "char_wb"; throws InvalidArgumentError for another word.
HR_API TextUnit text_unit_from_name(std::string_view name);

struct TextOptions {
  TextUnit unit = TextUnit::kWord;
  bool lowercase = true;
  int64_t shortest_word = 2;  ///< characters
  int64_t least = 1;          ///< n of a term
  int64_t most = 1;
  Column stop_words{TypeId::kString, 0, {}};
};

/// Cuts documents into terms. A word is a run of letters, digits (Unicode 14.0, Python's `\w`) and
/// underscores. Terms come n by n, then from left to right. For one thread: it holds what it needs
/// between documents.
class HR_API TextAnalyzer {
 public:
  explicit TextAnalyzer(const TextOptions& options);

  /// Finds the terms of a document, whose letters outside of ASCII are in their case already.
  void analyze(std::string_view text);
  /// The same of words that are there.
  void analyze_words(const std::vector<std::string_view>& words);

  /// Valid until the next call.
  const std::vector<std::string_view>& terms() const { return terms_; }

 private:
  struct Span {
    size_t begin;
    size_t end;
  };

  std::string_view lowered(std::string_view text);
  void add_word(std::string_view word);
  void find_words(std::string_view text);
  void find_ascii_words(std::string_view text);
  void find_characters(std::string_view text);
  void find_characters_in_words(std::string_view text);
  void word_terms();
  void mark_characters(std::string_view text);
  void character_terms(size_t first, size_t count, int64_t n);

  TextOptions options_;
  TermMap stop_words_{};
  bool stops_ = false;
  std::string lower_{};
  std::vector<uint64_t> bits_{};  // of the bytes of words
  std::string joined_{};
  std::vector<Span> words_{};         // in `joined_`
  std::vector<size_t> characters_{};  // where they begin in `joined_`, and the end
  std::vector<std::string_view> terms_{};
};

/// Texts ready for an analyzer: letters outside of ASCII in lower case, if need be.
Column prepared_texts(const Column& texts, bool lowercase);

}  // namespace hr
