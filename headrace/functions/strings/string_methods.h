// SPDX-License-Identifier: Apache-2.0
// String functions made of others: slices, affixes, and patterns that may be literal.
#pragma once
#include "headrace/functions/strings/string_search.h"
#include "headrace/functions/strings/string_transform.h"

#include <optional>
#include <span>
#include <string>

namespace hr {

/// A slice as Python has it: positions count from the end if negative, a negative step goes
/// backwards from `begin`, or from the end.
struct TextSlice {
  std::optional<int64_t> begin{};
  std::optional<int64_t> end{};
  int64_t step = 1;
};

/// These characters of each text. Throws InvalidArgumentError for a step of 0.
HR_API NodePtr slice_text(const NodePtr& column, const TextSlice& slice);

/// The character at a position, from the end if negative; null where there is none.
HR_API Column character_at(const Column& column, int64_t position);
HR_API NodePtr character_at(const NodePtr& column, int64_t position);

/// Each text without the prefix or suffix, where it has it.
HR_API NodePtr remove_prefix(const NodePtr& column, const std::string& prefix);
HR_API NodePtr remove_suffix(const NodePtr& column, const std::string& suffix);

/// As `strip_text` above, but an empty `gone` strips nothing; none strips white space.
HR_API NodePtr strip_characters(const NodePtr& column, StripEnds ends,
                                const std::optional<std::string>& gone);

/// Whether each text passes the test with one of the patterns. Throws InvalidArgumentError for no
/// pattern.
HR_API NodePtr test_text_any(TextTest test, const NodePtr& column,
                             std::span<const std::string> patterns);

/// How a pattern is read.
struct PatternOptions {
  bool is_regex = true;
  std::string flags{};  ///< of i (case does not matter), m (lines) and s (. is any character)
};

/// Whether a pattern is in each text; searched without a regular expression where it is none.
HR_API NodePtr contains_pattern(const NodePtr& column, const std::string& pattern,
                                const PatternOptions& options = {});

/// The first `most` (negative: all) places where each text has the pattern become `fresh`, in which
/// groups are written as `replace_regex` has them where the pattern is a regular expression.
HR_API NodePtr replace_pattern(const NodePtr& column, const std::string& pattern,
                               const std::string& fresh, int64_t most,
                               const PatternOptions& options = {});

}  // namespace hr
