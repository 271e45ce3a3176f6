// SPDX-License-Identifier: Apache-2.0
// Words and characters of a document, ASCII by table.
#include "headrace/learn/text_analyzer.h"

#include "headrace/base/error.h"
#include "headrace/base/utf8.h"
#include "headrace/data/string_reader.h"
#include "headrace/exec/workers.h"
#include "headrace/functions/strings/character_classes.h"
#include "headrace/functions/strings/characters.h"
#include "headrace/functions/strings/string_transform.h"
#include "headrace/learn/text_analyzer_kernels.h"

#include <array>
#include <atomic>
#include <bit>

namespace hr {
namespace {

constexpr auto kAsciiWord = [] {
  std::array<bool, 128> word{};
  for (size_t code = 0; code < word.size(); ++code)
    word[code] = code == '_' || (code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z') ||
                 (code >= 'a' && code <= 'z');
  return word;
}();

/// Bytes of the character there if it belongs to a word, else 0; `bytes` of any.
HR_INLINE bool word_at(std::string_view text, size_t at, size_t& bytes) {
  const auto byte = static_cast<uint8_t>(text[at]);
  bytes = 1;
  if (byte < 0x80) return kAsciiWord[byte];
  const Character character = character_at(text, at);
  bytes = character.bytes;
  return is_word_character(character.code);
}

}  // namespace

TextUnit text_unit_from_name(std::string_view name) {
  if (name == "word") return TextUnit::kWord;
  if (name == "char") return TextUnit::kCharacter;
  if (name == "char_wb") return TextUnit::kCharacterInWords;
  throw_error<InvalidArgumentError>("vectorizer", "no such analyzer", {{"analyzer", name}},
                                    "use 'word', 'char', 'char_wb' or a function");
}

TextAnalyzer::TextAnalyzer(const TextOptions& options) : options_(options) {
  if (options.least < 1 || options.most < options.least)
    throw_error<InvalidArgumentError>(
        "vectorizer", "ngram_range: the lower boundary is below 1 or above the upper one",
        {{"lower", options.least}, {"upper", options.most}});
  const StringReader words(options.stop_words);
  for (int64_t row = 0; row < options.stop_words.num_rows(); ++row)
    if (!options.stop_words.is_null(row)) stop_words_.add(words[row], hash_term(words[row]));
  stops_ = stop_words_.size() > 0;
}

void TextAnalyzer::analyze(std::string_view text) {
  joined_.clear();
  words_.clear();
  terms_.clear();
  const std::string_view lower = lowered(text);
  switch (options_.unit) {
    case TextUnit::kWord:
      return find_words(lower);
    case TextUnit::kCharacter:
      return find_characters(lower);
    case TextUnit::kCharacterInWords:
      return find_characters_in_words(lower);
  }
}

void TextAnalyzer::analyze_words(const std::vector<std::string_view>& words) {
  joined_.clear();
  words_.clear();
  terms_.clear();
  for (const std::string_view word : words) add_word(word);
  word_terms();
}

std::string_view TextAnalyzer::lowered(std::string_view text) {
  if (!options_.lowercase) return text;
  if (lower_.size() < text.size()) lower_.resize(text.size());
  char* out = lower_.data();
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    out[i] = static_cast<char>(byte + (static_cast<uint8_t>(byte - 'A') < 26 ? 32 : 0));
  }
  return {out, text.size()};
}

void TextAnalyzer::add_word(std::string_view word) {
  if (stops_ && stop_words_.find(word, hash_term(word)) != TermMap::kAbsent) return;
  if (options_.most == 1) {
    terms_.push_back(word);
    return;
  }
  const size_t begin = joined_.size();
  joined_.append(word);
  words_.push_back({begin, joined_.size()});
  joined_.push_back(' ');
}

void TextAnalyzer::find_ascii_words(std::string_view text) {
  size_t begin = 0;
  bool inside = false;
  for (size_t block = 0; block <= text.size() / 64; ++block) {
    const uint64_t word = bits_[block];
    uint64_t borders = word ^ (word << 1 | (inside ? 1 : 0));
    for (; borders != 0; borders &= borders - 1) {
      const size_t at = 64 * block + static_cast<size_t>(std::countr_zero(borders));
      if (inside && static_cast<int64_t>(at - begin) >= options_.shortest_word)
        add_word(text.substr(begin, at - begin));
      begin = at;
      inside = !inside;
    }
  }
}

void TextAnalyzer::find_words(std::string_view text) {
  if (bits_.size() <= text.size() / 64) bits_.resize(text.size() / 64 + 1);
  if (cpu::word_bits(text.data(), static_cast<int64_t>(text.size()), bits_.data())) {
    find_ascii_words(text);
    return word_terms();
  }
  size_t at = 0, bytes = 1;
  while (at < text.size()) {
    if (!word_at(text, at, bytes)) {
      at += bytes;
      continue;
    }
    const size_t begin = at;
    int64_t characters = 0;
    do {
      at += bytes;
      ++characters;
    } while (at < text.size() && word_at(text, at, bytes));
    if (characters >= options_.shortest_word) add_word(text.substr(begin, at - begin));
  }
  word_terms();
}

void TextAnalyzer::word_terms() {
  if (options_.most == 1) return;
  const auto count = static_cast<int64_t>(words_.size());
  const std::string_view all = joined_;
  for (int64_t n = options_.least; n <= std::min(options_.most, count); ++n)
    for (int64_t first = 0; first + n <= count; ++first) {
      const size_t begin = words_[static_cast<size_t>(first)].begin;
      terms_.push_back(all.substr(begin, words_[static_cast<size_t>(first + n - 1)].end - begin));
    }
}

/// Notes where the characters of `joined_` from the last mark on begin.
void TextAnalyzer::mark_characters(std::string_view text) {
  for (size_t at = 0; at < text.size(); at = next_character(text, at))
    characters_.push_back(joined_.size() + at);
  joined_.append(text);
}

void TextAnalyzer::character_terms(size_t first, size_t count, int64_t n) {
  const auto width = static_cast<size_t>(n);
  const std::string_view all = joined_;
  for (size_t at = first; at + width <= first + count; ++at)
    terms_.push_back(all.substr(characters_[at], characters_[at + width] - characters_[at]));
}

void TextAnalyzer::find_characters(std::string_view text) {
  characters_.clear();
  size_t at = 0;
  while (at < text.size()) {
    size_t end = at;
    int64_t spaces = 0;
    for (; end < text.size(); ++spaces) {
      const Character character = character_at(text, end);
      if (!is_space(character.code)) break;
      end += character.bytes;
    }
    if (spaces == 0) end = next_character(text, at);
    mark_characters(spaces > 1 ? " " : text.substr(at, end - at));
    at = end;
  }
  const size_t count = characters_.size();
  characters_.push_back(joined_.size());
  for (int64_t n = options_.least; n <= std::min(options_.most, static_cast<int64_t>(count)); ++n)
    character_terms(0, count, n);
}

void TextAnalyzer::find_characters_in_words(std::string_view text) {
  characters_.clear();
  std::vector<Span>& spans = words_;  // of characters here
  size_t at = 0;
  while (at < text.size()) {
    Character character = character_at(text, at);
    if (is_space(character.code)) {
      at += character.bytes;
      continue;
    }
    size_t end = at;
    for (; end < text.size(); end += character.bytes) {
      character = character_at(text, end);
      if (is_space(character.code)) break;
    }
    const size_t first = characters_.size();
    mark_characters(" ");
    mark_characters(text.substr(at, end - at));
    mark_characters(" ");
    spans.push_back({first, characters_.size()});
    characters_.push_back(joined_.size());
    at = end;
  }
  for (const auto& [first, last] : spans)
    for (int64_t n = options_.least; n <= options_.most; ++n) {
      const auto count = static_cast<int64_t>(last - first);
      character_terms(first, last - first, std::min(n, count));
      if (n >= count) break;  // a short word once
    }
}

Column prepared_texts(const Column& texts, bool lowercase) {
  if (!lowercase) return texts;
  const StringReader reader(texts);
  std::atomic<bool> ascii = true;
  parallel_morsels(texts.num_rows(), [&](const Morsel& morsel) {
    for (int64_t row = morsel.begin; row < morsel.end && ascii.load(std::memory_order_relaxed);
         ++row)
      if (!texts.is_null(row) && !is_ascii(reader[row])) ascii = false;
  });
  return ascii ? texts : change_case(LetterCase::kLower, texts);
}

}  // namespace hr
