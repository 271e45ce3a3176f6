// SPDX-License-Identifier: Apache-2.0
// What each text of a column holds, and pieces of it.
#pragma once
#include "headrace/plan/graph/node.h"

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

/// Characters [begin, end) of each text as Python counts them, negative ones from its end. The
/// results share the text of the column; nothing is copied but views.
HR_API Column slice_text(const Column& column, int64_t begin, int64_t end);
HR_API NodePtr slice_text(const NodePtr& column, int64_t begin, int64_t end);

/// Characters of each text: int32.
HR_API Column text_length(const Column& column);
HR_API NodePtr text_length(const NodePtr& column);

}  // namespace hr
