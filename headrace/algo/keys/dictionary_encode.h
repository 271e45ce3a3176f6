// SPDX-License-Identifier: Apache-2.0
// Strings as categories, and back.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/column.h"

namespace hr {

/// The rows of a string column as codes into a dictionary of its distinct strings, in order of
/// first appearance, for any number of threads; null stays null. About the cost of hashing each
/// string. Throws InvalidArgumentError for more than 2^31 - 1 distinct strings.
HR_API Column dictionary_encode(const Column& strings);

/// The rows of a category column as strings: a view of 16 bytes a row over the text of the
/// dictionary; null stays null.
HR_API Column dictionary_decode(const Column& categories);

/// The same rows and codes under a dictionary whose order has a meaning.
HR_API Column ordered_categories(const Column& categories);

}  // namespace hr
