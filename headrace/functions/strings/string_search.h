// SPDX-License-Identifier: Apache-2.0
// What each text of a column holds, and pieces of it.
#pragma once
#include "headrace/plan/graph/node.h"

#include <optional>
#include <string>
#include <string_view>

namespace hr {

enum class TextTest : uint8_t {
  kContains,
  kStartsWith,
  kEndsWith,
  kLike,  ///< SQL's LIKE: % is any text, _ one character, \ takes the next one as it is
};

/// "contains", "startswith", "endswith", "like"; throws InvalidArgumentError for another word.
HR_API TextTest text_test_from_name(std::string_view name);

/// Whether each text passes, null where it is. By bytes, so in UTF-8 by characters; of categories
/// each distinct string is searched once. False where the mask is not true.
HR_API Column test_text(TextTest test, const Column& column, std::string_view pattern,
                        const Mask* where = nullptr);
HR_API NodePtr test_text(TextTest test, const NodePtr& column, const std::string& pattern);

/// What all characters of a string are, by the words of Python: "isalpha", "isdecimal", "isdigit",
/// "isnumeric", "isalnum", "isspace", or its letters: "islower", "isupper", "istitle".
enum class CharacterTest : uint8_t {
  kAlpha,
  kDecimal,
  kDigit,
  kNumeric,
  kAlnum,
  kSpace,
  kLower,
  kUpper,
  kTitle,
};
HR_API CharacterTest character_test_from_name(std::string_view name);

/// Whether each text passes, by Unicode 14.0; false for an empty one, null where it is null.
HR_API Column test_characters(CharacterTest test, const Column& column);
HR_API NodePtr test_characters(CharacterTest test, const NodePtr& column);

/// The character where `part` first (or last) begins in each text, between characters `begin` and
/// `end` as Python counts them: int64, -1 where it is not.
HR_API Column text_position(const Column& column, std::string_view part, int64_t begin,
                            std::optional<int64_t> end, bool last);
HR_API NodePtr text_position(const NodePtr& column, const std::string& part, int64_t begin,
                             std::optional<int64_t> end, bool last);

/// Characters [begin, end) of each text as Python counts them, negative ones from its end. The
/// results share the text of the column; nothing is copied but views.
HR_API Column slice_text(const Column& column, int64_t begin, int64_t end);
HR_API NodePtr slice_text(const NodePtr& column, int64_t begin, int64_t end);

/// Characters of each text: int32.
HR_API Column text_length(const Column& column);
HR_API NodePtr text_length(const NodePtr& column);

}  // namespace hr
