// SPDX-License-Identifier: Apache-2.0
// Texts changed row by row: case, ends, literal replacement, several put together.
#pragma once
#include "headrace/plan/graph/node.h"

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

namespace hr {

enum class LetterCase : uint8_t {
  kUpper,
  kLower,
  kTitle,       ///< the first letter of each word upper, the others lower
  kCapitalize,  ///< the first character upper, the others lower
  kSwap,        ///< upper where it is lower, and the reverse
};

/// "upper", "lower", "title", "capitalize", "swapcase"; throws InvalidArgumentError for another
/// word.
HR_API LetterCase letter_case_from_name(std::string_view name);

/// Each text in a case by the mappings of Unicode 14.0 that look at one character: a
/// character may become several (ß is SS), and a capital sigma is σ at the end of a word too. Null
/// stays null; bytes that are no UTF-8 stay. About 1 ns a byte and core of ASCII.
HR_API Column change_case(LetterCase wanted, const Column& column);
HR_API NodePtr change_case(LetterCase wanted, const NodePtr& column);

/// Each text without the characters of `gone` (empty: white space, as Python has it) at its ends.
/// The results share the text of the column.
struct StripEnds {
  bool left = true;
  bool right = true;

  static auto parameters(auto& self) { return std::tie(self.left, self.right); }
};
HR_API Column strip_text(const Column& column, StripEnds ends, std::string_view gone);
HR_API NodePtr strip_text(const NodePtr& column, StripEnds ends, const std::string& gone);

/// The first `most` (negative: all) places where each text has `old`, from the left and not
/// overlapping, become `fresh`; an empty `old` is before each character and at the end.
HR_API Column replace_text(const Column& column, std::string_view old, std::string_view fresh,
                           int64_t most);
HR_API NodePtr replace_text(const NodePtr& column, const std::string& old, const std::string& fresh,
                            int64_t most);

/// Each `step`-th character of each text, from the first on; below 0 from the last one backwards.
/// Throws InvalidArgumentError for 0.
HR_API Column step_text(const Column& column, int64_t step);
HR_API NodePtr step_text(const NodePtr& column, int64_t step);

/// Texts made longer, or cut and mended: by the words of Python and pandas.
enum class TextChange : uint8_t {
  kRightJustify,  ///< `fill` before each text, up to `size` characters
  kLeftJustify,   ///< behind it
  kCenter,        ///< at both sides
  kZeroFill,      ///< zeros behind a sign, up to `size` characters
  kRepeat,        ///< `size` times
  kSliceReplace,  ///< characters from `begin` up to `end` become `fill`
};
struct TextChangeOptions {
  int64_t size = 0;
  std::string fill{};
  std::optional<int64_t> begin{};  ///< from the end if negative
  std::optional<int64_t> end{};

  static auto parameters(auto& self) {
    return std::tie(self.size, self.fill, self.begin, self.end);
  }
};

/// "rjust", "ljust", "center", "zfill", "repeat", "slice_replace"; throws InvalidArgumentError for
/// another word.
HR_API TextChange text_change_from_name(std::string_view name);
HR_API Column change_text(TextChange change, const Column& column,
                          const TextChangeOptions& options);
HR_API NodePtr change_text(TextChange change, const NodePtr& column,
                           const TextChangeOptions& options);

/// Rows of columns and constants, concatenated; null where a column is. There is at least
/// one column. Throws InvalidArgumentError for columns of different lengths or frames.
using TextPiece = std::variant<NodePtr, std::string>;
HR_API NodePtr concatenate_text(const std::vector<TextPiece>& pieces);

}  // namespace hr
