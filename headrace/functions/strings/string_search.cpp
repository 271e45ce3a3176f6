// SPDX-License-Identifier: Apache-2.0
// Texts by what they hold.
#include "headrace/functions/strings/string_search.h"

#include "headrace/algo/keys/dictionary_encode.h"
#include "headrace/algo/select/map_rows.h"
#include "headrace/base/bits.h"
#include "headrace/base/enum_names.h"
#include "headrace/base/error.h"
#include "headrace/base/utf8.h"
#include "headrace/data/access_pattern.h"
#include "headrace/data/dictionary.h"
#include "headrace/data/string_reader.h"
#include "headrace/exec/workers.h"
#include "headrace/functions/strings/character_classes.h"
#include "headrace/functions/strings/string_builder.h"
#include "headrace/functions/strings/string_pieces_math.h"
#include "headrace/functions/strings/string_search_kernels.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace hr {

namespace {

constexpr std::string_view kTests[] = {"contains", "startswith", "endswith", "like"};
constexpr std::string_view kCharacterTests[] = {"isalpha",   "isdecimal", "isdigit",
                                                "isnumeric", "isalnum",   "isspace",
                                                "islower",   "isupper",   "istitle"};

/// A LIKE pattern, cut at its %.
class Like {
 public:
  explicit Like(std::string_view pattern) {
    Piece piece;
    for (size_t i = 0; i < pattern.size(); ++i) {
      const bool taken = pattern[i] == '\\' && i + 1 < pattern.size();
      if (taken) ++i;
      if (!taken && pattern[i] == '%') {
        pieces_.push_back(std::exchange(piece, {}));
        continue;
      }
      piece.any.push_back(!taken && pattern[i] == '_');
      piece.has_any |= piece.any.back();
      piece.text.push_back(pattern[i]);
    }
    pieces_.push_back(std::move(piece));
  }

  bool operator()(std::string_view text) const {
    if (pieces_.size() == 1) return match(pieces_[0], text, 0) == text.size();
    size_t at = match(pieces_[0], text, 0);
    for (size_t i = 1; i + 1 < pieces_.size() && at != kNone; ++i) at = find(pieces_[i], text, at);
    if (at == kNone) return false;
    return ends(pieces_.back(), text, at);
  }

  /// What stands anywhere in each text that matches; empty: not known.
  std::string_view required() const {
    if (!pieces_[0].text.empty()) return {};  // the beginning tells
    std::string_view longest;
    for (size_t i = 1; i + 1 < pieces_.size(); ++i)
      if (const Piece& piece = pieces_[i]; !piece.has_any && piece.text.size() > longest.size())
        longest = piece.text;
    return longest;
  }

 private:
  static constexpr size_t kNone = std::string_view::npos;

  struct Piece {
    std::string text{};
    std::vector<bool> any{};  // of its bytes: any character
    bool has_any = false;
  };

  // Where the piece ends that begins at `at`.
  static size_t match(const Piece& piece, std::string_view text, size_t at) {
    if (!piece.has_any)
      return text.substr(at).starts_with(piece.text) ? at + piece.text.size() : kNone;
    for (size_t i = 0; i < piece.text.size(); ++i) {
      if (at >= text.size()) return kNone;
      if (piece.any[i])
        at = next_character(text, at);
      else if (text[at++] != piece.text[i])
        return kNone;
    }
    return at;
  }

  // Where it ends the first time that it comes.
  size_t find(const Piece& piece, std::string_view text, size_t at) const {
    if (!piece.has_any) {
      const size_t found = find_text_(text.substr(at), piece.text);
      return found == kNone ? kNone : at + found + piece.text.size();
    }
    for (; at <= text.size(); at = next_character(text, at)) {
      const size_t end = match(piece, text, at);
      if (end != kNone) return end;
    }
    return kNone;
  }

  static bool ends(const Piece& piece, std::string_view text, size_t at) {
    if (!piece.has_any) return text.size() - at >= piece.text.size() && text.ends_with(piece.text);
    for (; at <= text.size(); at = next_character(text, at))
      if (match(piece, text, at) == text.size()) return true;
    return false;
  }

  cpu::FindText find_text_ = cpu::find_text();
  std::vector<Piece> pieces_{};
};

// `test(row)` of the rows from `begin` on whose bits are set.
template <class F>
uint64_t test_rows(int64_t begin, uint64_t rows, F&& test) {
  uint64_t word = 0;
  for (; rows; rows &= rows - 1) {
    const int i = std::countr_zero(rows);
    word |= uint64_t{test(begin + i)} << i;
  }
  return word;
}

// Searches up to 64 strings for a part.
class TextRun {
 public:
  TextRun(const StringReader& strings, std::string_view part, cpu::FindText find)
      : strings_(strings), part_(part), find_(find) {}

