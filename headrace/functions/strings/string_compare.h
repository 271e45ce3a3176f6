// SPDX-License-Identifier: Apache-2.0
// Comparisons of strings, and choices between them: strings, and categories by their text.
#pragma once
#include "headrace/functions/strings/string_transform.h"
#include "headrace/plan/eval/expression.h"
#include "headrace/plan/graph/node.h"

#include <string>
#include <string_view>
#include <vector>

namespace hr {

/// `op` of each row's text and `text`, by bytes: a bool, null where the row is, and false where the
/// mask is not true: what is null elsewhere stays so. `op` is one of the
/// six comparisons. About 1 ns a row and core; of categories each distinct text is compared once.
/// Less and greater of categories go by their order: TypeMismatchError when they have none, or
/// `text` is none of them, or both sides are different categories.
HR_API Column compare_text(Op op, const Column& column, std::string_view text,
                           const Mask* where = nullptr);
/// Whether each row's string is one of a few; false where the row is null.
HR_API Column is_one_of(const Column& column, const std::vector<std::string_view>& texts,
                        const Mask* where = nullptr);
/// Row by row of two columns of equal length.
HR_API Column compare_text(Op op, const Column& left, const Column& right);

/// Deferred; throws TypeMismatchError for columns without text, InvalidArgumentError for columns of
/// different frames or lengths.
HR_API NodePtr compare_text(Op op, const NodePtr& column, const std::string& text);
HR_API NodePtr compare_text(Op op, const NodePtr& left, const NodePtr& right);

/// Row r of `yes` where row r of the bool `condition` is true, of `no` where it is false; null
/// where the condition is. A string with a category gives strings.
HR_API NodePtr string_where(const NodePtr& condition, const TextPiece& yes, const TextPiece& no);

}  // namespace hr
