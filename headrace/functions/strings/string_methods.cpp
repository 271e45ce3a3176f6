// SPDX-License-Identifier: Apache-2.0
// String functions as nodes of others.
#include "headrace/functions/strings/string_methods.h"

#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/functions/strings/string_builder.h"
#include "headrace/functions/strings/string_compare.h"
#include "headrace/functions/strings/string_regex.h"
#include "headrace/plan/graph/array.h"

#include <algorithm>

namespace hr {

namespace {

constexpr int64_t kPast = int64_t{1} << 62;             // behind the last character of any text
constexpr std::string_view kSigns = "\\.^$*+?{}[]|()";  // of a regular expression

// Behind a position; -1 is the last.
int64_t behind(int64_t position) {
  return position == -1 ? kPast : position + 1;
}

std::string escaped(std::string_view text, std::string_view signs) {
  std::string result;
  for (const char each : text) {
    if (signs.find(each) != signs.npos) result += '\\';
    result += each;
  }
  return result;
}

NodePtr without(const NodePtr& column, TextTest test, const std::string& affix,
                const TextSlice& rest) {
  const NodePtr has_none = elementwise(Op::kInvert, {test_text(test, column, affix)});
  return string_where(has_none, column, slice_text(column, rest));
}

struct CharacterAt final : OperatorOf<CharacterAt> {
  int64_t position = 0;

  std::string_view name() const override { return "str"; }

  std::string arguments() const override { return "[" + std::to_string(position) + "]"; }

  Value execute(std::span<const Value> inputs) const override {
    return character_at(std::get<Column>(inputs[0]), position);
  }

  static auto parameters(auto& self) { return std::tie(self.position); }
};

}  // namespace

NodePtr slice_text(const NodePtr& column, const TextSlice& slice) {
  const auto& [begin, end, step] = slice;
  if (step >= 0) {
    const NodePtr piece = slice_text(column, begin.value_or(0), end.value_or(kPast));
    return step == 1 ? piece : step_text(piece, step);
  }
  const NodePtr piece = slice_text(column, end ? behind(*end) : 0, begin ? behind(*begin) : kPast);
  return step_text(piece, step);
}

Column character_at(const Column& column, int64_t position) {
  const Column piece = slice_text(column, position, behind(position));
  const int64_t rows = piece.num_rows();
  if (rows == 0) return piece;
  const Nulls null(piece);
  Buffer validity = Buffer::allocate_zeroed(bitmap_bytes(rows));
  auto* const valid = validity.mutable_as<uint8_t>();
  parallel_morsels(rows, {reads(piece)}, [&](Morsel morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; ++row)
      set_bit(valid, row, !null(row) && !piece.string(row).empty());
  });
  return piece.with_rows(rows, piece.values_buffer(), std::move(validity), -1);
}

NodePtr character_at(const NodePtr& column, int64_t position) {
  Signature signature = text_signature(column, TypeId::kString);
  signature.nullable = true;
  return apply_operator(CharacterAt::make(position), std::move(signature), {column});
}

NodePtr remove_prefix(const NodePtr& column, const std::string& prefix) {
  return without(column, TextTest::kStartsWith, prefix, {.begin = characters_of(prefix)});
}

NodePtr remove_suffix(const NodePtr& column, const std::string& suffix) {
  if (suffix.empty()) return column;
  return without(column, TextTest::kEndsWith, suffix, {.end = -characters_of(suffix)});
}

NodePtr strip_characters(const NodePtr& column, StripEnds ends,
                         const std::optional<std::string>& gone) {
  if (gone && gone->empty()) return slice_text(column, 0, kPast);
  return strip_text(column, ends, gone.value_or(""));
}

NodePtr test_text_any(TextTest test, const NodePtr& column, std::span<const std::string> patterns) {
  if (patterns.empty())
    throw_error<InvalidArgumentError>("str", "expected at least one string to search for");
  NodePtr found;
  for (const std::string& pattern : patterns) {
    const NodePtr one = test_text(test, column, pattern);
    found = found ? elementwise(Op::kBitwiseOr, {found, one}) : one;
  }
  return found;
}

NodePtr contains_pattern(const NodePtr& column, const std::string& pattern,
                         const PatternOptions& options) {
  const bool has_signs = pattern.find_first_of(kSigns) != pattern.npos;
  if (options.flags.empty() && !(options.is_regex && has_signs))
    return test_text(TextTest::kContains, column, pattern);
  const std::string text = options.is_regex ? pattern : escaped(pattern, kSigns);
  return test_regex(RegexAnchor::kAnywhere, column, regex_pattern("contains", text, options.flags));
}

NodePtr replace_pattern(const NodePtr& column, const std::string& pattern, const std::string& fresh,
                        int64_t most, const PatternOptions& options) {
  if (options.is_regex)
    return replace_regex(column, regex_pattern("replace", pattern, options.flags), fresh, most);
  if (options.flags.empty()) return replace_text(column, pattern, fresh, most);
  return replace_regex(column, regex_pattern("replace", escaped(pattern, kSigns), options.flags),
                       escaped(fresh, "\\"), most);
}

}  // namespace hr