  // `test(row)` of those of the rows from `begin` on that have the part. Strings that follow each
  // other in one buffer, as readers leave them, are searched as one text.
  template <class F>
  uint64_t test(int64_t begin, uint64_t rows, F&& test) {
    const auto search = [&](int64_t row) { return has_part(row) && test(row); };
    if (!place(begin, rows)) return test_rows(begin, rows, search);
    uint64_t word = test_rows(begin, short_, search);
    size_t at = count_ ? begins_[0] : 0;
    for (size_t k = 0; k < count_;) {
      const size_t found = find_({text_ + at, ends_[count_ - 1] - at}, part_);
      if (found == std::string_view::npos) break;
      at += found;
      while (ends_[k] <= at) ++k;
      if (at < begins_[k] || at + part_.size() > ends_[k]) {
        ++at;  // not within one string
        continue;
      }
      word |= uint64_t{test(begin + rows_[k])} << rows_[k];
      at = ends_[k++];
    }
    return word;
  }

 private:
  bool has_part(int64_t row) const { return find_(strings_[row], part_) != std::string_view::npos; }

  // Where the strings are; false if they do not follow each other, or other text lies between.
  bool place(int64_t begin, uint64_t rows) {
    short_ = 0;
    count_ = 0;
    uint32_t buffer = 0;
    size_t bytes = 0;
    for (; rows; rows &= rows - 1) {
      const int i = std::countr_zero(rows);
      const StringView& view = strings_.view(begin + i);
      if (view.size <= sizeof view.inlined) {
        short_ |= uint64_t{1} << i;
        continue;
      }
      const size_t at = view.indirect.offset;
      if (count_ == 0)
        buffer = view.indirect.buffer;
      else if (view.indirect.buffer != buffer || at < ends_[count_ - 1])
        return false;
      begins_[count_] = at;
      ends_[count_] = at + view.size;
      rows_[count_++] = i;
      bytes += view.size;
    }
    if (count_ == 0) return true;
    text_ = strings_.text(buffer);
    return ends_[count_ - 1] - begins_[0] <= 2 * bytes;
  }

  const StringReader& strings_;
  std::string_view part_;
  cpu::FindText find_;
  uint64_t short_ = 0;  // strings within their views
  size_t count_ = 0;    // of the others
  size_t begins_[64], ends_[64];
  int rows_[64];
  const char* text_ = nullptr;
};

// `test` of the strings that have the part, which all that pass have.
template <class F>
Column test_strings_with(std::string_view part, const Column& strings, F&& test,
                         const Mask* where) {
  const int64_t rows = strings.num_rows();
  const Nulls null(strings);
  const StringReader texts(strings);
  const cpu::FindText find = cpu::find_text();
  Buffer bits = Buffer::allocate_zeroed(bitmap_bytes(rows));
  if (rows > 0) {
    auto* const out = bits.mutable_as<uint8_t>();
    parallel_morsels(rows, {reads(strings)}, [&](Morsel morsel) {
      TextRun run(texts, part, find);
      for (int64_t row = morsel.begin; row < morsel.end; row += 64) {
        const int64_t count = std::min<int64_t>(64, morsel.end - row);
        uint64_t wanted = where ? where->word(row, count) : ~uint64_t{0} >> (64 - count);
        if (null.any()) wanted = test_rows(row, wanted, [&](int64_t each) { return !null(each); });
        const uint64_t word =
            run.test(row, wanted, [&](int64_t each) { return test(texts[each]); });
        std::memcpy(out + row / 8, &word, static_cast<size_t>((count + 7) / 8));
      }
    });
  }
  return bool_column(rows, std::move(bits), null.any(), null);
}

template <class F>
Column test_strings(const Column& strings, F&& test, const Mask* where) {
  const Nulls null(strings);
  const StringReader texts(strings);
  Buffer bits = bits_of(
      strings.num_rows(), {reads(strings)},
      [&](int64_t row) { return !null(row) && test(texts[row]); }, where);
  return bool_column(strings.num_rows(), std::move(bits), null.any(), null);
}

Column test_strings(TextTest test, const Column& strings, std::string_view pattern,
                    const Mask* where) {
  const auto each = [&](auto&& passes) { return test_strings(strings, passes, where); };
  switch (test) {
    case TextTest::kContains:
      if (pattern.empty()) return each([](std::string_view) { return true; });
      return test_strings_with(pattern, strings, [](std::string_view) { return true; }, where);
    case TextTest::kStartsWith:
      return each([&](std::string_view text) { return text.starts_with(pattern); });
    case TextTest::kEndsWith:
      return each([&](std::string_view text) { return text.ends_with(pattern); });
    case TextTest::kLike: {
      const Like like(pattern);
      if (like.required().empty()) return each(like);
      return test_strings_with(like.required(), strings, like, where);
    }
  }
  throw_error<InternalError>("str", "no such test");
}

// What all characters have one of.
uint8_t classes_of(CharacterTest test) {
  switch (test) {
    case CharacterTest::kAlpha:
      return kIsAlpha;
    case CharacterTest::kDecimal:
      return kIsDecimal;
    case CharacterTest::kDigit:
      return kIsDigit;
    case CharacterTest::kNumeric:
      return kIsNumeric;
    case CharacterTest::kSpace:
      return kIsSpace;
    default:
      return kIsAlpha | kIsDecimal | kIsDigit | kIsNumeric;
  }
}

// `passes(class)` of each character until it is false.
template <class F>
bool all_characters(std::string_view text, F&& passes) {
  for (size_t at = 0; at < text.size();) {
    const Character each = character_at(text, at);
    if (!passes(class_of(each.code))) return false;
    at += each.bytes;
  }
  return true;
}

bool have_classes(std::string_view text, uint8_t wanted) {
  return !text.empty() && all_characters(text, [&](uint8_t own) { return (own & wanted) != 0; });
}

// Whether there are letters in this case, and none in another.
bool are_in_case(std::string_view text, uint8_t wanted) {
  const auto others = static_cast<uint8_t>((kIsLower | kIsUpper | kIsTitle) & ~wanted);
  bool found = false;
  return all_characters(text,
                        [&](uint8_t own) {
                          found |= (own & wanted) != 0;
                          return (own & others) == 0;
                        }) &&
         found;
}

// Whether upper case begins each word, and is nowhere else.
bool is_title(std::string_view text) {
  bool found = false, in_word = false;
  const auto fits = [&](uint8_t own) {
    const bool begins = (own & (kIsUpper | kIsTitle)) != 0;
    const bool letter = begins || (own & kIsLower) != 0;
    if (letter && begins == in_word) return false;
    in_word = letter;
    found |= letter;
    return true;
  };
  return all_characters(text, fits) && found;
}

}  // namespace

