// SPDX-License-Identifier: Apache-2.0
// Tags with the whole stack of lines that called an operator, and how many tags there are.
#pragma once
#include "headrace/base/api.h"
#include "headrace/memory/log/tag.h"

#include <string>
#include <string_view>

namespace hr {

/// As intern_tag, for work that a whole stack of lines asked for, innermost first: equal stacks get
/// equal numbers. ScopedTag(op) keeps the stack, as it keeps the line.
HR_API Tag intern_tag(std::string_view op, std::string_view line, std::string_view stack);

/// The tag of an operator that the line and the stack of the tag in force ask for.
HR_API Tag operator_tag(std::string_view op);

/// The stack of a tag, or empty.
HR_API std::string tag_stack(Tag tag);

/// All tags so far are below it.
HR_API Tag tag_count();

}  // namespace hr
