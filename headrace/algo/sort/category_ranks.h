// SPDX-License-Identifier: Apache-2.0
// Where the values of a dictionary stand in their order.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/dictionary.h"

namespace hr {

/// The rank of each code, int32: the code itself of an ordered dictionary, else its value's place
/// among all. Sorts the values.
HR_API Buffer category_ranks(const Dictionary& dictionary);

}  // namespace hr