TextTest text_test_from_name(std::string_view name) {
  const auto found = std::find(std::begin(kTests), std::end(kTests), name);
  if (found == std::end(kTests))
    throw_error<InvalidArgumentError>("str", "no such test", {{"test", name}});
  return static_cast<TextTest>(found - std::begin(kTests));
}

Column test_text(TextTest test, const Column& column, std::string_view pattern, const Mask* where) {
  if constexpr (built_with_cuda)
    if (column.place().is_gpu() && column.dtype().is_string())
      return cuda::test_text(test, column, pattern);
  if (!column.dtype().is_category()) return test_strings(test, column, pattern, where);
  const Column entries = test_strings(test, column.dictionary()->values(), pattern, nullptr);
  if constexpr (built_with_cuda)
    if (column.place().is_gpu()) return cuda::test_codes(column, entries.values_buffer());
  return test_codes(column, [&](int32_t code) { return get_bit(entries.bits(), code); }, where);
}

CharacterTest character_test_from_name(std::string_view name) {
  return enum_from_name<CharacterTest>("str", "test", name, kCharacterTests);
}

Column test_characters(CharacterTest test, const Column& column) {
  const Column from = text_of(column);
  const auto each = [&](auto&& passes) { return test_strings(from, passes, nullptr); };
  switch (test) {
    case CharacterTest::kLower:
      return each([](std::string_view text) { return are_in_case(text, kIsLower); });
    case CharacterTest::kUpper:
      return each([](std::string_view text) { return are_in_case(text, kIsUpper); });
    case CharacterTest::kTitle:
      return each(is_title);
    default:
      return each([wanted = classes_of(test)](std::string_view text) {
        return have_classes(text, wanted);
      });
  }
}

Column text_position(const Column& column, std::string_view part, int64_t begin,
                     std::optional<int64_t> end, bool last) {
  const Column from = text_of(column);
  const Nulls null(from);
  const auto count = [](std::string_view text) {
    return std::count_if(text.begin(), text.end(), starts_character);
  };
  return map_rows<int64_t>(from, TypeId::kInt64, [&](int64_t row) -> int64_t {
    const std::string_view text = null(row) ? std::string_view() : from.string(row);
    const int64_t characters = is_ascii(text) ? static_cast<int64_t>(text.size()) : count(text);
    const auto place = [&](int64_t at) {
      return at < 0 ? std::max<int64_t>(at + characters, 0) : at;
    };
    const int64_t first = place(begin),
                  stop = std::min(place(end.value_or(characters)), characters);
    if (first > stop) return -1;
    const bool ascii = characters == static_cast<int64_t>(text.size());
    const size_t from_byte = ascii ? static_cast<size_t>(first) : byte_of(text, first);
    const size_t to_byte = ascii ? static_cast<size_t>(stop) : byte_of(text, stop);
    const std::string_view within = text.substr(from_byte, to_byte - from_byte);
    const size_t found = last ? within.rfind(part) : within.find(part);
    if (found == std::string_view::npos) return -1;
    return first + (ascii ? static_cast<int64_t>(found) : count(within.substr(0, found)));
  });
}

