// SPDX-License-Identifier: Apache-2.0
// Lookups of rows in the table of a vocabulary.
#pragma once
#include "headrace/data/dictionary.h"

namespace hr::cpu {

/// Codes of the rows [begin, end) of `values` (no categories) to `out`, which is that of row 0.
/// `hashes` of all rows choose among `buckets`; null: there is one.
void category_codes_kernel(const Column& values, const DictionaryBuilder& vocabulary,
                           const uint64_t* hashes, int32_t buckets, int64_t begin, int64_t end,
                           int32_t* out);

}  // namespace hr::cpu
