// SPDX-License-Identifier: Apache-2.0
// Texts cut at a separator: lists of pieces, and the parts before and behind.
#pragma once
#include "headrace/plan/graph/node.h"

#include <string>
#include <tuple>

namespace hr {

/// How strings are split, as Python's str.split and str.rsplit do.
struct TextSplit {
  std::string by{};   ///< empty: at runs of white space, of which none is left at the ends
  int64_t most = -1;  ///< splits; negative: no limit
  bool from_right = false;

  static auto parameters(auto& self) { return std::tie(self.by, self.most, self.from_right); }
};

/// The pieces of each text as a list of strings over the same text; null where it is.
HR_API Column split_text(const Column& column, const TextSplit& split);
HR_API NodePtr split_text(const NodePtr& column, const TextSplit& split);

/// A part of each string cut at its first (from the right: last) separator. Without one the whole
/// string is before it (behind it).
enum class TextPart : uint8_t { kBefore, kSeparator, kBehind };
struct TextPartition {
  std::string separator{};
  bool from_right = false;

  static auto parameters(auto& self) { return std::tie(self.separator, self.from_right); }
};
HR_API Column partition_text(const Column& column, const TextPartition& partition, TextPart part);
HR_API NodePtr partition_text(const NodePtr& column, const TextPartition& partition, TextPart part);

}  // namespace hr
