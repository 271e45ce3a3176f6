// SPDX-License-Identifier: Apache-2.0
// Texts and regular expressions, in the syntax of RE2.
#pragma once
#include "headrace/plan/graph/node.h"

#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace hr {

/// A pattern that was checked. What RE2 has not (looking around, references back) and what is no
/// pattern throws InvalidArgumentError with the place; a build without RE2 throws UnsupportedError.
/// `\w`, `\d`, `\s` and their complements are Unicode's, as in Python, unless `is_ascii`. `\b` is
/// ASCII's: where a string has letters beyond it, running throws UnsupportedError.
struct RegexPattern {
  std::string op;  ///< in whose name errors are
  std::string text;
  bool is_ascii = false;

  static auto parameters(auto& self) { return std::tie(self.op, self.text, self.is_ascii); }
};

/// A pattern with its flags, of Python's letters `a`, `i`, `m` and `s`.
HR_API RegexPattern regex_pattern(std::string op, const std::string& pattern,
                                  const std::string& flags);

/// Where in a string the pattern has to match.
enum class RegexAnchor : uint8_t { kAnywhere, kStart, kBoth };

/// "contains", "match", "fullmatch"; throws InvalidArgumentError for another word.
HR_API RegexAnchor regex_anchor_from_name(std::string_view name);

/// Whether each text matches, null where it is null; time linear in the bytes. Of categories each
/// distinct string is matched once.
/// `where`: rows where it is not true are false and not read.
HR_API Column test_regex(RegexAnchor anchor, const Column& column, const RegexPattern& pattern,
                         const Mask* where = nullptr);
HR_API NodePtr test_regex(RegexAnchor anchor, const NodePtr& column, const RegexPattern& pattern);

/// The first `most` (negative: all) matches of each text become `fresh`, in which `\1`, `\g<1>` and
/// `\g<name>` are groups and `\g<0>` the match. An empty match next to one that is not counts, as
/// in Python. Throws InvalidArgumentError for a group that the pattern does not have.
HR_API Column replace_regex(const Column& column, const RegexPattern& pattern,
                            const std::string& fresh, int64_t most);
HR_API NodePtr replace_regex(const NodePtr& column, const RegexPattern& pattern,
                             const std::string& fresh, int64_t most);

/// The pieces of each text between matches, at most `most` splits (negative: no limit), as a list;
/// null where it is. An empty match splits too, as in Python. Throws InvalidArgumentError for a
/// pattern with groups, which Python would put into the lists.
HR_API Column split_regex(const Column& column, const RegexPattern& pattern, int64_t most);
HR_API NodePtr split_regex(const NodePtr& column, const RegexPattern& pattern, int64_t most);

/// All matches of each text as a list, or what its only group has there; null where the text is.
/// Throws InvalidArgumentError for a pattern with several groups.
HR_API Column find_all(const Column& column, const RegexPattern& pattern);
HR_API NodePtr find_all(const NodePtr& column, const RegexPattern& pattern);

/// The number of matches in each text: int64.
HR_API Column count_regex(const Column& column, const RegexPattern& pattern);
HR_API NodePtr count_regex(const NodePtr& column, const RegexPattern& pattern);

/// The groups of each text's first match, a column a group; null for no match and for a group that
/// took no part. The results share the text. Names are those of the groups, or their numbers from
/// 0 on. Throws InvalidArgumentError for a pattern without groups.
HR_API std::vector<std::pair<std::string, NodePtr>> extract_regex(const NodePtr& column,
                                                                  const RegexPattern& pattern);

}  // namespace hr