Column slice_text(const Column& column, int64_t begin, int64_t end) {
  if constexpr (built_with_cuda)
    if (column.place().is_gpu()) return cuda::slice_text(column, begin, end);
  return over_texts(column, [&](const Column& from) {
    return pieces_of(from, [&](std::string_view text) { return slice_of(text, begin, end); });
  });
}

Column text_length(const Column& column) {
  if constexpr (built_with_cuda)
    if (column.place().is_gpu()) return cuda::text_length(column);
  const Column from = text_of(column);
  const Nulls null(from);
  return map_rows<int32_t>(from, TypeId::kInt32, [&](int64_t row) {
    const std::string_view text = null(row) ? std::string_view() : from.string(row);
    return characters_of(text);
  });
}

namespace {

struct StringTest final : OperatorOf<StringTest, Predicate> {
  TextTest kind{};
  std::string pattern{};

  std::string_view name() const override { return "str"; }

  std::string arguments() const override {
    return std::string(kTests[static_cast<size_t>(kind)]) + " " + shortened(pattern);
  }

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value> inputs) const override {
    return kind == TextTest::kLike && signature_of(inputs[0]).dtype.is_string()
               ? "LIKE has no kernel for CUDA"
               : "";
  }

  Column test(std::span<const Value> inputs, const Mask* where) const override {
    return test_text(kind, std::get<Column>(inputs[0]), pattern, where);
  }

  static auto parameters(auto& self) { return std::tie(self.kind, self.pattern); }
};

struct StringCharacters final : OperatorOf<StringCharacters, StringOperator> {
  CharacterTest test{};

  std::string arguments() const override {
    return std::string(kCharacterTests[static_cast<size_t>(test)]);
  }

  Value execute(std::span<const Value> inputs) const override {
    return test_characters(test, std::get<Column>(inputs[0]));
  }

  static auto parameters(auto& self) { return std::tie(self.test); }
};

struct StringPosition final : OperatorOf<StringPosition, StringOperator> {
  std::string part{};
  int64_t begin = 0;
  std::optional<int64_t> end{};
  bool last = false;

  std::string arguments() const override { return "find " + shortened(part); }

  Value execute(std::span<const Value> inputs) const override {
    return text_position(std::get<Column>(inputs[0]), part, begin, end, last);
  }

  static auto parameters(auto& self) {
    return std::tie(self.part, self.begin, self.end, self.last);
  }
};

struct StringSlice final : OperatorOf<StringSlice, StringOperator> {
  int64_t begin = 0;
  int64_t end = 0;

  std::string arguments() const override { return "slice"; }

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value> inputs) const override {
    return why_categories(inputs[0]);
  }

  Value execute(std::span<const Value> inputs) const override {
    return slice_text(std::get<Column>(inputs[0]), begin, end);
  }

  static auto parameters(auto& self) { return std::tie(self.begin, self.end); }
};

struct StringLength final : OperatorOf<StringLength, StringOperator> {
  std::string arguments() const override { return "len"; }

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value> inputs) const override {
    return why_categories(inputs[0]);
  }

  Value execute(std::span<const Value> inputs) const override {
    return text_length(std::get<Column>(inputs[0]));
  }
};

}  // namespace

NodePtr test_text(TextTest test, const NodePtr& column, const std::string& pattern) {
  return apply_predicate(StringTest::make(test, pattern), text_signature(column, TypeId::kBool),
                         {column});
}

NodePtr test_characters(CharacterTest test, const NodePtr& column) {
  return apply_operator(StringCharacters::make(test), text_signature(column, TypeId::kBool),
                        {column});
}

NodePtr text_position(const NodePtr& column, const std::string& part, int64_t begin,
                      std::optional<int64_t> end, bool last) {
  return apply_operator(StringPosition::make(part, begin, end, last),
                        text_signature(column, TypeId::kInt64), {column});
}

NodePtr slice_text(const NodePtr& column, int64_t begin, int64_t end) {
  return apply_operator(StringSlice::make(begin, end), text_signature(column, TypeId::kString),
                        {column});
}

NodePtr text_length(const NodePtr& column) {
  return apply_operator(StringLength::make(), text_signature(column, TypeId::kInt32), {column});
}

}  // namespace hr
