// SPDX-License-Identifier: Apache-2.0
// Values as categories, and back.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/column.h"

namespace hr {

/// The rows of a column as codes into a dictionary of its distinct values, in order of first
/// appearance, for any number of threads; null stays null and NaN becomes it. About the cost of
/// hashing each value. Throws InvalidArgumentError for more than 2^31 - 1 distinct values,
/// UnsupportedError for a dtype that categories cannot have.
HR_API Column dictionary_encode(const Column& values);

/// The values of the rows of a category column; strings are a view of 16 bytes a row over the text
/// of the dictionary. Null stays null.
HR_API Column dictionary_decode(const Column& categories);

/// The same rows and codes under a dictionary whose order has a meaning.
HR_API Column ordered_categories(const Column& categories);

}  // namespace hr
